/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/order.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/input/capture_meta.h"
#include "analyze/input/event/event_stream.h"
#include "analyze/input/slice_border.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

#define STREAMS (1u << EBX_STREAM_SCHED)

/* The stacks of a block. */
struct range {
	uint32_t first, count;
};

struct sched_order {
	const struct capture *c;                   /* borrowed */
	struct sched_event_reader *reader, *scout; /* the second one knows no names */
	struct sched_order_facts facts;
	bool all;
	struct event_part *parts;
	size_t part_count;
	const struct capture_block *blocks; /* of the entire capture */
	size_t block_count;
	struct range *stacks; /* by block; the last one: of the border */
	struct slice_border border;
	bool has_border;
	const struct capture_attr *attrs;
	size_t attr_count;
	uint64_t *samples; /* by event */
	uint32_t *places;  /* by stack: which record of its block has it */
	size_t place_capacity;
	uint32_t stack_count, number;
	struct record_iter *it;
	struct event_stream *stream;
};

const struct sched_order_facts *sched_order_facts(const struct sched_order *f)
{
	return &f->facts;
}

const struct slice_border *sched_order_border(const struct sched_order *f)
{
	return f->has_border ? &f->border : NULL;
}

uint64_t sched_order_lost_of(const struct sched_order *f, const uint64_t *lost_by_attr)
{
	return sched_event_lost_of(f->reader, lost_by_attr);
}

uint32_t sched_order_stack_count(const struct sched_order *f)
{
	return f->stack_count;
}

const uint64_t *sched_order_samples(const struct sched_order *f)
{
	return f->all ? NULL : f->samples;
}

/* ---- the order ---- */

static int add_event(struct event_batch *b, const struct sched_event *e)
{
	if (event_batch_count(b) >= SCHED_EVENT_NONE)
		return -EOVERFLOW;
	return event_batch_add(b, e->time_ns, e, sizeof(*e));
}

struct passing {
	struct sched_order *f;
	int (*fn)(void *ctx, const struct sched_event *e, uint32_t number);
	void *ctx;
};

static int pass_event(void *ctx, const void *event)
{
	const struct passing *p = ctx;

	return p->f->number >= SCHED_EVENT_NONE ? -EOVERFLOW : p->fn(p->ctx, event, p->f->number++);
}

/* ---- records ---- */

/* Which record of its block one is, when all are walked. */
struct location {
	size_t block;
	uint32_t record;
};

static void walk_on(struct location *at, const struct record *rec)
{
	at->record = rec->block == at->block ? at->record + 1 : 0;
	at->block = rec->block;
}

/* Counts the stack of an event that was just read. */
static int number_stack(struct sched_order *f, struct sched_event *e, const struct location *at)
{
	struct range *r = &f->stacks[at->block];

	if (e->kind != SCHED_EVENT_SWITCH || !e->weight)
		return 0;
	if (f->stack_count >= SCHED_EVENT_NONE - 1)
		return -EOVERFLOW;
	if (vec_reserve(&f->places, &f->place_capacity, (size_t)f->stack_count + 1))
		return -ENOMEM;
	f->places[f->stack_count] = at->record;
	if (!r->count)
		r->first = f->stack_count;
	r->count++;
	e->stack = f->stack_count++;
	return 0;
}

static void see_fact(struct sched_order_facts *facts, const struct sched_event *e)
{
	facts->has_wakeups |= e->kind == SCHED_EVENT_WAKEUP;
	if (e->kind != SCHED_EVENT_SWITCH)
		return;
	if (!facts->has_switches || e->time_ns < facts->start_ns)
		facts->start_ns = e->time_ns;
	if (!facts->has_switches || e->time_ns > facts->end_ns)
		facts->end_ns = e->time_ns;
	facts->has_switches = true;
}

static bool fits(const struct capture_block *at, uint64_t time_ns)
{
	return at->stream == CAPTURE_STREAM_MIXED ||
	       (time_ns >= at->t_min_ns && time_ns <= at->t_max_ns);
}

static int take(struct sched_order *f, const struct record *rec, const struct location *at,
		struct event_batch *b)
{
	struct sched_event e;
	int err = sched_event_read(f->reader, rec->header, &e, NULL);
	const struct capture_attr *of = sched_event_last(f->reader);

	if (f->blocks[rec->block].stream == EBX_STREAM_SCHED)
		f->samples[of ? (size_t)(of - f->attrs) : f->attr_count]++;
	if (err == -EBADMSG && f->all)
		f->facts.broken++;
	if (err == -EBADMSG)
		return f->all ? 0 : -EAGAIN;
	if (err < 1)
		return err;
	if (!f->all && !fits(&f->blocks[rec->block], e.time_ns))
		return -EAGAIN;
	if (f->all)
		see_fact(&f->facts, &e);
	err = number_stack(f, &e, at);
	return err ? err : add_event(b, &e);
}

