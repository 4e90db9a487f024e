/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/cmd_summary_more.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/report/flat_profile.h"
#include "analyze/report/row_keys.h"
#include "analyze/input/marks.h"
#include "analyze/input/capture_meta.h"
#include "analyze/metric/aggregate.h"
#include "format/perf/trace_data.h"

#define NS_PER_US 1000

/* ---- CPUs ---- */

/* Of before the first sample it is 0. */
static void show_cpu(struct view *v, const char *gap, uint64_t origin_ns)
{
	uint64_t cpu = 0, from_ns = 0, to_ns = 0;
	bool ended = metatext_number(gap, "to_mono_ns", &to_ns);

	(void)metatext_number(gap, "cpu", &cpu);
	(void)metatext_number(gap, "from_mono_ns", &from_ns);
	view_row(v);
	view_number(v, "cpu", cpu);
	view_ns(v, "from", from_ns > origin_ns ? from_ns - origin_ns : 0);
	if (ended)
		view_ns(v, "to", to_ns > origin_ns ? to_ns - origin_ns : 0);
	else
		view_unknown(v, "to", "_ns");
}

void cmd_summary_cpus(struct view *v, const struct capture *c, uint64_t origin_ns)
{
	static const char *const columns[] = { "cpu", "from", "to" };
	char *text = metatext_read(c, EBX_META_ACCOUNT), *gap;
	const char *at = text ? metatext_after(text, "cpus_not_sampled") : NULL;
	size_t size;

	view_table(v, "cpus_not_sampled", columns, sizeof(columns) / sizeof(columns[0]));
	for (at = metatext_first(at); at && *at == '{'; at = metatext_next(at + size)) {
		size = strcspn(at, "}") + 1;
		gap = strndup(at, size);
		if (!gap || gap[size - 1] != '}') {
			free(gap);
			break;
		}
		show_cpu(v, gap, origin_ns);
		free(gap);
	}
	view_table_end(v);
	free(text);
}

/* ---- waits ---- */

static void show_waits(struct view *v, const struct report *r, const struct keytab *keys,
		       const struct flat *flat, size_t rows)
{
	for (size_t i = 0; i < flat->count && i < rows && flat->rows[i].self; i++) {
		const struct keytab_label *group = &keys->labels[flat->rows[i].group],
					  *frame = &keys->labels[flat->rows[i].frame];

		view_row(v);
		view_ns(v, "time", flat->rows[i].self * NS_PER_US);
		view_text(v, "comm", strings_text(r->names, group->texts[KEY_COMM]));
		view_text(v, "wait", strings_text(r->names, frame->texts[KEY_SYMBOL]));
	}
}

static int add_up_waits(struct view *v, struct report *r, size_t rows)
{
	struct sortkeys by = { { KEY_COMM, KEY_SYMBOL }, 2 };
	struct keytab_source source = { .naming = &r->naming,
					.names = r->names,
					.containers = r->containers };
	struct keytab keys;
	struct flat flat;
	int err;

	source.groups = groups_list(r->groups, &source.group_count);
	err = keytab_make(&by, &source, &keys);
	if (err)
		return err;
	err = flat_make(&r->stacks, CALLTREE_PERIOD, &keys, &by, r->names, false, &flat);
	if (!err) {
		show_waits(v, r, &keys, &flat, rows);
		flat_done(&flat);
	}
	keytab_done(&keys);
	return err;
}

int cmd_summary_waits(struct view *v, const struct capture *c, const struct report_query *asked,
		      struct offcpu_times *times, size_t rows)
{
	static const char *const columns[] = { "time", "comm", "wait" };
	struct report_query query = *asked;
	struct report r;
	int err = report_open(c, &r);

	if (err)
		return err;
	query.off_cpu = true;
	query.times = times;
	query.fields = GROUP_COMM | (query.fields & GROUP_CGROUP);
	err = report_make(&r, &query);
	view_table(v, "waits", columns, sizeof(columns) / sizeof(columns[0]));
	if (!err)
		err = add_up_waits(v, &r, rows);
	view_table_end(v);
	report_done(&r);
	return err == -ENODATA ? 0 : err;
}

/* ---- marks ---- */

struct named {
	uint32_t group, name;
	uint64_t count, span_ns;
};

static int by_name(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int by_count(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_name(va, vb);
}

/* Each mark where it begins; then equal names are added up. */
static size_t add_up_marks(const struct marklist *m, const struct filter *filter,
			   struct named *list)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct mark *mark = &m->marks[i];
		const struct markspan *span = mark->span == MARKLIST_NONE ? NULL
									  : &m->spans[mark->span];

		if (mark->kind == TRACING_MARK_END ||
		    !filter_has_time(filter, span ? span->start_ns : mark->time_ns))
			continue;
		list[count++] = (struct named){ mark->group, mark->name, 1,
						span ? span->end_ns - span->start_ns : 0 };
	}
	qsort(list, count, sizeof(*list), by_name);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_name(&list[kept - 1], &list[i])) {
			list[kept - 1].count++;
			list[kept - 1].span_ns = bounded_add(list[kept - 1].span_ns,
							     list[i].span_ns);
		} else {
			list[kept++] = list[i];
		}
	}
	qsort(list, kept, sizeof(*list), by_count);
	return kept;
}

