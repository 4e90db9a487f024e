/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capture_meta - single values from a capture's META objects
 *
 * META objects are for people; the few facts that decide something are members with a key that is unique in
 * the object.  A text that is no JSON, or nests deeper than JSON_READER_DEPTH_MAX, has no values:
 * any user may have written it.
 */
#ifndef EBPREC_ANALYZE_INPUT_CAPTURE_META_H
#define EBPREC_ANALYZE_INPUT_CAPTURE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "format/reader/capture.h"

/* A value in a text, borrowed from it.  text NULL: there is none, and so nothing is in it. */
struct capture_meta_value {
	const char *text;
	size_t size_bytes; /* without blanks around it */
};

/* The last META object of that number, owned: capture_meta_free(). */
struct capture_meta_value capture_meta_read(const struct capture *c, uint64_t object);
void capture_meta_free(struct capture_meta_value v);
/* All notes of the recorder, a line each, in their order; owned, NULL: there are none. */
char *capture_meta_notes(const struct capture *c);
/*
 * The selection with which it was recorded, as "unit nginx, php-fpm; comm worker"; owned, NULL: nothing was, or no memory.
 */
char *capture_meta_selection(const struct capture *c);

/* The first member of that key, of the object or of objects in it; what arrays hold is not looked at. */
struct capture_meta_value capture_meta_member(struct capture_meta_value object, const char *key);
/* Whether the member's value is this, as JSON writes it. */
bool capture_meta_is(struct capture_meta_value object, const char *key, const char *value);
/* The member, or for NULL the value itself; false: it is no integer of 64 bits. */
bool capture_meta_number(struct capture_meta_value v, const char *key, uint64_t *out);
/*
 * A string without its escapes; owned, NULL: it is none.  Escapes \uXXXX are known below U+10000.
 */
char *capture_meta_string(struct capture_meta_value v);
/* The elements of an array, from the first to one without text. */
struct capture_meta_value capture_meta_first(struct capture_meta_value array);
struct capture_meta_value capture_meta_next(struct capture_meta_value array,
					    struct capture_meta_value element);

/* When the recording of this file ended, CLOCK_MONOTONIC; 0: not known, as of a slice and of other programs' files. */
uint64_t capture_meta_end_ns(const struct capture *c);
/*
 * When it began: from then on all events are in the file.  0: not known, as of a recording that was cut, a slice, one of several
 * files of a recording, and of other programs' files.
 */
uint64_t capture_meta_began_ns(const struct capture *c);
/* Makes the span of the samples that of the recording, which may end later: no thread was switched from then on. */
void capture_meta_extend(const struct capture *c, struct time_span *span);
/* The same of its beginning.  Relative times do not count from there, but from the first sample. */
void capture_meta_extend_back(const struct capture *c, struct time_span *span);
/*
 * The time of one of several files of a recording: what happened meanwhile is in this one, though a stack of before may be, too.
 * false: it is none.
 */
bool capture_meta_segment(const struct capture *c, struct time_span *out);

#define CAPTURE_META_PARTS_MAX 256 /* as many captures as are merged at once */

/* One of the captures that were joined into this one. */
struct capture_meta_part {
	struct time_span records;  /* what it found when it began has the first of these times */
	struct time_span switches; /* from when to when it recorded them; 0, 0: it has none */
	bool system_wide;          /* all processes */
	bool is_partial;           /* some processes alone; neither: not known */
};

/* Fills the parts of a merged capture, in their order, at most that array; how many: 0 for another capture. */
size_t capture_meta_parts(const struct capture *c,
			  struct capture_meta_part parts[CAPTURE_META_PARTS_MAX]);

#endif
