/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* base64 - bytes as text and back (RFC 4648, with padding) */
#ifndef EBPREC_FORMAT_BASE_BASE64_H
#define EBPREC_FORMAT_BASE_BASE64_H

#include "format/base/outbuf.h"

/* How many characters so many bytes become. */
static inline uint64_t base64_chars(uint64_t size_bytes)
{
	return size_bytes / 3 * 4 + (size_bytes % 3 ? 4 : 0);
}

void base64_add(struct outbuf *out, const uint8_t *data, size_t size_bytes);
/*
 * out: room for chars / 4 * 3 bytes; *size_bytes: how many there were.  false: these characters are not what base64_add()
 * makes of any bytes.
 */
bool base64_decode(const uint8_t *text, size_t chars, uint8_t *out, size_t *size_bytes);

#endif
