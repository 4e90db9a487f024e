/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_sched - which threads ran, waited and slept, when the events contradict each other
 *
 * A record script (record_script.h) of switches, wakeups, migrations, forks and exits in any order, and of losses, is read from
 * blocks of ours, from those at once, and from a file as perf has it.  With any events, a thread's times add
 * up to what it lived, its intervals touch, and parts of the time to all of it.  The first byte chooses what
 * of this is looked at.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash_index.h"
#include "analyze/fold/count_samples.h"
#include "analyze/sched/offcpu.h"
#include "analyze/sched/stats.h"
#include "tests/fuzz/sched_script.h"

/* The results of runs over the same bytes must be equal: no secret is in them. */
static const struct hash_key digest_key = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { ATTRS = REC_ATTRS + SCHED_SCRIPT_EVENTS };

static void put_events(struct record_script *t)
{
	while (script_goes_on(t)) {
		uint8_t op = cursor_u8(&t->in) % 64;

		if ((op < 12 || op == 13) &&
		    script_op(t, op, op & 1 ? SCHED_SCRIPT_ID : REC_SIDE_ID))
			continue;
		if (op == 12)
			sched_script_sample(t);
		else if (op < 48)
			sched_script_event(t, SCHED_EVENT_SWITCH);
		else
			sched_script_event(t, 1 + op % (SCHED_SCRIPT_EVENTS - 1));
	}
}

/* ---- the order of events ---- */

struct order {
	uint64_t last_ns, hash;
	uint32_t count, stacks;
};

static int on_event(void *ctx, const struct sched_event *e, uint32_t number)
{
	struct order *o = ctx;

	script_must(number == o->count++ && e->time_ns >= o->last_ns);
	o->last_ns = e->time_ns;
	/* Numbers of stacks are those of the order in which frames are read. */
	script_must((e->stack != SCHED_EVENT_NONE) == (e->kind == SCHED_EVENT_SWITCH && e->weight));
	o->stacks += e->stack != SCHED_EVENT_NONE;
	o->hash = hash_pair(&digest_key, o->hash, e->time_ns);
	o->hash = hash_pair(&digest_key, o->hash, (uint64_t)e->tid << 32 | e->next_tid);
	o->hash = hash_pair(&digest_key, o->hash, (uint64_t)e->cpu << 32 | e->state << 8 | e->kind);
	return 0;
}

static bool wants_all(void *ctx, uint32_t first, uint32_t count)
{
	return count;
}

static int on_stack(void *ctx, const struct sched_event *e, struct perf_sample *sample,
		    const struct capture_attr *attr)
{
	uint32_t *left = ctx;

	script_must(*left && attr && e->weight && sample->time_ns == e->time_ns);
	--*left;
	return 0;
}

/* -EAGAIN: blocks do not have their contents in their heads. */
static int walk(const struct capture *c, bool complete, struct order *out)
{
	struct order o = { 0 };
	const struct sched_order_taker taker = { wants_all, on_stack, &o.stacks };
	struct string_table *names;
	struct sched_order *f;
	int err;

	script_must(!string_table_new(&names) && !sched_order_open(c, names, complete, &f));
	err = sched_order_walk(f, on_event, &o);
	script_must(!err || (err == -EAGAIN && !complete));
	if (!err) {
		script_must(sched_order_stack_count(f) == o.stacks);
		script_must(!sched_order_stacks(f, &taker) && !o.stacks);
	}
	sched_order_free(f);
	string_table_free(names);
	*out = o;
	return err;
}

static void check_order(const struct capture *ours, const struct capture *plain)
{
	struct order complete, again, parts, other;

	script_must(!walk(ours, true, &complete) && !walk(ours, true, &again));
	script_must(complete.hash == again.hash && complete.count == again.count);
	if (!walk(ours, false, &parts))
		script_must(parts.hash == complete.hash && parts.count == complete.count);
	script_must(!walk(plain, true, &other));
	script_must(other.hash == complete.hash && other.count == complete.count);
}

/* ---- intervals ---- */

#define THREADS_MAX 8192

struct lives {
	const struct sched_replay *run;
	uint64_t end_ns[THREADS_MAX]; /* of each thread's last interval */
	bool begun[THREADS_MAX];
};

