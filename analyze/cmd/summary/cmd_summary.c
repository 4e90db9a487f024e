/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec summary - the page that is read first: what ran, where the time went, what it is worth */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "format/base/mmap_array.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/event/event_of.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/summary/cmd_summary_more.h"
#include "analyze/cmd/summary/cmd_summary_processes.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/export/exporter.h"
#include "analyze/input/perf_features.h"
#include "analyze/report/profile/flat_profile.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/message.h"
#include "analyze/report/process/summary.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/capture_stats.h"
#include "analyze/out/text_table.h"

#define ROWS_DEFAULT 10

struct summary_opts {
	const char *input;
	struct pick_options pick;
	unsigned rows;
	bool json, quiet;
};

#define AT(field) offsetof(struct summary_opts, field)

static const struct option summary_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "as JSON, with a schema number" },
	{ OPT_UINT, 'n', "top", "N", AT(rows), 0, UINT32_MAX,
	  "rows of each table (default: 10, 0: all)" },
	PICKOPTS(AT(pick)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "no notes, only errors" },
	{ 0 },
};

static const struct usage summary_usage = {
	.command = "summary",
	.words = "[--json] [OPTIONS] [[-i] FILE]",
	.about = "One page about a capture: the machine, what ran and when, the functions where\n"
		 "the time went, what was lost, and how far stacks and names can be trusted.\n",
	.options = summary_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* ---- the parts ---- */

static void view_feature(struct text_table *v, const struct capture *c, const char *key,
			 unsigned bit)
{
	const char *text = capture_feature_string(c, bit);

	if (text && *text)
		text_table_text(v, key, text);
}

/* The part of the recording that --time, --during ... choose; by default all of it. */
static struct time_span window_of(const struct report *r, const struct filter *filter)
{
	struct time_span all = r->scan.span_known ? r->scan.span : (struct time_span){ 0, 0 };
	struct time_span part = {
		.from_ns = filter->span.from_ns > all.from_ns ? filter->span.from_ns : all.from_ns,
		.to_ns = filter->span.to_ns < all.to_ns ? filter->span.to_ns : all.to_ns,
	};

	return part.from_ns <= part.to_ns ? part : all;
}

static void show_window(struct text_table *v, const struct report *r, const struct filter *filter)
{
	struct time_span window = window_of(r, filter);

	if (!r->scan.span_known || !filter_has_window(filter))
		return;
	text_table_ns(v, "window_start", window.from_ns - r->scan.span.from_ns);
	text_table_ns(v, "window_duration",
		      filter_overlap_ns(filter, window.from_ns, window.to_ns));
}

/* Events of processes that were not selected, as the recorder's programs saw them. */
static void show_left_out(struct text_table *v, const struct capture *c)
{
	struct capture_meta_value account = capture_meta_read(c, EBX_META_ACCOUNT),
				  out = capture_meta_member(account, "left_out");
	uint64_t samples, switches;

	if (capture_meta_number(out, "samples", &samples) &&
	    capture_meta_number(out, "switches", &switches)) {
		text_table_number(v, "left_out_samples", samples);
		text_table_number(v, "left_out_switches", switches);
	}
	capture_meta_free(account);
}

static void show_capture(struct text_table *v, const struct report *r, const char *path,
			 const struct capture_attr *attr, const struct filter *filter)
{
	static const char *const kinds[] = { "ebprec", "perf", "perf pipe" };
	uint64_t sample_ns, wall_ns;
	uint32_t available, online;
	char *command, *selected = capture_meta_selection(r->capture);

	text_table_section(v, "capture");
	text_table_text(v, "file", path);
	text_table_text(v, "written_by", kinds[capture_get_kind(r->capture)]);
	text_table_size(v, "file_size", capture_file_bytes(r->capture));
	view_feature(v, r->capture, "host", PERFFILE_HOSTNAME);
	view_feature(v, r->capture, "kernel", PERFFILE_OSRELEASE);
	if (!feature_cpus(r->capture, &available, &online))
		text_table_number(v, "cpus", online);
	if (!feature_command_line(r->capture, &command)) {
		text_table_text(v, "command", command);
		free(command);
	}
	if (selected) {
		text_table_text(v, "selected", selected);
		show_left_out(v, r->capture);
		free(selected);
	}
	if (r->scan.span_known) {
		struct time_span span = r->scan.span;

		/* The first sample comes when something runs. */
		capture_meta_extend_back(r->capture, &span);
		if (capture_clock(r->capture, &sample_ns, &wall_ns))
			text_table_wall_ns(v, "start", wall_ns - sample_ns + span.from_ns);
		text_table_ns(v, "duration", span.to_ns - span.from_ns);
	}
	show_window(v, r, filter);
	text_table_text(v, "event", event_name(attr));
}

/* Without a total there is no share: 0 % would be bad, 100 % good. */
static void show_quality_of(struct text_table *v, const char *key, uint64_t part, uint64_t total)
{
	if (total)
		text_table_percent(v, key, part, total);
	else
		text_table_unknown(v, key, "");
}

static int show_functions(struct text_table *v, struct report *r, enum calltree_weight weight,
			  size_t rows)
{
	static const char *const columns[] = { "self", "total", "samples", "object", "function" };
	struct sort_keys keys = { { KEY_DSO, KEY_SYMBOL }, 2 };
	struct row_keys_source source = { .naming = &r->naming,
					  .names = r->names,
					  .containers = r->containers };
	struct row_keys tab;
	struct flat flat;
	int err;

	source.groups = groups_list(r->groups, &source.group_count);
	err = row_keys_make(&keys, &source, &tab);
	if (err)
		return err;
	err = flat_make(&r->stacks, weight, &tab, &keys, r->names, false, &flat);
	if (err) {
		row_keys_done(&tab);
		return err;
	}
	text_table_begin(v, "functions", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < flat.count && i < rows; i++) {
		const struct row_keys_label *label = &tab.labels[flat.rows[i].frame];

		text_table_row(v);
		text_table_percent(v, "self", flat.rows[i].self, flat.sum);
		text_table_percent(v, "total", flat.rows[i].total, flat.sum);
		text_table_number(v, "samples", flat.rows[i].self);
		text_table_text(v, "object", string_table_text(r->names, label->texts[KEY_DSO]));
		text_table_text(v, "function",
				string_table_text(r->names, label->texts[KEY_SYMBOL]));
	}
	text_table_end(v);
	flat_done(&flat);
	row_keys_done(&tab);
	return 0;
}

static void show_events(struct text_table *v, const struct report *r, const struct capture_stats *t)
{
	static const char *const columns[] = { "event", "samples" };
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);

	text_table_begin(v, "events", columns, 2);
	for (size_t i = 0; i < count && i < t->attr_count; i++) {
		if (!t->attrs[i].sample_count)
			continue;
		text_table_row(v);
		text_table_text(v, "event", event_name(&attrs[i]));
		text_table_number(v, "samples", t->attrs[i].sample_count);
	}
	text_table_end(v);
}

