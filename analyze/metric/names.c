/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The names of system calls come from the headers of the kernel that this was built with. */
#include "analyze/metric/names.h"

#include <stdio.h>
#include <string.h>

static const char *const calls_64[] = {
#include "analyze/metric/syscalls_64.inc"
};
static const char *const calls_32[] = {
#include "analyze/metric/syscalls_32.inc"
};

#define LATE_FIRST 450 /* from here on both have the same numbers */

/* Younger than the headers of the oldest system that this is built on (Linux 6.1). */
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

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *metric_names_call(uint32_t nr, bool compat)
{
	const char *const *calls = compat ? calls_32 : calls_64;
	size_t count = compat ? COUNT(calls_32) : COUNT(calls_64);
	const char *name = nr < count ? calls[nr] : NULL;

	if (!name && nr >= LATE_FIRST && nr - LATE_FIRST < COUNT(calls_late))
		name = calls_late[nr - LATE_FIRST];
	return name;
}

void metric_names_syscall(uint32_t nr, bool compat, char out[METRIC_NAMES_BYTES])
{
	const char *name = metric_names_call(nr, compat);

	if (name)
		snprintf(out, METRIC_NAMES_BYTES, "%s%s", name, compat ? " (32-bit)" : "");
	else
		snprintf(out, METRIC_NAMES_BYTES, "syscall_%u%s", nr, compat ? " (32-bit)" : "");
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
