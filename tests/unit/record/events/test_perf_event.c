/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/perf_event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void perfset_hint_names_what_forbids(void **state)
{
	static const struct {
		int err, paranoid, all;
		const char *part; /* NULL: no hint */
	} cases[] = {
		{ -EACCES, 3, 0, "sysctl kernel.perf_event_paranoid=2" }, /* Debian's patch */
		{ -EACCES, 4, 1, "sysctl kernel.perf_event_paranoid=2" },
		{ -EPERM, 3, 1, "kernel.perf_event_paranoid" },
		{ -EACCES, 2, 1, "-- COMMAND, or -p PID" },
		{ -EACCES, 2, 0, "of your own" },
		{ -EPERM, 2, 0, "seccomp" },
		{ -EPERM, INT32_MIN, 0, "of your own" },
		{ -EMFILE, 2, 0, "ulimit -n" },
		{ -ENOSYS, INT32_MIN, 0, "no perf events" },
		{ -ENOENT, 2, 0, NULL },
		{ -ESRCH, 2, 0, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *hint = perf_event_set_hint(cases[i].err, cases[i].paranoid,
						       cases[i].all);

		if (!cases[i].part ? hint != NULL : !hint || !strstr(hint, cases[i].part))
			fail_msg("%zu: %s", i, hint ? hint : "no hint");
	}
}

static void perfset_without_processes_is_empty(void **state)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	const uint32_t gone = 0x7fffffff;
	struct perf_event_set_scope scope = { .pids = &gone, .pid_count = 1 };
	uint32_t id = 0;
	struct cpuset_list cpus = { .ids = &id, .count = 1 };
	struct perf_event_set s;

	assert_int_equal(perf_event_set_open(&s, &attr, &cpus, &scope), -ESRCH);
	assert_int_equal(s.count, 0);
	perf_event_set_close(&s);
	perf_event_set_close(&s); /* twice is fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfset_hint_names_what_forbids),
		cmocka_unit_test(perfset_without_processes_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
