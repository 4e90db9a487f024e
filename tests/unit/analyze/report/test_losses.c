/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Losses of perf's files, which have two kinds of records for them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/input/capture_stats.h"
#include "analyze/report/report.h"
#include "tests/lib/gen/captures.h"
#include "tests/lib/gen/perffiles.h"

#define ATTR_AT 120 /* of begin_file() */

static void lose_in_ring(struct perf *p, uint64_t count)
{
	const uint64_t body[] = { 11, count };

	add_record(p, PERF_RECORD_LOST, body, sizeof(body));
}

static void lose_samples(struct perf *p, uint64_t count)
{
	add_record(p, PERF_RECORD_LOST_SAMPLES, &count, sizeof(count));
}

/* all: the losses that info counts; samples and events: those that report has. */
struct losses {
	uint64_t all, samples, events;
};

static struct losses read_losses(struct perf *p)
{
	struct capture *c;
	struct capture_stats stats;
	struct report r;
	struct losses out;

	end_file(p);
	assert_int_equal(capture_from_bytes(p->file.data, p->file.size_bytes, &c, NULL), 0);
	assert_int_equal(capture_stats_capture(c, UINT32_MAX, &stats), 0);
	assert_int_equal(report_open(c, &r), 0);
	assert_true(stats.attrs[0].lost_count + stats.attrs[1].lost_count == stats.lost_count);
	out = (struct losses){ stats.lost_count, r.counts.lost_samples, r.counts.lost_events };
	report_done(&r);
	capture_stats_done(&stats);
	capture_close(c);
	return out;
}

static void expect_losses(uint64_t read_format, uint64_t ring, uint64_t own, struct losses want)
{
	struct losses got;
	struct perf p;

	begin_file(&p);
	le64_store(p.file.data + ATTR_AT + offsetof(struct perf_event_attr, read_format),
		   read_format);
	lose_in_ring(&p, ring / 3);
	lose_in_ring(&p, ring - ring / 3);
	if (own)
		lose_samples(&p, own);
	got = read_losses(&p);
	assert_int_equal(got.all, want.all);
	assert_int_equal(got.samples, want.samples);
	assert_int_equal(got.events, want.events);
	done(&p);
}

static void losses_that_events_count_themselves_are_counted_once(void **state)
{
	(void)state;
	expect_losses(PERF_FORMAT_LOST, 1415, 1415, (struct losses){ 1415, 1415, 0 });
	/* No LOST record follows what was lost last. */
	expect_losses(PERF_FORMAT_LOST, 1415, 1500, (struct losses){ 1500, 1500, 0 });
}

static void of_a_perf_that_was_killed_the_losses_of_rings_are_left(void **state)
{
	(void)state;
	expect_losses(PERF_FORMAT_LOST, 1415, 0, (struct losses){ 1415, 0, 1415 });
	expect_losses(PERF_FORMAT_LOST, 1415, 400, (struct losses){ 1415, 400, 1015 });
}

static void without_such_counts_both_records_are_losses_of_their_own(void **state)
{
	(void)state;
	expect_losses(0, 30, 12, (struct losses){ 42, 12, 30 });
	expect_losses(PERF_FORMAT_ID, 30, 12, (struct losses){ 42, 12, 30 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_that_events_count_themselves_are_counted_once),
		cmocka_unit_test(of_a_perf_that_was_killed_the_losses_of_rings_are_left),
		cmocka_unit_test(without_such_counts_both_records_are_losses_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
