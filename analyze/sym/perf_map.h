/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perfmap - names of code made at run time, from the text of a perf-PID.map
 *
 * A line is "START SIZE NAME", numbers in hex.  A compiler appends to the file as it works, so where
 * lines overlap the later one is right; the file has no times, and what an address was before it
 * was used again is not known.
 */
#ifndef EBPREC_ANALYZE_SYM_PERF_MAP_H
#define EBPREC_ANALYZE_SYM_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct perfmap; /* opaque; read-only */

/* Copies what it needs.  Lines that are none are passed over.  -ENOENT: no line; -ENOMEM. */
int perfmap_new(const char *text, size_t size_bytes, struct perfmap **out);
void perfmap_free(struct perfmap *m); /* NULL is fine */

/* NULL when nothing covers addr.  Borrowed until perfmap_free(). */
const char *perfmap_find(const struct perfmap *m, uint64_t addr);

#endif
