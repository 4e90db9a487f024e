/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/log_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/perf/trace_data.h"

static bool is_error(const char *level)
{
	/* syslog(3): err, and what is worse */
	static const char *const errors[] = { "emerg", "alert", "crit", "err" };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(level, errors[i]))
			return true;
	return false;
}

/* group: of the mark; those of programs never begin so. */
static void add_line(struct log_sum *sum, uint32_t unit, const char *group)
{
	const char *level = group + strlen(TRACE_DATA_MARK_LOG);

	sum->unit = unit;
	sum->line_count++;
	sum->error_count += is_error(level);
	sum->warning_count += !strcmp(level, "warning");
}

/* Numbers of names rise as they are found in the file. */
static int by_lines(const void *va, const void *vb)
{
	const struct log_sum *a = va, *b = vb;

	if (a->line_count != b->line_count)
		return a->line_count > b->line_count ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

int log_sums_make(const struct marks *m, const struct string_table *names, struct log_sum **out,
		  size_t *count)
{
	size_t name_count = string_table_count(names), used = 0;
	struct log_sum *sums = calloc(name_count + 1,
				      sizeof(*sums)); /* by name, then those that have lines */

	*out = sums;
	*count = 0;
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		const struct mark *mark = &m->marks[i];
		const char *group = string_table_text(names, mark->group);

		if (!strncmp(group, TRACE_DATA_MARK_LOG, strlen(TRACE_DATA_MARK_LOG)))
			add_line(&sums[mark->name], mark->name, group);
	}
	for (size_t i = 0; i < name_count; i++)
		if (sums[i].line_count)
			sums[used++] = sums[i];
	qsort(sums, used, sizeof(*sums), by_lines);
	*count = used;
	return 0;
}
