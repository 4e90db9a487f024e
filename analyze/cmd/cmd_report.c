/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec report - functions by cost, trees of calls, or stacks as folded lines */
#include "analyze/input/event_of.h"
#include "analyze/cmd/cmd_report.h"
#include "analyze/cmd/cmd_report_html.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/mmap_array.h"
#include "analyze/cmd/cmd_fetch.h"
#include "analyze/cmd/open_report.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/cmd_process.h"
#include "analyze/export/denet.h"
#include "analyze/metric/layout_of.h"
#include "analyze/metric/layouts.h"
#include "analyze/base/read_file.h"
#include "analyze/cmd/report_options.h"
#include "analyze/report/verdict_text.h"
#include "analyze/report/views.h"
#include "analyze/out/message.h"

#define MIN_PERCENT_DEFAULT 0.1
#define RULES_MAX_BYTES     (1u << 20)

struct report_opts {
	const char *of;         /* an instrument */
	const char *svg, *html; /* a file, or "-" */
	uint64_t html_limit_bytes;
	const char *annotate, *assembly;
	struct option_list source_dirs;
	const char *input, *json, *min_percent, *sort, *callers, *callees, *graph, *categories;
	const char *min_percent_name; /* of the option that gave it: perf calls it otherwise */
	struct pick_options pick;
	bool lines, folded, tree, bottom_up, annotations, period, children, threads, quiet;
	bool system, fold_recursion, csv, symbols, off_cpu, wakers, wall, waits;
	unsigned max_depth, process;
};

#define AT(field) offsetof(struct report_opts, field)

