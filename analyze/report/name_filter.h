/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * name_filter - which stacks are asked for: by regular expressions over names
 *
 * The file or the function where the time was spent, a function among its callers, the cgroup of
 * the thread, its container by name or id, its service.  Expressions are POSIX extended ones, found anywhere in the text, but of
 * a service, whose complete name must match; '!' in front takes
 * the stacks that do not match.  A stack must pass each kind that is given, by one of its
 * expressions or, where they are negated, by all.
 */
#ifndef EBPREC_ANALYZE_REPORT_NAME_FILTER_H
#define EBPREC_ANALYZE_REPORT_NAME_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/process/service.h"
#include "analyze/fold/groups.h"
#include "analyze/names/function_table.h"
#include "analyze/fold/stack_table.h"

enum name_filter_what {
	NAME_FILTER_DSO,
	NAME_FILTER_SYMBOL,
	NAME_FILTER_PARENT,
	NAME_FILTER_CGROUP,
	NAME_FILTER_CONTAINER,
	NAME_FILTER_SERVICE,
	NAME_FILTER_KINDS
};

#define NAME_FILTER_MAX 64

/* Embedded by the owner; all zero takes everything. */
struct name_filter {
	struct name_filter_rule {
		regex_t regex;
		const char *text; /* borrowed */
		enum name_filter_what what;
		bool negated;
	} rules[NAME_FILTER_MAX];
	size_t count;
	const struct service_rules *services; /* borrowed; NULL: none */
};

/* text: borrowed until name_filter_done().  -EINVAL: error has the reason; -E2BIG: too many; -ENOMEM. */
int name_filter_add(struct name_filter *p, enum name_filter_what what, const char *text,
		    char *error, size_t error_bytes);
void name_filter_done(struct name_filter *p);
bool name_filter_has(const struct name_filter *p, enum name_filter_what what);
/* enum group_fields that its rules look at. */
unsigned name_filter_fields(const struct name_filter *p);

/* For the kinds of a cgroup: its path as reports show it. */
bool name_filter_passes_cgroup(const struct name_filter *p,
			       const struct container_names *containers, const char *cgroup);

/* For the kind of services. */
bool name_filter_passes_service(const struct name_filter *p, const char *service);

/* Drops the entries of s that do not pass.  groups: their cgroups are named.  -ENOMEM. */
int name_filter_run(const struct name_filter *p, struct stack_table *s,
		    const struct function_table *n, const struct string_table *names,
		    const struct container_names *containers, const struct group *groups,
		    size_t group_count);

struct name_filter_sum {
	uint64_t samples, period;
};

/* The sums of the entries that pass; none is dropped.  Rules of groups are not asked for.  -ENOMEM. */
int name_filter_sum(const struct name_filter *p, const struct stack_table *s,
		    const struct function_table *n, const struct string_table *names,
		    struct name_filter_sum *out);

#endif
