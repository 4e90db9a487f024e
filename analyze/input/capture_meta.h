/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capture_meta - a fact or two from the JSON that a capture says of itself
 *
 * META objects are for people; the few facts that decide something are found by their key, which
 * is unique in the object.  A key inside another text would be escaped there, so it does not match.
 */
#ifndef EBPREC_ANALYZE_INPUT_CAPTURE_META_H
#define EBPREC_ANALYZE_INPUT_CAPTURE_META_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/time_span.h"
#include "format/reader/capture.h"

/* The last META object of that number, with a NUL behind; owned, NULL: there is none. */
char *capture_meta_read(const struct capture *c, uint64_t object);
/* All notes of the recorder, a line each, in their order; owned, NULL: there are none. */
char *capture_meta_notes(const struct capture *c);
/* Behind the colon of the first such key; NULL: none. */
const char *capture_meta_after(const char *text, const char *key);
/* Whether the value begins so. */
bool capture_meta_is(const char *text, const char *key, const char *value);
/*
 * The string that text begins with, without its escapes; owned, NULL: there is none.  *end: behind it.
 * Of characters by their number those below U+10000 are known.
 */
char *capture_meta_string(const char *text, const char **end);
/* Of an array: its first element behind the bracket, and from behind an element the next; NULL: no more. */
const char *capture_meta_first(const char *array);
const char *capture_meta_next(const char *behind);
/* The value of the first such key, or for NULL what text begins with; false: it is no number. */
bool capture_meta_number(const char *text, const char *key, uint64_t *out);

/* Fills gaps with the times that no part of a merged capture covers; how many, at most max. */
size_t capture_meta_gaps(const struct capture *c, struct time_span *gaps, size_t max);

#endif
