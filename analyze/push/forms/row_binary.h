/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * row_binary - values of ClickHouse's format RowBinary, at the end of a buffer
 *
 * Numbers are little-endian; a String is its length as LEB128 and its bytes, LowCardinality(String) the same; an Array
 * is its count as LEB128 and its elements; a DateTime is seconds as UInt32, a Date days as UInt16.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_ROW_BINARY_H
#define EBPREC_ANALYZE_PUSH_FORMS_ROW_BINARY_H

#include <string.h>

#include "format/base/outbuf.h"

static inline void row_binary_count(struct outbuf *b, uint64_t count)
{
	uint8_t bytes[10];
	size_t size = 0;

	do {
		bytes[size++] = (uint8_t)(count & 0x7f) | (count > 0x7f ? 0x80 : 0);
		count >>= 7;
	} while (count);
	outbuf_add(b, bytes, size);
}

static inline void row_binary_text(struct outbuf *b, const char *text)
{
	size_t size_bytes = strlen(text);

	row_binary_count(b, size_bytes);
	outbuf_add(b, text, size_bytes);
}

static inline void row_binary_u8(struct outbuf *b, uint8_t value)
{
	outbuf_add(b, &value, sizeof(value));
}

#endif
