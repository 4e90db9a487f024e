/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* report: every view prints the same, byte for byte, by any number of threads (make check-threads) */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/views.h"
#include "tests/lib/gen/captures.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#define SAMPLES     10000u
#define PROCESSES   12u
#define THREADS_MAX 8u

static char *fixture_root(void)
{
	static char root[FIXTURE_PATH];

	fixture_path("", root);
	return root;
}

static void put(struct maker *m, size_t size_bytes, uint64_t time_ns)
{
	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size_bytes, time_ns, -1), 0);
}

/* Processes of four files, one of them gone; stacks of all depths, the same addresses in several. */
static void make(struct maker *m)
{
	static const char *const paths[] = { "/layout", "/layout.so", "/gone", "/plt-nopie" };
	uint64_t chain[20];
	char comm[8];

	maker_begin(m, false);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		snprintf(comm, sizeof(comm), "p%u", pid % 5);
		maker_comm(m, pid, comm, 5);
		put(m, rec_mmap2(m->rec, pid, paths[pid % 4], 6), 6);
	}
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct rec_sample s = { .time_ns = 1000 + 100 * i, .cpu = i % 2, .chain = chain };
		size_t size;

		s.pid = s.tid = 1 + (uint32_t)(next_random(&m->random) % PROCESSES);
		s.chain_count = 1 + next_random(&m->random) % 20;
		for (size_t k = 0; k < s.chain_count; k++)
			chain[k] = REC_MMAP2_AT + 0x1000 +
				   next_random(&m->random) % (k + 2) * 0x13 +
				   next_random(&m->random) % 3;
		size = rec_sample(m->rec, &s);
		assert_int_equal(
			writer_record(m->w, EBX_STREAM_CPU, m->rec, size, s.time_ns, (int)s.cpu),
			0);
		if (i % 100 == 99)
			assert_int_equal(writer_flush(m->w, true), 0);
	}
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

/* The text of a view of a capture; owned. */
static char *print_view(const struct capture *c, const struct report_view *view, unsigned threads,
			const struct filter *filter)
{
	struct report_query query = {
		.filter = filter,
		.roots = { .symfs = fixture_root() },
		.thread_count = threads,
		.demangle = true,
	};
	struct report_annotate annotate = { .query = { .function = "f_sized" } };
	struct report_ask ask = { .weight_name = "samples", .head = "", .annotate = &annotate };
	char *text = NULL;
	const char *bad;
	size_t bytes;
	struct report r;
	FILE *to = open_memstream(&text, &bytes);

	ask.around = "f_sized";
	if (view->keys)
		assert_int_equal(sort_keys_parse(&ask.keys, view->keys, &bad, &bytes), 0);
	query.fields = GROUP_COMM | sort_keys_fields(&ask.keys);
	/* By several threads, the side-band as a slice is read. */
	assert_int_equal(threads > 1 ? report_open_later(c, &r) : report_open(c, &r), 0);
	if (!strcmp(view->name, "annotate"))
		report_annotate_begin(&annotate, &r, &query);
	assert_int_equal(report_make(&r, &query), 0);
	assert_int_equal(view->write(&r, &ask, to), 0);
	fprintf(to, "%lu picked, %lu frames\n", (unsigned long)r.picked,
		(unsigned long)r.quality.frames);
	fclose(to);
	annotate_done(&annotate.found);
	report_done(&r);
	return text;
}

static void check_views(const struct filter *filter, const char *expected)
{
	size_t count;
	const struct report_view *views = report_views(&count);
	struct capture *c;
	struct maker m;
	struct bytes b;

	make(&m);
	b = maker_bytes(&m);
	maker_end(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		char *one = print_view(c, &views[i], 1, filter);

		if (!strstr(one, expected))
			fail_msg("%s does not print '%s': %.200s", views[i].name, expected, one);
		for (unsigned threads = 2; threads <= THREADS_MAX; threads += 3) {
			char *many = print_view(c, &views[i], threads, filter);

			if (strcmp(one, many) != 0)
				fail_msg("%s by %u threads is another one", views[i].name, threads);
			free(many);
		}
		free(one);
	}
	capture_close(c);
	free(b.data);
}

static void views_are_the_same_by_any_number_of_threads(void **state)
{
	check_views(NULL, "10000 picked");
}

static void slices_are_the_same_by_any_number_of_threads(void **state)
{
	struct filter filter;

	filter_init(&filter);
	filter.span = (struct time_span){ 1000 + 100 * 5050, 1000 + 100 * 7049 };
	check_views(&filter, "2000 picked");
	filter_done(&filter);
}

/* The samples of frames that were not read still count as samples of the file. */
static void slices_have_the_samples_of_the_complete_capture(void **state)
{
	struct report_query query = { .thread_count = 3 };
	struct capture *c;
	struct filter filter;
	struct report r;
	struct maker m;
	struct bytes b;

	filter_init(&filter);
	filter.span = (struct time_span){ 1000 + 100 * 100, 1000 + 100 * 199 };
	query.filter = &filter;
	make(&m);
	b = maker_bytes(&m);
	maker_end(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_int_equal(report_open(c, &r), 0);
	assert_int_equal(report_make(&r, &query), 0);
	assert_int_equal(r.picked, 100);
	assert_int_equal(r.stats.event_samples, SAMPLES);
	report_done(&r);
	capture_close(c);
	free(b.data);
	filter_done(&filter);
}

/* The sum of the stacks of each group. */
static void sum_stacks(const struct report *r, struct stack_counter_sum *sums)
{
	for (size_t i = 0; i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];

		sums[e->key.group].sample_count += e->sample_count;
		sums[e->key.group].period_sum += e->period_sum;
	}
}

