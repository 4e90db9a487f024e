/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec metrics - what the instruments of a capture counted */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/metrics/cmd_metric_tables.h"
#include "analyze/metric/lock_names.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/export/denet_sample.h"
#include "analyze/process/container_names.h"
#include "analyze/fold/count_samples.h"
#include "analyze/input/capture_meta.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"

struct metrics_opts {
	const char *input, *by, *sort, *json;
	struct time_options when;
	struct task_options tasks;
	struct name_options names;
	bool csv, histogram, interval, list;
	unsigned top;
};

#define AT(field) offsetof(struct metrics_opts, field)

#define HINT_ABOVE_NS 200000000 /* the recorder's shortest interval is half as long */

static const struct option metrics_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 'l', "list", NULL, AT(list), 0, 0, "the tables that the capture has" },
	{ OPT_STRING, 0, "by", "WHAT[,WHAT]", AT(by), 0, 0,
	  "process, thread, comm, cgroup, container, or a key of the table" },
	{ OPT_STRING, 0, "sort", "COLUMN", AT(sort), 0, 0,
	  "largest first in this column, as --json names it" },
	{ OPT_UINT, 'n', "top", "N", AT(top), 0, UINT32_MAX,
	  "no more rows than this (default: 10, 0: all; --json and --csv: all)" },
	{ OPT_FLAG, 0, "histogram", NULL, AT(histogram), 0, 0,
	  "how the times or sizes of each row are spread" },
	{ OPT_FLAG, 0, "interval", NULL, AT(interval), 0, 0,
	  "each interval of the recording by itself" },
	TIMEOPTS(AT(when)),
	TASK_OPTIONS(AT(tasks)),
	{ OPT_FORM, 'j', "json", "FORM", AT(json), 0, 0,
	  "as JSON; denet: system calls, counters and time off the CPU as denet has them" },
	{ OPT_FLAG, 0, "csv", NULL, AT(csv), 0, 0, "as CSV" },
	{ OPT_STRING, 0, "symfs", "DIR", AT(names.symfs), 0, 0,
	  "names of locks: look for files below DIR" },
	{ OPT_LIST, 0, "debug-dir", "DIR", AT(names.debug_dirs), 0, 0,
	  "names of locks: look for debug files in DIR, too (repeatable)" },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage metrics_usage = {
	.command = "metrics",
	.words = "[OPTIONS] [NAME] [[-i] FILE]",
	.about = "Shows the tables that the instruments of a recording filled ('ebprec record\n"
		 "--with syscalls'): all of them, or those of the instrument or table NAME.\n"
		 "A word with a dot or slash is the file.\n",
	.options = metrics_options,
	.reads = USAGE_READS,
	.shows = true,
};

struct metrics {
	const struct metrics_opts *opts;
	struct metric_rows rows;
	struct process_model *model; /* NULL: not needed */
	struct string_table *names;
	struct metric_ask ask;
	struct metric_selection selection;
	struct container_names *containers;
	struct name_root_options roots;
	struct lock_names locks;
	char *notes; /* NULL: none */
};

static void list_tables(const struct metrics *m)
{
	struct metric_view own;

	for (size_t i = 0; i < m->rows.count; i++) {
		const struct metric_view *v = metric_view_of(&m->rows.tables[i], &own);

		printf("%-20s %-10s %s\n", m->rows.tables[i].fmt.name, v->instrument,
		       v == &own ? "" : v->title);
	}
}

/* ---- the command ---- */

/* Intervals and events are within the time when they end there. */
static int make_filter(const struct metrics_opts *opts, const struct capture *c, struct filter *f)
{
	struct time_span recorded;
	int status = pick_options_tasks(f, &metrics_usage, &opts->tasks, NULL);

	return status ? status
		      : pick_options_time(&opts->when, &metrics_usage, opts->input, c,
					  cmd_span(c, &recorded), f);
}

