/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec marks - moments and spans that programs marked: as a table, summed up, as a waterfall */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/cmd/open_report.h"
#include "analyze/cmd/commands.h"
#include "analyze/base/percentiles.h"
#include "analyze/input/marks.h"
#include "analyze/process/tasks.h"
#include "analyze/report/report.h"
#include "analyze/cmd/report_options.h"
#include "analyze/out/message.h"
#include "format/base/vec.h"
#include "analyze/out/text_table.h"
#include "format/perf/trace_data.h"

#define BAR_COLUMNS 50

struct marks_opts {
	const char *input;
	struct time_options when;
	struct task_options who;
	bool summary, waterfall, json;
};

#define AT(field) offsetof(struct marks_opts, field)

static const struct option marks_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "summary", NULL, AT(summary), 0, 0,
	  "a line for each name: how many, how long" },
	{ OPT_FLAG, 0, "waterfall", NULL, AT(waterfall), 0, 0,
	  "a bar for each span, from when to when it was open" },
	WHOOPTS(AT(who)),
	TIMEOPTS(AT(when)),
	{ OPT_FLAG, 'j', "json", NULL, AT(json), 0, 0, "all of it, as JSON" },
	{ 0 },
};

static const struct usage marks_usage = {
	.command = "marks",
	.words = "[--summary | --waterfall] [OPTIONS] [[-i] FILE]",
	.about = "Shows the marks of a capture in the order of time.  A span is what has a\n"
		 "beginning and an end; it counts where it begins.  Programs make marks by\n"
		 "#include <ebprec-mark.h> (pkg-config --cflags ebprec-mark), scripts by\n"
		 "'ebprec mark'.\n",
	.options = marks_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* All of one kind. */
struct kind {
	uint32_t group, name;
	bool is_span;
	uint64_t count, unended;
	struct percentiles took; /* spans that ended */
};

struct shown {
	const struct capture *c;
	struct tasks tasks;
	struct string_table *names;
	const struct filter *filter;
	struct marks marks;
	bool *wanted;          /* by mark */
	uint32_t *comm;        /* by mark: in the names; TASKS_NONE */
	struct time_span hull; /* of all that is shown */
	struct kind *kinds;
	size_t kind_count, kind_capacity;
};

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

static const char *comm_of(const struct shown *s, uint32_t mark, char unknown[16])
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

static bool is_shown(const struct shown *s, const struct markspan *span)
{
	return s->wanted[span->begin];
}

/* ---- what is asked for ---- */

static uint32_t comm_at(const struct tasks *tasks, const struct mark *m)
{
	const struct tasks_life *life = tasks_at(tasks, m->tid, m->time_ns);

	return life && life->pid == m->pid ? tasks_comm_at(tasks, life, m->time_ns) : TASKS_NONE;
}

static int choose(struct shown *s)
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

		s->comm[i] = comm_at(&s->tasks, m);
		s->wanted[i] = filter_passes(s->filter, m->pid, m->tid, -1, m->time_ns) &&
			       filter_passes_comm(s->filter, comm_of(s, i, unknown));
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
	const struct kind *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->is_span < y->is_span ? -1 : x->is_span > y->is_span;
}

