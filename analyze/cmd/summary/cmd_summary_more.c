/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/summary/cmd_summary_more.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/mark_sums.h"
#include "analyze/report/profile/wait_sums.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/input/marks.h"
#include "analyze/input/capture_meta.h"
#include "analyze/metric/aggregate.h"

#define NS_PER_US     1000
#define NS_PER_SECOND 1000000000u

/* ---- CPUs ---- */

/* Before the first sample it is 0. */
static void show_cpu(struct text_table *v, struct capture_meta_value gap, uint64_t origin_ns,
		     const struct time_span *window)
{
	uint64_t cpu = 0, from_ns = 0, to_ns = 0;
	bool ended = capture_meta_number(gap, "to_mono_ns", &to_ns);

	(void)capture_meta_number(gap, "cpu", &cpu);
	(void)capture_meta_number(gap, "from_mono_ns", &from_ns);
	if (from_ns > window->to_ns || (ended && to_ns < window->from_ns))
		return;
	from_ns = from_ns > window->from_ns ? from_ns : window->from_ns;
	if (window->to_ns != UINT64_MAX && (!ended || to_ns > window->to_ns)) {
		to_ns = window->to_ns;
		ended = true;
	}
	text_table_row(v);
	text_table_number(v, "cpu", cpu);
	text_table_ns(v, "from", from_ns > origin_ns ? from_ns - origin_ns : 0);
	if (ended)
		text_table_ns(v, "to", to_ns > origin_ns ? to_ns - origin_ns : 0);
	else
		text_table_unknown(v, "to", "_ns");
}

void cmd_summary_cpus(struct text_table *v, const struct capture *c, uint64_t origin_ns,
		      const struct time_span *window)
{
	static const char *const columns[] = { "cpu", "from", "to" };
	struct capture_meta_value text = capture_meta_read(c, EBX_META_ACCOUNT);
	struct capture_meta_value gaps = capture_meta_member(text, "cpus_not_sampled"), at;

	text_table_begin(v, "cpus_not_sampled", columns, sizeof(columns) / sizeof(columns[0]));
	for (at = capture_meta_first(gaps); at.text && *at.text == '{';
	     at = capture_meta_next(gaps, at))
		show_cpu(v, at, origin_ns, window);
	text_table_end(v);
	capture_meta_free(text);
}

/* ---- waits ---- */

#define JSON_MISSED  "would_run"
#define TEXT_MISSED  "missed_run_time"
#define TEXT_TOTAL   "total_wait"
#define TEXT_THREADS "threads"

/* Times of all threads of a name together; for people in milliseconds, and with how many at least waited at once. */
static void show_wait_times(struct text_table *v, const struct wait_sum *w,
			    const struct waits_style *style)
{
	uint64_t window_ns = style->window_ns;
	uint64_t threads = window_ns ? w->ns / window_ns + (w->ns % window_ns != 0) : 1;
	char text[64];

	if (style->json) {
		text_table_ns(v, JSON_MISSED, w->would_run_us * NS_PER_US);
		text_table_ns(v, "time", w->ns);
		return;
	}
	snprintf(text, sizeof(text), "%.3f s", (double)w->would_run_us / 1e6);
	text_table_measure(v, TEXT_MISSED, text);
	snprintf(text, sizeof(text), "%.3f s", (double)w->ns / 1e9);
	text_table_measure(v, TEXT_TOTAL, text);
	*text = '\0';
	if (threads > 1)
		snprintf(text, sizeof(text), "%" PRIu64 " or more", threads);
	text_table_text(v, TEXT_THREADS, text);
}

static int show_waits(struct text_table *v, const struct report *r, const struct waits_style *style)
{
	struct row_keys_source source = { .naming = &r->naming,
					  .names = r->names,
					  .containers = r->containers };
	struct wait_sum *list;
	size_t count;
	int err;

	source.groups = groups_list(r->groups, &source.group_count);
	err = wait_sums_make(&r->stacks, &source, &list, &count);
	if (err)
		return err;
	for (size_t i = 0; i < count && i < style->rows; i++) {
		text_table_row(v);
		show_wait_times(v, &list[i], style);
		text_table_text(v, "comm", string_table_text(r->names, list[i].comm));
		text_table_text(v, "wait", string_table_text(r->names, list[i].reason));
	}
	free(list);
	return 0;
}

int cmd_summary_waits(struct text_table *v, const struct report *first,
		      const struct report_query *asked, struct offcpu_times *times,
		      const struct waits_style *style)
{
	static const char *const all[] = { JSON_MISSED, "time", "comm", "wait" };
	static const char *const shown[] = { TEXT_MISSED, TEXT_TOTAL, TEXT_THREADS, "comm",
					     "wait" };
	struct report_query query = *asked;
	struct waits_style how = *style;
	struct report r;
	int err = report_open_beside(first, &r);

	if (err)
		return err;
	if (times)
		how.window_ns = filter_overlap_ns(asked->filter, times->run.start_ns,
						  times->run.end_ns);
	query.off_cpu = true;
	query.by_busy = true;
	query.no_quality = true;
	query.keep_model = false;
	query.times = times;
	query.fields = GROUP_COMM | (query.fields & GROUP_SERVICE);
	err = report_make(&r, &query);
	text_table_begin(v, "waits", style->json ? all : shown, style->json ? 4 : 5);
	if (!err)
		err = show_waits(v, &r, &how);
	text_table_end(v);
	report_done(&r);
	return err == -ENODATA ? 0 : err;
}