/* Cgroups, and what is mapped where, are known from the side-band only. */
static int load_names(struct metrics *m, const struct capture *c)
{
	bool want_cgroups = metric_selection_want_cgroups(&m->selection);
	bool want_symbols = metric_selection_want_symbols(&m->selection);
	struct load_scan scan;
	int err;

	if (!want_cgroups && !want_symbols)
		return 0;
	err = load_model(c, m->names, NULL, &m->model, &scan);
	if (err)
		return err;
	if (want_symbols)
		err = name_roots_make(&m->opts->names, &m->roots, true);
	if (want_symbols && !err)
		err = lock_names_open(&m->locks, c, &scan, m->model, m->names, &m->roots.roots);
	if (want_symbols && !err)
		lock_names_use(&m->locks, &m->rows);
	load_scan_done(&scan);
	if (want_cgroups && !err)
		err = container_names_read(c, &m->containers);
	m->selection.model = want_cgroups ? m->model : NULL;
	if (m->opts->json || m->opts->csv)
		container_names_complete_ids(m->containers);
	m->selection.containers.known = m->containers;
	return err;
}

/* The side-band is read for this only where the rows lack it. */
static int load_tasks(struct metrics *m, const struct capture *c)
{
	struct load_scan scan;
	int err;

	if (!metric_selection_want_tasks(&m->selection))
		return 0;
	if (!m->model) {
		err = load_model(c, m->names, NULL, &m->model, &scan);
		if (err)
			return err;
		load_scan_done(&scan);
	}
	m->selection.tasks = m->model;
	return 0;
}

static int write_denet(struct metrics *m, const struct capture *c, const struct filter *f)
{
	int err = denet_sample_write(c, m->names, f, m->opts->interval, stdout);

	if (err == -ENODATA)
		return message_error("'%s' has neither system calls nor counters (record some: "
				     "ebprec record --with syscalls,counters)",
				     m->opts->input);
	return err ? message_error("cannot show '%s': %s", m->opts->input, strerror(-err))
		   : MESSAGE_OK;
}

static double since_s(const struct time_span *recorded, uint64_t time_ns)
{
	return time_ns < recorded->from_ns ? 0 : (double)(time_ns - recorded->from_ns) / 1e9;
}

/*
 * An interval is shown complete, so the rows are seldom of just the time that was asked for.  Whether it is why
 * there are none.
 */
static bool note_times(const struct metrics *m, const struct capture *c, const struct filter *f)
{
	const struct metric_rows *r = &m->rows;
	const char *hint = r->longest_ns > HINT_ABOVE_NS
				   ? " (shorter ones: ebprec record --interval 0.1)"
				   : "";
	struct time_span recorded;

	if (!filter_has_window(f) || !metric_selection_has_intervals(&m->selection) ||
	    !r->longest_ns || !cmd_span(c, &recorded) || f->span.from_ns > recorded.to_ns ||
	    f->span.to_ns < recorded.from_ns)
		return false;
	if (!r->to_ns) {
		message_note("no interval of '%s' ends in the time asked for: its tables have "
			     "intervals of up to %.3f s%s",
			     m->opts->input, (double)r->longest_ns / 1e9, hint);
		return true;
	}
	if (r->from_ns < f->span.from_ns ||
	    (f->span.to_ns < recorded.to_ns && r->to_ns < f->span.to_ns))
		message_note("tables of intervals are of +%.3f s to +%.3f s: of the intervals that "
			     "end in the time asked for%s",
			     since_s(&recorded, r->from_ns), since_s(&recorded, r->to_ns), hint);
	return false;
}

