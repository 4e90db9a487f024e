/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* range_index - which unit, or which function, has the code at an address? */
#ifndef EBPREC_ANALYZE_SYM_DWARF_RANGE_INDEX_H
#define EBPREC_ANALYZE_SYM_DWARF_RANGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* A piece of code that belongs to unit or function number owner. */
struct code_range {
	uint64_t low, high, reach; /* reach: the largest high of this and all before */
	uint32_t owner;
};

/* Embedded by the owner; all zero is an empty one; its list is free()d by the owner. */
struct range_index {
	struct code_range *list;
	size_t count, capacity;
};

/* Nothing is added when low >= high.  -ENOMEM. */
int range_index_add(struct range_index *r, uint64_t low, uint64_t high, uint32_t owner);
/* Sorts; after the last one, before the first question. */
void range_index_seal(struct range_index *r);
/* The innermost that covers addr: the one that begins last.  NULL: none. */
const struct code_range *range_index_find(const struct range_index *r, uint64_t addr);

#endif
