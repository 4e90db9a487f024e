/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event_iter.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

const struct capture_attr *event_iter_find(const struct capture *c, uint64_t tracepoint_id)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count), *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (attrs[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    attrs[i].attr.config == tracepoint_id)
			found = &attrs[i];
	return found;
}

/* The event that a record is of.  perf writes no ids when there is one event. */
static const struct capture_attr *event_of(const struct capture *c,
					   const struct perf_event_header *record)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	if (count < 2)
		return count ? &attrs[0] : NULL;
	return capture_attr_by_id(c, perfrec_identifier(record, record->size, &attrs[0].attr));
}

uint64_t event_iter_lost(const struct capture *c, const struct perf_event_header *record,
			 const struct capture_attr *of)
{
	const uint8_t *body = (const uint8_t *)(record + 1);

	if (record->type != PERF_RECORD_LOST || record->size < sizeof(*record) + 16 ||
	    capture_attr_by_id(c, le64_load(body)) != of)
		return 0;
	return le64_load(body + 8);
}

int event_iter_samples(const struct capture *c, uint32_t stream_mask, const struct capture_attr *of,
		       int (*fn)(void *ctx, const struct perf_event_header *sample), void *ctx,
		       uint64_t *lost)
{
	struct record_iter *it = NULL;
	struct record rec;
	int err = record_iter_new(c, stream_mask, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE) {
			if (lost)
				*lost = saturate_add(*lost, event_iter_lost(c, rec.header, of));
		} else if (event_of(c, rec.header) == of) {
			err = fn(ctx, rec.header);
		}
	}
	record_iter_free(it);
	return err;
}

/* ---- the lives of tasks ---- */

#define ORDERED_MAX 65536u /* records that wait for earlier ones: some megabytes */

/* A record that waits for its turn, and where its bytes are. */
struct waiting {
	uint64_t time_ns, number;
	size_t at;
	uint32_t size_bytes;
	uint32_t attr;
};

/*
 * The rings of CPUs are emptied one after the other, so who was forked on one CPU and was renamed or
 * ended on another may be told of in the wrong order.  So many records wait, and the earlier half of them
 * goes when there is no more room.
 */
struct order {
	const struct capture_attr *attrs;
	struct waiting *list;
	size_t count, list_capacity;
	uint8_t *bytes;
	size_t byte_count, byte_capacity;
	uint64_t number;
	int (*fn)(void *ctx, const struct perfrec_side *side);
	void *ctx;
};

/* What is of no time was there before all others; what is of one time is as in the file. */
static int by_time(const void *va, const void *vb)
{
	const struct waiting *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int keep(struct order *o, struct waiting *w, const uint8_t *record)
{
	int err = vec_reserve(&o->list, &o->list_capacity, o->count + 1);

	if (!err)
		err = vec_reserve(&o->bytes, &o->byte_capacity, o->byte_count + w->size_bytes + 7);
	if (err)
		return err;
	w->at = o->byte_count;
	memcpy(o->bytes + w->at, record, w->size_bytes);
	o->byte_count += (w->size_bytes + 7u) & ~7u;
	o->list[o->count++] = *w;
	return 0;
}

/* Tells of all but the last so many, and keeps these. */
static int let_go(struct order *o, size_t left)
{
	struct order rest = { 0 };
	struct perfrec_side side;
	size_t i = 0;
	int err = 0;

	if (o->count)
		qsort(o->list, o->count, sizeof(*o->list), by_time);
	for (; !err && i + left < o->count; i++)
		if (!perfrec_side(o->bytes + o->list[i].at, o->list[i].size_bytes,
				  &o->attrs[o->list[i].attr].attr, &side, NULL))
			err = o->fn(o->ctx, &side);
	for (; !err && i < o->count; i++)
		err = keep(&rest, &o->list[i], o->bytes + o->list[i].at);
	free(o->list);
	free(o->bytes);
	o->list = rest.list;
	o->count = rest.count;
	o->list_capacity = rest.list_capacity;
	o->bytes = rest.bytes;
	o->byte_count = rest.byte_count;
	o->byte_capacity = rest.byte_capacity;
	return err;
}

static int take(struct order *o, const struct perf_event_header *record,
		const struct capture_attr *of)
{
	struct waiting w = { .size_bytes = record->size, .attr = (uint32_t)(of - o->attrs) };
	struct perfrec_side side;
	int err;

	if (perfrec_side(record, record->size, &of->attr, &side, NULL))
		return 0;
	w.time_ns = side.id.time_ns;
	w.number = o->number++;
	err = keep(o, &w, (const uint8_t *)record);
	return err || o->count < ORDERED_MAX ? err : let_go(o, ORDERED_MAX / 2);
}

static bool is_told(uint32_t type)
{
	return type == PERF_RECORD_FORK || type == PERF_RECORD_COMM || type == PERF_RECORD_EXIT ||
	       type == PERF_RECORD_LOST;
}

int event_iter_tasks(const struct capture *c, int (*fn)(void *ctx, const struct perfrec_side *side),
		     void *ctx)
{
	size_t count;
	struct order o = { .attrs = capture_attrs(c, &count), .fn = fn, .ctx = ctx };
	const struct capture_attr *of;
	struct record_iter *it = NULL;
	struct record rec;
	int err;

	err = record_iter_new(c, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);
	if (err)
		return err;
	while (!err && count && record_iter_next(it, &rec) == 1) {
		if (!is_told(rec.header->type))
			continue;
		of = event_of(c, rec.header);
		err = take(&o, rec.header, of ? of : o.attrs);
	}
	if (!err)
		err = let_go(&o, 0);
	record_iter_free(it);
	free(o.list);
	free(o.bytes);
	return err;
}
