/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/mark_views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_iter.h"
#include "analyze/out/aligned_table.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "analyze/out/text_table.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"
#include "format/perf/trace_data.h"

#define BAR_COLUMNS 50

const char *const mark_views_sorts[] = {
	[MARK_VIEWS_BY_TIME] = "time",
	[MARK_VIEWS_BY_DURATION] = "duration",
	[MARK_VIEWS_BY_COUNT] = "count",
	[MARK_VIEWS_BY_NAME] = "name",
};

const size_t mark_views_sort_count = sizeof(mark_views_sorts) / sizeof(mark_views_sorts[0]);

static const char *kind_text(uint32_t kind)
{
	static const char *const texts[] = {
		[TRACE_DATA_MARK_POINT] = "point",
		[TRACE_DATA_MARK_BEGIN] = "begin",
		[TRACE_DATA_MARK_END] = "end",
		[TRACE_DATA_MARK_SPAN] = "span",
	};

	return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : "point";
}

static const char *comm_of(const struct mark_views *s, uint32_t mark, char unknown[16])
{
	if (s->comm[mark] != TASKS_NONE)
		return string_table_text(s->names, s->comm[mark]);
	snprintf(unknown, 16, ":%u", s->marks.marks[mark].tid);
	return unknown;
}

static bool begins(const struct mark *m)
{
	return m->span != MARKS_NONE &&
	       (m->kind == TRACE_DATA_MARK_BEGIN || m->kind == TRACE_DATA_MARK_SPAN);
}

/* An end with an id has no names of its own. */
static uint32_t group_of(const struct mark_views *s, const struct mark *m)
{
	return m->span == MARKS_NONE ? m->group : s->marks.spans[m->span].group;
}

static uint32_t name_of(const struct mark_views *s, const struct mark *m)
{
	return m->span == MARKS_NONE ? m->name : s->marks.spans[m->span].name;
}

static bool is_shown(const struct mark_views *s, const struct markspan *span)
{
	return s->wanted[span->begin];
}

/* ---- what is asked for ---- */

static int choose(struct mark_views *s, const struct filter *filter)
{
	char unknown[16];

	s->wanted = calloc(s->marks.count + 1, sizeof(*s->wanted));
	s->comm = calloc(s->marks.count + 1, sizeof(*s->comm));
	if (!s->wanted || !s->comm)
		return -ENOMEM;
	s->hull = (struct time_span){ UINT64_MAX, 0 };
	for (uint32_t i = 0; i < s->marks.count; i++) {
		const struct mark *m = &s->marks.marks[i];
		uint64_t from_ns = m->time_ns, to_ns = from_ns;

		s->comm[i] = tasks_thread_comm(&s->tasks, m->pid, m->tid, m->time_ns);
		s->wanted[i] = filter_passes(filter, m->pid, m->tid, -1, m->time_ns) &&
			       filter_passes_comm(filter, comm_of(s, i, unknown));
		if (!s->wanted[i])
			continue;
		if (begins(m)) {
			from_ns = s->marks.spans[m->span].start_ns;
			to_ns = s->marks.spans[m->span].end_ns;
		}
		s->hull.from_ns = from_ns < s->hull.from_ns ? from_ns : s->hull.from_ns;
		s->hull.to_ns = to_ns > s->hull.to_ns ? to_ns : s->hull.to_ns;
	}
	return 0;
}

static int by_kind(const void *a, const void *b)
{
	const struct mark_views_kind *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->is_span < y->is_span ? -1 : x->is_span > y->is_span;
}

static int kind_at(struct mark_views *s, const struct mark *m, struct mark_views_kind **out)
{
	struct mark_views_kind want = { .group = m->group, .name = m->name, .is_span = begins(m) };

	for (size_t i = 0; i < s->kind_count; i++) {
		if (!by_kind(&s->kinds[i], &want)) {
			*out = &s->kinds[i];
			return 0;
		}
	}
	if (vec_reserve(&s->kinds, &s->kind_capacity, s->kind_count + 1))
		return -ENOMEM;
	s->kinds[s->kind_count] = want;
	*out = &s->kinds[s->kind_count++];
	return 0;
}

