/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec report - functions by cost, trees of calls, or stacks as folded lines */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "format/base/mmap_array.h"
#include "analyze/cmd/report/cmd_brief.h"
#include "analyze/cmd/report/cmd_process.h"
#include "analyze/cmd/report/cmd_report_answer.h"
#include "analyze/cmd/report/cmd_report_ask.h"
#include "analyze/cmd/html/report_html.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/of_option.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/export/denet.h"
#include "analyze/out/message.h"

static int fail_report(const struct report *r, const char *input, int err)
{
	if (err == -ENODATA)
		return cmd_no_switches(r->capture, input);
	return message_error("cannot report '%s': %s", input, strerror(-err));
}

static int write_denet(struct report *r, const struct report_opts *opts,
		       const struct filter *filter)
{
	int err = denet_write(r->capture, r->names, filter, stdout);

	return err ? fail_report(r, opts->input, err) : MESSAGE_OK;
}

static int report(struct report *r, const struct report_opts *opts, struct picked *picked,
		  const struct report_view *view, struct report_ask *ask)
{
	struct pick_options pick = opts->pick;
	struct layout_of of = { 0 };
	int status = 0, err;

	if (opts->svg || opts->html)
		status = cmd_new_file(r->capture, opts->input, opts->svg ? opts->svg : opts->html);
	if (!status && opts->of)
		status = of_option_choose(r->capture, opts->input, opts->of, &of);
	if (of.event)
		pick.event = of.event;
	pick.no_event_note = (opts->off_cpu || opts->wakers || opts->waits) && !opts->wall;
	if (!status)
		status = pick_options_resolve(&pick, &cmd_report_usage, opts->input, opts->quiet, r,
					      picked);
	if (status)
		return status;
	ask->weight = picked->weight;
	ask->weight_name = picked->weight_name;
	if (of.event && !opts->pick.weight) {
		ask->weight = CALLTREE_PERIOD;
		ask->weight_name = of.unit;
	}
	if (opts->off_cpu || opts->wakers || opts->wall || opts->waits) {
		ask->weight = CALLTREE_PERIOD;
		ask->weight_name = "us";
		picked->query.off_cpu = true;
		picked->query.wakers = opts->wakers || opts->waits;
		picked->query.wall = opts->wall;
		picked->query.wall_by_period = picked->weight == CALLTREE_PERIOD;
		picked->query.wait_rows = opts->waits;
	}
	picked->query.fields |= sort_keys_fields(&ask->keys) | (opts->waits ? GROUP_COMM : 0);
	picked->query.with_lines = sort_keys_want_lines(&ask->keys);
	picked->query.with_gaps = opts->symbols;
	picked->query.with_sources = sort_keys_want_sources(&ask->keys);
	if (opts->json && *opts->json)
		return write_denet(r, opts, picked->query.filter);
	picked->query.quality_later = true;
	picked->query.no_quality = opts->quiet;
	picked->query.apart = true;
	if (opts->html)
		report_html_query(&picked->query);
	picked->query.roots.source_dirs = opts->source_dirs.values;
	picked->query.roots.source_dir_count = opts->source_dirs.count;
	if (opts->annotate)
		report_annotate_begin(ask->annotate, r, &picked->query);
	err = report_make(r, &picked->query);
	if (!opts->quiet)
		name_roots_note_fetched(&picked->roots);
	if (err)
		return fail_report(r, opts->input, err);
	status = cmd_report_answer_write(r, opts, view, ask, &picked->query);
	if (status)
		return status;
	if (!r->picked)
		cmd_report_answer_empty(r, opts, &picked->query);
	if (!opts->quiet && report_end_quality(r))
		return fail_report(r, opts->input, -ENOMEM);
	if (opts->quiet)
		print_quality_losses(r, opts->input);
	else
		print_quality(r, opts->input);
	return MESSAGE_OK;
}

static int open_and_report(const struct report_opts *opts, struct picked *picked,
			   const struct report_view *view, struct report_ask *ask)
{
	struct report_opts named = *opts;
	struct cmd_open in;
	int status = cmd_open_later(opts->input, "report", opts->quiet, &in);

	if (status)
		return status;
	if (opts->input_name)
		named.input = opts->input_name;
	if (opts->json || opts->csv)
		container_names_complete_ids(in.report.containers);
	status = report(&in.report, &named, picked, view, ask);
	cmd_close(&in);
	return status;
}

static int ask_and_report(const struct report_opts *opts, bool children_given)
{
	struct categories *categories = NULL;
	const struct report_view *view = NULL;
	struct report_annotate annotate = {
		.query = {
			.function = opts->annotate,
			.with_code = opts->assembly,
			.style = opts->assembly && !strcmp(opts->assembly, "intel") ? DISASSEMBLE_INTEL
										      : DISASSEMBLE_ATT,
		},
	};
	struct report_ask ask = { .annotate = &annotate };
	struct picked picked;
	int status;

	status = cmd_report_ask_make(opts, &ask, &view);
	if (!status)
		status = cmd_report_ask_categories(opts, &ask, &categories);
	if (status)
		return status;
	ask.by_total = children_given && opts->children;
	ask.no_children = children_given && !opts->children;
	status = pick_options_parse(&opts->pick, &cmd_report_usage, &picked);
	if (!status) {
		status = open_and_report(opts, &picked, view, &ask);
		pick_options_done(&picked);
	}
	annotate_done(&annotate.found);
	categories_free(categories);
	return status;
}

bool cmd_report_is_given(int argc, char **argv, const char *word, const char *other)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], word) || !strcmp(argv[i], other))
			return true;
	return false;
}

static int ask_process(const struct report_opts *o)
{
	struct process_ask ask = {
		.input = o->input,
		.pid = o->process,
		.json = o->json,
		.quiet = o->quiet,
		.pick = o->pick,
		.usage = &cmd_report_usage,
	};
	struct report_ask unused = { 0 };
	const struct report_view *view;
	char pid[16];
	int status = cmd_report_ask_view(o, &unused, &view);

	if (status)
		return status;
	snprintf(pid, sizeof(pid), "%u", o->process);
	ask.pick.tasks.pids = (struct option_list){ .values = { pid }, .count = 1 };
	return cmd_process(&ask);
}

static int ask_brief(const struct report_opts *o)
{
	const struct brief_ask ask = {
		.input = o->input,
		.is_temporary = o->input_name != NULL,
		.baseline = o->baseline,
		.quiet = o->quiet,
		.pick = &o->pick,
		.usage = &cmd_report_usage,
	};
	struct report_ask unused = { 0 };
	const struct report_view *view;
	int status = cmd_report_ask_view(o, &unused, &view);

	return status ? status : cmd_brief(&ask);
}

int cmd_report_run(struct report_opts *opts, bool children_given)
{
	if (opts->period && !opts->pick.weight)
		opts->pick.weight = "period";
	signal(SIGPIPE, SIG_IGN); /* the stack quality is printed also when the rest is not read */
	mmap_array_tune();
	if (opts->brief)
		return ask_brief(opts);
	return opts->process ? ask_process(opts) : ask_and_report(opts, children_given);
}

int cmd_report(int argc, char **argv)
{
	struct report_opts opts = REPORT_OPTS_DEFAULTS;
	bool children = cmd_report_is_given(argc, argv, "--children", "--no-children");
	char **words;
	int status;

	if (!usage_parse(&cmd_report_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&cmd_report_usage, words, &opts.input);
	if (status)
		return status;
	return cmd_report_run(&opts, children);
}
