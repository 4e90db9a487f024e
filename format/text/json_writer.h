/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * json_writer - writes JSON, to memory or to a stream
 *
 * The writer counts commas and nesting.  Text is written as ESCAPE_JSON has it
 * (format/text/escape.h), so that the result is always valid.  The outermost value ends its line.
 * Errors are those of the sink: outbuf_ok(), ferror().
 */
#ifndef EBPREC_FORMAT_TEXT_JSON_WRITER_H
#define EBPREC_FORMAT_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/base/outbuf.h"

enum json_writer_layout {
	JSON_WRITER_LINES,  /* a line for each value, two blanks a level */
	JSON_WRITER_SPACED, /* [1, 2]; a line begins where it is asked for, with a blank a level */
	JSON_WRITER_TIGHT,  /* [1,2]; the same */
};

/* All else is zero at the beginning. */
struct json_writer {
	struct outbuf *out;             /* borrowed; NULL: to is written to */
	FILE *to;                       /* borrowed */
	enum json_writer_layout layout; /* may change between two calls */
	/* SPACED and TIGHT: values and ends down to this depth begin lines, but the very first. */
	unsigned line_depth;
	unsigned depth;
	bool not_first; /* in the innermost object or array */
	bool line;      /* json_writer_line() was called */
	unsigned blanks;
};

/* key NULL: the outermost value, or an element of an array. */
void json_writer_begin(struct json_writer *j, const char *key);
void json_writer_end(struct json_writer *j);
void json_writer_begin_array(struct json_writer *j, const char *key);
void json_writer_end_array(struct json_writer *j);
void json_writer_string(struct json_writer *j, const char *key, const char *value);
void json_writer_text(struct json_writer *j, const char *key, const char *text, size_t size_bytes);
void json_writer_u64(struct json_writer *j, const char *key, uint64_t value);
/* value / 10^decimals, exactly; decimals: up to 18. */
void json_writer_fixed(struct json_writer *j, const char *key, uint64_t value, unsigned decimals);
/* A number in the form that the caller wants. */
void json_writer_number(struct json_writer *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void json_writer_bool(struct json_writer *j, const char *key, bool value);
void json_writer_null(struct json_writer *j, const char *key);
/* The next value, or end of one, begins a line, after so many blanks. */
void json_writer_line(struct json_writer *j, unsigned blanks);

#endif