/* In the order of first appearance. */
static int sum_up(struct mark_views *s)
{
	const struct markspan *span;
	struct mark_views_kind *k;
	int err = 0;

	for (size_t i = 0; !err && i < s->marks.count; i++) {
		const struct mark *m = &s->marks.marks[i];

		if (!s->wanted[i] || m->kind == TRACE_DATA_MARK_END)
			continue;
		err = kind_at(s, m, &k);
		if (err)
			break;
		k->count++;
		if (!k->is_span)
			continue;
		span = &s->marks.spans[m->span];
		if (span->end == MARKS_NONE)
			k->unended++;
		else
			err = percentiles_add(&k->took, span->end_ns - span->start_ns);
	}
	for (size_t i = 0; i < s->kind_count; i++)
		percentiles_finish(&s->kinds[i].took);
	return err;
}

/* ---- order ---- */

static int compare_names(const struct mark_views *s, uint32_t group_a, uint32_t name_a,
			 uint32_t group_b, uint32_t name_b)
{
	int order = strcmp(string_table_text(s->names, group_a),
			   string_table_text(s->names, group_b));

	return order ? order
		     : strcmp(string_table_text(s->names, name_a),
			      string_table_text(s->names, name_b));
}

/* Spans without an end are behind the others: their duration is not known. */
static int by_length(const struct markspan *a, const struct markspan *b)
{
	uint64_t ns_a = a->end_ns - a->start_ns, ns_b = b->end_ns - b->start_ns;

	if ((a->end == MARKS_NONE) != (b->end == MARKS_NONE))
		return a->end == MARKS_NONE ? 1 : -1;
	return ns_a > ns_b ? -1 : ns_a < ns_b;
}

static int by_sort(const void *va, const void *vb, void *ctx)
{
	const struct mark_views *s = ctx;
	uint32_t x = *(const uint32_t *)va, y = *(const uint32_t *)vb;
	const struct markspan *a = &s->marks.spans[x], *b = &s->marks.spans[y];
	int order = 0;

	if (s->sort == MARK_VIEWS_BY_DURATION)
		order = by_length(a, b);
	else if (s->sort == MARK_VIEWS_BY_NAME)
		order = compare_names(s, a->group, a->name, b->group, b->name);
	return order ? order : x < y ? -1 : x > y;
}

static int kinds_by_sort(const void *va, const void *vb, void *ctx)
{
	const struct mark_views *s = ctx;
	uint32_t x = *(const uint32_t *)va, y = *(const uint32_t *)vb;
	const struct mark_views_kind *a = &s->kinds[x], *b = &s->kinds[y];
	int order = 0;

	if (s->sort == MARK_VIEWS_BY_DURATION)
		order = a->took.sum_ns > b->took.sum_ns ? -1 : a->took.sum_ns < b->took.sum_ns;
	else if (s->sort == MARK_VIEWS_BY_COUNT)
		order = a->count > b->count ? -1 : a->count < b->count;
	else if (s->sort == MARK_VIEWS_BY_NAME)
		order = compare_names(s, a->group, a->name, b->group, b->name);
	return order ? order : x < y ? -1 : x > y;
}

static int marks_by_name(const void *va, const void *vb, void *ctx)
{
	const struct mark_views *s = ctx;
	uint32_t x = *(const uint32_t *)va, y = *(const uint32_t *)vb;
	const struct mark *a = &s->marks.marks[x], *b = &s->marks.marks[y];
	int order = compare_names(s, group_of(s, a), name_of(s, a), group_of(s, b), name_of(s, b));

	return order ? order : x < y ? -1 : x > y;
}

/* 0, 1, 2 ... in another order.  *out is owned. */
static int make_order(const struct mark_views *s, size_t count,
		      int (*compare)(const void *, const void *, void *), uint32_t **out)
{
	uint32_t *list = calloc(count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		list[i] = i;
	if (s->sort != MARK_VIEWS_BY_TIME)
		qsort_r(list, count, sizeof(*list), compare, (void *)(uintptr_t)s);
	*out = list;
	return 0;
}

/* The order of the lines of the table: spans, each by the mark that begins it, or all marks. */
static int order_marks(struct mark_views *s)
{
	int err;

	if (s->sort != MARK_VIEWS_BY_DURATION) {
		err = make_order(s, s->marks.count, marks_by_name, &s->lines);
		s->line_count = s->marks.count;
		return err;
	}
	s->lines = calloc(s->marks.span_count + 1, sizeof(*s->lines));
	if (!s->lines)
		return -ENOMEM;
	for (size_t i = 0; i < s->marks.span_count; i++)
		s->lines[s->line_count++] = s->marks.spans[s->order[i]].begin;
	return 0;
}

static int order_all(struct mark_views *s)
{
	int err = make_order(s, s->marks.span_count, by_sort, &s->order);

	if (!err)
		err = order_marks(s);
	if (!err)
		err = make_order(s, s->kind_count, kinds_by_sort, &s->kind_order);
	return err;
}

/* ---- for people ---- */

/* As --time takes it: since the first sample. */
static void put_time(const struct mark_views *s, uint64_t time_ns, FILE *to)
{
	bool before = time_ns < s->first_ns;
	uint64_t ns = before ? s->first_ns - time_ns : time_ns - s->first_ns;
	char text[40];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64 "s",
		 before        ? "-"
		 : s->first_ns ? "+"
			       : "",
		 ns / 1000000000, ns % 1000000000);
	fprintf(to, "%17s ", text);
}

