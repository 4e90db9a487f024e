/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pick - which stacks are asked for: by regular expressions over names
 *
 * The file or the function where the time was spent, a function among its callers, the cgroup of
 * the thread, its container by name or id.  Expressions are POSIX extended ones, found anywhere in the text; '!' in front takes
 * the stacks that do not match.  A stack must pass each kind that is given, by one of its
 * expressions or, where they are negated, by all.
 */
#ifndef EBPREC_ANALYZE_REPORT_NAME_FILTER_H
#define EBPREC_ANALYZE_REPORT_NAME_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/process/container_names.h"
#include "analyze/fold/groups.h"
#include "analyze/names/function_table.h"
#include "analyze/fold/stack_table.h"

enum pick_what { PICK_DSO, PICK_SYMBOL, PICK_PARENT, PICK_CGROUP, PICK_CONTAINER, PICK_KINDS };

#define PICK_MAX 64

/* Embedded by the owner; all zero takes everything. */
struct pick {
	struct pick_rule {
		regex_t regex;
		enum pick_what what;
		bool negated;
	} rules[PICK_MAX];
	size_t count;
};

/* -EINVAL: error says why; -E2BIG: too many. */
int pick_add(struct pick *p, enum pick_what what, const char *text, char *error,
	     size_t error_bytes);
void pick_done(struct pick *p);
bool pick_has(const struct pick *p, enum pick_what what);

/* Of the kinds that are of a cgroup: its path as reports show it. */
bool pick_passes_cgroup(const struct pick *p, const struct containernames *containers,
			const char *cgroup);

/* Drops the entries of s that do not pass.  groups: their cgroups are named.  -ENOMEM. */
int pick_run(const struct pick *p, struct stacks *s, const struct naming *n,
	     const struct strings *names, const struct containernames *containers,
	     const struct group *groups, size_t group_count);

#endif
