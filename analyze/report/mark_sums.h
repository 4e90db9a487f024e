/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mark_sums - how often each mark was set in the times of a filter, and how long its spans were open in them */
#ifndef EBPREC_ANALYZE_REPORT_MARK_SUMS_H
#define EBPREC_ANALYZE_REPORT_MARK_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/input/marks.h"

struct mark_sum {
	uint32_t group, name; /* in the names of the marks */
	uint64_t count;       /* that begin in these times */
	uint64_t span_ns;     /* that spans of this name are open in them, added up */
};

/* By count, the highest first, then by number of group and name.  *out: free(); NULL on failure.  -ENOMEM. */
int mark_sums_make(const struct marks *m, const struct filter *filter, struct mark_sum **out,
		   size_t *count);

#endif
