/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* settling: a model that applies records while more are read answers as one that waits for all */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/modelstory.h"
#include "tests/unit/random.h"
#include "tests/unit/sidestory.h"

/* ---- a model ---- */

#define REPORTS 400
#define IDS     12
#define LATE    60 /* ns that a record may come behind a later one */
#define CODES   50
#define JITS    4 /* of the ids */

struct event {
	char kind; /* f: fork; c: comm; m: map; k: ksymbol */
	uint32_t pid, tid, other;
	uint64_t time_ns, addr;
	bool flag;
};

struct story {
	struct event event[REPORTS], codes[CODES];
	uint64_t open_ns[REPORTS + 1]; /* no later one is earlier */
};

static uint32_t below(uint64_t *seed, uint32_t count)
{
	return (uint32_t)(next_random(seed) >> 20) % count;
}

static struct event make_event(uint64_t *seed, uint64_t time_ns)
{
	struct event t = { .kind = "fcmmk"[below(seed, 5)], .pid = 1 + below(seed, IDS) };

	t.tid = below(seed, 3) ? t.pid : 1 + below(seed, IDS);
	t.other = 1 + below(seed, IDS);
	t.time_ns = time_ns / 4 * 4; /* several at one moment */
	t.addr = AREA * (1 + below(seed, 8));
	t.flag = below(seed, 2);
	return t;
}

static void make_up(struct story *s, uint64_t seed)
{
	uint64_t open_ns = UINT64_MAX;

	for (uint32_t i = 0; i < REPORTS; i++)
		s->event[i] = make_event(&seed, 1000 + 2 * i - below(&seed, LATE));
	for (uint32_t i = 0; i < CODES; i++) {
		s->codes[i] = make_event(&seed, 900 + below(&seed, 2 * REPORTS));
		s->codes[i].pid = 1 + i % JITS;
	}
	s->open_ns[REPORTS] = open_ns;
	for (uint32_t i = REPORTS; i-- > 0; s->open_ns[i] = open_ns)
		if (s->event[i].time_ns < open_ns)
			open_ns = s->event[i].time_ns;
}

static void apply_event(struct fixture *f, const struct event *t)
{
	static const char *const paths[] = { "/a", "/b", "/c", "//anon" };

	if (t->kind == 'f')
		fork_at(f, t->time_ns, t->tid == t->pid ? t->other : t->pid, t->pid, t->tid);
	else if (t->kind == 'c')
		comm_at(f, t->time_ns, t->pid, t->tid, paths[t->other % 4] + 1, t->flag);
	else if (t->kind == 'm')
		map_at(f, t->time_ns, t->pid, t->addr, t->addr + AREA * (1 + t->flag), AREA,
		       paths[t->other % 4]);
	else
		ksymbol_at(f, t->time_ns, t->addr, AREA, paths[t->other % 3], t->flag);
}

static void hear_code(struct fixture *f, const struct story *s)
{
	for (uint32_t i = 0; i < JITS; i++)
		assert_int_equal(process_model_add_jit(f->m, 1 + i), 0);
	for (uint32_t i = 0; i < CODES; i++)
		assert_int_equal(process_model_add_jit_code(f->m, s->codes[i].pid,
							    s->codes[i].time_ns, s->codes[i].addr,
							    AREA / 2, 0x1000000 * i),
				 0);
}

static void check_same(struct fixture *a, struct fixture *b)
{
	for (uint64_t time_ns = 890; time_ns < 1010 + 2 * REPORTS; time_ns += 3) {
		for (uint32_t i = 0; i < IDS * IDS; i++) {
			uint32_t pid = 1 + i % IDS, tid = i % 3 ? pid : 1 + i / IDS;
			uint64_t addr = AREA * (i % 10) + AREA / 4;
			char text[256];

			strcpy(text, ask_thread(a, time_ns, pid, tid, addr));
			assert_string_equal(ask_thread(b, time_ns, pid, tid, addr), text);
			strcpy(text, ask_kernel(a, time_ns, addr));
			assert_string_equal(ask_kernel(b, time_ns, addr), text);
		}
	}
}

static void what_is_settled_early_is_as_if_settled_last(void **state)
{
	struct story s;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct fixture last = setup(), early = setup();
		uint64_t random = seed * 77;

		make_up(&s, seed * 0x9e3779b97f4a7c15u);
		hear_code(&early, &s);
		for (uint32_t i = 0; i < REPORTS; i++) {
			apply_event(&last, &s.event[i]);
			apply_event(&early, &s.event[i]);
			if (!below(&random, 8))
				assert_int_equal(process_model_settle(early.m, s.open_ns[i + 1]),
						 0);
		}
		hear_code(&last, &s);
		seal(&last);
		seal(&early);
		check_same(&last, &early);
		teardown(&last);
		teardown(&early);
	}
}

