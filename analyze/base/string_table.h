/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * string_table - equal strings get equal numbers
 *
 * Comms, paths and function names repeat millions of times in a capture; the analyzer keeps each
 * once and passes numbers around.  Numbers are given in order, from 0, and number 0 is "".
 */
#ifndef EBPREC_ANALYZE_BASE_STRING_TABLE_H
#define EBPREC_ANALYZE_BASE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct string_table; /* opaque */

/* -ENOMEM; *out untouched on failure. */
int string_table_new(struct string_table **out);
void string_table_free(struct string_table *s); /* NULL is fine; all texts go with it */

/* The number of text's first size_bytes bytes (no NUL among them counts).  -ENOMEM, -EOVERFLOW. */
int string_table_add(struct string_table *s, const char *text, size_t size_bytes, uint32_t *out);
/* The number of a NUL-terminated text, or UINT32_MAX when it was never added. */
uint32_t string_table_find(const struct string_table *s, const char *text);
/* Borrowed until string_table_free(); NUL-terminated.  id must be one that was given. */
const char *string_table_text(const struct string_table *s, uint32_t id);
size_t string_table_bytes(const struct string_table *s, uint32_t id); /* without the NUL */
uint32_t string_table_count(const struct string_table *s);

#endif