static int run(struct metrics *m, const struct capture *c, const struct filter *f, const char *name)
{
	struct time_span recorded;
	int status, err;

	err = string_table_new(&m->names);
	if (!err)
		err = metric_rows_open(c, &m->rows);
	if (err)
		return message_error("cannot read '%s': %s", m->opts->input, strerror(-err));
	metric_rows_add_symbols(&m->rows);
	if (m->opts->list) {
		list_tables(m);
		return MESSAGE_OK;
	}
	if (m->opts->json && *m->opts->json)
		return write_denet(m, c, f);
	m->selection.rows = &m->rows;
	m->selection.names = m->names;
	m->selection.notes = m->notes = capture_meta_notes(c);
	status = metric_tables_choose(&m->selection, &metrics_usage, m->opts->input, name);
	if (status)
		return status;
	m->selection.start_ns = time_span_of_capture(c, &recorded) ? 0 : recorded.from_ns;
	err = load_names(m, c);
	if (!err)
		err = metric_rows_walk(&m->rows, m->names, f, metric_selection_row, &m->selection);
	if (!err)
		err = load_tasks(m, c);
	if (err == -EOVERFLOW)
		return message_error(
			"cannot read '%s': the rows of its tables take more than %" PRIu64
			" MiB (--unpack-limit SIZE reads more)",
			m->opts->input, metric_rows_limit_bytes(c) >> 20);
	if (err)
		return message_error("cannot read '%s': %s", m->opts->input, strerror(-err));
	metric_selection_end(&m->selection);
	if (!note_times(m, c, f) && metric_selection_is_empty(&m->selection))
		message_note("no row in '%s' is of what was asked for", m->opts->input);
	return metric_tables_show(&m->selection, m->opts->input);
}

static void done(struct metrics *m)
{
	metric_selection_done(&m->selection);
	metric_rows_done(&m->rows);
	lock_names_close(&m->locks);
	name_roots_done(&m->roots);
	process_model_free(m->model);
	container_names_free(m->containers);
	string_table_free(m->names);
	free(m->notes);
	free(m);
}

int cmd_metrics(int argc, char **argv)
{
	static const struct metrics_opts defaults = { .top = UINT32_MAX,
						      .names = NAME_OPTIONS_DEFAULTS };
	struct metrics_opts opts = defaults;

	opts.names.offline = true; /* the names of locks are no reason to ask over the network */
	struct filter filter;
	struct metrics *m;
	struct capture *c;
	const char *name = NULL;
	char **words;
	int status;

	if (!usage_parse(&metrics_usage, &opts, argc, argv, 0, 2, &words, &status))
		return status;
	if (*words && (words[1] || !strpbrk(*words, "./")))
		name = *words++;
	status = cmd_input(&metrics_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.json && opts.csv)
		return usage_error(&metrics_usage, "--csv or --json, not both");
	if (opts.json && *opts.json && strcmp(opts.json, "denet") != 0)
		return usage_error(
			&metrics_usage,
			"option '--json' cannot be '%s': nothing or 'denet' was expected",
			opts.json);
	if (opts.list && !usage_has_none(&metrics_usage, &opts, &defaults,
					 "by sort top histogram interval csv json", "--list"))
		return MESSAGE_USAGE;
	if (opts.json && *opts.json &&
	    (name || !usage_has_none(&metrics_usage, &opts, &defaults, "by sort top histogram",
				     "--json=denet")))
		return name ? usage_error(&metrics_usage,
					  "--json=denet is of no table: '%s' is one word "
					  "too many",
					  name)
			    : MESSAGE_USAGE;
	status = cmd_open_capture(opts.input, &c);
	if (status)
		return status;
	m = calloc(1, sizeof(*m));
	if (!m) {
		capture_close(c);
		return message_error("cannot read '%s': %s", opts.input, strerror(ENOMEM));
	}
	m->opts = &opts;
	m->ask = (struct metric_ask){
		.by = opts.by,
		.sort = opts.sort,
		.form = opts.json  ? METRIC_JSON_FORM
			: opts.csv ? METRIC_CSV_FORM
				   : METRIC_TEXT_FORM,
		.histogram = opts.histogram,
		.interval = opts.interval,
		.top = opts.top,
	};
	m->selection.ask = &m->ask;
	filter_init(&filter);
	status = make_filter(&opts, c, &filter);
	if (!status)
		status = run(m, c, &filter, name);
	filter_done(&filter);
	done(m);
	capture_close(c);
	return status;
}