static int begin(void *ctx, const struct sched_replay *run)
{
	memset(ctx, 0, sizeof(struct lives));
	((struct lives *)ctx)->run = run;
	return 0;
}

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct lives *l = ctx;
	size_t count;

	(void)thread_states_threads(l->run->timeline, &count);
	script_must(i->thread < count && count <= THREADS_MAX && i->state < THREAD_STATES_COUNT);
	script_must(i->from_ns <= i->to_ns);
	if (i->state != THREAD_STATES_RUN && i->state != THREAD_STATES_WAIT)
		script_must(i->from_ns < i->to_ns);
	if (l->begun[i->thread])
		script_must(l->end_ns[i->thread] == i->from_ns);
	l->begun[i->thread] = true;
	l->end_ns[i->thread] = i->to_ns;
	return 0;
}

/* ---- sums ---- */

struct sum {
	uint64_t elapsed_ns, ns[THREAD_STATES_COUNT];
	uint64_t switches, wakeups, threads, broken, lost, hash;
};

/* 0, or -ENODATA. */
static int add_up(const struct capture *c, const struct filter *filter, struct sum *out)
{
	struct lives *lives = malloc(sizeof(*lives));
	struct string_table *names;
	struct sched_stats s;
	struct sched_replay run = { 0 };
	struct sum sum = { 0 };
	int err;

	script_must(lives && !string_table_new(&names));
	{
		const struct sched_replay_user users[] = { sched_stats_user(&s, filter, true),
							   { begin, on_interval, NULL, lives } };

		err = sched_replay_make(c, names, filter, users, 2, &run);
	}
	script_must(!err || err == -ENODATA);
	if (!err)
		script_must(!sched_stats_finish(&s));
	for (size_t i = 0; i < s.thread_count; i++) {
		const struct sched_stats_thread *th = &s.threads[i];
		uint64_t ns = 0;

		for (unsigned k = 0; k < THREAD_STATES_COUNT; k++) {
			ns += th->ns[k];
			sum.ns[k] += th->ns[k];
		}
		script_must(ns == th->elapsed_ns);
		sum.elapsed_ns += ns;
		sum.hash += hash_pair(&digest_key, hash_pair(&digest_key, th->tid, ns),
				      th->ns[THREAD_STATES_RUN] ^ th->runs);
		sum.hash += hash_pair(&digest_key, th->voluntary, th->wakeups);
	}
	sum.switches = s.switches;
	sum.wakeups = s.wakeups;
	sum.threads = s.thread_count;
	sum.lost = s.lost;
	sum.broken = s.broken;
	sched_replay_done(&run);
	sched_stats_done(&s);
	string_table_free(names);
	free(lives);
	*out = sum;
	return err;
}

static void agree(const struct sum *a, const struct sum *b, const char *what)
{
	if (!memcmp(a, b, sizeof(*a)))
		return;
	fprintf(stderr, "%s: %llu threads, %llu ns, and %llu, %llu\n", what,
		(unsigned long long)a->threads, (unsigned long long)a->elapsed_ns,
		(unsigned long long)b->threads, (unsigned long long)b->elapsed_ns);
	abort();
}

/* Three parts that touch: both ends of a span belong to it, so each begins where the other ends. */
static void check_parts(const struct capture *c, const struct sum *complete)
{
	struct filter filter;
	struct sum all = { 0 }, one;
	uint64_t from_ns = 0;

	for (unsigned i = 0; i < 3; i++) {
		filter_init(&filter);
		filter.span.from_ns = from_ns;
		filter.span.to_ns = i == 2 ? UINT64_MAX : SCRIPT_BEGIN_NS + 500 * (i + 1);
		from_ns = filter.span.to_ns;
		script_must(!add_up(c, &filter, &one));
		filter_done(&filter);
		all.elapsed_ns += one.elapsed_ns;
		for (unsigned k = 0; k < THREAD_STATES_COUNT; k++)
			all.ns[k] += one.ns[k];
	}
	script_must(all.elapsed_ns == complete->elapsed_ns);
	script_must(!memcmp(all.ns, complete->ns, sizeof(all.ns)));
}

/* ---- time off the CPU ---- */

