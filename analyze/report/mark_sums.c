/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/mark_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "format/perf/trace_data.h"

static int by_name(const void *va, const void *vb)
{
	const struct mark_sum *a = va, *b = vb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int by_count(const void *va, const void *vb)
{
	const struct mark_sum *a = va, *b = vb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_name(va, vb);
}

/* Each mark is counted where it begins, and is open as long as that is asked for. */
static size_t list_marks(const struct marks *m, const struct filter *filter, struct mark_sum *list)
{
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct mark *mark = &m->marks[i];
		const struct markspan *span = mark->span == MARKS_NONE ? NULL
								       : &m->spans[mark->span];
		struct mark_sum n = { .group = mark->group, .name = mark->name };

		if (mark->kind == TRACE_DATA_MARK_END)
			continue;
		n.count = filter_has_time(filter, span ? span->start_ns : mark->time_ns);
		n.span_ns = span ? filter_overlap_ns(filter, span->start_ns, span->end_ns) : 0;
		if (n.count || n.span_ns)
			list[count++] = n;
	}
	return count;
}

/* Adds up those of one name, which are neighbours. */
static size_t join_names(struct mark_sum *list, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (used && !by_name(&list[used - 1], &list[i])) {
			list[used - 1].count += list[i].count;
			list[used - 1].span_ns = saturate_add(list[used - 1].span_ns,
							      list[i].span_ns);
		} else {
			list[used++] = list[i];
		}
	}
	return used;
}

int mark_sums_make(const struct marks *m, const struct filter *filter, struct mark_sum **out,
		   size_t *count)
{
	struct mark_sum *list = calloc(m->count + 1, sizeof(*list));
	size_t n;

	*out = list;
	if (!list)
		return -ENOMEM;
	n = list_marks(m, filter, list);
	qsort(list, n, sizeof(*list), by_name);
	n = join_names(list, n);
	qsort(list, n, sizeof(*list), by_count);
	*count = n;
	return 0;
}
