/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/base/outbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

void outbuf_done(struct outbuf *b)
{
	free(b->data);
	*b = (struct outbuf){ 0 };
}

void outbuf_clear(struct outbuf *b)
{
	b->size_bytes = 0;
	b->bad = false;
}

#define LARGE_BYTES (256u << 10) /* less is not worth it */

void outbuf_relax(struct outbuf *b)
{
	size_t room = b->room_bytes / 2;
	uint8_t *data;

	if (room < LARGE_BYTES || b->size_bytes > room / 4)
		return;
	data = realloc(b->data, room);
	if (!data)
		return;
	b->data = data;
	b->room_bytes = room;
}

uint8_t *outbuf_reserve(struct outbuf *b, size_t size_bytes)
{
	size_t room = b->room_bytes ? b->room_bytes : 256;
	uint8_t *data;

	if (b->bad || size_bytes > SIZE_MAX / 4 || b->size_bytes > SIZE_MAX / 4) {
		b->bad = true;
		return NULL;
	}
	while (room < b->size_bytes + size_bytes)
		room *= 2;
	if (room > b->room_bytes) {
		data = realloc(b->data, room);
		if (!data) {
			b->bad = true;
			return NULL;
		}
		b->data = data;
		b->room_bytes = room;
	}
	return b->data + b->size_bytes;
}

void outbuf_add(struct outbuf *b, const void *data, size_t size_bytes)
{
	uint8_t *to = outbuf_reserve(b, size_bytes);

	if (!to || !size_bytes)
		return;
	memcpy(to, data, size_bytes);
	b->size_bytes += size_bytes;
}

void outbuf_zeros(struct outbuf *b, size_t size_bytes)
{
	uint8_t *to = outbuf_reserve(b, size_bytes);

	if (!to || !size_bytes)
		return;
	memset(to, 0, size_bytes);
	b->size_bytes += size_bytes;
}

void outbuf_u16(struct outbuf *b, uint16_t v)
{
	uint8_t bytes[sizeof(v)];

	le16_store(bytes, v);
	outbuf_add(b, bytes, sizeof(bytes));
}

void outbuf_u32(struct outbuf *b, uint32_t v)
{
	uint8_t bytes[sizeof(v)];

	le32_store(bytes, v);
	outbuf_add(b, bytes, sizeof(bytes));
}

void outbuf_u64(struct outbuf *b, uint64_t v)
{
	uint8_t bytes[sizeof(v)];

	le64_store(bytes, v);
	outbuf_add(b, bytes, sizeof(bytes));
}

void outbuf_vprintf(struct outbuf *b, const char *fmt, va_list ap)
{
	char *text = NULL;
	int bytes = vasprintf(&text, fmt, ap);

	if (bytes < 0) {
		b->bad = true;
		return;
	}
	outbuf_add(b, text, (size_t)bytes);
	free(text);
}

void outbuf_printf(struct outbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	outbuf_vprintf(b, fmt, ap);
	va_end(ap);
}
