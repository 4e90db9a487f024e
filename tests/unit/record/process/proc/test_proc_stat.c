/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/proc/proc_stat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TAIL " 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 "

static void procstat_reads_a_stat_line(void **state)
{
	static const struct {
		const char *text, *comm;
		uint32_t ppid;
		uint64_t start_ticks;
	} cases[] = {
		{ "1 (init) S 0" TAIL "5 100 200\n", "init", 0, 5 },
		{ "77 (a) b (c) R 3" TAIL "123456789012 1 2\n", "a) b (c", 3, 123456789012 },
		{ "77 () R 3" TAIL "9", "", 3, 9 },
		{ "15 (kworker/u8:0-ext4-rsv-conversion) I 2" TAIL "20 0\n",
		  "kworker/u8:0-ext4-rsv-conversion", 2, 20 },
		{ "5 (new\nline) S 1" TAIL "1 0\n", "new\nline", 1, 1 },
	};
	struct proc_stat s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(proc_stat_parse(cases[i].text, &s), 0);
		assert_string_equal(s.comm, cases[i].comm);
		assert_int_equal(s.ppid, cases[i].ppid);
		assert_int_equal(s.start_ticks, cases[i].start_ticks);
	}
}

static void procstat_refuses_a_broken_stat_line(void **state)
{
	static const char *const cases[] = {
		"",
		"1",
		"1 init S 0" TAIL "5",
		"1 (init S 0" TAIL "5",
		"1 )init( S 0" TAIL "5",
		"1 (init)",
		"1 (init) ",
		"1 (init) S",
		"1 (init) S x" TAIL "5",
		"1 (init) S 99999999999" TAIL "5",
		"1 (init) S 0 0 0 0\n",
		"1 (init) S 0" TAIL "\n",
		"1 (init) S 0" TAIL "x\n",
	};
	struct proc_stat s = { .ppid = 42 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (proc_stat_parse(cases[i], &s) != -EBADMSG)
			fail_msg("taken: '%s'", cases[i]);
		assert_int_equal(s.ppid, 42);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(procstat_reads_a_stat_line),
		cmocka_unit_test(procstat_refuses_a_broken_stat_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
