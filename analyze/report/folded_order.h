/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * foldedorder - what follows each caller of a tree, in the order of the lines it makes
 *
 * The order of all lines is that of LC_ALL=C sort; it follows from sorting what comes next below each
 * caller: the lines that go on below a label, or the one line that ends in it.
 */
#ifndef EBPREC_ANALYZE_REPORT_FOLDED_ORDER_H
#define EBPREC_ANALYZE_REPORT_FOLDED_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report/calltree.h"
#include "analyze/base/string_table.h"

/* What can follow a caller. */
struct folded_item {
	uint32_t node;
	bool is_end;
};

struct foldedorder {
	struct folded_item *items;
	uint32_t *first; /* by node: its items are [first[n], first[n + 1]) */
	uint32_t *lines; /* by node: how many lines go on below it */
};

/* thread_count: that sort at once; 0: chosen.  -ENOMEM, -EOVERFLOW.  *out: foldedorder_done(). */
int foldedorder_make(const struct calltree *t, const struct strings *names, unsigned thread_count,
		     struct foldedorder *out);
void foldedorder_done(struct foldedorder *o);

#define FOLDEDORDER_COUNT_BYTES 24
/* What ends a line: a blank and the count.  Returns how many bytes, without the NUL. */
size_t foldedorder_print_count(char out[FOLDEDORDER_COUNT_BYTES], uint64_t count);

#endif