/* GROUP/NAME, a span's number among those of its name, and the text behind it. */
static void put_name(const struct mark_views *s, const struct mark *m, FILE *to)
{
	message_padded(to, string_table_text(s->names, group_of(s, m)), 0);
	putc('/', to);
	message_padded(to, string_table_text(s->names, name_of(s, m)), 0);
	if (m->span != MARKS_NONE)
		fprintf(to, "#%u", s->marks.spans[m->span].number);
	if (*string_table_text(s->names, m->text)) {
		fputs(": ", to);
		message_padded(to, string_table_text(s->names, m->text), 0);
	}
	putc('\n', to);
}

static void put_table(const struct mark_views *s, FILE *to)
{
	char unknown[16];

	fprintf(to, "%17s %-15s %7s %7s %3s %-5s %12s  %s\n", s->first_ns ? "TIME" : "TIME(s)",
		"COMM", "PID", "TID", "CPU", "KIND", "DURATION(ms)", "MARK");
	for (size_t k = 0; k < s->line_count; k++) {
		uint32_t i = s->lines[k];
		const struct mark *m = &s->marks.marks[i];
		const struct markspan *span = m->span == MARKS_NONE ? NULL
								    : &s->marks.spans[m->span];

		if (!s->wanted[i])
			continue;
		put_time(s, m->time_ns, to);
		message_padded(to, comm_of(s, i, unknown), 15);
		fprintf(to, " %7u %7u %3u %-5s", m->pid, m->tid, m->cpu, kind_text(m->kind));
		if (span && span->end != MARKS_NONE)
			fprintf(to, " %12.6f  ", number_ms(span->end_ns - span->start_ns));
		else
			fprintf(to, " %12s  ", span ? "no end" : "");
		put_name(s, m, to);
	}
}

static void add_kind(const struct mark_views *s, const struct mark_views_kind *k,
		     struct aligned_table *t)
{
	const struct percentiles *d = &k->took;
	const double times[] = {
		number_ms(d->sum_ns),
		number_ms(percentiles_quantile(d, 0)),
		number_ms(percentiles_quantile(d, 1)),
		d->count ? number_ms(d->sum_ns) / (double)d->count : 0,
		number_ms(percentiles_quantile(d, 0.5)),
		number_ms(percentiles_quantile(d, 0.99)),
	};
	FILE *name;

	aligned_table_format(t, "%" PRIu64, k->count);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (d->count)
			aligned_table_format(t, "%.6f", times[i]);
		else
			aligned_table_text(t, "-");
	}
	name = aligned_table_cell(t);
	fprintf(name, "%s/%s", string_table_text(s->names, k->group),
		string_table_text(s->names, k->name));
	if (k->unended)
		fprintf(name, " (%" PRIu64 " without an end)", k->unended);
}

static int put_summary(const struct mark_views *s, FILE *to)
{
	static const struct aligned_column columns[] = {
		{ "COUNT", ALIGNED_NUMBER, 8 },     { "TOTAL(ms)", ALIGNED_NUMBER, 11 },
		{ "MIN(ms)", ALIGNED_NUMBER, 11 },  { "MAX(ms)", ALIGNED_NUMBER, 11 },
		{ "MEAN(ms)", ALIGNED_NUMBER, 11 }, { "MEDIAN(ms)", ALIGNED_NUMBER, 11 },
		{ "P99(ms)", ALIGNED_NUMBER, 11 },  { "MARK", ALIGNED_COMPLETE, 0 },
	};
	struct aligned_table t;
	int err = aligned_table_init(&t, 2);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		aligned_table_column(&t, &columns[i]);
	for (size_t i = 0; i < s->kind_count; i++)
		add_kind(s, &s->kinds[s->kind_order[i]], &t);
	err = aligned_table_print(&t, 0, to);
	aligned_table_done(&t);
	return err;
}