static void show_quality(struct text_table *v, const struct report *r)
{
	const struct capture_damage *d = capture_damage(r->capture);
	const struct stack_quality *q = &r->quality;

	text_table_section(v, "quality");
	text_table_number(v, "user_stacks", q->user_stacks);
	text_table_number(v, "complete_stacks", q->complete_stacks);
	show_quality_of(v, "complete", q->complete_stacks, q->user_stacks);
	text_table_number(v, "frames", q->frames);
	text_table_number(v, "unnamed_frames", q->unnamed_frames);
	text_table_number(v, "unnamed_samples", q->unnamed_samples);
	show_quality_of(v, "named", q->frames - q->unnamed_frames, q->frames);
	text_table_number(v, "lost_samples", r->counts.lost_samples);
	text_table_number(v, "lost_events", r->counts.lost_events);
	text_table_number(v, "throttled", r->counts.throttled);
	text_table_bool(v, "damaged",
			d->cut || d->unfinished || d->bad_blocks || d->missing_seq ||
				r->stats.damaged_blocks);
}

/* ---- the page ---- */

/* Which processes the table does not have, and what its samples are by. */
static void note_processes(const struct summary *s, const struct summary_processes *w)
{
	uint64_t ran = 0;

	for (size_t i = 0; i < s->count; i++)
		ran += s->rows[i].processes;
	if (s->renamed)
		message_note("processes: samples are by process, under its last name; %" PRIu64
			     " of them are of threads or times with another name ('ebprec report "
			     "--sort comm' counts by these)",
			     s->renamed);
	if (w->process_count > ran)
		message_note(
			"%" PRIu64
			" more processes are not in the table: nothing of them was sampled or switched",
			w->process_count - ran);
}

/*
 * The rest of the page, when the samples have been counted.  The processes end when they have been shown: of a
 * million the room is wanted for the mappings of those that waited.
 */
static int show(struct text_table *v, struct report *r, const struct summary_opts *o,
		const struct picked *p, struct summary *s, struct summary_processes *w,
		struct offcpu_times *times, const struct capture_stats *t)
{
	struct time_span window = window_of(r, p->query.filter);
	const struct waits_style waits = {
		o->rows, filter_overlap_ns(p->query.filter, window.from_ns, window.to_ns), o->json
	};
	bool notes = !o->json && !o->quiet;
	int err;

