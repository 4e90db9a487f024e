/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * json_writer - writes JSON objects, one key a line
 *
 * The writer counts commas and nesting.  Text is written as ESCAPE_JSON has it
 * (format/text/escape.h), so that the result is always valid.
 */
#ifndef EBPREC_FORMAT_TEXT_JSON_WRITER_H
#define EBPREC_FORMAT_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/outbuf.h"

struct json_writer {
	struct outbuf *out; /* borrowed */
	unsigned depth;
	bool first; /* nothing in the innermost object yet */
};

/* key NULL: the outermost object, or an element of an array. */
void json_writer_begin(struct json_writer *j, const char *key);
void json_writer_end(struct json_writer *j);
void json_writer_begin_array(struct json_writer *j, const char *key);
void json_writer_end_array(struct json_writer *j);
void json_writer_string(struct json_writer *j, const char *key, const char *value);
void json_writer_u64(struct json_writer *j, const char *key, uint64_t value);
void json_writer_bool(struct json_writer *j, const char *key, bool value);

#endif
