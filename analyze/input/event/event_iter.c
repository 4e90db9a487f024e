/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_iter.h"

#include "analyze/input/event/event_of.h"
#include "format/base/saturate.h"
#include "format/base/cursor.h"

uint32_t event_iter_streams(const struct capture *c, uint32_t stream_mask)
{
	size_t count;
	const struct capture_block *blocks = capture_blocks(c, &count);

	for (size_t i = 0; i < count; i++)
		if (blocks[i].stream == EBX_STREAM_SIDE &&
		    (!blocks[i].record_count || blocks[i].sample_count))
			return stream_mask;
	return stream_mask & ~(1u << EBX_STREAM_SIDE);
}

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
	struct event_of events = event_of_capture(c);
	struct record_iter *it = NULL;
	struct record rec;
	int err = record_iter_new(c, lost ? stream_mask : event_iter_streams(c, stream_mask), 0,
				  SIZE_MAX, &it);

	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE) {
			if (lost)
				*lost = saturate_add(*lost, event_iter_lost(c, rec.header, of));
		} else if (event_of_find(&events, rec.header) == of) {
			err = fn(ctx, rec.header);
		}
	}
	record_iter_free(it);
	return err;
}
