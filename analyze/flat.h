/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * flat - functions by cost
 *
 * Self is what was spent in a function, total what was spent in it and in all it called; a function
 * that is on a stack more than once is counted once for it.
 */
#ifndef EBPREC_ANALYZE_FLAT_H
#define EBPREC_ANALYZE_FLAT_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/calltree.h"
#include "analyze/naming.h"

struct flat_row {
	uint32_t function; /* of the naming */
	uint64_t self, total;
};

struct flat {
	struct flat_row *rows; /* by self, then total, both falling; then by name and file */
	size_t count;
	uint64_t sum; /* of all stacks */
};

/* t: its labels are functions of n.  -ENOMEM.  *out: flat_done(). */
int flat_make(const struct calltree *t, const struct naming *n, const struct strings *names,
	      struct flat *out);
void flat_done(struct flat *f);

struct flat_style {
	uint64_t min_total; /* rows with less are left out, and counted in the last line */
	const char *weight; /* heading of the column of numbers: "samples", "period" */
};

/* One line a function, as wide as it needs to be. */
void flat_write(const struct flat *f, const struct naming *n, const struct strings *names,
		const struct flat_style *style, FILE *to);

#endif
