/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec diff - what two captures have in common, and what changed */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/mmap_array.h"
#include "analyze/cmd/diff/cmd_diff.h"
#include "analyze/cmd/diff/cmd_diff_html.h"
#include "analyze/cmd/common/empty_answer.h"
#include "analyze/cmd/common/of_option.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/report/diff/command_run.h"
#include "analyze/report/diff/diff.h"
#include "analyze/report/diff/diff_sides.h"
#include "analyze/report/diff/diff_text.h"
#include "analyze/report/diff/renames.h"
#include "analyze/input/mark_times.h"
#include "analyze/input/marks.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/message.h"

#define MIN_PERCENT_DEFAULT 0.5
#define SORT_DEFAULT        "dso,symbol"

struct diff_opts {
	const char *sort, *min_percent, *fail_above, *normalize, *per, *of, *html;
	uint64_t html_limit_bytes;
	struct option_list renames;
	const char
		*names[DIFF_SIDES]; /* on a page; not options; NULL: as the captures are called */
	const char *times[DIFF_SIDES]; /* in place of --time, of each side; NULL: none */
	struct pick_options pick;
	bool folded, total, json, quiet;
};

#define AT(field) offsetof(struct diff_opts, field)

static const struct option diff_options[] = {
	{ OPT_FLAG, 0, "folded", NULL, AT(folded), 0, 0,
	  "one line a stack, with both counts: for flamegraph.pl" },
	{ OPT_STRING, 's', "sort", "KEY,...", AT(sort), 0, 0,
	  "compare by comm, dso, symbol, category ... (default: dso,symbol)" },
	{ OPT_FLAG, 0, "total", NULL, AT(total), 0, 0,
	  "compare what was spent in functions and below, not in them alone" },
	{ OPT_STRING, 0, "normalize", "BY", AT(normalize), 0, 0,
	  "what the ratio is of: share (of all), run (the cost of the recording) or time (the cost of "
	  "a second) (default: run for two runs of one command, else share)" },
	{ OPT_STRING, 0, "per", "SPAN", AT(per), 0, 0,
	  "the ratio is of costs by span or mark of that name, as a request ('ebprec marks' lists "
	  "them)" },
	{ OPT_STRING, 0, "of", "NAME", AT(of), 0, 0,
	  "compare stacks of an instrument's events (--with NAME), by its own unit, as report does" },
	{ OPT_STRING, 0, "time-before", "SPAN", AT(times[DIFF_BEFORE]), 0, 0,
	  "the time of BEFORE, as --time has it: so two times of one capture are compared" },
	{ OPT_STRING, 0, "time-after", "SPAN", AT(times[DIFF_AFTER]), 0, 0, "the time of AFTER" },
	{ OPT_LIST, 0, "rename", "A=B", AT(renames), 0, 0,
	  "the file or comm A of BEFORE is B in AFTER; none: match none by itself" },
	{ OPT_STRING, 0, "min-percent", "P", AT(min_percent), 0, 0,
	  "leave out what is less than P percent on both sides (default: 0.5)" },
	{ OPT_STRING, 0, "fail-above", "P%", AT(fail_above), 0, 0,
	  "exit with 1 when something that is real grew by more than P percent of all" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "as JSON" },
	{ OPT_STRING, 0, "html", "FILE", AT(html), 0, 0,
	  "write a page into FILE, for a browser: both over time, what changed, and what of it is noise" },
	{ OPT_SIZE, 0, "html-limit", "SIZE", AT(html_limit_bytes), 0, 0,
	  "make no page larger than this (default: 20M)" },
	PICKOPTS(AT(pick)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "no notes, only errors and what is missing" },
	{ OPT_IDLE, 'f', "force", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'm', "modules", NULL, 0, 0, 0, NULL },
	{ OPT_OTHER, 'b', "baseline-only", NULL, 0, 0, 0,
	  "--min-percent P leaves out what is rare" },
	{ OPT_OTHER, 0, "compute", NULL, 0, 0, 0, "--normalize BY chooses what the ratio is of" },
	{ OPT_OTHER, 0, "cycles-hist", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 'd', "dsos", NULL, 0, 0, 0, "--dso REGEX" },
	{ OPT_OTHER, 'D', "dump-raw-trace", NULL, 0, 0, 0, "perf script -D reads a file" },
	{ OPT_OTHER, 'F', "formula", NULL, 0, 0, 0, "--json has all numbers" },
	{ OPT_OTHER, 0, "kallsyms", NULL, 0, 0, 0, "captures have what was hit" },
	{ OPT_OTHER, 'o', "order", NULL, 0, 0, 0, "--json has all numbers" },
	{ OPT_OTHER, 0, "percentage", NULL, 0, 0, 0, "100 % is what was chosen" },
	{ OPT_OTHER, 0, "period", NULL, 0, 0, 0, "--weight period" },
	{ OPT_OTHER, 0, "stream", NULL, 0, 0, 0, "--folded compares stacks" },
	{ OPT_OTHER, 0, "symbols", NULL, 0, 0, 0, "--symbol REGEX" },
	{ OPT_OTHER, 0, "field-separator", NULL, 0, 0, 0, "--json" },
	{ OPT_OTHER, 'v', "verbose", NULL, 0, 0, 0,
	  "'ebprec report --symbols-report' lists the sources of names" },
	{ 0 },
};