static void records_that_come_too_late_are_refused(void **state)
{
	struct fixture f = setup();
	const struct perfrec_side fork = {
		.type = PERF_RECORD_FORK,
		.id.time_ns = 99,
		.task = { .pid = 5, .ppid = 1, .tid = 5, .ptid = 1, .time_ns = 99 },
	};

	comm_at(&f, 50, 5, 5, "a", false);
	comm_at(&f, 100, 5, 5, "b", false);
	assert_false(process_model_is_full(f.m));
	assert_int_equal(process_model_settle(f.m, 100), 0);
	assert_int_equal(process_model_add(f.m, &fork), -ESTALE);
	assert_int_equal(process_model_settle(f.m, 60), 0); /* that is known */
	assert_int_equal(process_model_add(f.m, &fork), -ESTALE);
	comm_at(&f, 100, 5, 5, "c", false);
	seal(&f);
	assert_string_equal(ask(&f, 99, 5, 0), "a -");
	assert_string_equal(ask(&f, 100, 5, 0), "c -");
	assert_int_equal(process_model_settle(f.m, 200), -EALREADY);
	teardown(&f);
}

/* ---- a capture ---- */

#define EVENTS    150000u
#define LAG       3000 /* ns, and three flushes */
#define FLUSH     1000
#define ASKED     20000
#define CASE_IDS  700
#define FIRST_PID 10
#define JIT_PID   5

enum trouble { NONE, UNDATED, LYING };

/* No block has the times of plain records. */
static struct bytes make_long(bool plain, enum trouble trouble)
{
	struct bytes b;
	struct maker m;

	maker_begin(&m, plain);
	if (!plain)
		assert_int_equal(writer_object(m.w, EBX_FILE, 1, "\12\0perf-5.map", 12), 0);
	side_put(&m, rec_mmap2(m.rec, JIT_PID, "//anon", 10000), 10000);
	for (uint32_t i = 0; i < EVENTS; i++) {
		happen(&m, CASE_IDS, 10000 + i - pick(&m, LAG));
		if (i % FLUSH == FLUSH - 1)
			assert_int_equal(writer_flush(m.w, true), 0);
	}
	if (trouble == UNDATED) {
		side_put(&m, rec_mmap2(m.rec, FIRST_PID, "/early", 0), 0);
		happen(&m, CASE_IDS, 10000 + EVENTS);
	}
	if (trouble == LYING)
		side_put(&m, rec_comm(m.rec, FIRST_PID, FIRST_PID, "early", 20000), 20000 + EVENTS);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	b = maker_bytes(&m);
	maker_end(&m);
	return b;
}

/* Each block of the side-band once, or those up to the trouble once more. */
static void check_reading(const struct capture *c, const struct world *w, enum trouble trouble)
{
	struct process_model_where where;
	struct process_model_place place;
	size_t count, side_count = 0;
	const struct capture_block *blocks = capture_blocks(c, &count);
	uint64_t all;

	for (size_t i = 0; i < count; i++)
		side_count += blocks[i].stream == EBX_STREAM_SIDE;
	assert_int_equal(capture_blocks_read(c, &all), trouble ? 2 * side_count : side_count);
	process_model_thread(w->model, JIT_PID, JIT_PID, 20000, &where);
	assert_true(process_model_place(w->model, where.space, REC_MMAP2_AT, &place));
	assert_string_equal(process_model_file(w->model, place.file)->path, "/tmp/perf-5.map");
}

static void compare_long(enum trouble trouble)
{
	struct bytes bytes[] = { make_long(true, trouble), make_long(false, trouble) };
	struct capture *c[2];
	struct world w[2];
	uint64_t random = 1;
	size_t count;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(capture_from_bytes(bytes[i].data, bytes[i].size, &c[i], NULL), 0);
		open_world(c[i], NULL, &w[i]);
	}
	assert_int_equal(capture_blocks(c[0], &count)->t_min_ns, 0);
	check_reading(c[1], &w[1], trouble);
	for (int i = 0; i < ASKED; i++) {
		uint32_t pid = FIRST_PID + (i % 4 ? below(&random, CASE_IDS) : 0);
		uint32_t tid = i % 3 ? pid : FIRST_PID + below(&random, CASE_IDS);

		agree(&w[0], &w[1], pid, tid, 6000 + below(&random, EVENTS + 5000));
	}
	assert_int_equal(process_model_epoch_count(w[0].model),
			 process_model_epoch_count(w[1].model));
	for (int i = 0; i < 2; i++) {
		close_world(&w[i]);
		capture_close(c[i]);
		free(bytes[i].data);
	}
}

static void long_captures_are_settled_while_they_are_read(void **state)
{
	compare_long(NONE);
}

static void what_has_no_time_begins_anew(void **state)
{
	compare_long(UNDATED);
}

static void records_outside_of_the_times_of_their_block_begin_anew(void **state)
{
	compare_long(LYING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_settled_early_is_as_if_settled_last),
		cmocka_unit_test(records_that_come_too_late_are_refused),
		cmocka_unit_test(long_captures_are_settled_while_they_are_read),
		cmocka_unit_test(what_has_no_time_begins_anew),
		cmocka_unit_test(records_outside_of_the_times_of_their_block_begin_anew),
	};

	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
