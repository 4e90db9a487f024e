/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rangealloc - allocates numbers of a range
 *
 * For elements of BPF arrays: rows of a chunk, pages, mappings.  First fit; a freed range joins its
 * free neighbours.  A zeroed struct is an empty range.
 */
#ifndef EBPREC_RECORD_BASE_RANGEALLOC_H
#define EBPREC_RECORD_BASE_RANGEALLOC_H

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t at, count;
};

struct rangealloc {
	struct extent *free; /* by place; no two touch */
	size_t count, room;
	uint32_t free_total;
};

void rangealloc_done(struct rangealloc *e);
/* Takes count numbers in a row, the first goes to *at.  -ENOSPC, or -EINVAL when count is 0. */
int rangealloc_take(struct rangealloc *e, uint32_t count, uint32_t *at);
/*
 * Makes them free, also for the first time.  -ENOMEM: then they are lost for ever; -EINVAL: some of
 * them are free already, or there is none.
 */
int rangealloc_give(struct rangealloc *e, uint32_t at, uint32_t count);

#endif