static const struct option report_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "folded", NULL, AT(folded), 0, 0,
	  "one line a stack: comm;root;...;leaf count" },
	{ OPT_STRING, 0, "svg", "FILE", AT(svg), 0, 0,
	  "draw a flame graph into FILE, for a browser" },
	{ OPT_STRING, 0, "html", "FILE", AT(html), 0, 0,
	  "write a page into FILE, for a browser: all samples over time, to be searched and filtered" },
	{ OPT_SIZE, 0, "html-limit", "SIZE", AT(html_limit_bytes), 0, 0,
	  "make no page larger than this (default: 20M)" },
	{ OPT_FLAG, 0, "tree", NULL, AT(tree), 0, 0, "who called what, from the top down" },
	{ OPT_FLAG, 0, "bottom-up", NULL, AT(bottom_up), 0, 0,
	  "what was called by whom, from the bottom up" },
	{ OPT_STRING, 0, "callers", "FUNCTION", AT(callers), 0, 0,
	  "who called FUNCTION (a name, or a regular expression)" },
	{ OPT_STRING, 0, "callees", "FUNCTION", AT(callees), 0, 0, "what FUNCTION called" },
	{ OPT_STRING, 0, "annotate", "FUNCTION", AT(annotate), 0, 0,
	  "the source of FUNCTION (a name, or a regular expression) with what was spent in each line" },
	{ OPT_FORM, 0, "asm", "SYNTAX", AT(assembly), 0, 0,
	  "with --annotate: its instructions, too; att (the default) or intel" },
	{ OPT_LIST, 0, "source-dir", "DIR", AT(source_dirs), 0, 0,
	  "with --annotate: look for source files in DIR, too (repeatable)" },
	{ OPT_UINT, 0, "process", "PID", AT(process), 1, 0x7fffffff,
	  "what is known of a process: threads, mappings, mounts, cgroup" },
	{ OPT_STRING, 'g', "call-graph", "ORDER", AT(graph), 0, 0,
	  "as perf has it: caller or graph is --tree, callee is --bottom-up, folded, none" },
	{ OPT_STRING, 's', "sort", "KEY,...", AT(sort), 0, 0,
	  "tell apart by comm, pid, tid, cpu, cgroup, container, dso, build_id, symbol, "
	  "line, origin, category" },
	{ OPT_FLAG, 0, "lines", NULL, AT(lines), 0, 0,
	  "tell the source lines of functions apart (needs debug information)" },
	{ OPT_FLAG, 0, "threads", NULL, AT(threads), 0, 0,
	  "tell the threads of a process apart: comm, pid, tid" },
	{ OPT_FLAG, 0, "children", NULL, AT(children), 0, 0,
	  "sort by total; --no-children: without totals, only what was spent there itself" },
	{ OPT_STRING, 0, "min-percent", "P", AT(min_percent), 0, 0,
	  "leave out what is less (default: 0.1)" },
	{ OPT_UINT, 0, "max-depth", "N", AT(max_depth), 1, 0, "trees: only so many calls deep" },
	{ OPT_FLAG, 0, "fold-recursion", NULL, AT(fold_recursion), 0, 0,
	  "trees: a function that calls itself is one" },
	{ OPT_FLAG, 0, "system", NULL, AT(system), 0, 0,
	  "show the system's libraries and kernel; --no-system: their cost is their caller's" },
	{ OPT_STRING, 0, "categories", "FILE", AT(categories), 0, 0,
	  "rules for --sort category, in front of the built-in ones" },
	{ OPT_FLAG, 0, "off-cpu", NULL, AT(off_cpu), 0, 0,
	  "what threads waited for, in microseconds, and why" },
	{ OPT_FLAG, 0, "wakers", NULL, AT(wakers), 0, 0,
	  "the same, and below it the stack of who ended the wait" },
	{ OPT_FLAG, 0, "waits", NULL, AT(waits), 0, 0,
	  "a table: who waited for what, who ended it, how often, how long, and where" },
	{ OPT_FLAG, 0, "wall", NULL, AT(wall), 0, 0,
	  "time on and off the CPU together: all that threads lived" },
	{ OPT_STRING, 0, "of", "NAME", AT(of), 0, 0,
	  "stacks of an instrument's events (--with NAME), weighted by its own unit: the time of slow "
	  "system calls and disk I/O, page faults, bytes of memory" },
	{ OPT_FLAG, 0, "annotations", NULL, AT(annotations), 0, 0,
	  "folded: put _[k] behind kernel functions" },
	{ OPT_FLAG, 0, "symbols-report", NULL, AT(symbols), 0, 0,
	  "show for each file where its names came from, or why not" },
	{ OPT_FLAG, 0, "csv", NULL, AT(csv), 0, 0, "the table as CSV" },
	{ OPT_FORM, 0, "json", "FORM", AT(json), 0, 0,
	  "the table or tree as JSON; denet: time off the CPU as denet has it" },
	{ OPT_FLAG, 0, "period", NULL, AT(period), 0, 0, "the same as --weight period" },
	PICKOPTS(AT(pick)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "no verdict, nothing but errors" },
	{ OPT_SAME, 0, "percent-limit", "min-percent", AT(min_percent_name), 0, 0, NULL },
	{ OPT_IDLE, 0, "stdio", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'n', "show-nr-samples", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'f', "force", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'm', "modules", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "disable-order", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "ignore-vmlinux", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "skip-empty", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "demangle-kernel", NULL, 0, 0, 0, NULL },
	{ OPT_OTHER, 'M', "disassembler-style", NULL, 0, 0, 0, "--annotate FUNCTION --asm=intel" },
	{ OPT_OTHER, 0, "source", NULL, 0, 0, 0, "--annotate FUNCTION shows it" },
	{ OPT_OTHER, 0, "asm-raw", NULL, 0, 0, 0, "--annotate FUNCTION --asm has instructions" },
	{ OPT_OTHER, 0, "objdump", NULL, 0, 0, 0, "--annotate FUNCTION --asm needs none" },
	{ OPT_OTHER, 0, "prefix", NULL, 0, 0, 0, "--source-dir DIR" },
	{ OPT_OTHER, 0, "prefix-strip", NULL, 0, 0, 0, "--source-dir DIR" },
	{ OPT_OTHER, 0, "full-source-path", NULL, 0, 0, 0, "--annotate FUNCTION has whole paths" },
	{ OPT_OTHER, 't', "field-separator", NULL, 0, 0, 0, "--csv" },
	{ OPT_OTHER, 0, "pretty", NULL, 0, 0, 0, "--csv, or --json" },
	{ OPT_OTHER, 0, "stdio-color", NULL, 0, 0, 0, "--color WHEN" },
	{ OPT_OTHER, 0, "branch-history", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "stitch-lbr", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "total-cycles", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "itrace", NULL, 0, 0, 0, "hardware traces are not recorded" },
	{ OPT_OTHER, 0, "mem-mode", NULL, 0, 0, 0, "memory accesses are not sampled" },
	{ OPT_OTHER, 0, "group-sort-idx", NULL, 0, 0, 0, "-e EVENT shows one of the group" },
	{ OPT_OTHER, 0, "ignore-callees", NULL, 0, 0, 0, "--callers FUNCTION shows it alone" },
	{ OPT_OTHER, 0, "mmaps", NULL, 0, 0, 0, "--process PID shows them" },
	{ OPT_OTHER, 0, "ns", NULL, 0, 0, 0, "'ebprec script --ns' shows times" },
	{ OPT_OTHER, 0, "percent-type", NULL, 0, 0, 0, "100 % is what was chosen" },
	{ OPT_OTHER, 0, "raw-trace", NULL, 0, 0, 0, "'ebprec script' shows it" },
	{ OPT_OTHER, 0, "samples", NULL, 0, 0, 0, "'ebprec script' shows each sample" },
	{ OPT_OTHER, 0, "show-cpu-utilization", NULL, 0, 0, 0, "--sort cpu" },
	{ OPT_OTHER, 0, "show-on-off-events", NULL, 0, 0, 0, "--during SPAN" },
	{ OPT_OTHER, 0, "switch-on", NULL, 0, 0, 0, "--between MARK MARK, or --during SPAN" },
	{ OPT_OTHER, 0, "switch-off", NULL, 0, 0, 0, "--between MARK MARK, or --during SPAN" },
	{ OPT_OTHER, 0, "show-ref-call-graph", NULL, 0, 0, 0, "-e EVENT shows one of the group" },
	{ OPT_OTHER, 0, "socket-filter", NULL, 0, 0, 0, "-C CPU,... chooses" },
	{ OPT_OTHER, 0, "time-quantum", NULL, 0, 0, 0, "--time FROM,TO chooses" },
	{ OPT_OTHER, 0, "tui", NULL, 0, 0, 0, "answers are text" },
	{ OPT_OTHER, 'd', "dsos", NULL, 0, 0, 0, "--dso REGEX" },
	{ OPT_OTHER, 0, "symbols", NULL, 0, 0, 0, "--symbol REGEX" },
	{ OPT_OTHER, 0, "header", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 0, "header-only", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 0, "stats", NULL, 0, 0, 0, "'ebprec info' shows them" },
	{ OPT_OTHER, 0, "hierarchy", NULL, 0, 0, 0, "--sort KEY,KEY,... tells apart" },
	{ OPT_OTHER, 0, "max-stack", NULL, 0, 0, 0, "--max-depth" },
	{ OPT_OTHER, 'k', "vmlinux", NULL, 0, 0, 0, "--symfs or --debug-dir DIR" },
	{ OPT_OTHER, 0, "kallsyms", NULL, 0, 0, 0, "the capture has what was hit" },
	{ OPT_OTHER, 'F', "fields", NULL, 0, 0, 0, "--sort KEY,..., or --csv" },
	{ OPT_OTHER, 'G', "inverted", NULL, 0, 0, 0, "--tree, or --bottom-up" },
	{ OPT_OTHER, 'D', "dump-raw-trace", NULL, 0, 0, 0, "perf report -D reads the file" },
	{ OPT_OTHER, 'v', "verbose", NULL, 0, 0, 0, "--symbols-report says whence names are" },
	{ OPT_OTHER, 'I', "show-info", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 'T', "thread-counts", NULL, 0, 0, 0, "--threads" },
	{ OPT_OTHER, 'U', "hide-unresolved", NULL, 0, 0, 0, "--symbol REGEX chooses" },
	{ OPT_OTHER, 'w', "column-widths", NULL, 0, 0, 0, "tables are as wide as the terminal" },
	{ OPT_OTHER, 'b', "branch-stack", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 'x', "exclude-other", NULL, 0, 0, 0, "--symbol REGEX chooses" },
	{ OPT_OTHER, 0, "symbol-filter", NULL, 0, 0, 0, "--symbol REGEX" },
	{ OPT_OTHER, 0, "show-total-period", NULL, 0, 0, 0, "--weight period" },
	{ OPT_OTHER, 0, "tasks", NULL, 0, 0, 0, "'ebprec summary' shows processes" },
	{ OPT_OTHER, 0, "group", NULL, 0, 0, 0, "-e EVENT shows one of the group" },
	{ OPT_OTHER, 0, "percentage", NULL, 0, 0, 0, "100 % is what was chosen" },
	{ 0 },
};

