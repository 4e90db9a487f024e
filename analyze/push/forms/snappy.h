/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * snappy - bytes as the block format of Snappy, of literals alone
 *
 * Remote write of Prometheus demands the format, not that it be shorter.  A literal is a tag (its length less one, in two
 * bytes behind the tag 61 << 2) and the bytes.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_SNAPPY_H
#define EBPREC_ANALYZE_PUSH_FORMS_SNAPPY_H

#include "analyze/push/forms/row_binary.h"

#define SNAPPY_LITERAL_MAX 65536

static inline void snappy_block(struct outbuf *out, const uint8_t *data, size_t size_bytes)
{
	row_binary_count(out, size_bytes); /* the same LEB128 */
	for (size_t i = 0; i < size_bytes;) {
		size_t bytes = size_bytes - i < SNAPPY_LITERAL_MAX ? size_bytes - i
								   : SNAPPY_LITERAL_MAX;

		row_binary_u8(out, 61 << 2);
		outbuf_u16(out, (uint16_t)(bytes - 1));
		outbuf_add(out, data + i, bytes);
		i += bytes;
	}
}

#endif
