/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * calltree - all stacks as one tree, user and kernel frames joined
 *
 * A node is a label below its caller's; labels are numbers that mean something to the caller of
 * this room (a string, a function).  A parent's number is lower than its child's; node 0 is the
 * root and has no label.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_CALLTREE_H
#define EBPREC_ANALYZE_REPORT_PROFILE_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/stack_table.h"

#define CALLTREE_ROOT    0
#define CALLTREE_NO_NODE UINT32_MAX /* as a label of a group: the group makes no node */

struct calltree_node {
	uint32_t parent;
	uint32_t label;
	uint64_t self; /* weight of the stacks that end here */
};

/* Read freely. */
struct calltree {
	struct calltree_node *nodes;
	size_t count, capacity;
	struct hash_index index;
};

enum calltree_weight { CALLTREE_SAMPLES, CALLTREE_PERIOD };

struct calltree_labels {
	const uint32_t *frames; /* by frame of the stacks; NULL: the frame itself */
	/* The outermost label of a group's stacks; NULL: none. */
	int (*group)(void *ctx, uint32_t group, uint32_t *label);
	void *ctx;
};

/* -ENOMEM, -EOVERFLOW, or what labels->group() returned.  *out: calltree_done(). */
int calltree_build(const struct stack_table *stacks, const struct calltree_labels *labels,
		   enum calltree_weight weight, struct calltree *out);
void calltree_done(struct calltree *t);

/* For callers that build trees of another shape: a tree of the root alone, and one node more. */
int calltree_init(struct calltree *t);
int calltree_child(struct calltree *t, uint32_t parent, uint32_t label, uint32_t *out);

#endif
