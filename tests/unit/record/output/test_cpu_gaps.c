/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/cpu_gaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The account of those since from_ns, without what is blank; owned by the test's outbuf. */
static const char *gaps_json(const struct cpu_gaps *g, uint64_t from_ns, struct outbuf *out)
{
	struct json_writer j = { .out = out };
	char *to;

	outbuf_clear(out);
	json_writer_begin(&j, NULL);
	cpu_gaps_json(g, from_ns, &j);
	json_writer_end(&j);
	outbuf_zeros(out, 1);
	to = (char *)out->data;
	for (const char *from = to; *from; from++)
		if (!strchr(" \n\"", *from))
			*to++ = *from;
	*to = '\0';
	return (const char *)out->data;
}

static void cpugaps_last_until_they_end(void **state)
{
	struct cpu_gaps g = { .count = 0 };
	struct outbuf out = { 0 };

	assert_string_equal(gaps_json(&g, 0, &out),
			    "{cpus_not_sampled:[],cpus_not_sampled_forgotten:0}");
	assert_non_null(cpu_gaps_begin(&g, 3, 100));
	assert_non_null(cpu_gaps_begin(&g, 1, 200));
	assert_ptr_equal(cpu_gaps_begin(&g, 3, 300), cpu_gaps_find(&g, 3)); /* the same one */
	assert_null(cpu_gaps_find(&g, 2));
	cpu_gaps_find(&g, 3)->to_ns = 400;
	assert_null(cpu_gaps_find(&g, 3));
	assert_int_equal(cpu_gaps_begin(&g, 3, 500)->from_ns, 500);
	assert_string_equal(
		gaps_json(&g, 0, &out),
		"{cpus_not_sampled:[{cpu:3,from_mono_ns:100,to_mono_ns:400},{cpu:1,from_mono_ns:200},"
		"{cpu:3,from_mono_ns:500}],cpus_not_sampled_forgotten:0}");
	/* In a file that begins later, gaps that were over by then do not count. */
	assert_string_equal(gaps_json(&g, 400, &out),
			    "{cpus_not_sampled:[{cpu:1,from_mono_ns:200},{cpu:3,from_mono_ns:500}],"
			    "cpus_not_sampled_forgotten:0}");
	cpu_gaps_done(&g);
	outbuf_done(&out);
}

static void cpugaps_forget_the_oldest_that_ended(void **state)
{
	struct cpu_gaps g = { .count = 0 };

	assert_non_null(cpu_gaps_begin(&g, 7, 1));
	for (uint64_t i = 0; i < CPU_GAPS_MAX + 5; i++)
		cpu_gaps_begin(&g, 1, 10 + i)->to_ns = 11 + i;
	assert_int_equal(g.count, CPU_GAPS_MAX);
	assert_int_equal(g.forgotten_count, 6);
	assert_int_equal(cpu_gaps_find(&g, 7)->from_ns, 1);
	assert_int_equal(g.gap[1].from_ns, 10 + 6);
	assert_int_equal(g.gap[g.count - 1].from_ns, 10 + CPU_GAPS_MAX + 4);
	cpu_gaps_done(&g);
	cpu_gaps_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpugaps_last_until_they_end),
		cmocka_unit_test(cpugaps_forget_the_oldest_that_ended),
	};

	return cmocka_run_group_tests_name("cpugaps", tests, NULL, NULL);
}
