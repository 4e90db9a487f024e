/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/samples_by_time.h"

#include <string.h>

#include "analyze/input/event/event_of.h"
#include "format/base/heap.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"

#define BLOCK_BYTES (256u << 10)

/* Room for the bytes of many samples, given back when the last of them has been passed on. */
struct block {
	size_t live, used_bytes;
	_Alignas(8) uint8_t bytes[BLOCK_BYTES];
};

/* A sample that waits for its turn. */
struct waiting {
	uint64_t time_ns, order;
	const struct capture_attr *attr;
	const struct perf_event_header *header; /* in the block */
	struct block *block;
};

struct sorter {
	const struct capture *c;
	const struct time_span *span;
	samples_by_time_fn fn;
	void *ctx;
	struct samples_by_time_stats stats;
	struct event_of events;
	struct waiting *heap; /* the earliest at 0 */
	size_t count, capacity;
	struct block *filling; /* NULL: none */
	uint64_t record_number;
	uint64_t newest_ns, round_ns; /* perf's files: so far; when the last round ended */
};

/* ---- bytes ---- */

static int keep(struct sorter *s, struct waiting *w, const struct perf_event_header *header)
{
	size_t size_bytes = ((size_t)header->size + 7) & ~(size_t)7;
	struct block *b = s->filling;

	if (!b || BLOCK_BYTES - b->used_bytes < size_bytes) {
		b = malloc(sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->live = b->used_bytes = 0;
		if (s->filling && !s->filling->live)
			free(s->filling);
		s->filling = b;
	}
	memcpy(b->bytes + b->used_bytes, header, header->size);
	w->header = (const struct perf_event_header *)(b->bytes + b->used_bytes);
	w->block = b;
	b->used_bytes += size_bytes;
	b->live++;
	return 0;
}

static void let_go(struct sorter *s, const struct waiting *w)
{
	/* NOLINTNEXTLINE: a block is freed when none that waits is in it */
	if (!--w->block->live && w->block != s->filling)
		free(w->block);
}

/* ---- the heap ---- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	/* NOLINTNEXTLINE: what the heap counts was put there */
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static int push(struct sorter *s, const struct waiting *w)
{
	int err = vec_reserve(&s->heap, &s->capacity, s->count + 1);

	if (err)
		return err;
	s->heap[s->count] = *w;
	heap_up(s->heap, s->count, is_before);
	s->count++;
	return 0;
}

static struct waiting pop(struct sorter *s)
{
	struct waiting first = s->heap[0];

	s->heap[0] = s->heap[--s->count];
	heap_down(s->heap, s->count, is_before);
	return first;
}

/* Passes on all that nothing can come before any more. */
static int emit(struct sorter *s, uint64_t until_ns)
{
	struct waiting w;
	int err = 0;

	while (!err && s->count && s->heap[0].time_ns <= until_ns) {
		w = pop(s);
		s->stats.sample_count++;
		err = s->fn(s->ctx, w.header, w.attr, w.time_ns);
		let_go(s, &w);
	}
	return err;
}

/* ---- records ---- */

static int take(struct sorter *s, const struct perf_event_header *header)
{
	struct waiting w = {
		.order = s->record_number++,
		.attr = event_of_find(&s->events, header),
	};
	struct perf_sample sample;
	int err;

	if (!w.attr || perfrec_sample(header, header->size, &w.attr->attr, &sample, NULL)) {
		s->stats.broken++;
		return 0;
	}
	w.time_ns = sample.time_ns;
	if (w.time_ns > s->newest_ns)
		s->newest_ns = w.time_ns;
	if (!time_span_has(s->span, w.time_ns))
		return 0;
	err = keep(s, &w, header);
	if (err)
		return err;
	err = push(s, &w);
	if (err)
		let_go(s, &w);
	return err;
}

static int read_blocks(struct sorter *s, size_t first, size_t count)
{
	struct record_iter *it = NULL;
	struct record rec;
	uint64_t until_ns;
	int err;

	err = record_iter_new(s->c, UINT32_MAX & ~(1u << EBX_STREAM_SIDE), first, count, &it);
	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type == PERF_RECORD_SAMPLE) {
			err = take(s, rec.header);
		} else if (rec.header->type == PERFFILE_RECORD_FINISHED_ROUND &&
			   capture_get_kind(s->c) != CAPTURE_EBX) {
			/*
			 * The next round can still have earlier records than a round; the one after
			 * cannot.
			 */
			until_ns = s->round_ns;
			s->round_ns = s->newest_ns;
			err = emit(s, until_ns);
		}
	}
	s->stats.damaged_blocks += record_iter_damage(it);
	record_iter_free(it);
	return err;
}

/* ---- blocks of ours ---- */

struct part {
	uint64_t from_ns;
	size_t block;
};

static int by_start(const void *va, const void *vb)
{
	const struct part *a = va, *b = vb;

	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

static int read_parts(struct sorter *s)
{
	size_t count, part_count = 0;
	const struct capture_block *blocks = capture_blocks(s->c, &count);
	struct part *parts = calloc(count + 1, sizeof(*parts));
	int err = 0;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (blocks[i].stream == EBX_STREAM_SIDE || blocks[i].t_min_ns > s->span->to_ns ||
		    blocks[i].t_max_ns < s->span->from_ns)
			continue;
		parts[part_count++] = (struct part){ blocks[i].t_min_ns, i };
	}
	qsort(parts, part_count, sizeof(*parts), by_start);
	for (size_t i = 0; !err && i < part_count; i++) {
		/* Equal times come in the order of the file, whichever block was read first. */
		s->record_number = (uint64_t)parts[i].block << 32;
		err = emit(s, parts[i].from_ns ? parts[i].from_ns - 1 : 0);
		if (!err)
			err = read_blocks(s, parts[i].block, 1);
	}
	free(parts);
	return err;
}

int samples_by_time_run(const struct capture *c, const struct time_span *span,
			samples_by_time_fn fn, void *ctx, struct samples_by_time_stats *stats)
{
	struct sorter s = { .c = c, .span = span, .fn = fn, .ctx = ctx };
	int err;

	s.events = event_of_capture(c);
	if (capture_is_divisible(c) && capture_get_kind(c) == CAPTURE_EBX)
		err = read_parts(&s);
	else
		err = read_blocks(&s, 0, SIZE_MAX);
	if (!err)
		err = emit(&s, UINT64_MAX);
	while (s.count)
		let_go(&s, &s.heap[--s.count]);
	free(s.filling);
	free(s.heap);
	*stats = s.stats;
	return err;
}
