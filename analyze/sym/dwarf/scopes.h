/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * scopes - the functions of a unit, and what was inlined into them, around wanted addresses
 *
 * One pass over the unit's DIEs.  DIEs that cover no wanted address are not stored, and their
 * children are skipped where a compiler has a reference to the next sibling.  Types and functions
 * without code, half of all DIEs, seldom hold a function that has some: only where no other covers
 * a wanted address these are searched, in a second pass.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_SCOPES_H
#define EBPREC_ANALYZE_SYM_DWARF_SCOPES_H

#include "analyze/sym/dwarf/die.h"

#define SCOPES_NONE UINT32_MAX

/* The attributes of a DIE of a function or of an inlined one. */
struct scopes_die {
	struct dw_value name, linkage, origin;
	struct dw_value call_file, call_line, call_column;
};

struct scopes_inlined {
	uint32_t die_off; /* in the unit */
	uint32_t function, depth;
	struct dw_value call_file, call_line, call_column;
};

/* That wanted address is in that inlined function. */
struct scopes_hit {
	uint32_t wanted, inlined;
};

/* Used for one unit after the other; all zero is an empty one. */
struct scopes {
	const struct dw_file *file;
	struct dw_unit *unit;
	const uint64_t *vaddrs; /* sorted */
	size_t count;
	bool thorough; /* the second pass */
	/*
	 * For each wanted address: the function, by the offset of its DIE, and where its range
	 * begins.
	 */
	uint32_t *functions;
	uint64_t *lows;
	size_t functions_room, lows_room;
	struct scopes_inlined *inlined;
	size_t inlined_count, inlined_room;
	/* By wanted address, and then in the order of the DIEs. */
	struct scopes_hit *hits;
	size_t hit_count, hit_room;
	struct scopes_hit *unsorted;
	size_t unsorted_room;
	uint32_t *starts;
	size_t starts_room;
};

/* w->unit is loaded.  -ENOTSUP: unsupported; -ENOMEM. */
int scopes_run(struct scopes *w);
void scopes_done(struct scopes *w);
/* The DIE at off in the unit; false: unsupported. */
bool scopes_die(const struct dw_unit *u, uint32_t off, struct scopes_die *out);
/* The offset in the unit that a reference leads to; SCOPES_NONE: none, or out of the unit. */
uint32_t scopes_target(const struct dw_unit *u, const struct dw_value *reference);

#endif