static const struct usage diff_usage = {
	.command = "diff",
	.words = "[OPTIONS] [BEFORE AFTER]",
	.about = "Compares two captures by function; without words, ebprec.data.old and\n"
		 "ebprec.data.  Each row has the ratio of after to before with its 95 %\n"
		 "interval, and is noise (x1 is inside), unsure, or real: of tables in which\n"
		 "nothing changed, at most one of 20 has any row that is called real.\n",
	.options = diff_options,
	.reads = USAGE_READS,
	.shows = true,
};

struct diff {
	const struct diff_opts *opts;
	struct sort_keys keys;
	struct string_table *
		texts; /* of both sides: what stands in the columns, DIFF_TEXT_KEY_END between them */
	struct diff_table *table;
	struct renames renames;
	bool find_renames, find_basis;
	struct command_run runs[DIFF_SIDES];
	struct diff_text text;
	struct diff_sides read;
	char *events[DIFF_SIDES]; /* their names, which end with the captures; NULL: waits */
	const char *weight_name;
	diff_rows_fn use; /* in place of printing; NULL: print */
	void *use_arg;
};

/* ---- one side ---- */

static int add_spans(struct diff *d, int side, const char *path, struct report *r,
		     const struct diff_blocks *b)
{
	char near[USAGE_NEAR_BYTES] = "";
	struct time_span *spans;
	struct marks marks;
	size_t count;
	int err;

	err = marks_load(r->capture, r->names, &marks);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	err = mark_times_called(&marks, r->names, d->opts->per, b->filter, &spans, &count);
	if (err == -ENOENT)
		pick_options_near_mark(&marks, r->names, true, d->opts->per, near);
	if (err == -ENOENT && !*near)
		pick_options_near_mark(&marks, r->names, false, d->opts->per, near);
	marks_done(&marks);
	if (err == -ENOENT)
		return message_error("'%s' has no mark '%s'%s ('ebprec marks' lists them)", path,
				     d->opts->per, near);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	diff_sides_add_spans(&d->read, side, b, spans, count);
	free(spans);
	return 0;
}

/* A method of `perf diff -c`, where -c chooses threads here. */
static void hint_compute(const struct option_list *comms)
{
	static const char *const methods[] = { "delta", "delta-abs", "ratio", "wdiff", "cycles" };

	for (unsigned i = 0; i < comms->count; i++)
		for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
			if (strcspn(comms->values[i], ":") == strlen(methods[m]) &&
			    !strncmp(comms->values[i], methods[m], strlen(methods[m])))
				message_note(
					"  -c is --comm here, not perf's --compute: rows have the ratio, and the "
					"costs before and after, by themselves (--normalize BY: of what)");
}

/* The capture is closed when its side is shown. */
static int keep_event(struct diff *d, int side)
{
	struct diff_text_side *s = &d->text.sides[side];

	if (!s->event)
		return 0;
	d->events[side] = strdup(s->event);
	s->event = d->events[side];
	return s->event ? 0 : -ENOMEM;
}

