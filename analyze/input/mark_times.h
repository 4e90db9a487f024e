/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mark_times - the times that marks choose: --during, --between and --per */
#ifndef EBPREC_ANALYZE_INPUT_MARK_TIMES_H
#define EBPREC_ANALYZE_INPUT_MARK_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/input/event/filter.h"
#include "analyze/input/event/time_span.h"
#include "analyze/input/marks.h"

/*
 * The times of all marks that are called so, in their order: of a span from its start to its end, of others one
 * moment.  filter: of the time where it begins only.  *out is owned.  -ENOENT: there is none; -ENOMEM.
 */
int mark_times_called(const struct marks *m, const struct string_table *names, const char *what,
		      const struct filter *filter, struct time_span **out, size_t *count);

/*
 * The values of --during: a name, "slowest:NAME" for the longest span of that name that ended, or
 * "NAME#17" for the 17th that began; a span whose name is the entire word comes first.
 *
 * The times of all spans that are called so, or from each mark that is called from to the next one that
 * is called to; rising and apart.  A mark is called by its text, its name, GROUP/NAME, or GROUP:/REGEX/ (an extended
 * expression that is in the text of a mark of that group, or of GROUP:anything: lines of a journal).  *out is
 * owned.  -ENOENT: there is none; then *missing is the word that nothing is called.  -ERANGE: there are
 * spans of that name, as many as *count, but no 17th, or none that ended.  -ENOMEM.
 * *tid: the thread that all these spans are of; 0: they are of several.
 */
int mark_times_during(const struct marks *m, const struct string_table *names, const char *span,
		      struct time_span **out, size_t *count, const char **missing, uint32_t *tid);
int mark_times_between(const struct marks *m, const struct string_table *names, const char *from,
		       const char *to, struct time_span **out, size_t *count, const char **missing);

#endif