static const struct usage report_usage = {
	.command = "report",
	.words = "[--folded | --tree | ...] [OPTIONS] [[-i] FILE]",
	.about = "Shows where the time went: functions by what was spent in them and below them,\n"
		 "trees of calls, or with --folded every stack as a line, as flamegraph.pl takes\n"
		 "it.  What the stacks are worth is said on stderr at the end.\n",
	.options = report_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* ---- what is asked for ---- */

static int choose_view(const struct report_opts *o, struct report_ask *ask,
		       const struct report_view **out)
{
	const char *graph = o->graph, *name = "functions";
	bool top = graph && (!strcmp(graph, "caller") || !strcmp(graph, "graph"));
	bool bottom = graph && !strcmp(graph, "callee"), none = graph && !strcmp(graph, "none");
	bool folded = graph && !strcmp(graph, "folded");
	const struct {
		bool asked;
		const char *name;
	} asks[] = {
		{ o->folded || folded, "folded" },
		{ o->tree || top, "tree" },
		{ o->bottom_up || bottom, "bottom-up" },
		{ o->callers, "callers" },
		{ o->callees, "callees" },
		{ o->svg, "svg" },
		{ o->html, "html" },
		{ o->annotate, "annotate" },
		{ o->waits, "waits" },
		{ o->symbols, "symbols-report" },
		{ o->process, "process" },
	};
	size_t count = 0;

	if (graph && !top && !bottom && !folded && !none)
		return usage_error(
			&report_usage,
			"option '--call-graph' is caller, callee, graph, folded or none, "
			"not '%s'",
			graph);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		if (asks[i].asked && count++)
			return usage_error(&report_usage, "one view at a time: --%s or --%s", name,
					   asks[i].name);
		if (asks[i].asked)
			name = asks[i].name;
	}
	ask->around = o->callers ? o->callers : o->callees ? o->callees : o->annotate;
	if (o->process && o->csv)
		return usage_error(&report_usage, "--process has no '--csv'");
	if (o->html && (o->csv || o->json || o->off_cpu || o->wakers || o->wall))
		return usage_error(&report_usage, "--html has no '--%s'",
				   o->csv       ? "csv"
				   : o->json    ? "json"
				   : o->off_cpu ? "off-cpu"
				   : o->wakers  ? "wakers"
						: "wall");
	*out = report_view(o->process || o->html ? "functions" : name);
	return 0;
}

