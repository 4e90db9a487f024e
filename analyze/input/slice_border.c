/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/slice_border.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/cursor.h"
#include "format/reader/ebx_records.h"

#define HAS_WAKEUPS 1

static bool decode_head(struct slice_border *b)
{
	struct cursor c = cursor_of(b->data, b->size_bytes);

	b->part.from_ns = cursor_u64(&c);
	b->part.to_ns = cursor_u64(&c);
	b->start_ns = cursor_u64(&c);
	b->end_ns = cursor_u64(&c);
	b->has_wakeups = cursor_u64(&c) & HAS_WAKEUPS;
	return cursor_ok(&c) && b->part.from_ns <= b->part.to_ns && b->start_ns <= b->end_ns;
}

int slice_border_load(const struct capture *c, struct slice_border *out)
{
	struct slice_border b = { .data = NULL };
	size_t count;
	const struct capture_object *o = capture_objects(c, &count);
	int err = -ENOENT;

	while (count--)
		if (o[count].kind == EBX_BORDER && o[count].is_complete)
			break;
	if (count != SIZE_MAX)
		err = capture_object_read(c, &o[count], &b.data, &b.size_bytes);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (!decode_head(&b)) {
		slice_border_done(&b);
		return -ENOENT;
	}
	*out = b;
	return 0;
}

void slice_border_done(struct slice_border *b)
{
	free(b->data);
	*b = (struct slice_border){ 0 };
}

const struct perf_event_header *slice_border_next(const struct slice_border *b, size_t *at)
{
	size_t off = *at ? *at : SLICE_BORDER_HEAD_BYTES,
	       left = b->size_bytes > off ? b->size_bytes - off : 0;
	const struct perf_event_header *header = (const void *)(b->data + off);

	if (left < sizeof(*header) || header->size < sizeof(*header) || header->size % 8 ||
	    header->size > left)
		return NULL;
	*at = off + header->size;
	return header;
}

int slice_border_begin(struct buf *to, const struct slice_border *of)
{
	uint8_t head[SLICE_BORDER_HEAD_BYTES];

	le64_store(head, of->part.from_ns);
	le64_store(head + 8, of->part.to_ns);
	le64_store(head + 16, of->start_ns);
	le64_store(head + 24, of->end_ns);
	le64_store(head + 32, of->has_wakeups ? HAS_WAKEUPS : 0);
	return buf_add(to, head, sizeof(head));
}
