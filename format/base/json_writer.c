/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/base/json_writer.h"

#include <string.h>

/* Length of the UTF-8 character at s; 0: broken. */
static size_t utf8_bytes(const unsigned char *s)
{
	size_t i, bytes = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (bytes > 1 && (*s < 0xc2 || *s > 0xf4))
		return 0;
	for (i = 1; i < bytes; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return bytes;
}

static void quoted(struct outbuf *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t bytes;

	outbuf_add(out, "\"", 1);
	for (; *s; s += bytes ? bytes : 1) {
		bytes = utf8_bytes(s);
		if (!bytes)
			outbuf_add(out, "\xef\xbf\xbd", 3);
		else if (*s == '"' || *s == '\\')
			outbuf_printf(out, "\\%c", *s);
		else if (*s < 0x20)
			outbuf_printf(out, "\\u%04x", *s);
		else
			outbuf_add(out, s, bytes);
	}
	outbuf_add(out, "\"", 1);
}

/* The comma, the line and the key before a value. */
static void lead(struct json *j, const char *key)
{
	unsigned i;

	if (j->depth) {
		outbuf_add(j->out, j->first ? "\n" : ",\n", j->first ? 1 : 2);
		for (i = 0; i < j->depth; i++)
			outbuf_add(j->out, "  ", 2);
	}
	j->first = false;
	if (key) {
		quoted(j->out, key);
		outbuf_add(j->out, ": ", 2);
	}
}

static void open_with(struct json *j, const char *key, const char *bracket)
{
	lead(j, key);
	outbuf_add(j->out, bracket, 1);
	j->depth++;
	j->first = true;
}

static void close_with(struct json *j, const char *bracket)
{
	unsigned i;

	j->depth--;
	if (!j->first) {
		outbuf_add(j->out, "\n", 1);
		for (i = 0; i < j->depth; i++)
			outbuf_add(j->out, "  ", 2);
	}
	outbuf_add(j->out, bracket, 1);
	if (!j->depth)
		outbuf_add(j->out, "\n", 1);
	j->first = false;
}

void json_begin(struct json *j, const char *key)
{
	open_with(j, key, "{");
}

void json_end(struct json *j)
{
	close_with(j, "}");
}

void json_begin_array(struct json *j, const char *key)
{
	open_with(j, key, "[");
}

void json_end_array(struct json *j)
{
	close_with(j, "]");
}

void json_string(struct json *j, const char *key, const char *value)
{
	lead(j, key);
	quoted(j->out, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	lead(j, key);
	outbuf_printf(j->out, "%llu", (unsigned long long)value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	lead(j, key);
	outbuf_printf(j->out, value ? "true" : "false");
}
