/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * callgraph - trees of calls: from the top down, from the bottom up, around one function
 *
 * Top down a node's children are its callees; bottom up they are its callers.  Around a function
 * only the stacks that have it count, each once: from its outermost call on, so that the function's
 * total is the tree's, and recursion shows inside.  Levels of a sample (process, thread) may stand
 * above the calls.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_CALLGRAPH_H
#define EBPREC_ANALYZE_REPORT_PROFILE_CALLGRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/out/terminal.h"

enum callgraph_shape {
	CALLGRAPH_TOP_DOWN,
	CALLGRAPH_BOTTOM_UP,
	CALLGRAPH_CALLERS, /* of the wanted functions, bottom up */
	CALLGRAPH_CALLEES, /* of the wanted functions, top down */
};

struct callgraph_query {
	enum callgraph_shape shape;
	enum calltree_weight weight;
	const struct row_keys *keys; /* labels of functions and groups */
	const uint32_t *levels;      /* by label of a group: level_count labels, outermost first */
	size_t level_count;
	const bool *wanted; /* by label; for CALLERS and CALLEES */
	bool fold_recursion;
};

/*
 * The part of the tree's weights that the asked stacks have; the labels of its nodes are those of
 * keys.
 */
struct callgraph {
	struct calltree tree;
	uint64_t *totals; /* by node */
	uint64_t sum;     /* of all stacks, in the tree or not */
};

/* -ENOMEM, -EOVERFLOW.  *out: callgraph_done(). */
int callgraph_build(const struct stack_table *s, const struct callgraph_query *query,
		    struct callgraph *out);
void callgraph_done(struct callgraph *g);

struct callgraph_style {
	const char *weight; /* heading: "samples" */
	const char *event;  /* in JSON; NULL: none */
	double min_percent; /* of the sum: what is below is counted with its siblings */
	unsigned max_depth; /* of calls; 0: all */
	bool no_self;       /* bottom up, the cost that ends at a node has no meaning */
	bool json;
	struct terminal look; /* of a text */
};

/* A line a node, children below their parent, most costly first.  -ENOMEM. */
int callgraph_write(const struct callgraph *g, const struct row_keys *keys,
		    const struct string_table *names, const struct callgraph_style *style,
		    FILE *to);

#endif
