/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * folded - stacks as lines: "comm;root;...;leaf 12"
 *
 * One line a distinct stack, in the order of LC_ALL=C sort: the same capture gives the same bytes,
 * and two outputs can be joined and compared line by line.  The order is made by sorting the
 * children of each node, so that no more than some hundred lines a thread are held at a time.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_FOLDED_H
#define EBPREC_ANALYZE_REPORT_PROFILE_FOLDED_H

#include <stdio.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/base/string_table.h"

/*
 * Labels are numbers in names, without ';' and line ends.  thread_count: that work at once; 0: chosen, which
 * changes no byte.  -ENOMEM, -EOVERFLOW, or the errno of the write.
 */
int folded_write(const struct calltree *t, const struct string_table *names, unsigned thread_count,
		 FILE *to);

#endif
