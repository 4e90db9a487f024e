/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * strings - equal strings get equal numbers
 *
 * Comms, paths and function names repeat millions of times in a capture; the analyzer keeps each
 * once and passes numbers around.  Numbers are given in order, from 0, and number 0 is "".
 */
#ifndef EBPREC_ANALYZE_BASE_STRING_TABLE_H
#define EBPREC_ANALYZE_BASE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct strings; /* opaque */

/* -ENOMEM; *out untouched on failure. */
int strings_new(struct strings **out);
void strings_free(struct strings *s); /* NULL is fine; all texts go with it */

/* The number of text's first size_bytes bytes (no NUL among them counts).  -ENOMEM, -EOVERFLOW. */
int strings_add(struct strings *s, const char *text, size_t size_bytes, uint32_t *out);
/* The number of a NUL-terminated text, or UINT32_MAX when it was never added. */
uint32_t strings_find(const struct strings *s, const char *text);
/* Borrowed until strings_free(); NUL-terminated.  id must be one that was given. */
const char *strings_text(const struct strings *s, uint32_t id);
size_t strings_bytes(const struct strings *s, uint32_t id); /* without the NUL */
uint32_t strings_count(const struct strings *s);

#endif