static int check_annotate(const struct report_opts *o)
{
	if ((o->assembly || o->source_dirs.count) && !o->annotate)
		return usage_error(&report_usage, "option '--%s' is one of --annotate FUNCTION",
				   o->assembly ? "asm" : "source-dir");
	if (o->assembly && *o->assembly && strcmp(o->assembly, "att") != 0 &&
	    strcmp(o->assembly, "intel") != 0)
		return usage_error(&report_usage, "option '--asm' is att or intel, not '%s'",
				   o->assembly);
	return 0;
}

static int choose_keys(const struct report_opts *o, const struct report_view *view,
		       struct report_ask *ask)
{
	/* NOLINTNEXTLINE: choose_view() succeeded, and its names are those of views */
	const char *keys = o->sort ? o->sort : view->keys, *bad;
	size_t bad_bytes;

	if (o->threads)
		sort_keys_parse(&ask->keys, "comm,pid,tid", &bad, &bad_bytes);
	if (keys && sort_keys_parse(&ask->keys, keys, &bad, &bad_bytes))
		return reportopts_no_key(&report_usage, keys, bad, bad_bytes);
	if (o->lines && keys)
		sort_keys_parse(&ask->keys, "line", &bad, &bad_bytes);
	/* A tree is of calls, whatever stands above them. */
	if (view->keys /* NOLINT */ && strcmp(view->name, "functions") != 0 &&
	    !sort_keys_has(&ask->keys, KEY_SYMBOL) && !sort_keys_has(&ask->keys, KEY_DSO) &&
	    !sort_keys_has(&ask->keys, KEY_CATEGORY) && !sort_keys_has(&ask->keys, KEY_LINE))
		sort_keys_parse(&ask->keys, "symbol,dso", &bad, &bad_bytes);
	return 0;
}

