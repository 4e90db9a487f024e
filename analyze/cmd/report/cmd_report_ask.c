/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/report/cmd_report_ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/read_file.h"
#include "analyze/cmd/html/report_html.h"
#include "analyze/out/message.h"

#define MIN_PERCENT_DEFAULT 0.1
#define RULES_MAX_BYTES     (1u << 20)

/* Reads perf's list behind -g: "graph,0.5,caller". */
struct graph {
	bool tree, bottom_up, folded, none;
	char percent[24]; /* as it was given; empty: it was not */
};

static bool read_graph_word(const char *word, size_t bytes, struct graph *g)
{
	static const struct {
		const char *word;
		size_t flag;
	} words[] = {
		{ "graph", offsetof(struct graph, tree) },
		{ "caller", offsetof(struct graph, tree) },
		{ "callee", offsetof(struct graph, bottom_up) },
		{ "folded", offsetof(struct graph, folded) },
		{ "none", offsetof(struct graph, none) },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == bytes && !memcmp(words[i].word, word, bytes)) {
			*(bool *)((char *)g + words[i].flag) = true;
			return true;
		}
	}
	if (bytes >= sizeof(g->percent) || *g->percent || *word < '0' || *word > '9')
		return bytes == 8 &&
		       !memcmp(word, "function", 8); /* as calls are always distinguished */
	memcpy(g->percent, word, bytes);
	return true;
}

/* The more special one of order and shape counts: graph,callee is from the bottom up.  text: "" as "graph". */
static int read_graph(const char *text, struct graph *out)
{
	struct graph g = { 0 };
	const char *word = text && !*text ? "graph" : text;
	size_t bytes = 0;

	for (; word; word = word[bytes] ? word + bytes + 1 : NULL) {
		bytes = strcspn(word, ",");
		if (!read_graph_word(word, bytes, &g))
			return usage_error(
				&cmd_report_usage,
				"option '--call-graph' is caller, callee, graph, folded or none, "
				"and a percentage behind a comma, not '%s'",
				text);
	}
	g.folded &= !g.none;
	g.bottom_up &= !g.none && !g.folded;
	g.tree &= !g.none && !g.folded && !g.bottom_up;
	*out = g;
	return 0;
}

#define NOT_TREES  "max-depth fold-recursion "
#define NOT_HTML   "html-limit html-view html-waits html-instruments "
#define NOT_COUNTS "system annotations categories "

/* The options that a view would ignore. */
static const struct {
	const char *view, *without;
} ignored[] = {
	{ "functions", NOT_TREES NOT_HTML "annotations" },
	{ "tree", NOT_HTML "annotations" },
	{ "bottom-up", NOT_HTML "annotations" },
	{ "callers", NOT_HTML "annotations" },
	{ "callees", NOT_HTML "annotations" },
	{ "folded", NOT_TREES NOT_HTML "system categories min-percent lines threads" },
	{ "svg", NOT_TREES NOT_HTML "system categories min-percent lines threads" },
	{ "html", NOT_TREES NOT_COUNTS "min-percent threads sort" },
	{ "annotate", NOT_TREES NOT_HTML NOT_COUNTS "threads sort" },
	{ "waits", NOT_TREES NOT_HTML NOT_COUNTS "lines" },
	{ "symbols-report", NOT_TREES NOT_HTML NOT_COUNTS "min-percent lines threads sort" },
	{ "brief",
	  NOT_TREES NOT_HTML NOT_COUNTS "min-percent lines threads sort csv json source-dir" },
	{ "process", NOT_TREES NOT_HTML NOT_COUNTS
	  "min-percent lines threads sort of off-cpu wakers wall pid" },
};

static void put_view(size_t i, char *text, size_t size, const char *before)
{
	size_t used = strlen(text);

	if (used < size)
		snprintf(text + used, size - used, "%s%s%s", *text ? before : "", i ? "--" : "",
			 i ? ignored[i].view : "the table of functions");
}

/* The views that an option is for: "the table of functions, --tree and --annotate"; "": one alone ignores it. */
static void list_views_with(const char *option, char *text, size_t size)
{
	size_t count = sizeof(ignored) / sizeof(ignored[0]), last = 0, without = 0, i;

	*text = '\0';
	for (i = 0; i < count; i++)
		if (usage_is_in_list(ignored[i].without, option))
			without++;
		else
			last = i;
	if (without == 1)
		return;
	for (i = 0; i <= last; i++)
		if (!usage_is_in_list(ignored[i].without, option))
			put_view(i, text, size, i == last ? " and " : ", ");
}