static int make_side(struct diff *d, int side, const char *path, struct report *r, struct picked *p)
{
	struct pick_options pick = d->opts->pick;
	struct layout_of of = { 0 };
	struct diff_blocks blocks;
	int status = 0, err;

	if (d->opts->times[side])
		pick.when.time = d->opts->times[side];
	if (d->opts->of)
		status = of_option_choose(r->capture, path, d->opts->of, &of);
	if (of.event)
		pick.event = of.event;
	if (!status)
		status = pick_options_resolve(&pick, &diff_usage, path, d->opts->quiet, r, p);
	if (status)
		return status;
	blocks = diff_blocks_make(r, &p->filter);
	if (d->opts->per)
		status = add_spans(d, side, path, r, &blocks);
	else
		diff_sides_add_seconds(&d->read, side, &blocks);
	if (status)
		return status;
	d->read.weight = p->weight;
	d->weight_name = p->weight_name;
	if (of.event && !pick.weight) {
		d->read.weight = CALLTREE_PERIOD;
		d->weight_name = of.unit;
	}
	if (!d->opts->folded) {
		p->query.fields |= GROUP_TIME | sort_keys_fields(&d->keys);
		p->query.with_lines = sort_keys_want_lines(&d->keys);
		p->query.with_sources = sort_keys_want_sources(&d->keys);
		p->query.quantum_ns = blocks.quantum_ns;
	}
	err = report_make(r, &p->query);
	if (!err)
		err = d->opts->folded ? diff_sides_add_folded(&d->read, side, r)
				      : diff_sides_add_functions(&d->read, side, r, &blocks);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	diff_sides_find_times(&d->read, side, r, &p->query, &blocks, &d->text.sides[side]);
	err = keep_event(d, side);
	if (!err && d->find_basis && !filter_has_window(&p->filter))
		err = command_run_read(r->capture, &d->runs[side]);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(ENOMEM));
	print_quality_losses(r, path);
	if (!d->read.samples[side]) {
		message_note("'%s' has no samples that were asked for", path);
		empty_answer_explain(r->capture, &p->query, false);
		hint_compute(&d->opts->pick.tasks.comms);
	}
	return 0;
}

static int read_side(struct diff *d, int side, const char *path)
{
	struct picked picked;
	struct cmd_open in;
	int status;

	status = pick_options_parse(&d->opts->pick, &diff_usage, &picked);
	if (status)
		return status;
	status = cmd_open(path, "compare", d->opts->quiet, &in);
	if (!status) {
		if (d->opts->json)
			container_names_complete_ids(in.report.containers);
		status = make_side(d, side, path, &in.report, &picked);
		cmd_close(&in);
	}
	pick_options_done(&picked);
	return status;
}

/* ---- the answer ---- */

/* NULL: no file looks renamed that is not compared as one. */
static const struct rename *find_hint(const struct renames *n)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->list[i].source == RENAME_HINT)
			return &n->list[i];
	return NULL;
}

static int judge(const struct diff *d, const struct diff_table_result *r, double limit)
{
	size_t grown = diff_table_count_grown(r, d->text.basis, limit);
	const struct rename *rename;

	if (!grown)
		return MESSAGE_OK;
	rename = find_hint(&d->renames);
	if (rename)
		return message_error("%zu rows grew by more than %s of all, which is real (or is "
				     "'%s' the new name of '%s'? --rename '%s=%s')",
				     grown, d->opts->fail_above,
				     string_table_text(d->texts, rename->to),
				     string_table_text(d->texts, rename->from),
				     string_table_text(d->texts, rename->from),
				     string_table_text(d->texts, rename->to));
	return message_error("%zu rows grew by more than %s of all, which is real", grown,
			     d->opts->fail_above);
}

/* Files that were renamed; words: of both sides. */
static int rename_files(struct diff *d, char *const *words)
{
	struct renames *n = &d->renames;
	int err = 0;

	for (size_t i = 0; i < n->count; i++)
		for (int side = 0; side < DIFF_SIDES; side++) {
			uint32_t name = side ? n->list[i].to : n->list[i].from;

			if (!renames_met(n, side, name))
				message_note("--rename: no file or comm '%s' in '%s'",
					     string_table_text(d->texts, name), words[side]);
		}
	if (d->find_renames)
		err = renames_find(n);
	if (!err && n->count)
		err = renames_apply(n, &d->keys, d->table);
	return err ? message_error("cannot compare: %s", strerror(-err)) : 0;
}

/* Names that are others in the second, in pairs; owned, NULL: no memory. */
static const char **applied_renames(const struct diff *d, size_t *count)
{
	const struct renames *n = &d->renames;
	const char **pairs = calloc(2 * n->count + 1, sizeof(*pairs));

	*count = 0;
	for (size_t i = 0; pairs && i < n->count; i++) {
		if (n->list[i].source == RENAME_HINT)
			continue;
		pairs[2 * *count] = string_table_text(d->texts, n->list[i].from);
		pairs[2 * (*count)++ + 1] = string_table_text(d->texts, n->list[i].to);
	}
	return pairs;
}

