/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * json_reader - the tokens of a JSON text, one after the other
 *
 * For the files in which container engines keep names, and for a capture's META: neither is
 * trusted.  Nothing is allocated, nothing recurses, each byte is looked at once; nesting deeper
 * than JSON_READER_DEPTH_MAX is -EOVERFLOW, what is no JSON is -EBADMSG, and both errors stay.
 * Numbers and words are not looked into.
 */
#ifndef EBPREC_FORMAT_TEXT_JSON_READER_H
#define EBPREC_FORMAT_TEXT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_DEPTH_MAX 64

enum json_reader_token {
	JSON_READER_END, /* of the text: its one value is over */
	JSON_READER_OBJECT,
	JSON_READER_ARRAY,
	JSON_READER_CLOSE, /* of either */
	JSON_READER_KEY,   /* its value is next */
	JSON_READER_STRING,
	JSON_READER_OTHER, /* a number, true, false, null */
};

/* All but data and size_bytes zero at the beginning. */
struct json_reader {
	const char *data; /* borrowed */
	size_t size_bytes, at;
	uint64_t is_object; /* by depth */
	unsigned depth;     /* how many objects and arrays are open */
	enum {
		JSON_READER_WANT_VALUE,
		JSON_READER_WANT_FIRST,
		JSON_READER_WANT_MORE,
		JSON_READER_WANT_NONE
	} want;
	int err;
	/* The last KEY, STRING or OTHER as in the text, without the quotes. */
	const char *raw;
	size_t raw_bytes;
};

/* enum json_reader_token; -EBADMSG, -EOVERFLOW. */
int json_reader_next(struct json_reader *j);
/* Steps over the value that is next, whatever it is. */
int json_reader_skip(struct json_reader *j);
/* Whether the last KEY or STRING is this one; what is written by escapes is not. */
bool json_reader_is(const struct json_reader *j, const char *text);

#endif