int cmd_summary_marks(struct view *v, const struct capture *c, const struct filter *filter,
		      size_t rows)
{
	static const char *const columns[] = { "group", "mark", "count", "open" };
	struct strings *names;
	struct marklist marks;
	struct named *list;
	size_t count;
	int err = strings_new(&names);

	if (err)
		return err;
	err = marklist_load(c, names, &marks);
	if (err) {
		strings_free(names);
		return err;
	}
	list = calloc(marks.count + 1, sizeof(*list));
	count = list ? add_up_marks(&marks, filter, list) : 0;
	view_table(v, "marks", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && i < rows; i++) {
		view_row(v);
		view_text(v, "group", strings_text(names, list[i].group));
		view_text(v, "mark", strings_text(names, list[i].name));
		view_number(v, "count", list[i].count);
		view_ns(v, "open", list[i].span_ns);
	}
	view_table_end(v);
	err = list ? 0 : -ENOMEM;
	free(list);
	marklist_done(&marks);
	strings_free(names);
	return err;
}

/* ---- counters ---- */

#define COUNTERS           "counters_"
#define COUNTERS_PROCESSES "counters_process"
#define TABLES_MOST        8

struct counted {
	struct metricsum sums[TABLES_MOST];
	size_t count;
};

static int add_counters(void *ctx, const struct metric_row *row)
{
	struct counted *all = ctx;

	for (size_t i = 0; i < all->count; i++)
		if (all->sums[i].table == row->table)
			return metricsum_add(&all->sums[i], row);
	return 0;
}

/* The key that names a disk, an interface, what is pressed for; NONE: all rows are one (CPUs). */
static uint32_t name_slot(const struct metric_table *t)
{
	for (size_t i = 0; i < t->fmt.field_count; i++)
		if (t->fmt.fields[i].is_key && t->fmt.fields[i].kind == METRIC_TEXT)
			return t->slots[i];
	return METRICROWS_NONE;
}

/* What is zero all the time is left out. */
static void show_counters(struct view *v, const struct metricsum *sum, size_t group,
			  const struct strings *names)
{
	const struct metric_table *t = sum->table;
	const uint64_t *slots = metricsum_slots(sum, group);
	const char *of = sum->key_count ? strings_text(names, (uint32_t)slots[sum->keys[0]]) : "";
	char name[256];

	for (size_t i = 0; i < t->fmt.field_count; i++) {
		const struct metric_field *f = &t->fmt.fields[i];

		if (f->is_key || f->kind == METRIC_TEXT || f->count != 1 || !slots[t->slots[i]])
			continue;
		snprintf(name, sizeof(name), "%s.%.100s%s%s", t->fmt.name + strlen(COUNTERS), of,
			 *of ? "." : "", f->name);
		view_row(v);
		view_text(v, "counter", name);
		view_number(v, "value", slots[t->slots[i]]);
	}
}

int cmd_summary_counters(struct view *v, const struct capture *c, const struct filter *filter)
{
	static const char *const columns[] = { "counter", "value" };
	struct counted all = { .count = 0 };
	struct strings *names;
	struct metricrows rows;
	uint32_t key;
	int err = strings_new(&names);

	if (err)
		return err;
	err = metricrows_open(c, &rows);
	if (err) {
		strings_free(names);
		return err;
	}
	for (size_t i = 0; i < rows.count && all.count < TABLES_MOST; i++) {
		const char *name = rows.tables[i].fmt.name;

		if (strncmp(name, COUNTERS, strlen(COUNTERS)) || !strcmp(name, COUNTERS_PROCESSES))
			continue;
		key = name_slot(&rows.tables[i]);
		metricsum_init(&all.sums[all.count++], &rows.tables[i], &key,
			       key != METRICROWS_NONE, false);
	}
	if (all.count)
		err = metricrows_walk(&rows, names, filter, add_counters, &all);
	view_table(v, "counters", columns, 2);
	for (size_t i = 0; i < all.count; i++) {
		metricsum_finish(&all.sums[i]);
		for (size_t k = 0; k < all.sums[i].count; k++)
			show_counters(v, &all.sums[i], k, names);
		metricsum_done(&all.sums[i]);
	}
	view_table_end(v);
	metricrows_done(&rows);
	strings_free(names);
	return err;
}