static int choose_form(const struct report_opts *o, const struct report_view *view,
		       struct report_ask *ask)
{
	bool flat = !strcmp(view->name, "functions") /* NOLINT: as above */ || o->waits;

	if (o->json && *o->json && strcmp(o->json, "denet") != 0)
		return usage_error(
			&report_usage,
			"option '--json' cannot be '%s': nothing or 'denet' was expected", o->json);
	if (o->json && *o->json && !o->off_cpu)
		return usage_error(&report_usage, "--json=denet is a form of --off-cpu");
	if (o->csv && o->json)
		return usage_error(&report_usage, "--csv or --json, not both");
	if ((o->csv && !flat) ||
	    (o->json && (!strcmp(view->name, "folded") || !strcmp(view->name, "svg"))))
		return usage_error(&report_usage, "--%s has no '%s'", view->name,
				   o->csv ? "--csv" : "--json");
	ask->form = o->csv ? FLAT_CSV : o->json ? FLAT_JSON : FLAT_TEXT;
	return 0;
}

static int load_categories(const struct report_opts *o, struct report_ask *ask,
			   struct categories **out)
{
	struct parse_err where = { 0 };
	char *rules = NULL;
	int err = 0;

	*out = NULL;
	if (!sort_keys_has(&ask->keys, KEY_CATEGORY))
		return 0;
	if (o->categories)
		err = read_file_text(o->categories, RULES_MAX_BYTES, &rules);
	if (err)
		return message_error("cannot read '%s': %s", o->categories, strerror(-err));
	err = categories_new(rules, out, &where);
	free(rules);
	if (err == -EBADMSG)
		return message_error("'%s', line %" PRIu64 ": %s", o->categories,
				     where.offset_bytes, where.what);
	ask->categories = *out;
	return err ? message_error("cannot read the rules: %s", strerror(-err)) : 0;
}

/* What the options say before a capture is open. */
static int make_ask(const struct report_opts *o, struct report_ask *ask,
		    const struct report_view **view)
{
	int status = choose_view(o, ask, view);

	if (!status)
		status = check_annotate(o);
	if (!status && o->wall && (o->off_cpu || o->wakers))
		status = usage_error(&report_usage, "--wall has what --%s has, without it",
				     o->wakers ? "wakers" : "off-cpu");

	if (!status && o->waits && o->wall)
		status = usage_error(&report_usage, "--waits has no '--wall'");
	if (!status && o->of && (o->off_cpu || o->wakers || o->wall || o->waits || o->pick.event))
		status = usage_error(&report_usage, "--of chooses the event; --%s chooses another",
				     o->pick.event ? "event"
				     : o->wall     ? "wall"
				     : o->wakers   ? "wakers"
				     : o->waits    ? "waits"
						   : "off-cpu");

	ask->min_percent = MIN_PERCENT_DEFAULT;
	if (!status)
		status = choose_keys(o, *view, ask);
	if (!status)
		status = choose_form(o, *view, ask);
	/* Programs get whole trees, unless they ask for less. */
	if (!status && ask->form == FLAT_JSON && strcmp((*view)->name, "functions") != 0)
		ask->min_percent = 0;
	if (!status && o->min_percent)
		status = pick_options_percent(o->min_percent, o->min_percent_name, &report_usage,
					      &ask->min_percent);
	ask->max_depth = o->max_depth;
	ask->hide_system = !o->system;
	ask->fold_recursion = o->fold_recursion;
	ask->annotations = o->annotations;
	return status;
}