/* The page has the table as its text. */
static int write_html(struct diff *d, const struct diff_table_result *result, char *const *words)
{
	const char *const *own = d->opts->names;
	const char *const names[] = { own[0] ? own[0] : words[0], own[1] ? own[1] : words[1] };
	struct diff_html_ask ask = { .output = d->opts->html,
				     .limit_bytes = d->opts->html_limit_bytes,
				     .pick = &d->opts->pick,
				     .usage = &diff_usage,
				     .quiet = d->opts->quiet,
				     .names = names,
				     .times = d->opts->times };
	const char **renames = applied_renames(d, &ask.renames.count);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int status;

	if (to) {
		diff_text_write(&d->text, result, to);
		fclose(to);
	}
	ask.renames.list = renames;
	ask.summary = text;
	status = text && renames ? diff_html_write(&ask, words)
				 : message_error("cannot compare: %s", strerror(ENOMEM));
	free(renames);
	free(text);
	return status;
}

static int compare(struct diff *d, double min_percent, double limit, char *const *words)
{
	const struct diff_text_side *sides = d->text.sides;
	struct diff_table_result result;
	bool timed = sides[DIFF_BEFORE].ns_per_cost > 0 && sides[DIFF_AFTER].ns_per_cost > 0;
	int err, status;

	if (timed)
		diff_table_set_scale(d->table, sides[DIFF_AFTER].ns_per_cost /
						       sides[DIFF_BEFORE].ns_per_cost);
	d->text.same_command = timed && d->find_basis &&
			       command_run_same(&d->runs[DIFF_BEFORE], &d->runs[DIFF_AFTER],
						&d->renames);
	if (d->text.same_command) {
		d->text.basis = DIFF_RUN;
		err = diff_table_compare_run(d->table, min_percent / 100, &result);
	} else {
		err = diff_table_compare(d->table, d->text.basis, min_percent / 100, &result);
	}
	if (err)
		return message_error("cannot compare: %s", strerror(-err));
	d->text.keys = &d->keys;
	d->text.texts = d->texts;
	d->text.renames = &d->renames;
	d->text.weight = d->weight_name;
	status = MESSAGE_OK;
	if (d->use)
		d->use(d->use_arg, &d->text, &result);
	else if (d->opts->html)
		status = write_html(d, &result, words);
	else if (d->opts->json)
		diff_text_json(&d->text, &result, stdout);
	else
		diff_text_write(&d->text, &result, stdout);
	if (!status && d->opts->fail_above)
		status = judge(d, &result, limit / 100);
	diff_table_result_done(&result);
	return status;
}

static int read_basis(const struct diff_opts *o, struct diff_text *text)
{
	const char *n = o->normalize;

	if (n && o->per)
		return usage_error(&diff_usage, "--normalize or --per, not both");
	text->span = o->per;
	if (o->per || (n && !strcmp(n, "time")))
		text->basis = DIFF_RATE;
	else if (!n || !strcmp(n, "share"))
		text->basis = DIFF_SHARE;
	else if (!strcmp(n, "run"))
		text->basis = DIFF_RUN;
	else
		return usage_error(&diff_usage,
				   "option '--normalize' cannot be '%s': share, run or time was "
				   "expected (by a span or mark: --per NAME)",
				   n);
	return 0;
}

static int read_renames(struct diff *d)
{
	const struct option_list *l = &d->opts->renames;
	int err;

	d->find_renames = true;
	for (unsigned i = 0; i < l->count; i++) {
		if (!strcmp(l->values[i], "none")) {
			d->find_renames = false;
			continue;
		}
		err = renames_ask(&d->renames, l->values[i]);
		if (err == -EINVAL)
			return usage_error(&diff_usage,
					   "option '--rename' cannot be '%s': OLD=NEW was expected",
					   l->values[i]);
		if (err)
			return message_error("cannot compare: %s", strerror(-err));
	}
	return 0;
}

