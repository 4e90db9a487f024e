/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/text/escape.h"

enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2 };

static void put(struct protobuf *m, const void *data, size_t size_bytes)
{
	if (vec_reserve(&m->data, &m->capacity, m->size_bytes + size_bytes)) {
		m->failed = true;
		return;
	}
	if (size_bytes)
		memcpy(m->data + m->size_bytes, data, size_bytes);
	m->size_bytes += size_bytes;
}

void protobuf_packed(struct protobuf *m, uint64_t value)
{
	uint8_t bytes[10];
	size_t size = 0;

	do {
		bytes[size++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	put(m, bytes, size);
}

void protobuf_number(struct protobuf *m, unsigned field, uint64_t value)
{
	if (!value)
		return;
	protobuf_packed(m, field << 3 | WIRE_VARINT);
	protobuf_packed(m, value);
}

void protobuf_fixed64(struct protobuf *m, unsigned field, uint64_t value)
{
	uint8_t bytes[8];

	if (!value)
		return;
	le64_store(bytes, value);
	protobuf_packed(m, field << 3 | WIRE_8_BYTES);
	put(m, bytes, sizeof(bytes));
}

void protobuf_double(struct protobuf *m, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_fixed64(m, field, bits);
}

void protobuf_bytes(struct protobuf *m, unsigned field, const void *data, size_t size_bytes)
{
	protobuf_packed(m, field << 3 | WIRE_BYTES);
	protobuf_packed(m, size_bytes);
	put(m, data, size_bytes);
}

void protobuf_text(struct protobuf *m, unsigned field, const char *text, size_t size_bytes)
{
	char *escaped;

	if (escape_plain(ESCAPE_TEXT, text, size_bytes) == size_bytes) {
		protobuf_bytes(m, field, text, size_bytes);
		return;
	}
	escaped = escape_copy(ESCAPE_TEXT, text, size_bytes);
	if (escaped)
		protobuf_bytes(m, field, escaped, strlen(escaped));
	else
		m->failed = true;
	free(escaped);
}

void protobuf_message(struct protobuf *m, unsigned field, const struct protobuf *inner)
{
	m->failed |= inner->failed;
	protobuf_bytes(m, field, inner->data, inner->size_bytes);
}

void protobuf_clear(struct protobuf *m)
{
	m->size_bytes = 0;
}

void protobuf_done(struct protobuf *m)
{
	free(m->data);
	*m = (struct protobuf){ 0 };
}
