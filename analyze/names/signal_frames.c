/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/signal_frames.h"

#include <stddef.h>
#include <string.h>

bool trampoline_is(const char *name)
{
	static const char *const names[] = {
		"__restore_rt",                                       /* glibc, musl */
		"__restore",          "__kernel_rt_sigreturn",        /* vdso */
		"__kernel_sigreturn", "runtime.sigreturn__sigaction", /* Go */
		"runtime.sigreturn",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
