/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * folded_order - what follows each caller of a tree, in the order of the lines it makes
 *
 * The order of all lines is that of LC_ALL=C sort; it follows from sorting what comes next below each
 * caller: the lines that go on below a label, or the one line that ends in it.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_FOLDED_ORDER_H
#define EBPREC_ANALYZE_REPORT_PROFILE_FOLDED_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/base/string_table.h"

/* The items that can follow a caller. */
struct folded_item {
	uint32_t node;
	bool is_end;
};

struct folded_order {
	struct folded_item *items;
	uint32_t *first; /* by node: its items are [first[n], first[n + 1]) */
	uint32_t *lines; /* by node: how many lines go on below it */
};

/* thread_count: that sort at once; 0: chosen.  -ENOMEM, -EOVERFLOW.  *out: folded_order_done(). */
int folded_order_make(const struct calltree *t, const struct string_table *names,
		      unsigned thread_count, struct folded_order *out);
void folded_order_done(struct folded_order *o);

#define FOLDED_ORDER_COUNT_BYTES 24
/* Prints the end of a line: a blank and the count.  Returns how many bytes, without the NUL. */
size_t folded_order_print_count(char out[FOLDED_ORDER_COUNT_BYTES], uint64_t count);

#endif
