/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Switches in frames that overlap, lie, or lose: in what order they come, and what is known before. */
#include "analyze/sched/order.h"
#include "analyze/sched/replay.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "format/perf/trace_data.h"
#include "tests/lib/gen/captures.h"

enum { SWITCH_ID = 204, RAW_BYTES = 68, MOST = 64 };

#define FIELD(decl, off, size) "\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"

static const struct trace_data_event switch_event = {
	"sched",
	"name: sched_switch\nID: 204\nformat:\n" FIELD("unsigned short common_type", 0,
						       2) FIELD("unsigned char common_flags", 2, 1)
		FIELD("unsigned char common_preempt_count", 3, 1) FIELD("int common_pid", 4, 4)
			FIELD("char prev_comm[16]", 8, 16) FIELD("pid_t prev_pid", 24, 4)
				FIELD("int prev_prio", 28, 4) FIELD("long prev_state", 32, 8) FIELD(
					"char next_comm[16]", 40, 16) FIELD("pid_t next_pid", 56, 4)
					FIELD("int next_prio", 60, 4) "\nprint fmt: \"\"\n",
};

static void begin(struct maker *m, bool plain)
{
	static const uint64_t id = SWITCH_ID;
	struct writer_attr attrs[REC_ATTRS + 1];
	struct writer_feature feature = { .bit = PERFFILE_TRACING_DATA };
	struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = REC_ATTRS + 1,
		.features = &feature,
		.feature_count = 1,
		.uuid = "schedflow",
		.level = 1,
		.plain = plain,
	};
	uint8_t *tracing;

	rec_attrs(attrs);
	attrs[REC_ATTRS] = attrs[2];
	attrs[REC_ATTRS].attr.type = PERF_TYPE_TRACEPOINT;
	attrs[REC_ATTRS].attr.config = SWITCH_ID;
	attrs[REC_ATTRS].ids = &id;
	assert_int_equal(trace_data_build(&switch_event, 1, NULL, &tracing, &feature.size_bytes),
			 0);
	feature.data = tracing;
	m->fd = memfd_create("capture", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	assert_int_equal(writer_new(m->fd, &opts, &m->w), 0);
	free(tracing);
}

/* From tid to tid + 1, with a stack when tid % 2 is 1.  block_ns: its time in the head of its block. */
static void put(struct maker *m, uint64_t time_ns, uint64_t block_ns, uint32_t tid,
		size_t raw_bytes)
{
	size_t count = tid % 2, at = 64 + 8 * count;
	uint8_t *raw = m->rec + at + 4;

	memset(m->rec, 0, at + 4 + RAW_BYTES);
	le64_store(m->rec + 8, SWITCH_ID);
	le32_store(m->rec + 24, tid);
	le32_store(m->rec + 28, tid);
	le64_store(m->rec + 32, time_ns);
	le64_store(m->rec + 40, tid % 3); /* its CPU */
	le64_store(m->rec + 48, 1);
	le64_store(m->rec + 56, count);
	le32_store(m->rec + at, (uint32_t)raw_bytes);
	le16_store(raw, SWITCH_ID);
	le32_store(raw + 24, tid);
	le64_store(raw + 32, SCHED_EVENT_SLEEP);
	le32_store(raw + 56, tid + 1);
	assert_int_equal(writer_record(m->w, EBX_STREAM_SCHED, m->rec,
				       rec_finish(m->rec, at + 4 + raw_bytes, PERF_RECORD_SAMPLE,
						  PERF_RECORD_MISC_KERNEL),
				       block_ns, (int)(tid % 3)),
			 0);
}

static void at(struct maker *m, uint64_t time_ns, uint32_t tid)
{
	put(m, time_ns, time_ns, tid, RAW_BYTES);
}

static void lost(struct maker *m, enum ebx_stream stream, uint64_t count)
{
	le64_store(m->rec + 8, SWITCH_ID);
	le64_store(m->rec + 16, count);
	assert_int_equal(writer_record(m->w, stream, m->rec,
				       rec_finish(m->rec, rec_tail(m->rec, 24, 0, 0, 150),
						  PERF_RECORD_LOST, 0),
				       150, -1),
			 0);
}

static void next_frame(struct maker *m)
{
	assert_int_equal(writer_flush(m->w, true), 0);
}

