/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_path - one stack as a list of labels, user and kernel frames joined
 *
 * A label stands for a frame; several frames may have one (all of a file), and a frame may have
 * none: then what was spent in it is its caller's.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_STACK_PATH_H
#define EBPREC_ANALYZE_REPORT_PROFILE_STACK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/stack_table.h"

#define STACK_PATH_NONE UINT32_MAX

struct stack_path_rule {
	const uint32_t *labels; /* by frame of the stacks; STACK_PATH_NONE: left out */
	uint32_t empty;         /* the label of a stack of which nothing is left */
	bool fold_recursion;    /* equal neighbours become one */
};

/* Embedded by the owner; all zero is an empty one. */
struct stack_path {
	uint32_t *labels; /* innermost first */
	size_t count, capacity;
};

/* -ENOMEM. */
int stack_path_read(struct stack_path *path, const struct stack_table *s,
		    const struct stack_table_entry *entry, const struct stack_path_rule *rule);
void stack_path_done(struct stack_path *path);

#endif