/* ---- the answer ---- */

/* What a report of waits begins with. */
static void write_head_waits(const struct report *r, FILE *to)
{
	const struct offcpu_facts *f = &r->waits.facts;

	if (f->on_ns)
		fprintf(to, "# %.6f s on a CPU, by %" PRIu64 " samples\n", (double)f->on_ns / 1e9,
			f->on_samples);
	fprintf(to,
		"# %.6f s off the CPU in %" PRIu64 " waits, %" PRIu64 " of them with a stack\n#\n",
		(double)f->total_ns / 1e9, f->switches, f->stacks);
}

static void write_head(const struct report *r, size_t attr, FILE *to)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);
	const char *host = capture_feature_string(r->capture, PERFFILE_HOSTNAME);
	const char *event = event_name(&attrs[attr]);

	fprintf(to, "# %" PRIu64 " samples of '", r->picked);
	message_escaped(to, event, strlen(event));
	putc('\'', to);
	if (r->picked != r->stats.event_samples)
		fprintf(to, ", of %" PRIu64 " in the file", r->stats.event_samples);
	if (host && *host) {
		fputs(", on ", to);
		message_escaped(to, host, strlen(host));
	}
	fputs("\n#\n", to);
}

/* Owned; NULL: no memory. */
static char *make_head(const struct report *r, const struct report_view *view,
		       const struct report_ask *ask, size_t attr)
{
	char *head = NULL;
	size_t size;
	FILE *to = open_memstream(&head, &size);

	if (!to)
		return NULL;
	if (!view->bare && ask->form == FLAT_TEXT) {
		if (r->waits.facts.switches)
			write_head_waits(r, to);
		else
			write_head(r, attr, to);
	}
	fclose(to);
	return head;
}

struct answer {
	struct report *report;
	const struct report_view *view;
	const struct report_ask *ask;
};

static int write_view(void *arg, FILE *to)
{
	const struct answer *a = arg;

	return a->view->write(a->report, a->ask, to); /* NOLINT: choose_view() succeeded */
}

static int write_page(struct report *r, const struct report_opts *opts,
		      const struct report_ask *ask, size_t attr)
{
	const struct report_html_ask page = { .input = opts->input,
					      .output = opts->html,
					      .limit_bytes = opts->html_limit_bytes,
					      .pick = &opts->pick,
					      .of = opts->of,
					      .report = ask,
					      .attr = attr };

	return report_html_write(r, &page);
}

/* Whether the function that was asked for may be among what has no name. */
static bool has_unnamed(const struct report *r)
{
	for (size_t i = 0; i < r->naming.function_count; i++)
		if (r->naming.functions[i].reason)
			return true;
	return false;
}

static int write_answer(struct report *r, const struct report_opts *opts,
			const struct report_view *view, struct report_ask *ask, size_t attr)
{
	const char *picture = opts->svg && strcmp(opts->svg, "-") != 0 ? opts->svg : NULL;
	char *head = make_head(r, view, ask, attr);
	int err = -ENOMEM;

	ask->head = head;
	if (head && opts->html) {
		err = write_page(r, opts, ask, attr);
		free(head);
		return err;
	}
	if (head)
		err = cmd_write_output(picture, write_view, &(struct answer){ r, view, ask });
	free(head);
	if (err && err != -ENOMEM && picture)
		return message_cannot_write(picture, err);
	if (err == -ENOENT)
		return message_error(
			"no function '%s' in the samples of '%s' that were asked for%s",
			ask->around, opts->input,
			has_unnamed(r) ? " (--symbols-report shows which files have no "
					 "names, and why)"
				       : "");
	if (err == -ENOMEM)
		return message_error("cannot report '%s': %s", opts->input, strerror(ENOMEM));
	if (err == -EPIPE) {
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return MESSAGE_OK;
	}
	return err ? message_cannot_write("standard output", err) : MESSAGE_OK;
}

