/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at p, 1 to 4, and its number; 0: it is none. */
static size_t utf8_decode(const uint8_t *p, size_t left_bytes, uint32_t *out)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, length = *p < 0x80       ? 1
			   : *p >> 5 == 6  ? 2
			   : *p >> 4 == 14 ? 3
			   : *p >> 3 == 30 ? 4
					   : 0;
	uint32_t code = *p;

	if (!length || left_bytes < length)
		return 0;
	if (length > 1)
		code &= 0x7fU >> length;
	for (i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*out = code;
	return length;
}

/* Decides which characters are printed as they are.  Unicode 15, PropList.txt: Bidi_Control;
 * categories Cc, Zl and Zp. */
static bool is_printed(uint32_t code)
{
	if (code < 0xa0)
		return code >= 0x20 && code < 0x7f;
	return code != 0x61c && code != 0x200e && code != 0x200f &&
	       !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

/* Characters that have a meaning in the form itself; NUL, which is not printed: no more. */
static const char specials[][2] = {
	[ESCAPE_TEXT] = { '\0', '\0' },
	[ESCAPE_FOLDED] = { ';', '\0' },
	[ESCAPE_CSV] = { '"', '\0' },
	[ESCAPE_JSON] = { '"', '\\' },
};

static bool is_special(enum escape_form form, char c)
{
	return c && (c == specials[form][0] || c == specials[form][1]);
}

size_t escape_plain(enum escape_form form, const char *text, size_t size_bytes)
{
	const uint8_t *p = (const uint8_t *)text;
	const char one = specials[form][0], other = specials[form][1];
	size_t at = 0, length;
	uint32_t code;

	for (;; at += length) {
		while (at < size_bytes && text[at] >= 0x20 && text[at] < 0x7f && text[at] != one &&
		       text[at] != other) /* most are ASCII */
			at++;
		if (at == size_bytes || p[at] < 0x80)
			return at;
		length = utf8_decode(p + at, size_bytes - at, &code);
		if (!length || !is_printed(code))
			return at;
	}
}

static size_t put_hex(const uint8_t *p, size_t length, bool json, char *out)
{
	size_t bytes = 0;

	for (size_t i = 0; i < length; i++)
		bytes += (size_t)sprintf(out + bytes, json ? "\\\\x%02x" : "\\x%02x", p[i]);
	return bytes;
}

size_t escape_next(enum escape_form form, const char *text, size_t size_bytes,
		   char out[ESCAPE_BYTES_MAX], size_t *out_bytes)
{
	const uint8_t *p = (const uint8_t *)text;
	uint32_t code = 0;
	size_t length = utf8_decode(p, size_bytes, &code);

	if (!length) {
		*out_bytes = put_hex(p, 1, form == ESCAPE_JSON, out);
		return 1;
	}
	if (!is_printed(code)) {
		*out_bytes = form == ESCAPE_JSON ? (size_t)sprintf(out, "\\u%04x", code)
						 : put_hex(p, length, false, out);
		return length;
	}
	memcpy(out, text, length);
	*out_bytes = length;
	if (is_special(form, *text)) {
		out[0] = form == ESCAPE_FOLDED ? ':' : form == ESCAPE_CSV ? '"' : '\\';
		out[1] = *text;
		*out_bytes = form == ESCAPE_FOLDED ? 1 : 2;
	}
	return length;
}

size_t escape_into(enum escape_form form, const char *text, size_t size_bytes, char *out,
		   size_t room_bytes)
{
	size_t at = 0, used = 0, part, length;
	char instead[ESCAPE_BYTES_MAX];

	while (at < size_bytes) {
		part = escape_plain(form, text + at, size_bytes - at);
		if (part > room_bytes - 1 - used) {
			part = escape_plain(form, text + at, room_bytes - 1 - used);
			size_bytes = at + part; /* no space for more */
		}
		memcpy(out + used, text + at, part);
		used += part;
		at += part;
		if (at == size_bytes)
			break;
		length = escape_next(form, text + at, size_bytes - at, instead, &part);
		if (part > room_bytes - 1 - used)
			break;
		memcpy(out + used, instead, part);
		used += part;
		at += length;
	}
	out[used] = '\0';
	return used;
}

char *escape_copy(enum escape_form form, const char *text, size_t size_bytes)
{
	size_t most = form == ESCAPE_JSON ? 6 : 4, room;
	char *out;

	if (size_bytes > SIZE_MAX / 8)
		return NULL;
	room = most * size_bytes + 1;
	out = malloc(room);
	if (out)
		escape_into(form, text, size_bytes, out, room);
	return out;
}

size_t escape_columns(const char *text, size_t size_bytes)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t sum = 0, length;
	uint32_t code = 0;

	for (size_t at = 0; at < size_bytes; at += length) {
		length = 1;
		code = p[at];
		if (code >= 0x80)
			length = utf8_decode(p + at, size_bytes - at, &code);
		sum += !length ? 4 : is_printed(code) ? 1 : 4 * length;
		length = length ? length : 1;
	}
	return sum;
}
