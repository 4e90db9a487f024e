/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wait_sums - how long the threads of each name waited for each reason, those that would have run most first
 *
 * Threads that have nothing else to do wait longest; what a wait cost is the time in which its thread would have been
 * running (by_busy of offcpu.h).
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_WAIT_SUMS_H
#define EBPREC_ANALYZE_REPORT_PROFILE_WAIT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/stack_table.h"
#include "analyze/report/key/row_keys.h"

/* Threads of one name that waited for one reason. */
struct wait_sum {
	uint32_t comm, reason; /* in the names */
	uint64_t ns;           /* of all of them */
	uint64_t would_run_us; /* of it: in which they would have been running */
	bool is_recorder; /* it waits for the others, and would not run without them: these are last */
};

/* s: waits that end in their reasons, whose samples are ns and whose periods are us of running.  *out: free().  -ENOMEM. */
int wait_sums_make(const struct stack_table *s, const struct row_keys_source *source,
		   struct wait_sum **out, size_t *count);

#endif