/* In which of the bar's columns a time within the hull lies. */
static int column_of(const struct time_span *hull, uint64_t time_ns)
{
	double scale = (double)(hull->to_ns - hull->from_ns) / BAR_COLUMNS;

	return (int)saturate_part((double)(time_ns - hull->from_ns) / scale, BAR_COLUMNS);
}

static void put_bar(const struct time_span *hull, const struct markspan *span, FILE *to)
{
	bool moment = hull->from_ns == hull->to_ns;
	int first = moment ? 0 : column_of(hull, span->start_ns);
	int end = moment ? BAR_COLUMNS : column_of(hull, span->end_ns);

	first = first >= BAR_COLUMNS ? BAR_COLUMNS - 1 : first;
	end = end <= first ? first + 1 : end;
	putc('|', to);
	for (int i = 0; i < BAR_COLUMNS; i++)
		putc(i < first || i >= end ? ' ' : '=', to);
	putc(span->end == MARKS_NONE ? '>' : '|', to);
}

static void put_waterfall(const struct mark_views *s, FILE *to)
{
	char unknown[16];

	fprintf(to, "%12s %12s %-*s  %-15s %s\n", "START(ms)", "LENGTH(ms)", BAR_COLUMNS + 2, "",
		"COMM", "SPAN");
	for (size_t i = 0; i < s->marks.span_count; i++) {
		const struct markspan *span = &s->marks.spans[s->order[i]];

		if (!is_shown(s, span))
			continue;
		fprintf(to, "%12.6f %12.6f ", number_ms(span->start_ns - s->hull.from_ns),
			number_ms(span->end_ns - span->start_ns));
		put_bar(&s->hull, span, to);
		fputs("  ", to);
		message_padded(to, comm_of(s, span->begin, unknown), 15);
		fprintf(to, " %*s", 2 * (int)span->depth, "");
		put_name(s, &s->marks.marks[span->begin], to);
	}
}

/* ---- for programs ---- */

static int64_t since_ns(const struct mark_views *s, uint64_t time_ns)
{
	return (int64_t)(time_ns - s->first_ns);
}

static void json_marks(struct text_table *v, const struct mark_views *s)
{
	static const char *const columns[] = { "time",     "since_ns", "comm", "pid",
					       "tid",      "cpu",      "kind", "id",
					       "duration", "group",    "name", "text" };
	char unknown[16], id[24];

	text_table_begin(v, "marks", columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < s->marks.count; i++) {
		const struct mark *m = &s->marks.marks[i];

		if (!s->wanted[i])
			continue;
		text_table_row(v);
		text_table_ns(v, "time", m->time_ns);
		text_table_signed(v, "since_ns", since_ns(s, m->time_ns));
		text_table_text(v, "comm", comm_of(s, i, unknown));
		text_table_number(v, "pid", m->pid);
		text_table_number(v, "tid", m->tid);
		text_table_number(v, "cpu", m->cpu);
		text_table_text(v, "kind", kind_text(m->kind));
		/* As a text: not all readers of JSON have numbers of 64 bits. */
		snprintf(id, sizeof(id), "%#" PRIx64, m->id);
		text_table_text(v, "id", id);
		text_table_ns(v, "duration", m->duration_ns);
		text_table_text(v, "group", string_table_text(s->names, m->group));
		text_table_text(v, "name", string_table_text(s->names, m->name));
		text_table_text(v, "text", string_table_text(s->names, m->text));
	}
	text_table_end(v);
}

static void json_spans(struct text_table *v, const struct mark_views *s)
{
	static const char *const columns[] = { "start", "since_ns", "duration", "ended",   "number",
					       "comm",  "pid",      "tid",      "end_tid", "depth",
					       "group", "name",     "text",     "end_text" };
	char unknown[16];

	text_table_begin(v, "spans", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->marks.span_count; i++) {
		const struct markspan *span = &s->marks.spans[s->order[i]];
		const struct mark *begin = &s->marks.marks[span->begin];
		bool ended = span->end != MARKS_NONE;
		const struct mark *end = ended ? &s->marks.marks[span->end] : begin;

		if (!is_shown(s, span))
			continue;
		text_table_row(v);
		text_table_ns(v, "start", span->start_ns);
		text_table_signed(v, "since_ns", since_ns(s, span->start_ns));
		text_table_ns(v, "duration", span->end_ns - span->start_ns);
		text_table_bool(v, "ended", ended);
		text_table_number(v, "number", span->number);
		text_table_text(v, "comm", comm_of(s, span->begin, unknown));
		text_table_number(v, "pid", begin->pid);
		text_table_number(v, "tid", begin->tid);
		text_table_number(v, "end_tid", end->tid);
		text_table_number(v, "depth", span->depth);
		text_table_text(v, "group", string_table_text(s->names, span->group));
		text_table_text(v, "name", string_table_text(s->names, span->name));
		text_table_text(v, "text", string_table_text(s->names, begin->text));
		text_table_text(v, "end_text",
				end != begin ? string_table_text(s->names, end->text) : "");
	}
	text_table_end(v);
}