static int read_options(const struct diff_opts *o, struct diff *d, double *min_percent,
			double *limit)
{
	const char *sort = o->sort ? o->sort : SORT_DEFAULT, *bad;
	size_t bad_bytes;
	int status = 0;

	if (sort_keys_parse(&d->keys, sort, &bad, &bad_bytes))
		return reportopts_no_key(&diff_usage, sort, bad, bad_bytes);
	if (!d->keys.count) /* --sort overhead */
		sort_keys_parse(&d->keys, SORT_DEFAULT, &bad, &bad_bytes);
	status = read_basis(o, &d->text);
	d->find_basis = !o->normalize && !o->per && !o->folded && !o->html;
	if (status)
		return status;
	if (o->folded && (o->fail_above || o->json || o->renames.count || o->html))
		return usage_error(&diff_usage, "'--folded' goes with none of the others");
	if (o->of && o->pick.event)
		return usage_error(&diff_usage, "--of chooses the event; --event chooses another");
	if ((o->times[DIFF_BEFORE] || o->times[DIFF_AFTER]) &&
	    (o->pick.when.time || o->pick.when.last))
		return usage_error(&diff_usage,
				   "--time-before and --time-after go without --time and --last");
	if (o->html && (o->json || o->sort || o->normalize || o->per || o->of))
		return usage_error(&diff_usage,
				   "--html has no '--%s': it compares shares of functions",
				   o->json        ? "json"
				   : o->of        ? "of"
				   : o->sort      ? "sort"
				   : o->normalize ? "normalize"
						  : "per");
	*min_percent = MIN_PERCENT_DEFAULT;
	if (o->min_percent)
		status = pick_options_percent(o->min_percent, "min-percent", &diff_usage,
					      min_percent);
	return !status && o->fail_above
		       ? pick_options_percent(o->fail_above, "fail-above", &diff_usage, limit)
		       : status;
}

static int run(struct diff *d, struct diff_opts *opts, char *const *words)
{
	double min_percent, limit = 0;
	int status, err;

	status = read_options(opts, d, &min_percent, &limit);
	if (status)
		return status;
	err = string_table_new(&d->texts);
	mmap_array_tune();
	if (!err)
		err = diff_table_new(&d->table);
	if (err)
		status = message_error("cannot compare: %s", strerror(-err));
	d->renames.texts = d->texts;
	d->read = (struct diff_sides){ .keys = &d->keys,
				       .texts = d->texts,
				       .table = d->table,
				       .renames = &d->renames,
				       .with_callers = d->opts->total };
	if (!status)
		status = read_renames(d);
	for (int side = 0; !status && side < DIFF_SIDES; side++)
		status = read_side(d, side, words[side]);
	if (!status && !d->opts->folded)
		status = rename_files(d, words);
	if (!status && d->opts->folded)
		status = diff_sides_write_folded(&d->read, stdout)
				 ? message_error("cannot compare: %s", strerror(ENOMEM))
				 : MESSAGE_OK;
	else if (!status)
		status = compare(d, min_percent, limit, words);
	for (int side = 0; side < DIFF_SIDES; side++) {
		command_run_done(&d->runs[side]);
		free(d->events[side]);
	}
	renames_done(&d->renames);
	diff_table_free(d->table);
	string_table_free(d->texts);
	diff_sides_done(&d->read);
	return status;
}

int cmd_diff_rows(const struct pick_options *pick, char *const *words, diff_rows_fn use, void *arg)
{
	struct diff_opts opts = { .pick = *pick, .quiet = true };
	struct diff d = { .opts = &opts, .use = use, .use_arg = arg };

	opts.pick.names.function_addresses = false;
	return run(&d, &opts, words);
}

int cmd_diff_run(const struct diff_ask *ask, char *const *words)
{
	struct diff_opts opts = {
		.pick = *ask->pick,
		.names = { ask->names[0], ask->names[1] },
		.times = { ask->times[0], ask->times[1] },
		.sort = ask->sort,
		.min_percent = ask->min_percent,
		.html = ask->html,
		.html_limit_bytes = ask->html_limit_bytes,
		.folded = ask->folded,
		.total = ask->html != NULL,
		.json = ask->json,
		.quiet = ask->quiet,
	};
	struct diff d = { .opts = &opts };

	opts.pick.names.function_addresses = false;
	return run(&d, &opts, words);
}

int cmd_diff(int argc, char **argv)
{
	struct diff_opts opts = { .pick = PICK_OPTIONS_DEFAULTS,
				  .html_limit_bytes = REPORT_HTML_LIMIT_DEFAULT };
	struct diff d = { .opts = &opts };
	char *usual[] = { "ebprec.data.old", "ebprec.data", NULL };
	char **words;
	int status;

	opts.pick.names.function_addresses = false; /* another build has other ones */
	if (!usage_parse(&diff_usage, &opts, argc, argv, 0, 2, &words, &status))
		return status;
	opts.total |= opts.html != NULL; /* what the page compares */
	if (!*words)
		words = usual;
	if (!words[1])
		return usage_error(&diff_usage,
				   "'ebprec diff' needs two captures, BEFORE and AFTER");
	return run(&d, &opts, words);
}
