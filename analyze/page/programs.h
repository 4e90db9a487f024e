/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * programs - a report of moments as a report of programs
 *
 * The report of a page keeps the samples of each thread, CPU and moment apart, so a view of it would read every
 * sample's stack again.  Here the equal stacks of a comm are one entry.
 */
#ifndef EBPREC_ANALYZE_PAGE_PROGRAMS_H
#define EBPREC_ANALYZE_PAGE_PROGRAMS_H

#include "analyze/report/report.h"

/*
 * *out borrows everything from r but groups and entries, and is for views alone: page_programs_done(), not
 * report_done().  -ENOMEM, -EOVERFLOW.
 */
int page_programs_make(const struct report *r, struct report *out);
void page_programs_done(struct report *programs);

#endif
