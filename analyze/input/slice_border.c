/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/slice_border.h"

#include <errno.h>
#include <stdlib.h>

#include "format/reader/ebx_records.h"

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
	if (!border_head_decode(b.data, b.size_bytes, &b.head)) {
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
	size_t off = *at ? *at : BORDER_HEAD_BYTES,
	       left = b->size_bytes > off ? b->size_bytes - off : 0;
	const struct perf_event_header *header = (const void *)(b->data + off);

	if (left < sizeof(*header) || header->size < sizeof(*header) || header->size % 8 ||
	    header->size > left)
		return NULL;
	*at = off + header->size;
	return header;
}

int slice_border_begin(struct buf *to, const struct border_head *head)
{
	uint8_t bytes[BORDER_HEAD_BYTES];

	border_head_encode(head, bytes);
	return buf_add(to, bytes, sizeof(bytes));
}
