/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jsonpull - the tokens of a JSON text, one after the other
 *
 * For the files in which container engines keep names: anybody may have written them.  Nothing is
 * allocated, nothing recurses, each byte is looked at once; nesting deeper than JSONPULL_DEPTH_MAX is
 * -EOVERFLOW, what is no JSON is -EBADMSG, and both stay.  Numbers and words are not looked into.
 */
#ifndef EBPREC_FORMAT_BASE_JSON_READER_H
#define EBPREC_FORMAT_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONPULL_DEPTH_MAX 64

enum jsonpull_token {
	JSONPULL_END, /* of the text: its one value is over */
	JSONPULL_OBJECT,
	JSONPULL_ARRAY,
	JSONPULL_CLOSE, /* of either */
	JSONPULL_KEY,   /* its value is next */
	JSONPULL_STRING,
	JSONPULL_OTHER, /* a number, true, false, null */
};

/* All but data and size_bytes zero at the beginning. */
struct jsonpull {
	const char *data; /* borrowed */
	size_t size_bytes, at;
	uint64_t is_object; /* by depth */
	unsigned depth;     /* how many objects and arrays are open */
	enum {
		JSONPULL_WANT_VALUE,
		JSONPULL_WANT_FIRST,
		JSONPULL_WANT_MORE,
		JSONPULL_WANT_NONE
	} want;
	int err;
	/* Of the last KEY, STRING or OTHER: as it stands there, without the quotes. */
	const char *raw;
	size_t raw_bytes;
};

/* enum jsonpull_token; -EBADMSG, -EOVERFLOW. */
int jsonpull_next(struct jsonpull *j);
/* Steps over the value that is next, whatever it is. */
int jsonpull_skip(struct jsonpull *j);
/* Whether the last KEY or STRING is this one; what is written by escapes is not. */
bool jsonpull_is(const struct jsonpull *j, const char *text);

#endif