static int kind_at(struct shown *s, const struct mark *m, struct kind **out)
{
	struct kind want = { .group = m->group, .name = m->name, .is_span = begins(m) };

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
static int sum_up(struct shown *s)
{
	const struct markspan *span;
	struct kind *k;
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

/* ---- for people ---- */

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* GROUP/NAME, and the text behind it. */
static void put_name(const struct shown *s, uint32_t group, uint32_t name, uint32_t text)
{
	message_padded(stdout, string_table_text(s->names, group), 0);
	putchar('/');
	message_padded(stdout, string_table_text(s->names, name), 0);
	if (*string_table_text(s->names, text)) {
		fputs(": ", stdout);
		message_padded(stdout, string_table_text(s->names, text), 0);
	}
	putchar('\n');
}

static void put_table(const struct shown *s)
{
	char unknown[16];

	printf("%17s %-15s %7s %7s %3s %-5s %12s  %s\n", "TIME(s)", "COMM", "PID", "TID", "CPU",
	       "KIND", "DURATION(ms)", "MARK");
	for (uint32_t i = 0; i < s->marks.count; i++) {
		const struct mark *m = &s->marks.marks[i];
		const struct markspan *span = m->span == MARKS_NONE ? NULL
								    : &s->marks.spans[m->span];

		if (!s->wanted[i])
			continue;
		printf("%7" PRIu64 ".%09" PRIu64 " ", m->time_ns / 1000000000,
		       m->time_ns % 1000000000);
		message_padded(stdout, comm_of(s, i, unknown), 15);
		printf(" %7u %7u %3u %-5s", m->pid, m->tid, m->cpu, kind_text(m->kind));
		if (span && span->end != MARKS_NONE)
			printf(" %12.6f  ", ms(span->end_ns - span->start_ns));
		else
			printf(" %12s  ", span ? "no end" : "");
		put_name(s, span ? span->group : m->group, span ? span->name : m->name, m->text);
	}
}

static void put_summary(const struct shown *s)
{
	printf("%8s %12s %12s %12s %12s %12s %12s  %s\n", "COUNT", "TOTAL(ms)", "MIN(ms)",
	       "MAX(ms)", "MEAN(ms)", "MEDIAN(ms)", "P99(ms)", "MARK");
	for (size_t i = 0; i < s->kind_count; i++) {
		const struct kind *k = &s->kinds[i];
		const struct percentiles *d = &k->took;

		printf("%8" PRIu64, k->count);
		if (d->count)
			printf(" %12.6f %12.6f %12.6f %12.6f %12.6f %12.6f  ", ms(d->sum_ns),
			       ms(d->ns[0]), ms(d->ns[d->count - 1]),
			       ms(d->sum_ns) / (double)d->count, ms(percentiles_quantile(d, 0.5)),
			       ms(percentiles_quantile(d, 0.99)));
		else
			printf(" %12s %12s %12s %12s %12s %12s  ", "-", "-", "-", "-", "-", "-");
		message_padded(stdout, string_table_text(s->names, k->group), 0);
		putchar('/');
		message_padded(stdout, string_table_text(s->names, k->name), 0);
		if (k->unended)
			printf(" (%" PRIu64 " without an end)", k->unended);
		putchar('\n');
	}
}

/* In which of the bar's columns a time within the hull lies. */
static int column_of(const struct time_span *hull, uint64_t time_ns)
{
	double scale = (double)(hull->to_ns - hull->from_ns) / BAR_COLUMNS;

	return (int)saturate_part((double)(time_ns - hull->from_ns) / scale, BAR_COLUMNS);
}

static void put_bar(const struct time_span *hull, const struct markspan *span)
{
	bool moment = hull->from_ns == hull->to_ns;
	int from = moment ? 0 : column_of(hull, span->start_ns);
	int to = moment ? BAR_COLUMNS : column_of(hull, span->end_ns);

	from = from >= BAR_COLUMNS ? BAR_COLUMNS - 1 : from;
	to = to <= from ? from + 1 : to;
	putchar('|');
	for (int i = 0; i < BAR_COLUMNS; i++)
		putchar(i < from || i >= to ? ' ' : '=');
	putchar(span->end == MARKS_NONE ? '>' : '|');
}

static void put_waterfall(const struct shown *s)
{
	char unknown[16];

	printf("%12s %12s %-*s  %-15s %s\n", "START(ms)", "LENGTH(ms)", BAR_COLUMNS + 2, "", "COMM",
	       "SPAN");
	for (size_t i = 0; i < s->marks.span_count; i++) {
		const struct markspan *span = &s->marks.spans[i];

		if (!is_shown(s, span))
			continue;
		printf("%12.6f %12.6f ", ms(span->start_ns - s->hull.from_ns),
		       ms(span->end_ns - span->start_ns));
		put_bar(&s->hull, span);
		fputs("  ", stdout);
		message_padded(stdout, comm_of(s, span->begin, unknown), 15);
		printf(" %*s", 2 * (int)span->depth, "");
		put_name(s, span->group, span->name, s->marks.marks[span->begin].text);
	}
}

/* ---- for programs ---- */

static void json_marks(struct text_table *v, const struct shown *s)
{
	static const char *const columns[] = { "time", "comm",     "pid",   "tid",  "cpu", "kind",
					       "id",   "duration", "group", "name", "text" };
	char unknown[16], id[24];

	text_table_begin(v, "marks", columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < s->marks.count; i++) {
		const struct mark *m = &s->marks.marks[i];

		if (!s->wanted[i])
			continue;
		text_table_row(v);
		text_table_ns(v, "time", m->time_ns);
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

static void json_spans(struct text_table *v, const struct shown *s)
{
	static const char *const columns[] = { "start", "duration", "ended",   "comm",
					       "pid",   "tid",      "end_tid", "depth",
					       "group", "name",     "text",    "end_text" };
	char unknown[16];

	text_table_begin(v, "spans", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->marks.span_count; i++) {
		const struct markspan *span = &s->marks.spans[i];
		const struct mark *begin = &s->marks.marks[span->begin];
		bool ended = span->end != MARKS_NONE;
		const struct mark *end = ended ? &s->marks.marks[span->end] : begin;

		if (!is_shown(s, span))
			continue;
		text_table_row(v);
		text_table_ns(v, "start", span->start_ns);
		text_table_ns(v, "duration", span->end_ns - span->start_ns);
		text_table_bool(v, "ended", ended);
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

static void json_summary(struct text_table *v, const struct shown *s)
{
	static const char *const columns[] = { "group",   "name",   "kind", "count",
					       "unended", "total",  "min",  "max",
					       "mean",    "median", "p99" };

	text_table_begin(v, "summary", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->kind_count; i++) {
		const struct kind *k = &s->kinds[i];
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

static int put_json(const struct shown *s)
{
	struct text_table *v;
	int err = text_table_open(stdout, true, &v);

	if (err)
		return err;
	text_table_section(v, "facts");
	text_table_number(v, "marks", s->marks.count);
	text_table_number(v, "spans", s->marks.span_count);
	text_table_number(v, "lost", s->marks.lost);
	text_table_number(v, "unreadable", s->marks.broken);
	text_table_number(v, "ends_without_begin", s->marks.ends_without_begin);
	json_marks(v, s);
	json_spans(v, s);
	json_summary(v, s);
	return text_table_close(v);
}

/* ---- the command ---- */

static void say_losses(const struct shown *s, const char *input)
{
	if (!s->marks.count)
		message_note("'%s' has no marks (see 'ebprec mark --help')", input);
	else if (s->hull.from_ns > s->hull.to_ns)
		message_note("none of the %zu marks in '%s' passes the filters", s->marks.count,
			     input);
	if (s->marks.lost)
		message_note("%" PRIu64 " marks are missing from '%s' (record with a larger -m)",
			     s->marks.lost, input);
	if (s->marks.broken)
		message_note("%" PRIu64 " marks of '%s' could not be read", s->marks.broken, input);
	if (s->marks.ends_without_begin)
		message_note("%" PRIu64 " spans began before the recording, or were never begun",
			     s->marks.ends_without_begin);
}

static int show(struct shown *s, const struct marks_opts *o)
{
	int err = marks_load(s->c, s->names, &s->marks);

	if (!err && s->marks.count)
		err = tasks_load(s->c, s->names, &s->tasks);
	if (!err)
		err = choose(s);
	if (!err)
		err = sum_up(s);
	if (!err && o->json)
		err = put_json(s);
	else if (!err && o->summary)
		put_summary(s);
	else if (!err && o->waterfall)
		put_waterfall(s);
	else if (!err)
		put_table(s);
	if (!err)
		say_losses(s, o->input);
	for (size_t i = 0; i < s->kind_count; i++)
		percentiles_done(&s->kinds[i].took);
	free(s->kinds);
	free(s->wanted);
	free(s->comm);
	marks_done(&s->marks);
	tasks_done(&s->tasks);
	return err ? message_error("cannot show '%s': %s", o->input, strerror(-err)) : MESSAGE_OK;
}

static int open_and_show(const struct marks_opts *o, struct filter *filter)
{
	struct shown s = { .filter = filter };
	struct cmd_open in;
	int status = cmd_open_later(o->input, "show", false, &in);

	if (status)
		return status;
	progress_hide(in.progress);
	s.c = in.capture;
	s.names = in.report.names;
	status = pick_options_time(&o->when, &marks_usage, o->input, in.capture,
				   report_span(&in.report), filter);
	if (!status)
		status = show(&s, o);
	cmd_close(&in);
	return status;
}

int cmd_marks(int argc, char **argv)
{
	struct marks_opts opts = { 0 };
	struct filter filter;
	char **words;
	int status;

	if (!usage_parse(&marks_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&marks_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.summary + opts.waterfall + opts.json > 1)
		return usage_error(&marks_usage, "one of --summary, --waterfall and --json");
	signal(SIGPIPE, SIG_IGN);
	filter_init(&filter);
	status = pick_options_who(&filter, &marks_usage, &opts.who, NULL);
	if (!status)
		status = open_and_show(&opts, &filter);
	filter_done(&filter);
	return status;
}
