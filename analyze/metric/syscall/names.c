/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/syscall/names.h"

#include <stdio.h>
#include <string.h>

#include "format/base/call_abi.h"

/* From the headers of Linux 6.1.  They are stored, as one machine has not the headers of another one. */
static const char *const calls_x86_64[] = {
#include "analyze/metric/syscall/calls_x86_64.inc"
};
static const char *const calls_i386[] = {
#include "analyze/metric/syscall/calls_i386.inc"
};
static const char *const calls_aarch64[] = {
#include "analyze/metric/syscall/calls_aarch64.inc"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *const *names;
	size_t count;
} calls[CALL_ABIS] = {
	[CALL_ABI_X86_64] = { calls_x86_64, COUNT(calls_x86_64) },
	[CALL_ABI_I386] = { calls_i386, COUNT(calls_i386) },
	[CALL_ABI_AARCH64] = { calls_aarch64, COUNT(calls_aarch64) },
};

#define LATE_FIRST 450 /* from here on all have the same numbers */

/* Younger than these headers. */
static const char *const calls_late[] = {
	"set_mempolicy_home_node",
	"cachestat",
	"fchmodat2",
	"map_shadow_stack",
	"futex_wake",
	"futex_wait",
	"futex_requeue",
	"statmount",
	"listmount",
	"lsm_get_self_attr",
	"lsm_set_self_attr",
	"lsm_list_modules",
	"mseal",
	"setxattrat",
	"getxattrat",
	"listxattrat",
	"removexattrat",
	"open_tree_attr",
	"file_getattr",
	"file_setattr",
};

const char *metric_names_call(uint32_t nr, uint64_t abi)
{
	const char *name = abi < CALL_ABIS && nr < calls[abi].count ? calls[abi].names[nr] : NULL;

	if (!name && nr >= LATE_FIRST && nr - LATE_FIRST < COUNT(calls_late))
		name = calls_late[nr - LATE_FIRST];
	return name;
}

void metric_names_syscall(uint32_t nr, uint64_t abi, char out[METRIC_NAMES_BYTES])
{
	const char *bits = abi == CALL_ABI_X86_64 || abi == CALL_ABI_AARCH64 ? "" : " (32-bit)";
	const char *name = metric_names_call(nr, abi);

	if (name)
		snprintf(out, METRIC_NAMES_BYTES, "%s%s", name, bits);
	else
		snprintf(out, METRIC_NAMES_BYTES, "syscall_%u%s", nr, bits);
}

/* include/linux/errno.h: programs never see them, but the kernel restarts the call. */
static const char *restart_name(uint32_t number)
{
	switch (number) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	default:
		return NULL;
	}
}

void metric_names_errno(uint32_t number, char out[METRIC_NAMES_BYTES])
{
	const char *name = number < 512 ? strerrorname_np((int)number) : restart_name(number);

	if (name)
		snprintf(out, METRIC_NAMES_BYTES, "%s", name);
	else
		snprintf(out, METRIC_NAMES_BYTES, "error_%u", number);
}
