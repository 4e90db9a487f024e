/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/merge_runs.h"
#include "format/base/heap.h"
#include "format/base/vec.h"

#define SPARE_BYTES (16u << 20) /* a larger batch is not used again */

/* ---- blocks ---- */

int event_part_by_time(const void *a, const void *b)
{
	const struct event_part *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

int event_parts_list(const struct capture *c, uint32_t stream_mask, const struct time_span *span,
		     struct event_part **out, size_t *count)
{
	size_t block_count, part_count = 0;
	const struct capture_block *blocks = capture_blocks(c, &block_count);
	struct event_part *parts = calloc(block_count + 1, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < block_count; i++) {
		bool mixed = blocks[i].stream == CAPTURE_STREAM_MIXED;

		if (!mixed &&
		    (blocks[i].stream >= EBX_STREAM_END || !(stream_mask >> blocks[i].stream & 1) ||
		     !time_span_meets(span, &blocks[i])))
			continue;
		parts[part_count++] = (struct event_part){ mixed ? 0 : blocks[i].t_min_ns, i };
	}
	qsort(parts, part_count, sizeof(*parts), event_part_by_time);
	*out = parts;
	*count = part_count;
	return 0;
}

/* ---- batches ---- */

struct event_batch {
	struct time_key
		*keys; /* by time, when it is complete; index: where the event is in bytes */
	uint8_t *bytes;
	size_t count, key_capacity, byte_count, byte_capacity;
	size_t next; /* to be passed on */
	uint64_t number;
};

struct event_stream {
	struct event_batch **heap; /* what waits; the earliest at 0 */
	size_t heap_count, heap_capacity;
	struct event_batch **spare; /* empty ones */
	size_t spare_count, spare_capacity;
	struct time_key *sorting; /* room for a batch's keys */
	size_t sorting_capacity;
};

int event_stream_new(struct event_stream **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void free_batch(struct event_batch *b)
{
	free(b->keys);
	free(b->bytes);
	free(b);
}

void event_stream_free(struct event_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->heap_count; i++)
		free_batch(s->heap[i]);
	for (size_t i = 0; i < s->spare_count; i++)
		free_batch(s->spare[i]);
	free(s->heap);
	free(s->spare);
	free(s->sorting);
	free(s);
}

int event_stream_begin(struct event_stream *s, uint64_t number, struct event_batch **out)
{
	struct event_batch *b = s->spare_count ? s->spare[--s->spare_count] : calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->count = b->byte_count = b->next = 0;
	b->number = number;
	*out = b;
	return 0;
}

static void give_back(struct event_stream *s, struct event_batch *b)
{
	if (b->byte_capacity > SPARE_BYTES ||
	    vec_reserve(&s->spare, &s->spare_capacity, s->spare_count + 1))
		free_batch(b);
	else
		s->spare[s->spare_count++] = b;
}

int event_batch_add(struct event_batch *b, uint64_t time_ns, const void *event, size_t size_bytes)
{
	size_t room_bytes = (size_bytes + 7) & ~(size_t)7;

	if (vec_reserve(&b->bytes, &b->byte_capacity, b->byte_count + room_bytes) ||
	    vec_reserve(&b->keys, &b->key_capacity, b->count + 1))
		return -ENOMEM;
	b->keys[b->count++] = (struct time_key){ time_ns, b->byte_count };
	memcpy(b->bytes + b->byte_count, event, size_bytes);
	b->byte_count += room_bytes;
	return 0;
}

size_t event_batch_count(const struct event_batch *b)
{
	return b->count;
}

/* A ring is emptied after the other: a batch is made of few runs that are in order. */
static int sort_batch(struct event_stream *s, struct event_batch *b)
{
	if (vec_reserve(&s->sorting, &s->sorting_capacity, b->count))
		return -ENOMEM;
	if (merge_runs(b->keys, s->sorting, b->count) == s->sorting) {
		struct time_key *keys = b->keys;
		size_t capacity = b->key_capacity;

		b->keys = s->sorting;
		b->key_capacity = s->sorting_capacity;
		s->sorting = keys;
		s->sorting_capacity = capacity;
	}
	return 0;
}

/* ---- the order ---- */

static bool is_before(struct event_batch *const *one, struct event_batch *const *other)
{
	const struct event_batch *a = *one, *b = *other;
	uint64_t x = a->keys[a->next].time_ns, y = b->keys[b->next].time_ns;

	return x != y ? x < y : a->number < b->number;
}

int event_stream_end(struct event_stream *s, struct event_batch *b)
{
	int err = sort_batch(s, b);

	if (!err && b->count)
		err = vec_reserve(&s->heap, &s->heap_capacity, s->heap_count + 1);
	if (err || !b->count) {
		give_back(s, b);
		return err;
	}
	s->heap[s->heap_count] = b;
	heap_up(s->heap, s->heap_count, is_before);
	s->heap_count++;
	return 0;
}

static struct event_batch *runner_up(const struct event_stream *s)
{
	if (s->heap_count < 3)
		return s->heap_count < 2 ? NULL : s->heap[1];
	return is_before(&s->heap[2], &s->heap[1]) ? s->heap[2] : s->heap[1];
}

int event_stream_pass(struct event_stream *s, uint64_t until_ns,
		      int (*fn)(void *ctx, const void *event), void *ctx)
{
	struct event_batch *b, *next;
	int err = 0;

	while (!err && s->heap_count && s->heap[0]->keys[s->heap[0]->next].time_ns <= until_ns) {
		b = s->heap[0];
		next = runner_up(s);
		do {
			err = fn(ctx, b->bytes + b->keys[b->next++].index);
		} while (!err && b->next < b->count && b->keys[b->next].time_ns <= until_ns &&
			 (!next || is_before(&b, &next)));
		if (b->next == b->count) {
			s->heap[0] = s->heap[--s->heap_count];
			give_back(s, b);
		}
		heap_down(s->heap, s->heap_count, is_before);
	}
	return err;
}