/* Absolute times before the first sample: the reader meant times since it. */
static void hint_time(const struct report *r, const char *input, const char *time)
{
	const struct time_span *all = report_span(r);
	struct time_span asked;

	if (!all || !time || time_span_is_wall(time) || time_span_parse(time, all, &asked, NULL))
		return;
	message_note("  the samples of '%s' are from %.6f s to %.6f s, which is +0,+%.6f", input,
		     (double)all->from_ns / 1e9, (double)all->to_ns / 1e9,
		     (double)(all->to_ns - all->from_ns) / 1e9);
	if (!strpbrk(time, "+%") && asked.to_ns < all->from_ns)
		message_note("  times since the first sample begin with '+': --time +%.*s,+%s",
			     (int)strcspn(time, ","), time, strchr(time, ',') + 1);
}

static void say_empty(const struct report *r, const struct report_opts *opts, size_t attr)
{
	const struct pick_options *pick = &opts->pick;
	size_t count;
	const char *event = event_name(&capture_attrs(r->capture, &count)[attr]);

	if (!opts->quiet && verdict_text_ends_early(r->capture))
		return; /* and that is said last */
	if (!r->stats.event_samples &&
	    capture_feature(r->capture, PERFFILE_DIR_FORMAT).size_bytes) {
		message_note(
			"'%s' has no samples: those of 'perf record --threads' are in files beside it, which are not read (record without it)",
			opts->input);
		return;
	}
	if (!r->stats.event_samples) {
		message_note(
			"'%s' has no samples of '%s': nothing ran for a whole period while it was "
			"recorded (record longer, or with a higher -F)",
			opts->input, event);
		return;
	}
	message_note("none of the %" PRIu64 " samples in '%s' passes the filters",
		     r->stats.event_samples, opts->input);
	hint_time(r, opts->input, pick->when.time);
	if (pick->symbols.count && !pick->parents.count)
		message_note("  --symbol looks at the function that ran, not at its callers: "
			     "--parent '%s' chooses stacks that have it anywhere",
			     pick->symbols.values[0]);
}

static int say_cannot_report(const char *input, int err)
{
	if (err == -ENODATA)
		return message_error(
			"'%s' has no context switches (was it recorded --without sched, or without root?)",
			input);
	return message_error("cannot report '%s': %s", input, strerror(-err));
}

static int write_denet(struct report *r, const struct report_opts *opts,
		       const struct filter *filter)
{
	int err = denet_write(r->capture, r->names, filter, stdout);

	return err ? say_cannot_report(opts->input, err) : MESSAGE_OK;
}

/* " (record some: ...)" for the stacks of that name; "" for a name that nobody knows, where there are others. */
static const char *how_to_record(const char *name, bool has_others, char room[80])
{
	const struct metric_view *v = metric_view_named(name, true);
	const char *instrument = v ? v->instrument : "syscalls";
	bool slower = !strcmp(instrument, "syscalls") || !strcmp(instrument, "block") ||
		      !strcmp(instrument, "locks") || !strcmp(instrument, "net");

	*room = '\0';
	if (v || !has_others)
		snprintf(room, 80, " (record some: ebprec record --with %s%s)", instrument,
			 slower ? " --slower 10ms" : "");
	return room;
}

