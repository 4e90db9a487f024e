/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * olderkernel.so - a kernel that has no links of many uprobes, for LD_PRELOAD
 *
 * BPF_LINK_CREATE with BPF_TRACE_UPROBE_MULTI fails as before Linux 6.6.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

enum { LINK_CREATE = 28, TRACE_UPROBE_MULTI = 48 }; /* linux/bpf.h */

long syscall(long number, ...);

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	uint32_t type;
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && a[0] == LINK_CREATE) {
		memcpy(&type, (const char *)a[1] + 8, sizeof(type));
		if (type == TRACE_UPROBE_MULTI) {
			errno = EINVAL;
			return -1;
		}
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