static void json_summary(struct text_table *v, const struct mark_views *s)
{
	static const char *const columns[] = { "group",   "name",   "kind", "count",
					       "unended", "total",  "min",  "max",
					       "mean",    "median", "p99" };

	text_table_begin(v, "summary", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->kind_count; i++) {
		const struct mark_views_kind *k = &s->kinds[s->kind_order[i]];
		const struct percentiles *d = &k->took;

		text_table_row(v);
		text_table_text(v, "group", string_table_text(s->names, k->group));
		text_table_text(v, "name", string_table_text(s->names, k->name));
		text_table_text(v, "kind", k->is_span ? "span" : "point");
		text_table_number(v, "count", k->count);
		text_table_number(v, "unended", k->unended);
		text_table_ns(v, "total", d->sum_ns);
		text_table_ns(v, "min", d->count ? d->ns[0] : 0);
		text_table_ns(v, "max", d->count ? d->ns[d->count - 1] : 0);
		text_table_ns(v, "mean", d->count ? d->sum_ns / d->count : 0);
		text_table_ns(v, "median", percentiles_quantile(d, 0.5));
		text_table_ns(v, "p99", percentiles_quantile(d, 0.99));
	}
	text_table_end(v);
}

static int put_json(const struct mark_views *s, FILE *to)
{
	struct text_table *v;
	int err = text_table_open(to, true, &v);

	if (err)
		return err;
	text_table_section(v, "facts");
	text_table_number(v, "marks", s->marks.count);
	text_table_number(v, "spans", s->marks.span_count);
	text_table_number(v, "lost", s->lost);
	text_table_number(v, "unreadable", s->marks.broken);
	text_table_number(v, "ends_without_begin", s->marks.ends_without_begin);
	json_marks(v, s);
	json_spans(v, s);
	json_summary(v, s);
	return text_table_close(v);
}

/* ---- all of it ---- */

/* The marks that the capture counts as missing. */
static uint64_t lost_marks(const struct capture *c, const struct tasks *tasks)
{
	const struct capture_attr *attr = event_iter_find(c, TRACE_DATA_MARK_ID);
	size_t count;

	return attr ? tasks->lost[attr - capture_attrs(c, &count)] : 0;
}

int mark_views_make(const struct capture *c, struct string_table *names,
		    const struct time_span *span, const struct filter *filter,
		    enum mark_views_sort sort, struct mark_views *out)
{
	struct mark_views s = { .names = names, .sort = sort };
	int err = marks_load(c, names, &s.marks);

	if (!err)
		err = tasks_load(c, names, &s.tasks);
	if (!err)
		s.lost = lost_marks(c, &s.tasks);
	if (!err)
		err = choose(&s, filter);
	if (!err)
		err = sum_up(&s);
	if (!err)
		err = order_all(&s);
	s.first_ns = span ? span->from_ns : 0;
	if (err) {
		mark_views_done(&s);
		return err;
	}
	*out = s;
	return 0;
}

void mark_views_done(struct mark_views *s)
{
	for (size_t i = 0; i < s->kind_count; i++)
		percentiles_done(&s->kinds[i].took);
	free(s->kinds);
	free(s->wanted);
	free(s->comm);
	free(s->order);
	free(s->lines);
	free(s->kind_order);
	marks_done(&s->marks);
	tasks_done(&s->tasks);
	*s = (struct mark_views){ 0 };
}

int mark_views_write(const struct mark_views *s, enum mark_views_form form, FILE *to)
{
	switch (form) {
	case MARK_VIEWS_JSON:
		return put_json(s, to);
	case MARK_VIEWS_SUMMARY:
		return put_summary(s, to);
	case MARK_VIEWS_WATERFALL:
		put_waterfall(s, to);
		return 0;
	case MARK_VIEWS_TABLE:
		break;
	}
	put_table(s, to);
	return 0;
}
