/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * empty_answer - which filter left nothing, and what there is instead
 *
 * An answer without samples asks the capture once more, without filters but for those of time, and tries each kind
 * of filter by itself.  It costs a report of everything, so it is only called when there is nothing else to print.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_EMPTY_ANSWER_H
#define EBPREC_ANALYZE_CMD_COMMON_EMPTY_ANSWER_H

#include "analyze/report/report.h"

/*
 * Prints notes.  query: its filter, pick, event, roots, off_cpu, and how names are made.  all_events: the answer was
 * of all events, of which the query's is only one.
 */
void empty_answer_explain(const struct capture *capture, const struct report_query *query,
			  bool all_events);

/*
 * ", did you mean 'NAME'?" of the function near the word, or "; there are: NAME, NAME and 3 more", those in most
 * samples first.  Owned; NULL: no memory.
 */
char *empty_answer_functions(const struct report *r, const char *word);

#endif
