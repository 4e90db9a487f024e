/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* counters_read - the tables of a capture's instruments as lines over time, as `ebprec metrics --interval` has them */
#ifndef EBPREC_ANALYZE_PAGE_COUNTERS_COUNTERS_READ_H
#define EBPREC_ANALYZE_PAGE_COUNTERS_COUNTERS_READ_H

#include "analyze/page/counters/counters.h"
#include "analyze/report/report.h"

/*
 * The groups of a table with the most of what it is sorted by have lines: 32, or less where it has more intervals.  out:
 * page_counters_done(), also after an error.  -ENOMEM, -EOVERFLOW: the rows take more than the capture's limit.
 */
int page_counters_read(const struct report *r, const struct filter *filter,
		       struct page_counters *out);

#endif
