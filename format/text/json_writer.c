/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/json_writer.h"

#include <stdarg.h>
#include <string.h>

#include "format/text/escape.h"

#define U64_DIGITS 20

static void put(struct json_writer *j, const char *text, size_t size_bytes)
{
	if (j->out)
		outbuf_add(j->out, text, size_bytes);
	else
		fwrite_unlocked(text, 1, size_bytes, j->to);
}

static void put_char(struct json_writer *j, char c)
{
	if (j->out)
		outbuf_add(j->out, &c, 1);
	else
		putc_unlocked(c, j->to);
}

static void put_quoted(struct json_writer *j, const char *text, size_t left)
{
	char instead[ESCAPE_BYTES_MAX];
	size_t part, length;

	put_char(j, '"');
	while (left) {
		part = escape_plain(ESCAPE_JSON, text, left);
		put(j, text, part);
		text += part;
		left -= part;
		if (!left)
			break;
		length = escape_next(ESCAPE_JSON, text, left, instead, &part);
		put(j, instead, part);
		text += length;
		left -= length;
	}
	put_char(j, '"');
}

static void put_line(struct json_writer *j)
{
	unsigned blanks = j->line                          ? j->blanks
			  : j->layout == JSON_WRITER_LINES ? 2 * j->depth
							   : j->depth;

	put_char(j, '\n');
	while (blanks--)
		put_char(j, ' ');
	j->line = false;
}

/* The comma, the line and the key before a value. */
static void begin_value(struct json_writer *j, const char *key)
{
	if (j->depth) {
		if (j->not_first)
			put_char(j, ',');
		if (j->line || j->layout == JSON_WRITER_LINES ||
		    (j->depth <= j->line_depth && (j->not_first || j->depth > 1)))
			put_line(j);
		else if (j->not_first && j->layout == JSON_WRITER_SPACED)
			put_char(j, ' ');
	}
	j->not_first = true;
	if (key) {
		put_quoted(j, key, strlen(key));
		put_char(j, ':');
		put_char(j, ' ');
	}
}

static void open_with(struct json_writer *j, const char *key, char bracket)
{
	begin_value(j, key);
	put_char(j, bracket);
	j->depth++;
	j->not_first = false;
}

static void close_with(struct json_writer *j, char bracket)
{
	bool line = j->line || j->depth <= j->line_depth ||
		    (j->not_first && j->layout == JSON_WRITER_LINES);

	j->depth--;
	if (line)
		put_line(j);
	put_char(j, bracket);
	if (!j->depth)
		put_char(j, '\n');
	j->not_first = j->depth;
}

void json_writer_begin(struct json_writer *j, const char *key)
{
	open_with(j, key, '{');
}

void json_writer_end(struct json_writer *j)
{
	close_with(j, '}');
}

void json_writer_begin_array(struct json_writer *j, const char *key)
{
	open_with(j, key, '[');
}

void json_writer_end_array(struct json_writer *j)
{
	close_with(j, ']');
}

void json_writer_string(struct json_writer *j, const char *key, const char *value)
{
	json_writer_text(j, key, value, strlen(value));
}

void json_writer_text(struct json_writer *j, const char *key, const char *text, size_t size_bytes)
{
	begin_value(j, key);
	put_quoted(j, text, size_bytes);
}

void json_writer_u64(struct json_writer *j, const char *key, uint64_t value)
{
	json_writer_fixed(j, key, value, 0);
}

void json_writer_fixed(struct json_writer *j, const char *key, uint64_t value, unsigned decimals)
{
	char text[U64_DIGITS + 1], *first = text + sizeof(text);
	unsigned digits = 0;

	do {
		if (digits && digits == decimals)
			*--first = '.';
		*--first = (char)('0' + value % 10);
		value /= 10;
	} while (++digits <= decimals || value);
	begin_value(j, key);
	put(j, first, (size_t)(text + sizeof(text) - first));
}

void json_writer_number(struct json_writer *j, const char *key, const char *fmt, ...)
{
	va_list ap;

	begin_value(j, key);
	va_start(ap, fmt);
	if (j->out)
		outbuf_vprintf(j->out, fmt, ap);
	else
		vfprintf(j->to, fmt, ap);
	va_end(ap);
}

void json_writer_bool(struct json_writer *j, const char *key, bool value)
{
	begin_value(j, key);
	put(j, value ? "true" : "false", value ? 4 : 5);
}

void json_writer_null(struct json_writer *j, const char *key)
{
	begin_value(j, key);
	put(j, "null", 4);
}

void json_writer_line(struct json_writer *j, unsigned blanks)
{
	j->blanks = blanks;
	j->line = true;
}
