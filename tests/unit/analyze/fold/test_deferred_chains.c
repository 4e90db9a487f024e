/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/fold/location/callchain.h"
#include "analyze/fold/deferred_chains.h"
#include "analyze/fold/count_samples.h"
#include "tests/lib/gen/captures.h"

#define LATER CALLCHAIN_USER_DEFERRED
#define K     PERF_CONTEXT_KERNEL
#define U     PERF_CONTEXT_USER

static void add(struct deferred_chains *l, uint32_t tid, uint64_t cookie, const uint64_t *frames,
		size_t count)
{
	const struct perfrec_later later = { cookie, (const uint8_t *)frames, count };

	assert_int_equal(deferred_chains_add(l, tid, &later), 0);
}

/* The chain of a sample of this thread, joined, is this one. */
static void check(const struct deferred_chains *l, uint32_t tid, const uint64_t *chain,
		  size_t count, const uint64_t *want, size_t want_count)
{
	struct perf_sample s = {
		.tid = tid,
		.chain = (const uint8_t *)chain,
		.chain_count = count,
	};
	struct deferred_chains_room room = { 0 };

	assert_int_equal(deferred_chains_join(l, &s, &room), 0);
	assert_int_equal(s.chain_count, want_count);
	assert_memory_equal(s.chain, want, want_count * sizeof(*want));
	free(room.words);
}

#define SIZE(a) (sizeof(a) / sizeof(*(a)))

#define CHECK(l, tid, chain, ...)                                                \
	do {                                                                     \
		const uint64_t check_want[] = { __VA_ARGS__ };                   \
		check(l, tid, chain, SIZE(chain), check_want, SIZE(check_want)); \
	} while (0)

static void frames_take_the_place_of_marker_and_cookie(void **state)
{
	const uint64_t frames[] = { 0x401000, 0x402000 }, kernel[] = { K, 0xf1, 0xf2, LATER, 77 },
		       alone[] = { LATER, 77 }, middle[] = { LATER, 77, K, 0xf3 };
	struct deferred_chains l = { 0 };

	add(&l, 5, 77, frames, 2);
	CHECK(&l, 5, kernel, K, 0xf1, 0xf2, U, 0x401000, 0x402000);
	CHECK(&l, 5, alone, U, 0x401000, 0x402000);
	CHECK(&l, 5, middle, U, 0x401000, 0x402000, K, 0xf3);
	deferred_chains_done(&l);
}

static void what_is_not_there_changes_nothing(void **state)
{
	const uint64_t frames[] = { 0x401000 }, none[] = { U, 0x401000 },
		       cut[] = { K, 0xf1, LATER }, other[] = { LATER, 78 }, own[] = { LATER, 77 };
	struct deferred_chains l = { 0 };

	CHECK(&l, 5, own, LATER, 77); /* nothing came */
	add(&l, 5, 77, frames, 1);
	CHECK(&l, 5, none, U, 0x401000);
	CHECK(&l, 5, cut, K, 0xf1, LATER); /* the cookie is missing */
	CHECK(&l, 5, other, LATER, 78);
	CHECK(&l, 6, own, LATER, 77); /* another thread's */
	deferred_chains_done(&l);
}

static void a_part_without_frames_is_no_user_part(void **state)
{
	const uint64_t chain[] = { K, 0xf1, LATER, 77 };
	struct deferred_chains l = { 0 };

	add(&l, 5, 77, chain, 0);
	CHECK(&l, 5, chain, K, 0xf1, U);
	deferred_chains_done(&l);
}

static void equal_parts_are_stored_once_and_the_first_counts(void **state)
{
	const uint64_t frames[] = { 0x401000, 0x402000 }, more[] = { 0x403000 };
	struct deferred_chains l = { 0 };

	for (uint64_t cookie = 0; cookie < 1000; cookie++)
		add(&l, 5, cookie, frames, 2);
	add(&l, 6, 3, more, 1);
	add(&l, 5, 3, more, 1);
	assert_int_equal(l.key_count, 1001);
	assert_int_equal(l.part_count, 2);
	assert_int_equal(l.word_count, 3);
	CHECK(&l, 5, ((const uint64_t[]){ LATER, 3 }), U, 0x401000, 0x402000);
	CHECK(&l, 6, ((const uint64_t[]){ LATER, 3 }), U, 0x403000);
	deferred_chains_done(&l);
}

/* Three samples for each part, which comes behind them. */
static void make(struct maker *m, bool plain)
{
	uint64_t frames[] = { REC_MMAP2_AT + 0x10, REC_MMAP2_AT + 0x20 };
	uint64_t chain[] = { LATER, 0 };
	struct rec_sample s = { .pid = 10, .tid = 10, .chain = chain, .chain_count = 2 };
	size_t size;

	maker_begin(m, plain);
	maker_comm(m, 10, "late", 5);
	size = rec_mmap2(m->rec, 10, "/bin/late", 6);
	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, 6, -1), 0);
	for (uint64_t i = 0; i < 300; i++) {
		chain[1] = i / 3;
		s.time_ns = 1000 + i;
		size = rec_sample(m->rec, &s);
		assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, s.time_ns, 0),
				 0);
		if (i % 3 < 2)
			continue;
		frames[0] = REC_MMAP2_AT + 0x10 + i / 3 % 2 * 0x100;
		le64_store(m->rec + 8, i / 3);
		le64_store(m->rec + 16, 2);
		memcpy(m->rec + 24, frames, sizeof(frames));
		size = rec_finish(m->rec, rec_tail(m->rec, 40, 10, 10, s.time_ns), PERFREC_LATER,
				  PERF_RECORD_MISC_USER);
		assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, s.time_ns, -1),
				 0);
	}
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

static void samples_are_counted_with_the_parts_that_came_later(void **state)
{
	for (unsigned turn = 0; turn < 4; turn++) {
		struct load_query q = { .thread_count = 1 + turn / 2 };
		const struct stack_table *stacks;
		struct load_stats stats;
		struct string_table *names;
		struct load_scan scan;
		struct process_model *model;
		struct stack_counter *s;
		struct capture *c;
		struct maker m;
		struct bytes b;

		make(&m, turn % 2);
		b = maker_bytes(&m);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		assert_int_equal(string_table_new(&names), 0);
		assert_int_equal(load_model(c, names, NULL, &model, &scan), 0);
		q.names = names;
		q.later = &scan.later;
		assert_int_equal(load_samples(c, model, &q, &s, &stats), 0);
		assert_int_equal(stack_counter_finish(s), 0);
		assert_int_equal(stack_counter_settle(s), 0);
		assert_int_equal(stack_counter_counts(s)->samples, 300);
		assert_int_equal(stack_counter_counts(s)->deferred, 0);
		stacks = stack_counter_stacks(s);
		assert_int_equal(stacks->entry_count, 2);
		assert_int_equal(stacks->node_count, STACK_TABLE_FIRST_NODE + 3);
		assert_int_equal(stacks->entries[0].sample_count, 150);
		stack_counter_free(s);
		load_scan_done(&scan);
		process_model_free(model);
		string_table_free(names);
		capture_close(c);
		free(b.data);
		maker_end(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_take_the_place_of_marker_and_cookie),
		cmocka_unit_test(what_is_not_there_changes_nothing),
		cmocka_unit_test(a_part_without_frames_is_no_user_part),
		cmocka_unit_test(equal_parts_are_stored_once_and_the_first_counts),
		cmocka_unit_test(samples_are_counted_with_the_parts_that_came_later),
	};

	return cmocka_run_group_tests_name("laterchains", tests, NULL, NULL);
}
