/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wait_table - the waits of threads: for what, ended by which thread, how often and how long, and
 * where in the program
 *
 * A row is a thread's name (its ids, too, where groups have them), a reason, the thread that ended
 * the wait, and the first function of the user's stack that is no part of the C library; where that is
 * an interpreter's, or a module's, the function of the program that called it; of a kernel thread the
 * first of the kernel's.
 */
#ifndef EBPREC_ANALYZE_REPORT_WAIT_TABLE_H
#define EBPREC_ANALYZE_REPORT_WAIT_TABLE_H

#include <stdio.h>

#include "analyze/base/string_table.h"
#include "analyze/fold/groups.h"
#include "analyze/fold/stack_table.h"
#include "analyze/names/function_table.h"
#include "analyze/sched/offcpu.h"

struct wait_row {
	uint32_t comm;       /* of the waiting thread, as in groups */
	uint32_t pid, tid;   /* 0 where groups do not have them */
	uint32_t reason;     /* "[futex]", in the strings */
	uint32_t woken_by;   /* in the strings; 0: not known */
	uint32_t where, dso; /* likewise */
	uint64_t count, total_ns, longest_ns;
};

/* Embedded by the owner; all zero is an empty one, free(rows). */
struct wait_table {
	struct wait_row *rows; /* the longest total first */
	size_t count, capacity;
	uint64_t total_ns;
};

/* The function of the program, or of a kernel thread, that a wait with this stack is shown by; NULL: none.  Borrowed from n. */
const struct function *wait_table_where(const struct stack_table *s, const struct function_table *n,
					const struct string_table *names,
					const struct stack_table_key *key);

/*
 * From stacks of offcpu_add_reasons() with rows; makes the ends of the stacks what they are
 * without.  groups: by the stacks' groups.  -ENOMEM, -EOVERFLOW.
 */
int wait_table_make(struct wait_table *t, const struct offcpu *o, struct stack_table *s,
		    const struct function_table *n, const struct group *groups,
		    struct string_table *names);

enum wait_table_form { WAIT_TABLE_TEXT, WAIT_TABLE_JSON, WAIT_TABLE_CSV };

struct wait_table_style {
	enum wait_table_form form;
	double min_percent; /* rows below are left out */
	bool with_ids;      /* pid and tid of the waiting thread */
};

/* -ENOMEM. */
int wait_table_write(const struct wait_table *t, const struct string_table *names,
		     const struct wait_table_style *style, FILE *to);

#endif
