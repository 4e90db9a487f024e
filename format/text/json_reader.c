/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/json_reader.h"

#include <errno.h>
#include <string.h>

static int fail(struct json_reader *j, int err)
{
	j->err = err;
	return err;
}

static void skip_blanks(struct json_reader *j)
{
	while (j->at < j->size_bytes && j->data[j->at] && strchr(" \t\r\n", j->data[j->at]))
		j->at++;
}

static bool take(struct json_reader *j, char c)
{
	skip_blanks(j);
	if (j->at >= j->size_bytes || j->data[j->at] != c)
		return false;
	j->at++;
	return true;
}

/* Behind the first quote.  NUL is no JSON, and would end copies; the reader's caller checks names
 * for other controls. */
static int read_string(struct json_reader *j)
{
	size_t from = j->at;
	bool escaped = false;

	for (; j->at < j->size_bytes && (escaped || j->data[j->at] != '"'); j->at++) {
		if (!j->data[j->at])
			return fail(j, -EBADMSG);
		escaped = !escaped && j->data[j->at] == '\\';
	}
	if (j->at >= j->size_bytes)
		return fail(j, -EBADMSG);
	j->raw = j->data + from;
	j->raw_bytes = j->at++ - from;
	return 0;
}

static int read_other(struct json_reader *j)
{
	size_t from = j->at;

	while (j->at < j->size_bytes && j->data[j->at] &&
	       (strchr("+-.", j->data[j->at]) || (j->data[j->at] >= '0' && j->data[j->at] <= '9') ||
		((j->data[j->at] | 32) >= 'a' && (j->data[j->at] | 32) <= 'z')))
		j->at++;
	if (j->at == from)
		return fail(j, -EBADMSG);
	j->raw = j->data + from;
	j->raw_bytes = j->at - from;
	return JSON_READER_OTHER;
}

static void value_is_over(struct json_reader *j)
{
	j->want = j->depth ? JSON_READER_WANT_MORE : JSON_READER_WANT_NONE;
}

static int open_one(struct json_reader *j, bool object)
{
	if (j->depth >= JSON_READER_DEPTH_MAX)
		return fail(j, -EOVERFLOW);
	j->is_object = (j->is_object & ~(1ULL << j->depth)) | (uint64_t)object << j->depth;
	j->depth++;
	j->want = JSON_READER_WANT_FIRST;
	return object ? JSON_READER_OBJECT : JSON_READER_ARRAY;
}

static bool in_object(const struct json_reader *j)
{
	return j->depth && j->is_object >> (j->depth - 1) & 1;
}

static int read_value(struct json_reader *j)
{
	int token;

	skip_blanks(j);
	if (take(j, '{'))
		return open_one(j, true);
	if (take(j, '['))
		return open_one(j, false);
	if (take(j, '"'))
		token = read_string(j) ? j->err : JSON_READER_STRING;
	else
		token = read_other(j);
	if (token > 0)
		value_is_over(j);
	return token;
}

static int read_key(struct json_reader *j)
{
	if (!take(j, '"') || read_string(j) || !take(j, ':'))
		return fail(j, -EBADMSG);
	j->want = JSON_READER_WANT_VALUE;
	return JSON_READER_KEY;
}

int json_reader_next(struct json_reader *j)
{
	if (j->err)
		return j->err;
	if (j->want == JSON_READER_WANT_NONE) {
		skip_blanks(j);
		return j->at == j->size_bytes ? JSON_READER_END : fail(j, -EBADMSG);
	}
	if (j->want == JSON_READER_WANT_VALUE)
		return read_value(j);
	if (take(j, in_object(j) ? '}' : ']')) {
		j->depth--;
		value_is_over(j);
		return JSON_READER_CLOSE;
	}
	if (j->want == JSON_READER_WANT_MORE && !take(j, ','))
		return fail(j, -EBADMSG);
	return in_object(j) ? read_key(j) : read_value(j);
}

int json_reader_skip(struct json_reader *j)
{
	unsigned depth = j->depth;
	int token;

	do {
		token = json_reader_next(j);
	} while (token > 0 && j->depth > depth);
	return token < 0 ? token : 0;
}

bool json_reader_is(const struct json_reader *j, const char *text)
{
	return j->raw_bytes == strlen(text) && !memcmp(j->raw, text, j->raw_bytes);
}
