/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mmap_array - memory for large tables that are read in no order
 *
 * calloc() gives pages that are first mapped to one page of zeroes when a probe reads them, and again
 * when it writes: two faults, and the second one stops the other CPUs.  Pages of 2 MiB save nearly all
 * faults, and most of what a look-up pays for finding the page.
 */
#ifndef EBPREC_FORMAT_BASE_MMAP_ARRAY_H
#define EBPREC_FORMAT_BASE_MMAP_ARRAY_H

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MMAP_ARRAY_PAGE_BYTES ((size_t)2 << 20)
#define MMAP_ARRAY_OWN_BYTES \
	(1 << 20) /* larger tables are no part of a heap: they grow without a copy */
#define MMAP_ARRAY_RETAINED_BYTES (16 << 20) /* of each heap, reused by later steps */

/* Tunes malloc() for commands that fill large tables, free them, and fill others.  Called once by a
 * command. */
static inline void mmap_array_tune(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_ARRAY_OWN_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, MMAP_ARRAY_RETAINED_BYTES);
}

/* As malloc(), but on large pages where the size fills at least one. free() it.  NULL: no memory. */
static inline void *mmap_array_raw(size_t size_bytes)
{
	bool huge = size_bytes >= MMAP_ARRAY_PAGE_BYTES && size_bytes % MMAP_ARRAY_PAGE_BYTES == 0;
	void *memory = huge ? aligned_alloc(MMAP_ARRAY_PAGE_BYTES, size_bytes) : malloc(size_bytes);

	if (memory && huge) /* a kernel without them does as it did */
		(void)madvise(memory, size_bytes, MADV_HUGEPAGE);
	return memory;
}

/* The size to ask for where so much is expected: rounded up to large pages, unless most of one
 * would be empty. */
static inline size_t mmap_array_round(size_t size_bytes)
{
	if (size_bytes < MMAP_ARRAY_PAGE_BYTES / 4)
		return size_bytes + 64;
	return (size_bytes / MMAP_ARRAY_PAGE_BYTES + 1) * MMAP_ARRAY_PAGE_BYTES;
}

/* Cleared; free() it.  NULL: no memory. */
static inline void *mmap_array_zeroed(size_t size_bytes)
{
	void *memory = mmap_array_raw(size_bytes);

	return memory ? memset(memory, 0, size_bytes)
		      : NULL; /* written, so that no page of zeroes is mapped */
}

#endif