static const struct stack_counter_sum *sum_of(struct report *r, const struct group *of,
					      const struct stack_counter_sum *sums)
{
	size_t count;
	const struct group *list = groups_list(r->groups, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].pid == of->pid && list[i].time_ns == of->time_ns)
			return &sums[i];
	fail_msg("no group of %u", of->pid);
	return NULL;
}

static void groups_that_are_summed_have_what_their_stacks_had(void **state)
{
	struct report_query query = { .fields = GROUP_PID | GROUP_TIME, .quantum_ns = 50000 };
	struct stack_counter_sum *sums;
	struct capture *c;
	struct report apart, summed;
	struct maker m;
	struct bytes b;
	size_t count, group_count;

	make(&m);
	b = maker_bytes(&m);
	maker_end(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_int_equal(report_open(c, &apart), 0);
	assert_int_equal(report_make(&apart, &query), 0);
	groups_list(apart.groups, &group_count);
	assert_true(group_count > PROCESSES);
	sums = calloc(group_count, sizeof(*sums));
	assert_non_null(sums);
	sum_stacks(&apart, sums);
	query.sum_groups = true;
	for (query.thread_count = 1; query.thread_count <= THREADS_MAX; query.thread_count += 3) {
		const struct group *list;

		assert_int_equal(report_open(c, &summed), 0);
		assert_int_equal(report_make(&summed, &query), 0);
		list = groups_list(summed.groups, &count);
		assert_int_equal(count, group_count);
		assert_int_equal(summed.sum_count, count);
		assert_int_equal(summed.picked, SAMPLES);
		for (size_t i = 0; i < count; i++) {
			const struct stack_counter_sum *want = sum_of(&apart, &list[i], sums);

			assert_int_equal(summed.sums[i].sample_count, want->sample_count);
			assert_int_equal(summed.sums[i].period_sum, want->period_sum);
		}
		assert_true(summed.stacks.entry_count < apart.stacks.entry_count);
		report_done(&summed);
	}
	free(sums);
	report_done(&apart);
	capture_close(c);
	free(b.data);
}

static uint64_t picked(const struct capture *c, const struct filter *filter)
{
	struct report_query query = { .filter = filter, .thread_count = 2 };
	struct report r;
	uint64_t samples;

	assert_int_equal(report_open_later(c, &r), 0);
	assert_int_equal(report_make(&r, &query), 0);
	samples = r.picked;
	report_done(&r);
	return samples;
}

/* Cuts the time at random; also where two samples have one time. */
static void slices_that_partition_the_time_add_up(void **state)
{
	struct capture *c;
	struct maker m;
	struct bytes b;

	make(&m);
	for (unsigned round = 0; round < 5; round++) {
		uint64_t from_ns = 0, sum = 0;
		struct filter filter;

		b = maker_bytes(&m);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		filter_init(&filter);
		while (from_ns < UINT64_MAX) {
			uint64_t to_ns = from_ns + next_random(&m.random) % (SAMPLES * 40);

			if (to_ns > 1000 + 100 * SAMPLES)
				to_ns = UINT64_MAX;
			filter.span = (struct time_span){ from_ns, to_ns };
			sum += picked(c, &filter);
			from_ns = to_ns == UINT64_MAX ? to_ns : to_ns + 1;
		}
		assert_int_equal(sum, SAMPLES);
		filter_done(&filter);
		capture_close(c);
		free(b.data);
	}
	maker_end(&m);
}

static void a_filter_and_its_complement_add_up(void **state)
{
	static const struct {
		int (*add)(struct filter *f, const char *text, struct filter_error *error);
		const char *text, *complement;
	} cases[] = {
		{ filter_add_pids, "1,3,5", "!1,3,5" },
		{ filter_add_tids, "2", "!2" },
		{ filter_add_cpus, "0", "!0" },
		{ filter_add_cpus, "1-3", "!1-3" },
		{ filter_add_comms, "nothing", "!nothing" },
		{ filter_add_pids, "4000000", "!4000000" },
	};
	struct filter_error error;
	struct capture *c;
	struct maker m;
	struct bytes b;

	make(&m);
	b = maker_bytes(&m);
	maker_end(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter is, is_not;

		filter_init(&is);
		filter_init(&is_not);
		assert_int_equal(cases[i].add(&is, cases[i].text, &error), 0);
		assert_int_equal(cases[i].add(&is_not, cases[i].complement, &error), 0);
		assert_int_equal(picked(c, &is) + picked(c, &is_not), SAMPLES);
		filter_done(&is);
		filter_done(&is_not);
	}
	capture_close(c);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_the_same_by_any_number_of_threads),
		cmocka_unit_test(slices_are_the_same_by_any_number_of_threads),
		cmocka_unit_test(slices_have_the_samples_of_the_complete_capture),
		cmocka_unit_test(groups_that_are_summed_have_what_their_stacks_had),
		cmocka_unit_test(slices_that_partition_the_time_add_up),
		cmocka_unit_test(a_filter_and_its_complement_add_up),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