/* ---- marks ---- */

int cmd_summary_marks(struct text_table *v, const struct capture *c, const struct filter *filter,
		      size_t rows)
{
	static const char *const columns[] = { "group", "mark", "count", "open" };
	struct string_table *names;
	struct marks marks;
	struct mark_sum *list;
	size_t count;
	int err = string_table_new(&names);

	if (err)
		return err;
	err = marks_load(c, names, &marks);
	if (err) {
		string_table_free(names);
		return err;
	}
	err = mark_sums_make(&marks, filter, &list, &count);
	if (err)
		count = 0;
	text_table_begin(v, "marks", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && i < rows; i++) {
		text_table_row(v);
		text_table_text(v, "group", string_table_text(names, list[i].group));
		text_table_text(v, "mark", string_table_text(names, list[i].name));
		text_table_number(v, "count", list[i].count);
		text_table_ns(v, "open", list[i].span_ns);
	}
	text_table_end(v);
	free(list);
	marks_done(&marks);
	string_table_free(names);
	return err;
}

/* ---- counters ---- */

#define COUNTERS           "counters_"
#define COUNTERS_PROCESSES "counters_process"
#define TABLES_MOST        8

struct counted {
	struct metric_aggregate sums[TABLES_MOST];
	size_t count;
};

static int add_counters(void *ctx, const struct metric_row *row)
{
	struct counted *all = ctx;

	for (size_t i = 0; i < all->count; i++)
		if (all->sums[i].table == row->table)
			return metric_aggregate_add(&all->sums[i], row);
	return 0;
}

/* The key that names a disk, an interface, what is pressed for; NONE: all rows are one (CPUs). */
static uint32_t name_slot(const struct metric_table *t)
{
	for (size_t i = 0; i < t->fmt.field_count; i++)
		if (t->fmt.fields[i].is_key && t->fmt.fields[i].kind == METRIC_TEXT)
			return t->slots[i];
	return METRIC_ROWS_NONE;
}

/* Counters that are always zero are left out. */
static void show_counters(struct text_table *v, const struct metric_aggregate *sum, size_t group,
			  const struct string_table *names)
{
	const struct metric_table *t = sum->table;
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	const char *of = sum->key_count ? string_table_text(names, (uint32_t)slots[sum->keys[0]])
					: "";
	char name[256];

	for (size_t i = 0; i < t->fmt.field_count; i++) {
		const struct metric_field *f = &t->fmt.fields[i];

		if (f->is_key || f->kind == METRIC_TEXT || f->count != 1 || !slots[t->slots[i]])
			continue;
		snprintf(name, sizeof(name), "%s.%.100s%s%s", t->fmt.name + strlen(COUNTERS), of,
			 *of ? "." : "", f->name);
		text_table_row(v);
		text_table_text(v, "counter", name);
		text_table_number(v, "value", slots[t->slots[i]]);
	}
}

int cmd_summary_counters(struct text_table *v, const struct capture *c, const struct filter *filter)
{
	static const char *const columns[] = { "counter", "value" };
	struct counted all = { .count = 0 };
	struct string_table *names;
	struct metric_rows rows;
	uint32_t key;
	int err = string_table_new(&names);

	if (err)
		return err;
	err = metric_rows_open(c, &rows);
	if (err) {
		string_table_free(names);
		return err;
	}
	for (size_t i = 0; i < rows.count && all.count < TABLES_MOST; i++) {
		const char *name = rows.tables[i].fmt.name;

		if (strncmp(name, COUNTERS, strlen(COUNTERS)) || !strcmp(name, COUNTERS_PROCESSES))
			continue;
		key = name_slot(&rows.tables[i]);
		metric_aggregate_init(&all.sums[all.count++], &rows.tables[i], &key,
				      key != METRIC_ROWS_NONE, false);
	}
	rows.skips_lost = true;
	if (all.count)
		err = metric_rows_walk(&rows, names, filter, add_counters, &all);
	text_table_begin(v, "counters", columns, 2);
	for (size_t i = 0; i < all.count; i++) {
		metric_aggregate_finish(&all.sums[i]);
		for (size_t k = 0; k < all.sums[i].count; k++)
			show_counters(v, &all.sums[i], k, names);
		metric_aggregate_done(&all.sums[i]);
	}
	text_table_end(v);
	metric_rows_done(&rows);
	string_table_free(names);
	return err;
}
