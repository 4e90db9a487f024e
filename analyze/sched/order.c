/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/order.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/base/merge_runs.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/slice_border.h"
#include "format/base/heap.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

#define STREAMS (1u << EBX_STREAM_SCHED)

/* Events of one block, or of all. */
struct batch {
	struct sched_event *events;
	struct time_key *keys; /* by time, then as they came; the events stay where they are */
	size_t count, capacity, key_capacity;
	size_t next;  /* to be passed on */
	size_t block; /* among equal times the first one's come first */
};

/* A block that is to be read, and when it begins. */
struct part {
	uint64_t time_ns;
	uint32_t block;
};

/* The stacks of a block. */
struct range {
	uint32_t first, count;
};

struct sched_order {
	const struct capture *c;                   /* borrowed */
	struct sched_event_reader *reader, *scout; /* the second one knows no names */
	struct sched_order_facts facts;
	bool all;
	struct part *parts; /* by their beginning */
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
	struct batch **heap; /* what is being passed on; the earliest at 0 */
	size_t heap_count, heap_capacity;
	struct batch **spare; /* empty ones */
	size_t spare_count, spare_capacity;
	struct time_key *sorting; /* room for a batch's keys */
	size_t sorting_capacity;
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

/* ---- batches ---- */

static void batch_free(struct batch *b)
{
	if (!b)
		return;
	free(b->events);
	free(b->keys);
	free(b);
}

/* An empty one, that was used before where there is one. */
static int take_batch(struct sched_order *f, struct batch **out)
{
	struct batch *b = f->spare_count ? f->spare[--f->spare_count] : calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->count = b->next = 0;
	*out = b;
	return 0;
}

static void give_back(struct sched_order *f, struct batch *b)
{
	if (f->all || vec_reserve(&f->spare, &f->spare_capacity, f->spare_count + 1))
		batch_free(b);
	else
		f->spare[f->spare_count++] = b;
}

static int add_event(struct batch *b, const struct sched_event *e)
{
	if (b->count >= SCHED_EVENT_NONE)
		return -EOVERFLOW;
	if (vec_reserve(&b->events, &b->capacity, b->count + 1) ||
	    vec_reserve(&b->keys, &b->key_capacity, b->count + 1))
		return -ENOMEM;
	b->keys[b->count] = (struct time_key){ e->time_ns, b->count };
	b->events[b->count++] = *e;
	return 0;
}

/* A ring is emptied after the other: a batch is made of few runs that are in order. */
static int sort_batch(struct sched_order *f, struct batch *b)
{
	if (vec_reserve(&f->sorting, &f->sorting_capacity, b->count))
		return -ENOMEM;
	if (merge_runs(b->keys, f->sorting, b->count) == f->sorting) {
		struct time_key *keys = b->keys;
		size_t capacity = b->key_capacity;

		b->keys = f->sorting;
		b->key_capacity = f->sorting_capacity;
		f->sorting = keys;
		f->sorting_capacity = capacity;
	}
	return 0;
}

/* ---- the heap of batches ---- */

static bool is_before(struct batch *const *one, struct batch *const *other)
{
	const struct batch *a = *one, *b = *other;
	uint64_t x = a->keys[a->next].time_ns, y = b->keys[b->next].time_ns;

	return x != y ? x < y : a->block < b->block;
}

static int push(struct sched_order *f, struct batch *b)
{
	if (vec_reserve(&f->heap, &f->heap_capacity, f->heap_count + 1))
		return -ENOMEM;
	f->heap[f->heap_count] = b;
	heap_up(f->heap, f->heap_count, is_before);
	f->heap_count++;
	return 0;
}

/* The second one. */
static struct batch *runner_up(const struct sched_order *f)
{
	if (f->heap_count < 3)
		return f->heap_count < 2 ? NULL : f->heap[1];
	return is_before(&f->heap[2], &f->heap[1]) ? f->heap[2] : f->heap[1];
}

/* Passes on what is no later than that. */
static int pass_on(struct sched_order *f, uint64_t last_ns,
		   int (*fn)(void *ctx, const struct sched_event *e, uint32_t number), void *ctx)
{
	struct batch *b, *next;
	int err = 0;

	while (!err && f->heap_count && f->heap[0]->keys[f->heap[0]->next].time_ns <= last_ns) {
		b = f->heap[0];
		next = runner_up(f);
		do {
			err = f->number >= SCHED_EVENT_NONE
				      ? -EOVERFLOW
				      : fn(ctx, &b->events[b->keys[b->next].index], f->number++);
			b->next++;
		} while (!err && b->next < b->count && b->keys[b->next].time_ns <= last_ns &&
			 (!next || is_before(&b, &next)));
		if (b->next == b->count) {
			f->heap[0] = f->heap[--f->heap_count];
			give_back(f, b);
		}
		heap_down(f->heap, f->heap_count, is_before);
	}
	return err;
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

static bool fits(const struct capture_block *at, uint64_t time_ns)
{
	return at->stream == CAPTURE_STREAM_MIXED ||
	       (time_ns >= at->t_min_ns && time_ns <= at->t_max_ns);
}

static int take(struct sched_order *f, const struct record *rec, const struct location *at,
		struct batch *b)
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

/* All records of the iterator, in order of time. */
static int read_batch(struct sched_order *f, struct record_iter *it, struct batch *b)
{
	struct location at = { SIZE_MAX, 0 };
	struct record rec;
	int err = 0;

	while (!err && record_iter_next(it, &rec) == 1) {
		walk_on(&at, &rec);
		err = rec.header->type == PERF_RECORD_SAMPLE ? take(f, &rec, &at, b)
							     : see_lost(f, &rec);
	}
	return err ? err : sort_batch(f, b);
}

/* The events around a slice, which no block has; what is broken among them is left out. */
static int read_border(struct sched_order *f)
{
	struct location at = { f->block_count, 0 };
	const struct perf_event_header *header;
	struct sched_event e;
	struct batch *b;
	size_t off = 0;
	int err = take_batch(f, &b);

	if (err)
		return err;
	b->block = f->block_count;
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
	if (!err)
		err = sort_batch(f, b);
	if (!err && b->count)
		err = push(f, b);
	else
		give_back(f, b);
	return err;
}

static int read_part(struct sched_order *f, size_t block)
{
	struct batch *b;
	int err = take_batch(f, &b);

	if (err)
		return err;
	b->block = block;
	record_iter_seek(f->it, block, 1);
	err = read_batch(f, f->it, b);
	if (!err && b->count)
		err = push(f, b);
	else
		give_back(f, b);
	return err;
}

int sched_order_walk(struct sched_order *f,
		     int (*fn)(void *ctx, const struct sched_event *e, uint32_t number), void *ctx)
{
	int err = 0;

	if (f->has_border)
		err = read_border(f);
	for (size_t i = 0; !err && i < f->part_count; i++) {
		if (f->parts[i].time_ns)
			err = pass_on(f, f->parts[i].time_ns - 1, fn, ctx);
		if (!err)
			err = read_part(f, f->parts[i].block);
	}
	return err ? err : pass_on(f, UINT64_MAX, fn, ctx);
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
		return taker->take(taker->ctx, &e, &sample);
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

static int by_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
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
	struct part *ends = calloc(f->part_count + 1, sizeof(*ends));
	int err = 0;

	if (!ends)
		return -ENOMEM;
	for (size_t i = 0; i < f->part_count; i++)
		ends[i] = (struct part){ f->blocks[f->parts[i].block].t_max_ns, f->parts[i].block };
	qsort(ends, f->part_count, sizeof(*ends), by_time);
	for (size_t i = f->part_count; !err && i; i--) {
		if (f->facts.has_switches && f->facts.end_ns >= ends[i - 1].time_ns)
			break;
		err = see_facts(f, ends[i - 1].block);
	}
	free(ends);
	return err;
}

/* Our blocks; what is in none may be of any time. */
static int list_parts(struct sched_order *f)
{
	size_t count = f->block_count;
	int err;

	f->parts = calloc(count + 1, sizeof(*f->parts));
	if (!f->parts)
		return -ENOMEM;
	for (size_t i = 0; i < count && i < UINT32_MAX; i++) {
		if (f->blocks[i].stream == EBX_STREAM_SCHED)
			f->parts[f->part_count++] = (struct part){ f->blocks[i].t_min_ns,
								   (uint32_t)i };
		else if (f->blocks[i].stream == CAPTURE_STREAM_MIXED)
			f->parts[f->part_count++] = (struct part){ 0, (uint32_t)i };
	}
	qsort(f->parts, f->part_count, sizeof(*f->parts), by_time);
	err = record_iter_new(f->c, STREAMS, 0, SIZE_MAX, &f->it);
	if (!err)
		err = look_at_start(f);
	return err ? err : look_at_end(f);
}

/* All events at once. */
static int read_all_events(struct sched_order *f)
{
	struct record_iter *it = NULL;
	struct batch *b;
	int err = take_batch(f, &b);

	if (err)
		return err;
	err = record_iter_new(f->c, STREAMS | 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);
	if (!err)
		err = read_batch(f, it, b);
	record_iter_free(it);
	for (size_t i = 0; !err && i < b->count; i++)
		see_fact(&f->facts, &b->events[i]);
	if (!err && b->count)
		err = push(f, b);
	else
		give_back(f, b);
	free(f->sorting);
	f->sorting = NULL;
	f->sorting_capacity = 0;
	return err;
}

/* A thread whose first switch came late did what it did since the recording began. */
static void begin_with_recording(struct sched_order *f)
{
	uint64_t began_ns = f->facts.has_switches ? capture_meta_began_ns(f->c) : 0;

	if (began_ns && began_ns < f->facts.start_ns)
		f->facts.start_ns = began_ns;
}

/* A slice has events of its source around it. */
static int open_border(struct sched_order *f)
{
	int err = slice_border_load(f->c, &f->border);

	f->facts.complete = TIME_SPAN_ALL;
	if (err)
		return err == -ENOENT ? 0 : err;
	f->has_border = true;
	f->facts.complete = f->border.part;
	if (!f->border.start_ns)
		return 0;
	f->facts.has_switches = true;
	if (!f->facts.start_ns || f->border.start_ns < f->facts.start_ns)
		f->facts.start_ns = f->border.start_ns;
	if (f->border.end_ns > f->facts.end_ns)
		f->facts.end_ns = f->border.end_ns;
	f->facts.has_wakeups |= f->border.has_wakeups;
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
	for (size_t i = 0; i < f->heap_count; i++)
		batch_free(f->heap[i]);
	for (size_t i = 0; i < f->spare_count; i++)
		batch_free(f->spare[i]);
	sched_event_free(f->reader);
	sched_event_free(f->scout);
	slice_border_done(&f->border);
	record_iter_free(f->it);
	free(f->heap);
	free(f->spare);
	free(f->parts);
	free(f->stacks);
	free(f->places);
	free(f->samples);
	free(f->sorting);
	free(f);
}
