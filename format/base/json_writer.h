/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * json - writes JSON objects, one key a line
 *
 * Commas and nesting are kept track of.  Text is written as ESCAPE_JSON has it
 * (format/base/escape.h), so that the result is always valid.
 */
#ifndef EBPREC_FORMAT_BASE_JSON_WRITER_H
#define EBPREC_FORMAT_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/outbuf.h"

struct json {
	struct outbuf *out; /* borrowed */
	unsigned depth;
	bool first; /* nothing in the innermost object yet */
};

/* key NULL: the outermost object, or an element of an array. */
void json_begin(struct json *j, const char *key);
void json_end(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);
void json_string(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);

#endif
