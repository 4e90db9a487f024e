/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec report - functions by cost, or stacks as folded lines */
#include "analyze/cmd_report.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd_fetch.h"
#include "analyze/commands.h"
#include "analyze/nameopts.h"
#include "analyze/say.h"
#include "analyze/timespan.h"
#include "analyze/usage.h"

struct report_opts {
	const char *input, *event, *time, *min_percent;
	struct option_list comms, pids, tids, cpus;
	struct nameopts names;
	bool folded, annotate, period, quiet, symbols, json;
	unsigned jobs;
};

#define AT(field) offsetof(struct report_opts, field)

static const struct option report_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "folded", NULL, AT(folded), 0, 0,
	  "one line a stack: comm;root;...;leaf count" },
	{ OPT_FLAG, 0, "annotate", NULL, AT(annotate), 0, 0,
	  "folded: put _[k] behind kernel functions" },
	{ OPT_STRING, 'e', "event", "EVENT", AT(event), 0, 0,
	  "count the samples of this event (default: the first)" },
	{ OPT_FLAG, 0, "period", NULL, AT(period), 0, 0, "weigh samples by their period" },
	{ OPT_LIST, 'c', "comm", "NAME,...", AT(comms), 0, 0, "only threads of these names" },
	{ OPT_LIST, 'p', "pid", "PID,...", AT(pids), 0, 0, "only these processes" },
	{ OPT_LIST, 0, "tid", "TID,...", AT(tids), 0, 0, "only these threads" },
	{ OPT_LIST, 'C', "cpu", "CPU,...", AT(cpus), 0, 0, "only these CPUs, as 0-3,8" },
	{ OPT_STRING, 't', "time", "FROM,TO", AT(time), 0, 0,
	  "970.25,971.5 as perf prints times; +1,+2 since the first sample; 10%-20%" },
	{ OPT_STRING, 0, "min-percent", "P", AT(min_percent), 0, 0,
	  "leave functions out whose total is less (default: 0.1)" },
	{ OPT_FLAG, 0, "symbols-report", NULL, AT(symbols), 0, 0,
	  "show for each file where its names came from, or why not" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "symbols-report: as JSON" },
	NAMEOPTS(AT(names)),
	{ OPT_UINT, 'j', "jobs", "N", AT(jobs), 1, 64, "threads (default: as many as CPUs)" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "no verdict, nothing but errors" },
	{ 0 },
};

static const struct usage report_usage = {
	.command = "report",
	.words = "[--folded] [OPTIONS] [[-i] FILE]",
	.about = "Shows where the time went: functions by what was spent in them and below them,\n"
		 "or with --folded every stack as a line, as flamegraph.pl takes it.  What the\n"
		 "stacks are worth is said on stderr at the end.\n",
	.options = report_options,
};

/* ---- what is asked for ---- */

typedef int (*add_fn)(struct filter *f, const char *text, struct filter_error *error);

/* 0, or the exit status after an error was said. */
static int add_list(struct filter *f, const char *option, const struct option_list *list,
		    add_fn add)
{
	struct filter_error error;
	int err;

	for (unsigned i = 0; i < list->count; i++) {
		err = add(f, list->values[i], &error);
		if (err == -EINVAL)
			return usage_error(&report_usage, "option '--%s': %s", option, error.text);
		if (err)
			return say_error("cannot read the options: %s", strerror(-err));
	}
	return 0;
}

static int make_filter(const struct report_opts *opts, struct filter *f)
{
	int status = add_list(f, "comm", &opts->comms, filter_add_comms);

	if (!status)
		status = add_list(f, "pid", &opts->pids, filter_add_pids);
	if (!status)
		status = add_list(f, "tid", &opts->tids, filter_add_tids);
	if (!status)
		status = add_list(f, "cpu", &opts->cpus, filter_add_cpus);
	return status;
}

static int make_span(const struct report_opts *opts, const struct report *r, struct filter *f)
{
	struct parse_err where = { 0 };
	int err;

	if (!opts->time)
		return 0;
	err = timespan_parse(opts->time, r->scan.span_known ? &r->scan.span : NULL, &f->span,
			     &where);
	if (err)
		return usage_error(&report_usage, "option '--time' cannot be '%s': %s", opts->time,
				   where.what);
	return 0;
}

static int parse_percent(const struct report_opts *opts, double *out)
{
	char *end;

	*out = 0.1;
	if (!opts->min_percent)
		return 0;
	*out = strtod(opts->min_percent, &end);
	if (end == opts->min_percent || *end || !(*out >= 0 && *out <= 100))
		return usage_error(&report_usage,
				   "option '--min-percent' cannot be '%s': 0 to 100 was expected",
				   opts->min_percent);
	return 0;
}

/* ---- which event ---- */

static void say_events(const struct report *r)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);

	for (size_t i = 0; i < count; i++) {
		if (r->scan.attr_samples)
			say_note("  %s (%" PRIu64 " samples)", load_event_name(&attrs[i]),
				 r->scan.attr_samples[i]);
		else
			say_note("  %s", load_event_name(&attrs[i]));
	}
}

