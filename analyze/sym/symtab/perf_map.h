/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perf_map - names of code made at run time, from the text of a perf-PID.map
 *
 * A line is "START SIZE NAME", numbers in hex.  A compiler appends to the file as it works, so where
 * lines overlap the later one is right; the file has no times, and what an address was before it
 * was used again is not known.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_PERF_MAP_H
#define EBPREC_ANALYZE_SYM_SYMTAB_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct perf_map; /* opaque; read-only */

/* Copies what it needs.  Lines that are none are passed over.  -ENOENT: no line; -ENOMEM. */
int perf_map_new(const char *text, size_t size_bytes, struct perf_map **out);
void perf_map_free(struct perf_map *m); /* NULL is fine */

/* NULL when nothing covers addr.  Borrowed until perf_map_free(). */
const char *perf_map_find(const struct perf_map *m, uint64_t addr);

#endif
