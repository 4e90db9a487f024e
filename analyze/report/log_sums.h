/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* log_sums - how many lines of the system's journal a capture has of each unit */
#ifndef EBPREC_ANALYZE_REPORT_LOG_SUMS_H
#define EBPREC_ANALYZE_REPORT_LOG_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/input/marks.h"

struct log_sum {
	uint32_t unit;        /* in the names of the marks */
	uint64_t line_count;  /* of all levels */
	uint64_t error_count; /* of the levels emerg, alert, crit and err */
	uint64_t warning_count;
};

/*
 * names: of the marks.  By lines, most first, then in the order of the first line of each unit.  A capture without
 * lines gives none.  *out: free(); NULL on failure.  -ENOMEM.
 */
int log_sums_make(const struct marks *m, const struct string_table *names, struct log_sum **out,
		  size_t *count);

#endif