/* No earlier pass has looked for losses in a block of scheduler events. */
static int see_lost(struct sched_order *f, const struct record *rec)
{
	uint64_t lost = sched_event_lost(f->reader, rec->header);

	if (f->all)
		f->facts.lost = saturate_add(f->facts.lost, lost);
	else if (lost && f->blocks[rec->block].stream != CAPTURE_STREAM_MIXED)
		return -EAGAIN;
	return 0;
}

/* All records of the iterator, among equal times behind those with a lower number. */
static int read_batch(struct sched_order *f, struct record_iter *it, size_t number)
{
	struct location at = { SIZE_MAX, 0 };
	struct event_batch *b;
	struct record rec;
	int err = event_stream_begin(f->stream, number, &b), end_err;

	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		walk_on(&at, &rec);
		err = rec.header->type == PERF_RECORD_SAMPLE ? take(f, &rec, &at, b)
							     : see_lost(f, &rec);
	}
	end_err = event_stream_end(f->stream, b);
	return err ? err : end_err;
}

/* The events around a slice, which no block has; what is broken among them is left out. */
static int read_border(struct sched_order *f)
{
	struct location at = { f->block_count, 0 };
	const struct perf_event_header *header;
	struct event_batch *b;
	struct sched_event e;
	size_t off = 0;
	int err = event_stream_begin(f->stream, f->block_count, &b), end_err;

	if (err)
		return err;
	for (; !err && (header = slice_border_next(&f->border, &off)); at.record++) {
		err = sched_event_read(f->reader, header, &e, NULL);
		if (err == 1) {
			err = number_stack(f, &e, &at);
			if (!err)
				err = add_event(b, &e);
		} else {
			err = err == -EBADMSG ? 0 : err;
		}
	}
	end_err = event_stream_end(f->stream, b);
	return err ? err : end_err;
}

int sched_order_walk(struct sched_order *f,
		     int (*fn)(void *ctx, const struct sched_event *e, uint32_t number), void *ctx)
{
	struct passing p = { f, fn, ctx };
	int err = 0;

	if (f->has_border)
		err = read_border(f);
	for (size_t i = 0; !err && i < f->part_count; i++) {
		if (f->parts[i].time_ns)
			err = event_stream_pass(f->stream, f->parts[i].time_ns - 1, pass_event, &p);
		if (err)
			break;
		record_iter_seek(f->it, f->parts[i].block, 1);
		err = read_batch(f, f->it, f->parts[i].block);
	}
	return err ? err : event_stream_pass(f->stream, UINT64_MAX, pass_event, &p);
}

/* The stack of a record that has one; *next: its number. */
static int pass_stack(struct sched_order *f, const struct perf_event_header *header,
		      const struct sched_order_taker *taker, uint32_t *next)
{
	struct perf_sample sample;
	struct sched_event e;
	int err = sched_event_read(f->scout, header, &e, &sample);

	if (err == 1 && e.kind == SCHED_EVENT_SWITCH && e.weight) {
		e.stack = (*next)++;
		return taker->take(taker->ctx, &e, &sample, sched_event_last(f->scout));
	}
	return err == -EBADMSG || err == 1 ? 0 : err;
}

/* The stacks of the border: waits with them began before others. */
static int read_border_stacks(struct sched_order *f, const struct sched_order_taker *taker)
{
	const struct range *r = &f->stacks[f->block_count];
	const struct perf_event_header *header;
	uint32_t next = r->first, end = r->first + r->count, record = 0;
	size_t off = 0;
	int err = 0;

	if (!r->count || !taker->wants(taker->ctx, r->first, r->count))
		return 0;
	for (; !err && next < end && (header = slice_border_next(&f->border, &off)); record++)
		if (record == f->places[next])
			err = pass_stack(f, header, taker, &next);
	return err;
}

/* The stacks among the records of the iterator. */
static int read_stacks(struct sched_order *f, struct record_iter *it,
		       const struct sched_order_taker *taker)
{
	struct location at = { SIZE_MAX, 0 };
	struct record rec;
	uint32_t next = 0, end = 0;
	int err = 0;

	while (!err && record_iter_next(it, &rec) == 1) {
		walk_on(&at, &rec);
		if (!at.record) {
			next = f->stacks[at.block].first;
			end = next + f->stacks[at.block].count;
		}
		if (next == end || at.record != f->places[next])
			continue;
		err = pass_stack(f, rec.header, taker, &next);
	}
	return err;
}

int sched_order_stacks(struct sched_order *f, const struct sched_order_taker *taker)
{
	bool apart = capture_is_divisible(f->c);
	struct record_iter *it = NULL;
	int err = record_iter_new(f->c, STREAMS, 0, SIZE_MAX, &it);

	if (!err)
		err = read_border_stacks(f, taker);
	if (!err && !apart)
		err = read_stacks(f, it, taker);
	for (size_t i = 0; !err && apart && i < f->block_count; i++) {
		if (!f->stacks[i].count ||
		    !taker->wants(taker->ctx, f->stacks[i].first, f->stacks[i].count))
			continue;
		record_iter_seek(it, i, 1);
		err = read_stacks(f, it, taker);
	}
	record_iter_free(it);
	return err;
}

/* ---- before the walk ---- */

