/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* coderanges - which unit, or which function, has the code at an address? */
#ifndef EBPREC_ANALYZE_SYM_DWARF_RANGE_INDEX_H
#define EBPREC_ANALYZE_SYM_DWARF_RANGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* A piece of code that belongs to unit or function number owner. */
struct coderange {
	uint64_t low, high, reach; /* reach: the largest high of this and all before */
	uint32_t owner;
};

/* Embedded by the owner; all zero is an empty one; its list is free()d by the owner. */
struct coderanges {
	struct coderange *list;
	size_t count, capacity;
};

/* Nothing is added when low >= high.  -ENOMEM. */
int coderanges_add(struct coderanges *r, uint64_t low, uint64_t high, uint32_t owner);
/* Sorts; after the last one, before the first question. */
void coderanges_seal(struct coderanges *r);
/* The innermost that covers addr: the one that begins last.  NULL: none. */
const struct coderange *coderanges_find(const struct coderanges *r, uint64_t addr);

#endif