static int refuse_ignored(const struct report_opts *o, const char *view)
{
	static const struct report_opts defaults = REPORT_OPTS_DEFAULTS;
	char what[32] = "", others[256];
	const struct option *given;
	size_t i = 0;

	while (strcmp(ignored[i].view, view) != 0)
		i++;
	given = usage_given(&cmd_report_usage, o, &defaults, ignored[i].without);
	if (!given)
		return 0;
	put_view(i, what, sizeof(what), "");
	list_views_with(given->long_name, others, sizeof(others));
	return usage_error(&cmd_report_usage, "%s has no '--%s%s'%s%s", what,
			   usage_no(given, &defaults), given->long_name,
			   *others ? ", which is for " : "", others);
}

/* Waits are time; --wall has samples, too. */
static int check_waits(const struct report_opts *o)
{
	const char *view = o->waits ? "waits" : o->wakers ? "wakers" : "off-cpu";

	if (!o->waits && !o->wakers && !o->off_cpu)
		return 0;
	if (o->pick.event)
		return usage_error(&cmd_report_usage, "--%s has no '--event'", view);
	if (o->pick.weight && !strcmp(o->pick.weight, "samples"))
		return usage_error(&cmd_report_usage,
				   "--%s has no '--weight samples': it is of time", view);
	return 0;
}

int cmd_report_ask_view(const struct report_opts *o, struct report_ask *ask,
			const struct report_view **out)
{
	const char *name = "functions";
	struct graph graph = { 0 };
	int status = read_graph(o->graph, &graph);
	const struct {
		bool asked;
		const char *name;
	} asks[] = {
		{ o->folded || graph.folded, "folded" },
		{ o->tree || graph.tree, "tree" },
		{ o->bottom_up || graph.bottom_up, "bottom-up" },
		{ o->callers, "callers" },
		{ o->callees, "callees" },
		{ o->svg, "svg" },
		{ o->html, "html" },
		{ o->annotate, "annotate" },
		{ o->waits, "waits" },
		{ o->symbols, "symbols-report" },
		{ o->brief, "brief" },
		{ o->process, "process" },
	};
	size_t count = 0;

	if (status)
		return status;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		if (asks[i].asked && count++)
			return usage_error(&cmd_report_usage, "one view at a time: --%s or --%s",
					   name, asks[i].name);
		if (asks[i].asked)
			name = asks[i].name;
	}
	status = refuse_ignored(o, name);
	if (!status)
		status = check_waits(o);
	if (status)
		return status;
	ask->around = o->callers ? o->callers : o->callees ? o->callees : o->annotate;
	if (o->process && o->csv)
		return usage_error(&cmd_report_usage, "--process has no '--csv'");
	if (o->brief && (o->of || o->off_cpu || o->wakers || o->wall || o->children))
		return usage_error(&cmd_report_usage, "--brief has no '--%s'",
				   o->of        ? "of"
				   : o->off_cpu ? "off-cpu"
				   : o->wakers  ? "wakers"
				   : o->wall    ? "wall"
						: "children");
	if (o->baseline && !o->brief)
		return usage_error(&cmd_report_usage, "--baseline is for --brief");
	if (o->with_capture && !o->html)
		return usage_error(&cmd_report_usage, "--with-capture is for a page (--html FILE)");
	if (o->html && (o->csv || o->json || o->off_cpu || o->wakers || o->wall))
		return usage_error(&cmd_report_usage, "--html has no '--%s'",
				   o->csv       ? "csv"
				   : o->json    ? "json"
				   : o->off_cpu ? "off-cpu"
				   : o->wakers  ? "wakers"
						: "wall");
	status = report_html_check_view(o->html_view, &cmd_report_usage);
	if (status)
		return status;
	*out = report_view(o->process || o->html ? "functions" : name);
	/* Programs get entire trees, unless they ask for less. */
	ask->min_percent = o->json && strcmp(name, "functions") != 0 ? 0 : MIN_PERCENT_DEFAULT;
	return *graph.percent ? pick_options_percent(graph.percent, "call-graph", &cmd_report_usage,
						     &ask->min_percent)
			      : 0;
}

static int check_annotate(const struct report_opts *o)
{
	if ((o->assembly || o->source_dirs.count) && !o->annotate)
		return usage_error(&cmd_report_usage, "option '--%s' is one of --annotate FUNCTION",
				   o->assembly ? "asm" : "source-dir");
	if (o->assembly && *o->assembly && strcmp(o->assembly, "att") != 0 &&
	    strcmp(o->assembly, "intel") != 0)
		return usage_error(&cmd_report_usage, "option '--asm' is att or intel, not '%s'",
				   o->assembly);
	return 0;
}