/* Three frames that overlap, the earliest last; equal times, within a frame and across. */
static void put_events(struct maker *m)
{
	at(m, 200, 1);
	at(m, 300, 2);
	at(m, 250, 3);
	at(m, 250, 5);
	next_frame(m);
	at(m, 250, 7);
	at(m, 400, 8);
	at(m, 200, 9);
	next_frame(m);
	at(m, 150, 11);
	at(m, 100, 12);
	at(m, 260, 13);
	next_frame(m);
}

static const char ORDERED[] = "100:12 150:11 200:1 200:9 250:3 250:5 250:7 260:13 300:2 400:8 ";

struct reader {
	struct bytes bytes;
	struct capture *c;
	struct string_table *names;
	struct sched_order *flow;
	char got[1024];
	uint32_t count;
	uint32_t by_stack[MOST]; /* tid; 0: none */
	uint32_t stacks;
	uint32_t only; /* tid whose frame's stacks are wanted; 0: all */
	int begun;
};

static void open_reader(struct maker *m, struct reader *r)
{
	*r = (struct reader){ 0 };
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
	r->bytes = maker_bytes(m);
	maker_end(m);
	assert_int_equal(capture_from_bytes(r->bytes.data, r->bytes.size, &r->c, NULL), 0);
	assert_int_equal(string_table_new(&r->names), 0);
}

static void close_reader(struct reader *r)
{
	sched_order_free(r->flow);
	string_table_free(r->names);
	capture_close(r->c);
	free(r->bytes.data);
}

static int on_event(void *ctx, const struct sched_event *e, uint32_t number)
{
	struct reader *r = ctx;
	size_t used = strlen(r->got);

	assert_int_equal(number, r->count++);
	snprintf(r->got + used, sizeof(r->got) - used, "%llu:%u ", (unsigned long long)e->time_ns,
		 e->tid);
	assert_int_equal(e->stack != SCHED_EVENT_NONE, e->tid % 2);
	if (e->stack != SCHED_EVENT_NONE) {
		assert_in_range(e->stack, 0, MOST - 1);
		assert_int_equal(r->by_stack[e->stack], 0);
		r->by_stack[e->stack] = e->tid;
		r->stacks++;
	}
	return 0;
}

static bool wants_stack(void *ctx, uint32_t first, uint32_t count)
{
	const struct reader *r = ctx;

	for (uint32_t i = first; i < first + count; i++)
		if (!r->only || r->by_stack[i] == r->only)
			return true;
	return false;
}

static int on_stack(void *ctx, const struct sched_event *e, struct perf_sample *sample,
		    const struct capture_attr *attr)
{
	struct reader *r = ctx;

	assert_int_equal(attr->attr.type, PERF_TYPE_TRACEPOINT);
	assert_in_range(e->stack, 0, MOST - 1);
	assert_int_equal(r->by_stack[e->stack], e->tid);
	assert_int_equal(sample->tid, e->tid);
	assert_int_equal(sample->chain_count, 1);
	r->stacks--;
	return 0;
}

static int walk(struct reader *r, bool all_stacks)
{
	const struct sched_order_taker taker = { wants_stack, on_stack, r };
	int err;

	sched_order_free(r->flow);
	memset(r->got, 0, sizeof(r->got));
	memset(r->by_stack, 0, sizeof(r->by_stack));
	r->count = r->stacks = 0;
	assert_int_equal(sched_order_open(r->c, r->names, all_stacks, &r->flow), 0);
	err = sched_order_walk(r->flow, on_event, r);
	if (!err) {
		assert_int_equal(sched_order_stack_count(r->flow), r->stacks);
		assert_int_equal(sched_order_stacks(r->flow, &taker), 0);
		if (!r->only)
			assert_int_equal(r->stacks, 0);
	}
	return err;
}

static void events_come_in_order_of_time_and_then_of_the_file(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	for (int plain = 0; plain < 2; plain++) {
		begin(&m, plain);
		put_events(&m);
		open_reader(&m, &r);
		for (int all_stacks = 0; all_stacks < 2; all_stacks++) {
			assert_int_equal(walk(&r, all_stacks), 0);
			assert_string_equal(r.got, ORDERED);
			assert_true(sched_order_facts(r.flow)->has_switches);
			assert_int_equal(sched_order_facts(r.flow)->start_ns, 100);
			assert_int_equal(sched_order_facts(r.flow)->end_ns, 400);
		}
		close_reader(&r);
	}
}

static void frames_without_a_stack_that_is_wanted_are_left_out(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	begin(&m, false);
	put_events(&m);
	open_reader(&m, &r);
	r.only = 9; /* beside 7, in the second frame of three */
	assert_int_equal(walk(&r, false), 0);
	assert_int_equal(sched_order_stack_count(r.flow) - r.stacks, 2);
	close_reader(&r);
}