/* The event that --of means.  0, or the exit status after an error was said. */
static int choose_of(const struct capture *c, const struct report_opts *opts, struct layout_of *of)
{
	char names[256], how[80];
	int err = layout_of_find(c, opts->of, of);

	if (!err)
		return 0;
	if ((err != -ENOENT && err != -ENODATA) || layout_of_names(c, names, sizeof(names)))
		return message_error("cannot read '%s': %s", opts->input, strerror(-err));
	return message_error("'%s' has no stacks of '%s'%s%s%s", opts->input, opts->of,
			     *names ? ", but of: " : "", names,
			     how_to_record(opts->of, *names, how));
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
		status = choose_of(r->capture, opts, &of);
	if (of.event)
		pick.event = of.event;
	if (!status)
		status = pick_options_resolve(&pick, &report_usage, opts->input, opts->quiet, r,
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
		picked->query.wait_rows = opts->waits;
	}
	picked->query.fields |= sort_keys_fields(&ask->keys) | (opts->waits ? GROUP_COMM : 0);
	picked->query.with_lines = sort_keys_has(&ask->keys, KEY_LINE);
	picked->query.with_gaps = opts->symbols;
	picked->query.with_sources = sort_keys_want_sources(&ask->keys);
	if (opts->json && *opts->json)
		return write_denet(r, opts, picked->query.filter);
	picked->query.verdict_later = true;
	picked->query.no_verdict = opts->quiet;
	picked->query.apart = true;
	if (opts->html)
		report_html_query(&picked->query);
	picked->query.roots.source_dirs = opts->source_dirs.values;
	picked->query.roots.source_dir_count = opts->source_dirs.count;
	if (opts->annotate)
		report_annotate_begin(ask->annotate, r, &picked->query);
	err = report_make(r, &picked->query);
	if (!opts->quiet)
		cmd_fetch_verdict(picked->roots.roots.fetcher);
	if (err)
		return say_cannot_report(opts->input, err);
	status = write_answer(r, opts, view, ask, picked->query.attr);
	if (status)
		return status;
	if (!r->picked)
		say_empty(r, opts, picked->query.attr);
	if (!opts->quiet && report_end_verdict(r))
		return say_cannot_report(opts->input, -ENOMEM);
	if (!opts->quiet)
		cmd_report_verdict(r, opts->input);
	return MESSAGE_OK;
}

static int open_and_report(const struct report_opts *opts, struct picked *picked,
			   const struct report_view *view, struct report_ask *ask)
{
	struct cmd_open in;
	int status = cmd_open_later(opts->input, "report", opts->quiet, &in);

	if (status)
		return status;
	status = report(&in.report, opts, picked, view, ask);
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

	status = make_ask(opts, &ask, &view);
	if (!status)
		status = load_categories(opts, &ask, &categories);
	if (status)
		return status;
	ask.by_total = children_given && opts->children;
	ask.no_children = children_given && !opts->children;
	status = pick_options_parse(&opts->pick, &report_usage, &picked);
	if (!status) {
		status = open_and_report(opts, &picked, view, &ask);
		pick_options_done(&picked);
	}
	annotate_done(&annotate.found);
	categories_free(categories);
	return status;
}

/* --children and --no-children both say something that saying nothing does not. */
static bool is_given(int argc, char **argv, const char *word, const char *other)
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
		.usage = &report_usage,
	};
	struct report_ask unused = { 0 };
	const struct report_view *view;
	char pid[16];
	int status = choose_view(o, &unused, &view);

	if (status)
		return status;
	snprintf(pid, sizeof(pid), "%u", o->process);
	ask.pick.who.pids = (struct option_list){ .values = { pid }, .count = 1 };
	return cmd_process(&ask);
}

int cmd_report(int argc, char **argv)
{
	struct report_opts opts = { .pick = PICK_OPTIONS_DEFAULTS,
				    .system = true,
				    .html_limit_bytes = REPORT_HTML_LIMIT_DEFAULT };
	bool children = is_given(argc, argv, "--children", "--no-children");
	char **words;
	int status;

	if (!usage_parse(&report_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&report_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.period && !opts.pick.weight)
		opts.pick.weight = "period";
	signal(SIGPIPE, SIG_IGN); /* the verdict comes also when nobody reads the rest */
	mmap_array_tune();
	return opts.process ? ask_process(&opts) : ask_and_report(&opts, children);
}