static int see_facts(struct sched_order *f, size_t block)
{
	struct sched_event e;
	struct record rec;
	int err = 0;

	record_iter_seek(f->it, block, 1);
	while (err >= 0 && record_iter_next(f->it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE)
			continue;
		err = sched_event_read(f->scout, rec.header, &e, NULL);
		if (err == 1)
			see_fact(&f->facts, &e);
		else if (err == -EBADMSG)
			err = 0; /* the walk will see */
	}
	return err < 0 ? err : 0;
}

/* Blocks at the beginning, until nothing that follows can be earlier. */
static int look_at_start(struct sched_order *f)
{
	bool wakeups = sched_event_has(f->scout, SCHED_EVENT_WAKEUP);
	int err = 0;

	for (size_t i = 0; !err && i < f->part_count; i++) {
		if (f->facts.has_switches && f->facts.start_ns <= f->parts[i].time_ns &&
		    (f->facts.has_wakeups || !wakeups))
			break;
		err = see_facts(f, f->parts[i].block);
	}
	return err;
}

static int look_at_end(struct sched_order *f)
{
	struct event_part *ends = calloc(f->part_count + 1, sizeof(*ends));
	int err = 0;

	if (!ends)
		return -ENOMEM;
	for (size_t i = 0; i < f->part_count; i++)
		ends[i] = (struct event_part){ f->blocks[f->parts[i].block].t_max_ns,
					       f->parts[i].block };
	qsort(ends, f->part_count, sizeof(*ends), event_part_by_time);
	for (size_t i = f->part_count; !err && i; i--) {
		if (f->facts.has_switches && f->facts.end_ns >= ends[i - 1].time_ns)
			break;
		err = see_facts(f, ends[i - 1].block);
	}
	free(ends);
	return err;
}

static int list_parts(struct sched_order *f)
{
	const struct time_span all = TIME_SPAN_ALL;
	int err = event_parts_list(f->c, STREAMS, &all, &f->parts, &f->part_count);

	if (!err)
		err = record_iter_new(f->c, STREAMS, 0, SIZE_MAX, &f->it);
	if (!err)
		err = look_at_start(f);
	return err ? err : look_at_end(f);
}

/* All events at once. */
static int read_all_events(struct sched_order *f)
{
	struct record_iter *it = NULL;
	int err = record_iter_new(f->c, STREAMS | 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);

	if (err)
		return err;
	err = read_batch(f, it, 0);
	record_iter_free(it);
	return err;
}

/* A thread whose first switch came late did what it did since the recording began. */
static void begin_with_recording(struct sched_order *f)
{
	uint64_t began_ns = f->facts.has_switches ? capture_meta_began_ns(f->c) : 0;

	if (began_ns && began_ns < f->facts.start_ns)
		f->facts.start_ns = began_ns;
}

/* A slice has events of its source around it, a file of several those before it. */
static int open_border(struct sched_order *f)
{
	const struct border_head *head = &f->border.head;
	int err = slice_border_load(f->c, &f->border);

	f->facts.complete = TIME_SPAN_ALL;
	if (err)
		return err == -ENOENT ? 0 : err;
	f->has_border = true;
	f->facts.complete = (struct time_span){ head->from_ns, head->to_ns };
	if (!head->start_ns)
		return 0;
	f->facts.has_switches = true;
	if (!f->facts.start_ns || head->start_ns < f->facts.start_ns)
		f->facts.start_ns = head->start_ns;
	if (head->end_ns > f->facts.end_ns)
		f->facts.end_ns = head->end_ns;
	f->facts.has_wakeups |= head->has_wakeups;
	return 0;
}

int sched_order_open(const struct capture *c, struct string_table *names, bool all,
		     struct sched_order **out)
{
	struct sched_order *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->c = c;
	f->all = all || capture_get_kind(c) != CAPTURE_EBX || !capture_is_divisible(c);
	f->facts.has_all = f->all;
	f->blocks = capture_blocks(c, &f->block_count);
	f->stacks = calloc(f->block_count + 1, sizeof(*f->stacks));
	f->attrs = capture_attrs(c, &f->attr_count);
	f->samples = calloc(f->attr_count + 1, sizeof(*f->samples));
	err = f->stacks && f->samples ? sched_event_new(c, names, &f->reader) : -ENOMEM;
	if (!err)
		err = sched_event_new(c, NULL, &f->scout);
	if (!err)
		err = event_stream_new(&f->stream);
	if (!err && sched_event_has_any(f->scout))
		err = f->all ? read_all_events(f) : list_parts(f);
	begin_with_recording(f);
	if (!err)
		err = open_border(f);
	if (err) {
		sched_order_free(f);
		return err;
	}
	*out = f;
	return 0;
}

void sched_order_free(struct sched_order *f)
{
	if (!f)
		return;
	sched_event_free(f->reader);
	sched_event_free(f->scout);
	slice_border_done(&f->border);
	record_iter_free(f->it);
	event_stream_free(f->stream);
	free(f->parts);
	free(f->stacks);
	free(f->places);
	free(f->samples);
	free(f);
}
