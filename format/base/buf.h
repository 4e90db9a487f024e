/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* buf - bytes that grow at the end */
#ifndef EBPREC_FORMAT_BASE_BUF_H
#define EBPREC_FORMAT_BASE_BUF_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All zero is an empty buffer; free with buf_done(). */
struct buf {
	uint8_t *data;
	size_t size_bytes, room_bytes;
};

static inline void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

/* Makes space for more_bytes behind the end, so that the next adds cannot fail.  -ENOMEM. */
static inline int buf_reserve(struct buf *b, size_t more_bytes)
{
	size_t room = b->room_bytes ? b->room_bytes : 256;
	uint8_t *data;

	if (b->room_bytes - b->size_bytes >= more_bytes)
		return 0;
	if (more_bytes > SIZE_MAX / 4 || b->size_bytes > SIZE_MAX / 4)
		return -ENOMEM;
	while (room < b->size_bytes + more_bytes)
		room *= 2;
	data = realloc(b->data, room);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->room_bytes = room;
	return 0;
}

/* Appends bytes; NULL appends zeros.  -ENOMEM, with *b as it was. */
static inline int buf_add(struct buf *b, const void *bytes, size_t size_bytes)
{
	int err = buf_reserve(b, size_bytes);

	if (err)
		return err;
	if (bytes && size_bytes)
		memcpy(b->data + b->size_bytes, bytes, size_bytes);
	else if (size_bytes)
		memset(b->data + b->size_bytes, 0, size_bytes);
	b->size_bytes += size_bytes;
	return 0;
}

/* Appends zeros until the size is a multiple of align_bytes (a power of two). */
static inline int buf_pad(struct buf *b, size_t align_bytes)
{
	return buf_add(b, NULL, -b->size_bytes & (align_bytes - 1));
}

#endif