/* Whether the view distinguishes by each key, and rules of categories have a key that they are of. */
static int check_keys(const struct report_opts *o, const struct report_view *view,
		      const struct sort_keys *keys)
{
	bool comm_only = !view->keys;

	if (o->categories && !sort_keys_has(keys, KEY_CATEGORY))
		return usage_error(&cmd_report_usage,
				   "option '--categories' is one of --sort category");
	for (size_t i = 0; i < keys->count && (comm_only || o->waits); i++) {
		enum sort_key k = keys->list[i];

		if (k != KEY_COMM && (comm_only || (k != KEY_PID && k != KEY_TID)))
			return usage_error(&cmd_report_usage, "--%s has no '--sort %s', only: %s",
					   view->name, sort_key_info(k)->name,
					   comm_only ? "comm" : "comm, pid, tid");
	}
	return 0;
}

static int choose_keys(const struct report_opts *o, const struct report_view *view,
		       struct report_ask *ask)
{
	/* NOLINTNEXTLINE: cmd_report_ask_view() succeeded, and its names are those of views */
	const char *keys = o->sort ? o->sort : view->keys, *bad;
	size_t bad_bytes;
	int status;

	if (o->threads)
		sort_keys_parse(&ask->keys, "comm,pid,tid", &bad, &bad_bytes);
	if (keys && sort_keys_parse(&ask->keys, keys, &bad, &bad_bytes))
		return reportopts_no_key(&cmd_report_usage, keys, bad, bad_bytes);
	if (!ask->keys.count && keys) /* --sort overhead */
		sort_keys_parse(&ask->keys, view->keys, &bad, &bad_bytes);
	if (o->lines && keys)
		sort_keys_parse(&ask->keys, "line", &bad, &bad_bytes);
	status = check_keys(o, view, &ask->keys);
	if (status)
		return status;
	/* A tree is of calls, whatever stands above them. */
	if (view->keys /* NOLINT */ && strcmp(view->name, "functions") != 0 &&
	    !sort_keys_has(&ask->keys, KEY_SYMBOL) && !sort_keys_has(&ask->keys, KEY_DSO) &&
	    !sort_keys_has(&ask->keys, KEY_CATEGORY) && !sort_keys_want_lines(&ask->keys))
		sort_keys_parse(&ask->keys, "symbol,dso", &bad, &bad_bytes);
	return 0;
}

static int choose_form(const struct report_opts *o, const struct report_view *view,
		       struct report_ask *ask)
{
	bool flat = !strcmp(view->name, "functions") /* NOLINT: as above */ || o->waits;

	if (o->json && *o->json && strcmp(o->json, "denet") != 0)
		return usage_error(
			&cmd_report_usage,
			"option '--json' cannot be '%s': nothing or 'denet' was expected", o->json);
	if (o->json && *o->json && !o->off_cpu)
		return usage_error(&cmd_report_usage, "--json=denet is a form of --off-cpu");
	if (o->csv && o->json)
		return usage_error(&cmd_report_usage, "--csv or --json, not both");
	if ((o->csv && !flat) ||
	    (o->json && (!strcmp(view->name, "folded") || !strcmp(view->name, "svg"))))
		return usage_error(&cmd_report_usage, "--%s has no '%s'", view->name,
				   o->csv ? "--csv" : "--json");
	ask->form = o->csv ? FLAT_CSV : o->json ? FLAT_JSON : FLAT_TEXT;
	return 0;
}

int cmd_report_ask_categories(const struct report_opts *o, struct report_ask *ask,
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

int cmd_report_ask_make(const struct report_opts *o, struct report_ask *ask,
			const struct report_view **view)
{
	int status = cmd_report_ask_view(o, ask, view);

	if (!status)
		status = check_annotate(o);
	if (!status && o->wall && (o->off_cpu || o->wakers))
		status = usage_error(&cmd_report_usage, "--wall has what --%s has, without it",
				     o->wakers ? "wakers" : "off-cpu");

	if (!status && o->waits && o->wall)
		status = usage_error(&cmd_report_usage, "--waits has no '--wall'");
	if (!status && o->of && (o->off_cpu || o->wakers || o->wall || o->waits || o->pick.event))
		status = usage_error(&cmd_report_usage,
				     "--of chooses the event; --%s chooses another",
				     o->pick.event ? "event"
				     : o->wall     ? "wall"
				     : o->wakers   ? "wakers"
				     : o->waits    ? "waits"
						   : "off-cpu");

	if (!status)
		status = choose_keys(o, *view, ask);
	if (!status)
		status = choose_form(o, *view, ask);
	if (!status && o->min_percent)
		status = pick_options_percent(o->min_percent, o->min_percent_name,
					      &cmd_report_usage, &ask->min_percent);
	ask->max_depth = o->max_depth;
	ask->hide_system = !o->system;
	ask->fold_recursion = o->fold_recursion;
	ask->annotations = o->annotations;
	return status;
}
