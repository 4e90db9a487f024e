/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct outbuf *out, const uint8_t *data, size_t size_bytes)
{
	uint8_t *to = outbuf_reserve(out, base64_chars(size_bytes));

	if (!to)
		return;
	for (size_t i = 0; i < size_bytes; i += 3) {
		size_t left = size_bytes - i;
		uint32_t v = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
			     (left > 2 ? data[i + 2] : 0);

		*to++ = (uint8_t)digits[v >> 18];
		*to++ = (uint8_t)digits[v >> 12 & 63];
		*to++ = left > 1 ? (uint8_t)digits[v >> 6 & 63] : '=';
		*to++ = left > 2 ? (uint8_t)digits[v & 63] : '=';
	}
	out->size_bytes += base64_chars(size_bytes);
}

/* The value of a digit; 64: it is none. */
static uint32_t digit_value(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool base64_decode(const uint8_t *text, size_t chars, uint8_t *out, size_t *size_bytes)
{
	size_t padding = 0, size = 0;

	if (chars % 4)
		return false;
	while (chars && padding < 2 && text[chars - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < chars; i += 4) {
		size_t have = chars - i == 4 ? 4 - padding : 4;
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++) {
			uint32_t digit = k < have ? digit_value(text[i + k]) : 0;

			if (digit == 64)
				return false;
			v = v << 6 | digit;
		}
		if (have < 4 && v & (have == 3 ? 0xff : 0xffff)) /* bits of no byte */
			return false;
		for (size_t k = 0; k + 1 < have; k++)
			out[size++] = (uint8_t)(v >> (16 - 8 * k));
	}
	*size_bytes = size;
	return true;
}
