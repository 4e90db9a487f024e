/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec marks - moments and spans that programs marked: as a table, summed up, as a waterfall */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/message.h"
#include "analyze/report/mark_views.h"

struct marks_opts {
	const char *input, *sort;
	struct time_options when;
	struct task_options tasks;
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
	{ OPT_STRING, 's', "sort", "KEY", AT(sort), 0, 0,
	  "by time (the default), duration (spans, the slowest first), name, or of a summary count" },
	TASK_OPTIONS(AT(tasks)),
	TIMEOPTS(AT(when)),
	{ OPT_FLAG, 'j', "json", NULL, AT(json), 0, 0, "all of it, as JSON" },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage marks_usage = {
	.command = "marks",
	.words = "[--summary | --waterfall] [OPTIONS] [[-i] FILE]",
	.about = "Shows the marks of a capture in the order of time.  A span has a beginning and\n"
		 "an end; --time takes those that begin in it, a slice has all that reach into\n"
		 "it.  Programs make marks by\n"
		 "#include <ebprec-mark.h> (pkg-config --cflags ebprec-mark), scripts by\n"
		 "'ebprec mark'.\n",
	.options = marks_options,
	.reads = USAGE_READS,
	.shows = true,
};

static void print_losses(const struct mark_views *s, const char *input)
{
	if (!s->marks.count)
		message_note("'%s' has no marks (see 'ebprec mark --help')", input);
	else if (s->hull.from_ns > s->hull.to_ns)
		message_note("none of the %zu marks in '%s' passes the filters", s->marks.count,
			     input);
	if (s->lost)
		message_note("%" PRIu64 " marks are missing from '%s' (record with a larger -m)",
			     s->lost, input);
	if (s->marks.broken)
		message_note("%" PRIu64 " marks of '%s' could not be read", s->marks.broken, input);
	if (s->marks.ends_without_begin)
		message_note("%" PRIu64 " spans began before the recording, or were never begun",
			     s->marks.ends_without_begin);
}

static enum mark_views_form form_of(const struct marks_opts *o)
{
	if (o->json)
		return MARK_VIEWS_JSON;
	if (o->summary)
		return MARK_VIEWS_SUMMARY;
	return o->waterfall ? MARK_VIEWS_WATERFALL : MARK_VIEWS_TABLE;
}

/* 0, or the exit status after an error was printed. */
static int read_sort(const struct marks_opts *o, enum mark_views_sort *sort)
{
	char near[USAGE_NEAR_BYTES];
	size_t k = 0;

	*sort = MARK_VIEWS_BY_TIME;
	while (o->sort && k < mark_views_sort_count && strcmp(o->sort, mark_views_sorts[k]) != 0)
		k++;
	if (k == mark_views_sort_count)
		return usage_error(&marks_usage,
				   "option '--sort' cannot be '%s': time, duration, name or count "
				   "was expected%s",
				   o->sort,
				   usage_near(o->sort, strlen(o->sort), mark_views_sorts,
					      mark_views_sort_count, near));
	*sort = (enum mark_views_sort)k;
	if (*sort == MARK_VIEWS_BY_COUNT && !o->summary && !o->json)
		return usage_error(&marks_usage, "'--sort count' is of --summary and --json");
	return 0;
}

static int show(const struct marks_opts *o, const struct cmd_open *in, enum mark_views_sort sort,
		const struct filter *filter)
{
	struct mark_views views;
	int err;

	err = mark_views_make(in->capture, in->report.names, report_span(&in->report), filter, sort,
			      &views);
	if (err)
		return message_error("cannot show '%s': %s", o->input, strerror(-err));
	err = mark_views_write(&views, form_of(o), stdout);
	if (!err)
		print_losses(&views, o->input);
	mark_views_done(&views);
	return err ? message_error("cannot show '%s': %s", o->input, strerror(-err)) : MESSAGE_OK;
}

static int open_and_show(const struct marks_opts *o, enum mark_views_sort sort,
			 struct filter *filter)
{
	struct cmd_open in;
	int status = cmd_open_later(o->input, "show", false, &in);

	if (status)
		return status;
	progress_hide(in.progress);
	/* Else all are shown, of a slice also the spans that began before it. */
	if (pick_options_has_time(&o->when))
		status = pick_options_time(&o->when, &marks_usage, o->input, in.capture,
					   report_span(&in.report), filter);
	if (!status)
		status = show(o, &in, sort, filter);
	cmd_close(&in);
	return status;
}

int cmd_marks(int argc, char **argv)
{
	struct marks_opts opts = { 0 };
	enum mark_views_sort sort;
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
	status = read_sort(&opts, &sort);
	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	filter_init(&filter);
	status = pick_options_tasks(&filter, &marks_usage, &opts.tasks, NULL);
	if (!status)
		status = open_and_show(&opts, sort, &filter);
	filter_done(&filter);
	return status;
}
