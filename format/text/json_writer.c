/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/json_writer.h"

#include <string.h>

#include "format/text/escape.h"

static void quoted(struct outbuf *out, const char *text)
{
	size_t left = strlen(text), part, length;
	char instead[ESCAPE_BYTES_MAX];

	outbuf_add(out, "\"", 1);
	while (left) {
		part = escape_plain(ESCAPE_JSON, text, left);
		outbuf_add(out, text, part);
		text += part;
		left -= part;
		if (!left)
			break;
		length = escape_next(ESCAPE_JSON, text, left, instead, &part);
		outbuf_add(out, instead, part);
		text += length;
		left -= length;
	}
	outbuf_add(out, "\"", 1);
}

/* The comma, the line and the key before a value. */
static void lead(struct json_writer *j, const char *key)
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

static void open_with(struct json_writer *j, const char *key, const char *bracket)
{
	lead(j, key);
	outbuf_add(j->out, bracket, 1);
	j->depth++;
	j->first = true;
}

static void close_with(struct json_writer *j, const char *bracket)
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

void json_writer_begin(struct json_writer *j, const char *key)
{
	open_with(j, key, "{");
}

void json_writer_end(struct json_writer *j)
{
	close_with(j, "}");
}

void json_writer_begin_array(struct json_writer *j, const char *key)
{
	open_with(j, key, "[");
}

void json_writer_end_array(struct json_writer *j)
{
	close_with(j, "]");
}

void json_writer_string(struct json_writer *j, const char *key, const char *value)
{
	lead(j, key);
	quoted(j->out, value);
}

void json_writer_u64(struct json_writer *j, const char *key, uint64_t value)
{
	lead(j, key);
	outbuf_printf(j->out, "%llu", (unsigned long long)value);
}

void json_writer_bool(struct json_writer *j, const char *key, bool value)
{
	lead(j, key);
	outbuf_printf(j->out, value ? "true" : "false");
}