	text_table_number(v, "samples", r->picked);
	summary_processes_show_counts(v, w);
	show_quality(v, r);
	cmd_summary_cpus(v, r->capture, r->scan.span_known ? r->scan.span.from_ns : 0,
			 &p->query.filter->span);
	err = summary_processes_show(v, r, s, w, o->rows, o->json);
	if (!err && notes)
		note_processes(s, w);
	summary_done(s);
	summary_processes_done(w);
	if (!err)
		err = show_functions(v, r, p->weight, o->rows);
	if (notes && times->run.flow)
		message_note(
			"waits: 'missed run time' is how long these threads would have run in the time they "
			"waited, at the rate at which they ran in the rest of it; idle threads miss next to none");
	if (!err)
		err = cmd_summary_waits(v, r, &p->query, times->run.flow ? times : NULL, &waits);
	if (!err)
		err = cmd_summary_marks(v, r->capture, p->query.filter, o->rows);
	if (!err)
		err = cmd_summary_counters(v, r->capture, p->query.filter);
	if (!err)
		show_events(v, r, t);
	return err;
}

/* The counts of the reading pass need no second pass. */
static int count_events(const struct report *r, const struct report_query *q,
			const struct sched_order *flow, struct capture_stats *t)
{
	size_t attr = q->attr;
	bool counted = !attr && load_stream_is_of_one(r->capture);
	const uint64_t *sched = flow ? sched_order_samples(flow) : NULL;
	uint32_t mask = event_iter_streams(r->capture, UINT32_MAX);
	int err;

	if (filter_has_window(q->filter)) /* those were counted whatever their time */
		return capture_stats_during(r->capture, mask, q->filter, t);

	if (counted)
		mask &= ~(1u << EBX_STREAM_CPU);
	if (sched)
		mask &= ~(1u << EBX_STREAM_SCHED);
	err = capture_stats_capture(r->capture, mask, t);
	if (err)
		return err;
	if (counted)
		t->attrs[attr].sample_count = r->stats.event_samples;
	for (size_t i = 0; sched && i < t->attr_count; i++)
		t->attrs[i].sample_count += sched[i];
	return 0;
}

static int summarize(struct report *r, const struct summary_opts *o, struct picked *p,
		     struct progress *progress)
{
	struct summary s = { 0 };
	struct capture_stats t = { 0 };
	struct offcpu_times times = { 0 };
	struct summary_processes w = { 0 };
	struct time_span window;
	struct text_table *v = NULL;
	int status, err, close_err;
	size_t count;

	status = pick_options_resolve(&o->pick, &summary_usage, o->input, o->quiet, r, p);
	if (status)
		return status;
	window = window_of(r, p->query.filter);
	if (o->json)
		container_names_complete_ids(r->containers);
	p->query.fields |= summary_fields();
	p->query.quantum_ns = summary_quantum_ns(&window);
	/* A choice by stacks needs the stacks of each group. */
	p->query.sum_groups = !p->pick.count;
	p->query.apart = true;
	p->query.keep_model = true; /* for the waits */
	err = text_table_open(stdout, o->json, &v);
	if (!err) {
		/* The facts of the file are there at once, the samples of a long one are not. */
		progress_clear(progress);
		show_capture(v, r, o->input, &capture_attrs(r->capture, &count)[p->query.attr],
			     p->query.filter);
		fflush(stdout);
		err = report_make(r, &p->query);
	}
	if (!o->quiet)
		name_roots_note_fetched(&p->roots);
	print_quality_periods(r, o->input);
	if (!err)
		err = summary_processes_load(r, &p->query, &window, &s, &times, &w);
	if (!err)
		err = count_events(r, &p->query, times.run.flow, &t);
	if (!err)
		err = show(v, r, o, p, &s, &w, &times, &t);
	close_err = v ? text_table_close(v) : 0;
	err = err ? err : close_err;
	summary_done(&s);
	offcpu_times_done(&times);
	summary_processes_done(&w);
	capture_stats_done(&t);
	if (err)
		return message_error("cannot summarize '%s': %s", o->input, strerror(-err));
	return MESSAGE_OK;
}

int cmd_summary(int argc, char **argv)
{
	struct summary_opts opts = { .pick = PICK_OPTIONS_DEFAULTS, .rows = ROWS_DEFAULT };
	struct picked picked;
	struct cmd_open in;
	char **words;
	int status;

	if (!usage_parse(&summary_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	if (!opts.rows)
		opts.rows = UINT32_MAX;
	status = cmd_input(&summary_usage, words, &opts.input);
	if (status)
		return status;
	status = pick_options_parse(&opts.pick, &summary_usage, &picked);
	if (status)
		return status;
	mmap_array_tune();
	status = cmd_open_with_tasks(opts.input, "summarize", opts.quiet, &in);
	if (!status) {
		status = summarize(&in.report, &opts, &picked, in.progress);
		cmd_close(&in);
	}
	pick_options_done(&picked);
	return status;
}