static int choose_event(const struct report_opts *opts, const struct report *r, size_t *attr)
{
	size_t count, with_samples = 0;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);

	if (load_choose_event(r->capture, &r->scan, opts->event, attr)) {
		if (!count)
			return say_error("'%s' describes no event, its samples cannot be read",
					 opts->input);
		say_error("no event '%s' in '%s'; it has:", opts->event, opts->input);
		say_events(r);
		return SAY_USAGE;
	}
	for (size_t i = 0; r->scan.attr_samples && i < count; i++)
		with_samples += !!r->scan.attr_samples[i];
	if (!opts->event && !opts->quiet && with_samples > 1)
		say_note("'%s' has samples of %zu events; these are '%s' (--event NAME for others)",
			 opts->input, with_samples, load_event_name(&attrs[*attr]));
	return 0;
}

/* ---- the answer ---- */

static void write_head(const struct report *r, const struct report_opts *opts, size_t attr)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);
	const char *host = capture_feature_string(r->capture, PERFFILE_HOSTNAME);

	printf("# %" PRIu64 " samples of '%s'", r->sampled.samples, load_event_name(&attrs[attr]));
	if (r->sampled.samples != r->stats.event_samples)
		printf(", of %" PRIu64 " in the file", r->stats.event_samples);
	if (host && *host) {
		fputs(", on ", stdout);
		say_escaped(stdout, host, strlen(host));
	}
	fputs("\n#\n", stdout);
}

static int write_answer(struct report *r, const struct report_opts *opts, size_t attr,
			double min_percent)
{
	struct report_folded how = { .annotate = opts->annotate, .by_period = opts->period };
	int err;

	if (opts->symbols) {
		err = symuse_write(&r->symbols, r->names, opts->json, stdout);
	} else if (opts->folded) {
		err = report_folded(r, &how, stdout);
	} else {
		write_head(r, opts, attr);
		err = report_flat(r, opts->period, min_percent, stdout);
	}
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
	if (err == -ENOMEM)
		return say_error("cannot report '%s': %s", opts->input, strerror(ENOMEM));
	if (err == -EPIPE) {
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return SAY_OK;
	}
	return err ? say_cannot_write("standard output", err) : SAY_OK;
}

static void say_empty(const struct report *r, const struct report_opts *opts)
{
	if (!r->stats.event_samples)
		say_note("'%s' has no samples of the event", opts->input);
	else
		say_note("none of the %" PRIu64 " samples in '%s' passes the filters%s",
			 r->stats.event_samples, opts->input,
			 opts->time ? " (see 'ebprec info' for the times of the whole)" : "");
}

static int make_named(struct report *r, const struct report_opts *opts, struct report_query *query)
{
	struct nameroots roots;
	int err;

	err = nameroots_make(&opts->names, &roots, opts->quiet ? NULL : cmd_fetch_progress, NULL);
	if (err == -ENOENT) {
		say_note("cannot ask debuginfod: no libdebuginfod.so.1, skipping (Debian: "
			 "libdebuginfod1)");
		err = 0;
	}
	if (err)
		return err;
	query->roots = roots.roots;
	err = report_make(r, query);
	if (!opts->quiet)
		cmd_fetch_verdict(roots.roots.fetcher);
	nameroots_done(&roots);
	return err;
}

static int report(struct report *r, const struct report_opts *opts, struct filter *filter)
{
	struct report_query query = {
		.filter = filter,
		.thread_count = opts->jobs,
		.demangle = opts->names.demangle,
	};
	double min_percent;
	int status, err;

	status = make_span(opts, r, filter);
	if (!status)
		status = parse_percent(opts, &min_percent);
	if (!status)
		status = choose_event(opts, r, &query.attr);
	if (status)
		return status;
	err = make_named(r, opts, &query);
	if (err)
		return say_error("cannot report '%s': %s", opts->input, strerror(-err));
	status = write_answer(r, opts, query.attr, min_percent);
	if (status)
		return status;
	if (!r->sampled.samples)
		say_empty(r, opts);
	if (!opts->quiet)
		cmd_report_verdict(r, opts->input);
	return SAY_OK;
}

static int open_and_report(const struct report_opts *opts, struct filter *filter)
{
	struct parse_err where = { 0 };
	struct capture *c;
	struct report r;
	int status, err;

	err = capture_open(opts->input, &c, &where);
	if (err)
		return say_cannot_open(opts->input, err, &where);
	err = report_open(c, &r);
	if (err) {
		status = say_error("cannot report '%s': %s", opts->input, strerror(-err));
	} else {
		status = report(&r, opts, filter);
		report_done(&r);
	}
	capture_close(c);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct report_opts opts = { .names = NAMEOPTS_DEFAULTS };
	struct filter filter;
	char **words;
	int status;

	if (!usage_parse(&report_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	if (opts.input && *words)
		return usage_error(&report_usage, "two captures were named: '%s' and '%s'",
				   opts.input, *words);
	if (opts.json && !opts.symbols)
		return usage_error(&report_usage, "option '--json' needs '--symbols-report'");
	if (!opts.input)
		opts.input = *words ? *words : "ebprec.data";
	signal(SIGPIPE, SIG_IGN); /* the verdict comes also when nobody reads the rest */
	/* Keep large tables out of the heap: they then grow without a copy, and go when freed. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	filter_init(&filter);
	status = make_filter(&opts, &filter);
	if (!status)
		status = open_and_report(&opts, &filter);
	filter_done(&filter);
	return status;
}
