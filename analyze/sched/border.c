/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/border.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/input/capture_meta.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/slice_border.h"
#include "analyze/sched/order.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"
#include "format/perf/trace_data.h"

/* An event, by what no other one of its thread has. */
struct chosen {
	uint64_t time_ns;
	uint32_t tid;      /* that leaves, is woken or forked */
	uint32_t next_tid; /* of a switch; else 0 */
	uint8_t kind;      /* enum sched_event_kind */
};

/* The events of a thread; time_ns 0: none. */
struct thread {
	uint32_t tid;
	struct chosen left, came, woken, forked;
	uint64_t woken_ns; /* behind the span, by an event that was chosen */
	bool is_gone;      /* before the span: left is how it went */
	bool was_forked;   /* behind the span, by forked: it is no thread of it */
	bool has_left, has_come;
};

struct border {
	struct time_span span;
	struct thread *threads;
	size_t count, capacity;
	struct hash_index index; /* by tid */
	struct chosen *on_cpu;   /* the last switch of each CPU */
	size_t cpu_count, cpu_capacity;
	struct chosen *list;
	size_t list_count, list_capacity;
	bool is_behind;
};

static int thread_of(struct border *b, uint32_t tid, struct thread **out)
{
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(&b->index) || vec_reserve(&b->threads, &b->capacity, b->count + 1))
		return -ENOMEM;
	hash = hash_index_pair(&b->index, tid, 0);
	pos = hash_index_start(&b->index, hash);
	while ((id = hash_index_match(&b->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (b->threads[id].tid == tid) {
			*out = &b->threads[id];
			return 0;
		}
	}
	hash_index_put(&b->index, hash, pos, (uint32_t)b->count);
	b->threads[b->count] = (struct thread){ .tid = tid };
	*out = &b->threads[b->count++];
	return 0;
}

static int choose(struct border *b, const struct chosen *one)
{
	if (!one->time_ns)
		return 0;
	if (vec_reserve(&b->list, &b->list_capacity, b->list_count + 1))
		return -ENOMEM;
	b->list[b->list_count++] = *one;
	return 0;
}

/* ---- before the span ---- */

static int see_switch_before(struct border *b, const struct sched_event *e,
			     const struct chosen *this)
{
	struct thread *th;
	size_t old = b->cpu_count;
	int err = 0;

	if (e->cpu >= b->cpu_count) {
		if (vec_reserve(&b->on_cpu, &b->cpu_capacity, (size_t)e->cpu + 1))
			return -ENOMEM;
		for (b->cpu_count = (size_t)e->cpu + 1; old < b->cpu_count; old++)
			b->on_cpu[old] = (struct chosen){ 0 };
	}
	b->on_cpu[e->cpu] = *this;
	if (e->tid)
		err = thread_of(b, e->tid, &th);
	if (!err && e->tid) {
		th->left = *this;
		th->woken = (struct chosen){ 0 };
		th->is_gone = e->state & (SCHED_EVENT_DEAD | SCHED_EVENT_ZOMBIE);
	}
	if (!err && e->next_tid)
		err = thread_of(b, e->next_tid, &th);
	if (!err && e->next_tid)
		th->came = *this;
	return err;
}

static int see_before(struct border *b, const struct sched_event *e)
{
	const struct chosen this = { e->time_ns, e->tid, e->next_tid, e->kind };
	struct thread *th;
	int err;

	if (e->kind == SCHED_EVENT_SWITCH)
		return see_switch_before(b, e, &this);
	if (e->kind != SCHED_EVENT_WAKEUP && e->kind != SCHED_EVENT_WAKEUP_NEW &&
	    e->kind != SCHED_EVENT_FORK)
		return 0;
	err = thread_of(b, e->tid, &th);
	if (err)
		return err;
	if (e->kind == SCHED_EVENT_FORK)
		*th = (struct thread){ .tid = e->tid, .forked = this };
	else if (!th->woken.time_ns)
		th->woken = this;
	return 0;
}

/* A thread that has gone and stands in a chosen switch with another would be there still. */
static int choose_end(struct border *b, uint32_t tid)
{
	struct thread *th;
	struct chosen end;
	int err = tid ? thread_of(b, tid, &th) : 0;

	if (err || !tid || !th->is_gone)
		return err;
	th->is_gone = false; /* it is chosen */
	end = th->left;
	return choose(b, &end);
}

static int choose_before(struct border *b)
{
	int err = 0;

	for (size_t i = 0; !err && i < b->cpu_count; i++)
		err = choose(b, &b->on_cpu[i]);
	for (size_t i = 0; !err && i < b->count; i++) {
		if (b->threads[i].is_gone)
			continue;
		err = choose(b, &b->threads[i].left);
		if (!err)
			err = choose(b, &b->threads[i].came);
		if (!err)
			err = choose(b, &b->threads[i].woken);
		if (!err)
			err = choose(b, &b->threads[i].forked);
	}
	/* The list grows by switches with others. */
	for (size_t i = 0; !err && i < b->list_count; i++) {
		err = choose_end(b, b->list[i].tid);
		if (!err)
			err = choose_end(b, b->list[i].next_tid);
	}
	return err;
}

/* ---- behind it ---- */

/* A new thread that stands in a chosen switch with one of the span is no thread of that by its fork. */
static int choose_fork(struct border *b, uint32_t tid)
{
	struct thread *th;
	struct chosen fork;
	int err = tid ? thread_of(b, tid, &th) : 0;

	if (err || !tid || !th->was_forked)
		return err;
	fork = th->forked;
	th->forked.time_ns = 0; /* it is chosen */
	return choose(b, &fork);
}

static int see_switch_behind(struct border *b, const struct sched_event *e,
			     const struct chosen *this)
{
	struct thread *th;
	bool wanted = false;
	int err = e->tid ? thread_of(b, e->tid, &th) : 0;

	if (!err && e->tid && !th->was_forked && !th->has_left)
		wanted = th->has_left = true;
	if (!err && e->next_tid)
		err = thread_of(b, e->next_tid, &th);
	if (!err && e->next_tid && !th->was_forked && !th->has_come)
		wanted = th->has_come = true;
	if (err || !wanted)
		return err;
	err = choose(b, this);
	if (!err)
		err = choose_fork(b, e->tid);
	return err ? err : choose_fork(b, e->next_tid);
}

static int see_behind(struct border *b, const struct sched_event *e)
{
	const struct chosen this = { e->time_ns, e->tid, e->next_tid, e->kind };
	struct thread *th;
	int err;

	if (e->kind == SCHED_EVENT_SWITCH)
		return see_switch_behind(b, e, &this);
	if (e->kind != SCHED_EVENT_WAKEUP && e->kind != SCHED_EVENT_FORK)
		return 0;
	err = thread_of(b, e->tid, &th);
	if (err)
		return err;
	if (e->kind == SCHED_EVENT_FORK) {
		th->was_forked = true;
		th->forked = this;
		return 0;
	}
	if (th->was_forked || th->woken_ns)
		return 0;
	th->woken_ns = e->time_ns;
	return choose(b, &this);
}

static int see_event(void *ctx, const struct sched_event *e, uint32_t number)
{
	struct border *b = ctx;
	int err = 0;

	(void)number;
	if (e->time_ns < b->span.from_ns)
		return see_before(b, e);
	if (e->time_ns <= b->span.to_ns)
		return 0;
	if (!b->is_behind)
		err = choose_before(b);
	b->is_behind = true;
	return err ? err : see_behind(b, e);
}

/* ---- the records ---- */

static int by_event(const void *va, const void *vb)
{
	const struct chosen *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->kind - b->kind;
}

struct copy {
	struct border *b;
	struct sched_event_reader *reader;
	const struct capture_attr *waker_attr; /* NULL: none */
	struct buf *out;
};

/* Whether it is the waker of a thread whose first wakeup behind the span was chosen. */
static bool is_waker(struct copy *to, const struct perf_event_header *header)
{
	struct trace_data_waker waker;
	struct perf_sample s;
	struct thread *th;

	if (!to->waker_attr || sched_event_last(to->reader) != to->waker_attr ||
	    perfrec_sample(header, header->size, &to->waker_attr->attr, &s, NULL) || !s.raw ||
	    trace_data_waker_decode(s.raw, s.raw_bytes, &waker) || s.time_ns <= to->b->span.to_ns ||
	    thread_of(to->b, waker.tid, &th))
		return false;
	return s.time_ns <= th->woken_ns;
}

static int copy_record(struct copy *to, const struct perf_event_header *header)
{
	struct sched_event e;
	struct chosen key;
	int got;

	if (header->type != PERF_RECORD_SAMPLE)
		return 0;
	got = sched_event_read(to->reader, header, &e, NULL);
	if (got == 1) {
		key = (struct chosen){ e.time_ns, e.tid, e.next_tid, e.kind };
		if (time_span_has(&to->b->span, e.time_ns) ||
		    !bsearch(&key, to->b->list, to->b->list_count, sizeof(key), by_event))
			return 0;
	} else if (got || !is_waker(to, header)) {
		return got == -EBADMSG ? 0 : got;
	}
	return buf_add(to->out, header, header->size);
}

static int copy_records(const struct capture *c, struct copy *to)
{
	const struct perf_event_header *header;
	struct slice_border border = { .data = NULL };
	struct record_iter *it = NULL;
	struct record rec;
	size_t at = 0;
	int err = record_iter_new(c, 1u << EBX_STREAM_SCHED, 0, SIZE_MAX, &it);

	while (!err && record_iter_next(it, &rec) == 1)
		err = copy_record(to, rec.header);
	record_iter_free(it);
	if (!err)
		err = slice_border_load(c, &border);
	while (!err && (header = slice_border_next(&border, &at)))
		err = copy_record(to, header);
	slice_border_done(&border);
	return err == -ENOENT ? 0 : err;
}

static int copy_chosen(const struct capture *c, struct border *b, struct buf *out)
{
	struct copy to = { .b = b, .out = out };
	int err = sched_event_new(c, NULL, &to.reader);

	if (err)
		return err;
	to.waker_attr = event_iter_find(c, TRACE_DATA_WAKER_ID);
	if (b->list_count)
		qsort(b->list, b->list_count, sizeof(*b->list), by_event);
	err = copy_records(c, &to);
	sched_event_free(to.reader);
	return err;
}

/* ---- all ---- */

/* The events in order, from the capture that is sliced. */
static int find_events(const struct capture *c, struct string_table *names, bool all,
		       struct border *b, struct border_head *head)
{
	const struct sched_order_facts *facts;
	struct sched_order *order = NULL;
	int err = sched_order_open(c, names, all, &order);

	if (err)
		return err;
	facts = sched_order_facts(order);
	if (facts->has_switches) {
		head->start_ns = facts->start_ns;
		head->end_ns = capture_meta_end_ns(c);
		if (head->end_ns < facts->end_ns)
			head->end_ns = facts->end_ns;
		err = sched_order_walk(order, see_event, b);
		head->has_wakeups = sched_order_facts(order)->has_wakeups;
	}
	if (!err && !b->is_behind)
		err = choose_before(b);
	sched_order_free(order);
	return err;
}

static void border_done(struct border *b)
{
	free(b->threads);
	hash_index_done(&b->index);
	free(b->on_cpu);
	free(b->list);
}

int sched_border_make(const struct capture *c, const struct time_span *span, struct buf *out)
{
	struct border_head head = { .from_ns = span->from_ns, .to_ns = span->to_ns };
	struct border b = { .span = *span };
	struct string_table *names;
	int err = string_table_new(&names);

	if (err)
		return err;
	err = find_events(c, names, false, &b, &head);
	if (err == -EAGAIN) {
		border_done(&b);
		b = (struct border){ .span = *span };
		err = find_events(c, names, true, &b, &head);
	}
	if (!err)
		err = slice_border_begin(out, &head);
	if (!err && head.start_ns)
		err = copy_chosen(c, &b, out);
	border_done(&b);
	string_table_free(names);
	return err;
}