static void a_frame_that_is_of_another_time_is_found_out(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	begin(&m, false);
	put_events(&m);
	at(&m, 500, 15);
	put(&m, 120, 550, 17, RAW_BYTES);
	open_reader(&m, &r);
	assert_int_equal(walk(&r, false), -EAGAIN);
	assert_int_equal(walk(&r, true), 0);
	assert_string_equal(r.got, "100:12 120:17 150:11 200:1 200:9 250:3 250:5 250:7 260:13 "
				   "300:2 400:8 500:15 ");
	assert_int_equal(sched_order_facts(r.flow)->end_ns, 500);
	close_reader(&r);
}

static void what_cannot_be_read_or_is_lost_on_the_way_is_found_out(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		begin(&m, false);
		put_events(&m);
		if (cut)
			put(&m, 600, 600, 19, RAW_BYTES - 16);
		else
			lost(&m, EBX_STREAM_SCHED, 7);
		open_reader(&m, &r);
		assert_int_equal(walk(&r, false), -EAGAIN);
		assert_int_equal(walk(&r, true), 0);
		assert_string_equal(r.got, ORDERED);
		assert_int_equal(sched_order_facts(r.flow)->lost, cut ? 0 : 7);
		assert_int_equal(sched_order_facts(r.flow)->broken, cut);
		close_reader(&r);
	}
}

static void the_last_moment_there_can_be_is_passed_on(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	begin(&m, false);
	at(&m, UINT64_MAX, 1);
	at(&m, 5, 2);
	open_reader(&m, &r);
	for (int all_stacks = 0; all_stacks < 2; all_stacks++) {
		assert_int_equal(walk(&r, all_stacks), 0);
		assert_string_equal(r.got, "5:2 18446744073709551615:1 ");
	}
	close_reader(&r);
}

/* ---- the same, played ---- */

static int on_begin(void *ctx, const struct sched_replay *run)
{
	struct reader *r = ctx;

	assert_true(run->end_ns > run->start_ns);
	memset(r->got, 0, sizeof(r->got));
	r->begun++;
	return 0;
}

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	(void)ctx;
	(void)i;
	return 0;
}

static int on_played(void *ctx, const struct sched_event *e)
{
	struct reader *r = ctx;
	size_t used = strlen(r->got);

	snprintf(r->got + used, sizeof(r->got) - used, "%llu:%u ", (unsigned long long)e->time_ns,
		 e->tid);
	return 0;
}

static void play(struct reader *r, int begun, uint64_t lost_events, uint64_t broken)
{
	const struct sched_replay_user user = { on_begin, on_interval, on_played, r };
	struct filter filter;
	struct sched_replay run = { 0 };

	filter_init(&filter);
	assert_int_equal(sched_replay_make(r->c, r->names, &filter, &user, 1, &run), 0);
	assert_int_equal(r->begun, begun);
	assert_int_equal(run.lost, lost_events);
	assert_int_equal(run.broken, broken);
	assert_string_equal(r->got, ORDERED);
	sched_replay_done(&run);
	filter_done(&filter);
}

static void losses_of_the_side_band_are_known_before(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	begin(&m, false);
	put_events(&m);
	lost(&m, EBX_STREAM_SIDE, 5);
	open_reader(&m, &r);
	play(&r, 1, 5, 0);
	close_reader(&r);
}

static void readers_that_got_a_wrong_order_begin_anew(void **state)
{
	struct reader r;
	struct maker m;

	(void)state;
	begin(&m, false);
	put_events(&m);
	lost(&m, EBX_STREAM_SIDE, 5);
	lost(&m, EBX_STREAM_SCHED, 7);
	put(&m, 600, 600, 19, RAW_BYTES - 16);
	open_reader(&m, &r);
	play(&r, 2, 12, 1);
	close_reader(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_in_order_of_time_and_then_of_the_file),
		cmocka_unit_test(frames_without_a_stack_that_is_wanted_are_left_out),
		cmocka_unit_test(a_frame_that_is_of_another_time_is_found_out),
		cmocka_unit_test(what_cannot_be_read_or_is_lost_on_the_way_is_found_out),
		cmocka_unit_test(the_last_moment_there_can_be_is_passed_on),
		cmocka_unit_test(losses_of_the_side_band_are_known_before),
		cmocka_unit_test(readers_that_got_a_wrong_order_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