/* With the time on it, what waits and samples share is what the threads lived. */
static void check_wall(const struct capture *c, const struct sum *complete)
{
	struct string_table *names;
	struct filter filter;
	struct offcpu_query q = { .filter = &filter };
	struct offcpu o = { 0 };
	struct stack_counter *s = NULL;
	struct load_scan scan;
	struct process_model *m;
	bool saturated = false;
	uint64_t ns = 0;
	size_t count;

	filter_init(&filter);
	script_must(!string_table_new(&names) && !groups_new(GROUP_COMM, 1, &q.groups));
	script_must(!load_model(c, names, NULL, &m, &scan));
	q.wall = capture_attrs(c, &count);
	q.later = &scan.later;
	script_must(!offcpu_load(c, m, names, &q, &s, &o));
	script_must(!stack_counter_finish(s) && !stack_counter_settle(s));
	for (size_t i = 0; i < stack_counter_stacks(s)->entry_count; i++) {
		ns += stack_counter_stacks(s)->entries[i].period_sum;
		saturated |= stack_counter_stacks(s)->entries[i].period_sum == UINT64_MAX;
	}
	/* A stack has more time than a number holds: what all threads lived is another sum. */
	if (ns != complete->elapsed_ns && !saturated) {
		fprintf(stderr, "wall: %llu of %llu ns\n", (unsigned long long)ns,
			(unsigned long long)complete->elapsed_ns);
		abort();
	}
	stack_counter_free(s);
	offcpu_done(&o);
	load_scan_done(&scan);
	process_model_free(m);
	groups_free(q.groups);
	filter_done(&filter);
	string_table_free(names);
}

/* ---- all of it ---- */

/* how: what is looked at, since each of it takes as long as all the rest. */
static void check(struct record_script *t, const struct writer_opts *opts, unsigned how)
{
	struct script_capture ours = script_open(t, *opts, false),
			      plain = script_open(t, *opts, true);
	struct filter filter;
	struct sum one, two;
	int err;

	filter_init(&filter);
	if (how == 0) {
		check_order(ours.c, plain.c);
	} else {
		err = add_up(ours.c, &filter, &one);
		if (how == 1) {
			script_must(add_up(plain.c, &filter, &two) == err);
			agree(&one, &two, "perf's");
		} else if (!err) {
			(how == 2 ? check_parts : check_wall)(ours.c, &one);
		}
	}
	filter_done(&filter);
	script_close(&ours);
	script_close(&plain);
}

static void make_attrs(struct writer_attr attrs[ATTRS], uint64_t ids[SCHED_SCRIPT_EVENTS])
{
	rec_attrs(attrs);
	for (unsigned i = 0; i < SCHED_SCRIPT_EVENTS; i++) {
		ids[i] = SCHED_SCRIPT_ID + i;
		attrs[REC_ATTRS + i] = attrs[2];
		attrs[REC_ATTRS + i].attr.type = PERF_TYPE_TRACEPOINT;
		attrs[REC_ATTRS + i].attr.config = ids[i];
		attrs[REC_ATTRS + i].ids = &ids[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct record_script *t = calloc(1, sizeof(*t));
	struct writer_feature feature = { .bit = PERFFILE_TRACING_DATA };
	struct writer_attr attrs[ATTRS];
	uint64_t ids[SCHED_SCRIPT_EVENTS];
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = size_bytes && data[0] & 2 ? ATTRS - 2 : ATTRS, /* without forks */
		.features = &feature,
		.feature_count = 1,
		.level = 1,
		.uuid = "fuzz",
	};
	uint8_t *tracing = NULL, how;

	script_must(t && !trace_data_build(sched_script_formats, SCHED_SCRIPT_EVENTS, NULL,
					   &tracing, &feature.size_bytes));
	feature.data = tracing;
	t->in = cursor_of(data, size_bytes);
	t->now_ns = SCRIPT_BEGIN_NS;
	how = cursor_u8(&t->in);
	t->liar = how & 1;
	t->later = how & 16;
	make_attrs(attrs, ids);
	if (t->later)
		script_defers(&attrs[0].attr);
	put_events(t);
	check(t, &opts, how / 4 % 4);
	script_done(t);
	free(tracing);
	free(t);
	return 0;
}
