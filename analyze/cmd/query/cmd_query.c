/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec query - a report of what a spool has of a time and a service
 *
 * Its options are its own and those of 'ebprec report', whose answers it gives of the selected captures.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/diff/cmd_diff.h"
#include "analyze/cmd/query/cmd_query_fleet.h"
#include "analyze/cmd/query/query_source.h"
#include "analyze/cmd/report/cmd_report_options.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"
#include "format/os/clock.h"
#include "format/text/duration_text.h"

#define LAST_DEFAULT "1h"
#define TREE_PERCENT 0.1 /* as reports have it */

struct query_opts {
	const char *spool, *last, *since, *until, *diff_before;
	struct option_list inputs;
	bool services;
	struct query_fleet_opts fleet;
	struct report_opts report;
};

#define AT(field) offsetof(struct query_opts, field)

static const struct option own_options[] = {
	{ OPT_STRING, 0, "spool", "DIR", AT(spool), 0, 0,
	  "the folder of captures (default: $EBPREC_SPOOL, else " SPOOL_DEFAULT ")" },
	{ OPT_STRING, 0, "last", "TIME", AT(last), 0, 0,
	  "so long up to now, or to --until: 30m, 2h (default: " LAST_DEFAULT ")" },
	{ OPT_STRING, 0, "since", "TIME", AT(since), 0, 0,
	  "from then on: 2h (ago), 13:05 or 2026-11-21T13:05:10 (UTC)" },
	{ OPT_STRING, 0, "until", "TIME", AT(until), 0, 0, "up to then (default: now)" },
	{ OPT_STRING, 0, "diff-before", "TIME", AT(diff_before), 0, 0,
	  "what changed since the same length of time so long before, as 1d" },
	{ OPT_STRING, 0, "from", "URL", AT(fleet.from), 0, 0,
	  "of a database in place of a spool: clickhouse://HOST/DATABASE" },
	{ OPT_LIST, 0, "host", "REGEX", AT(fleet.hosts), 0, 0,
	  "with --from: only hosts of such a name (repeatable)" },
	{ OPT_LIST, 0, "label", "KEY=REGEX", AT(fleet.labels), 0, 0,
	  "with --from: only hosts with such a label, of 'ebprec push --label' (repeatable)" },
	{ OPT_FLAG, 0, "hourly", NULL, AT(fleet.hourly), 0, 0,
	  "with --from: of the hours that begin in this time, from the hourly table, which is small" },
	{ OPT_STRING, 0, "token-file", "FILE", AT(fleet.token), 0, 0,
	  "with --from: the secret of the database (mode 0600)" },
	{ OPT_STRING, 0, "ca", "FILE", AT(fleet.ca), 0, 0,
	  "with --from: certificates that sign the server's (default: the system's)" },
	{ OPT_FLAG, 0, "services", NULL, AT(services), 0, 0,
	  "list the services of this time and their samples, by entire captures" },
	{ OPT_LIST, 'i', "input", "FILE", AT(inputs), 0, 0,
	  "with --services: of these captures, in place of a spool; to try --service-rules" },
};

/* Options of a report that a query has in another form. */
#define REPLACED "input time last"
/* Those that a comparison does not have. */
#define NOT_OF_DIFF                                                                         \
	"svg brief baseline html-view html-waits html-instruments with-capture tree "       \
	"bottom-up callers callees annotate asm source-dir process call-graph lines "       \
	"threads children max-depth fold-recursion system categories off-cpu wakers waits " \
	"wall of annotations symbols-report csv period during between"

/* A database answers these: all others need samples and switches one by one. */
#define OF_FLEET                                                                           \
	"from host label hourly token-file ca last since until diff-before service event " \
	"weight off-cpu svg folded tree min-percent max-depth json quiet"
#define OF_FLEET_ALONE    "host label hourly token-file ca"
#define OF_TREE           "min-percent max-depth"
#define NOT_OF_FLEET_DIFF "svg folded tree " OF_TREE

/* Its own options and those of a report, behind each other; owned.  NULL: no memory. */
static struct option *join_options(void)
{
	const size_t own = sizeof(own_options) / sizeof(own_options[0]);
	const struct option *of = cmd_report_usage.options;
	struct option *out;
	size_t count = own;

	for (size_t i = 0; of[i].type != OPT_END; i++)
		count++;
	out = calloc(count + 1, sizeof(*out));
	if (!out)
		return NULL;
	memcpy(out, own_options, sizeof(own_options));
	for (count = own; of->type != OPT_END; of++) {
		if (usage_is_in_list(REPLACED, of->long_name))
			continue;
		out[count] = *of;
		if (of->type != OPT_SAME || of->offset)
			out[count].offset += AT(report);
		count++;
	}
	return out;
}

static const struct usage query_usage = {
	.command = "query",
	.words = "[--service NAME] [--last TIME] [OPTIONS]",
	.about =
		"Reports what a spool, the folder that 'ebprec agent' records into, has of a time\n"
		"and a service: as 'ebprec report' does of one capture, with its options.  What\n"
		"this answer lacks is printed on stderr.\n",
	.reads = USAGE_READS,
	.spool = USAGE_SPOOL_READS,
	.asks = "from",
	.shows = true,
};

struct query {
	struct usage usage;
	struct query_opts opts;
	struct spool *spool;
	struct name_filter services;
	bool by_index; /* the index knows what --service asks for */
	bool children_given;
	struct query_source sources[2]; /* of the time; of the time before */
};

/* ---- the time ---- */

static int read_moment(const struct query *q, const char *option, const char *text, uint64_t now_ns,
		       uint64_t *out)
{
	if (spool_read_time(text, now_ns, out))
		return 0;
	return usage_error(
		&q->usage,
		"option '--%s' cannot be '%s': 2h (ago), 13:05 or 2026-11-21T13:05:10 was expected",
		option, text);
}

static int read_length(const struct query *q, const char *option, const char *text, uint64_t *out)
{
	const char *end;

	if (duration_read(text, false, &end, out) && !*end && *out)
		return 0;
	return usage_error(&q->usage, "option '--%s' cannot be '%s': 30m, 2h or 1d was expected",
			   option, text);
}

static int read_span(const struct query *q, struct time_span *out)
{
	const struct query_opts *o = &q->opts;
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct time_span span = { .from_ns = 0, .to_ns = now_ns };
	uint64_t last_ns;
	int status = 0;

	if (o->since && o->last)
		return usage_error(&q->usage, "--since or --last, not both");
	if (o->until)
		status = read_moment(q, "until", o->until, now_ns, &span.to_ns);
	if (!status && o->since)
		status = read_moment(q, "since", o->since, now_ns, &span.from_ns);
	if (!status && !o->since) {
		status = read_length(q, "last", o->last ? o->last : LAST_DEFAULT, &last_ns);
		if (!status)
			span.from_ns = span.to_ns > last_ns ? span.to_ns - last_ns : 0;
	}
	if (!status && span.from_ns > span.to_ns)
		status = usage_error(&q->usage, "the time ends before it begins");
	*out = span;
	return status;
}

/* ---- the services ---- */

static bool wants_service(const void *arg, const char *name)
{
	return name_filter_passes_service(arg, name);
}

static int read_services(struct query *q)
{
	const struct option_list *list = &q->opts.report.pick.services;
	char error[128];

	for (unsigned i = 0; i < list->count; i++)
		if (name_filter_add(&q->services, NAME_FILTER_SERVICE, list->values[i], error,
				    sizeof(error)))
			return usage_error(&q->usage,
					   "option '--service': '%s' is no regular expression: %s",
					   list->values[i], error);
	q->by_index = list->count && !q->opts.report.pick.service_rules;
	return 0;
}

static int show_services(struct service_counts *counts, bool json)
{
	static const char *const columns[] = { "service", "samples", "share" };
	struct text_table *v;
	uint64_t all = 0;

	service_counts_settle(counts);
	for (size_t i = 0; i < counts->count; i++)
		all += counts->list[i].sample_count;
	if (text_table_open(stdout, json, &v))
		return message_error("cannot list services: %s", strerror(ENOMEM));
	text_table_begin(v, "services", columns, 3);
	for (size_t i = 0; i < counts->count; i++) {
		text_table_row(v);
		text_table_text(v, "service", counts->list[i].name);
		text_table_number(v, "samples", counts->list[i].sample_count);
		text_table_percent(v, "share", counts->list[i].sample_count, all);
	}
	text_table_end(v);
	return text_table_close(v) ? message_error("cannot list services: %s", strerror(ENOMEM))
				   : MESSAGE_OK;
}

static int count_files(const struct query *q, const struct service_rules *rules,
		       struct service_counts *counts)
{
	struct capture *c;
	int status = 0, err;

	for (unsigned i = 0; !status && i < q->opts.inputs.count; i++) {
		status = cmd_open_capture(q->opts.inputs.values[i], &c);
		if (status)
			continue;
		err = service_counts_add(c, rules, counts);
		capture_close(c);
		if (err)
			status = message_error("cannot read '%s': %s", q->opts.inputs.values[i],
					       strerror(-err));
	}
	return status;
}

static int count_spool(struct query *q, const struct service_rules *rules,
		       struct service_counts *counts)
{
	struct query_source *source = &q->sources[0];
	struct spool_wanted wanted = { .wants_service = NULL };
	int status = read_span(q, &wanted.span), err = 0;
	bool gone;

	if (!status)
		err = spool_select(q->spool, &wanted, &source->selected);
	for (size_t i = 0; !status && !err && i < source->selected.count; i += !gone) {
		err = spool_services(q->spool, source->selected.list[i], rules, counts);
		gone = err == -ENOENT;
		if (gone)
			spool_selection_leave_out(&source->selected, i);
		err = gone ? 0 : err;
	}
	if (err)
		return message_error("cannot read '%s': %s", q->opts.spool, strerror(-err));
	if (!status)
		query_source_print_losses(source, true);
	return status;
}

static int list_services(struct query *q)
{
	const char *rules_path = q->opts.report.pick.service_rules;
	struct service_counts counts = { 0 };
	struct service_rules *rules = NULL;
	int status = rules_path ? pick_options_service_rules(rules_path, &rules) : 0;

	if (!status)
		status = q->opts.inputs.count ? count_files(q, rules, &counts)
					      : count_spool(q, rules, &counts);
	if (!status)
		status = show_services(&counts, q->opts.report.json);
	service_counts_done(&counts);
	service_rules_free(rules);
	return status;
}

/* ---- answers ---- */

static int make_source(struct query *q, int number, const struct time_span *span)
{
	const struct spool_wanted wanted = {
		.span = *span,
		.wants_service = q->by_index ? wants_service : NULL,
		.arg = &q->services,
	};

	return query_source_make(&q->sources[number], q->opts.spool, q->spool, &wanted);
}

static int report_span_of(struct query *q, const struct time_span *span)
{
	struct report_opts *r = &q->opts.report;
	int status = make_source(q, 0, span);

	if (status)
		return status;
	r->input = q->sources[0].path;
	r->input_name = q->opts.spool;
	r->pick.when.time = *q->sources[0].time ? q->sources[0].time : NULL;
	status = cmd_report_run(r, q->children_given);
	if (!status && r->brief && !r->quiet)
		message_note(
			"FILE is what 'ebprec merge -o FILE' makes of the captures that 'ebprec spool' lists");
	query_source_print_losses(&q->sources[0], false);
	return status;
}

static int compare_spans(struct query *q, const struct time_span *span)
{
	const struct report_opts *r = &q->opts.report;
	struct query_source *after = &q->sources[0], *before = &q->sources[1];
	const struct query_opts usual = { .report = REPORT_OPTS_DEFAULTS };
	struct diff_ask ask = {
		.pick = &r->pick,
		.sort = r->sort,
		.min_percent = r->min_percent,
		.html = r->html,
		.html_limit_bytes = r->html_limit_bytes,
		.folded = r->folded,
		.json = r->json != NULL,
		.quiet = r->quiet,
	};
	struct time_span earlier;
	uint64_t before_ns;
	char *name;
	int status;

	if (!usage_has_none(&q->usage, &q->opts, &usual, NOT_OF_DIFF, "--diff-before"))
		return MESSAGE_USAGE;
	status = read_length(q, "diff-before", q->opts.diff_before, &before_ns);
	if (status)
		return status;
	if (before_ns > span->from_ns)
		return usage_error(&q->usage, "--diff-before is longer ago than there is time");
	earlier = (struct time_span){ span->from_ns - before_ns, span->to_ns - before_ns };
	status = make_source(q, 1, &earlier);
	if (!status)
		status = make_source(q, 0, span);
	if (status)
		return status;
	if (asprintf(&name, "%s, %s before", q->opts.spool, q->opts.diff_before) < 0)
		return message_error("cannot query: %s", strerror(ENOMEM));
	ask.names[0] = name;
	ask.names[1] = q->opts.spool;
	ask.times[0] = *before->time ? before->time : NULL;
	ask.times[1] = *after->time ? after->time : NULL;
	status = cmd_diff_run(&ask, (char *[]){ before->path, after->path, NULL });
	free(name);
	query_source_print_losses(before, false);
	query_source_print_losses(after, false);
	return status;
}

static int fail_open(const char *dir, int err)
{
	return message_error(
		err == -ENOENT
			? "cannot open the spool '%s': %s (--spool DIR, or start 'ebprec agent')"
			: "cannot open the spool '%s': %s",
		dir, strerror(-err));
}

/* The answer that a database has in place of an option's; "": none. */
static const char *fleet_instead(const char *option)
{
	static const struct {
		const char *options, *instead;
	} forms[] = {
		{ "html html-limit html-view html-waits html-instruments with-capture",
		  "--svg FILE draws a flame graph; " },
		{ "waits wakers wall", "--off-cpu has waits by reason and stack; " },
		{ "bottom-up callers callees call-graph", "--tree has calls from the top down; " },
		{ "debug-dir debuginfod symfs", "'ebprec name --from' adds names; " },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (usage_is_in_list(forms[i].options, option))
			return forms[i].instead;
	return "";
}

static int check_fleet_options(const struct query *q)
{
	const struct report_opts *r = &q->opts.report;
	const struct query_opts usual = { .report = REPORT_OPTS_DEFAULTS };
	const struct option *o = usage_given_besides(&q->usage, &q->opts, &usual, OF_FLEET);
	const char *one = r->svg ? "--svg" : r->folded ? "--folded" : NULL;

	if (o)
		return usage_error(
			&q->usage,
			"--from has no '--%s%s', as a database has sums alone: %s'ebprec query' on a host itself, without --from, has it",
			usage_no(o, &usual), o->long_name, fleet_instead(o->long_name));
	if (q->opts.diff_before && !usage_has_none(&q->usage, &q->opts, &usual, NOT_OF_FLEET_DIFF,
						   "--from with --diff-before"))
		return MESSAGE_USAGE;
	if (!!r->svg + r->folded + r->tree > 1)
		return usage_error(&q->usage, "%s or %s, not both", one,
				   r->tree ? "--tree" : "--folded");
	if (r->json && *r->json)
		return usage_error(&q->usage, "--from has no '--json=%s'", r->json);
	if ((one && !usage_has_none(&q->usage, &q->opts, &usual, "json", one)) ||
	    (!r->tree &&
	     !usage_has_none(&q->usage, &q->opts, &usual, OF_TREE, "--from without --tree")))
		return MESSAGE_USAGE;
	return 0;
}

static int ask_fleet(struct query *q)
{
	const struct report_opts *r = &q->opts.report;
	struct query_fleet_ask ask = {
		.usage = &q->usage,
		.opts = &q->opts.fleet,
		.services = &r->pick.services,
		.event = r->pick.event,
		.weight = r->pick.weight,
		.off_cpu = r->off_cpu,
		.svg = r->svg,
		.folded = r->folded,
		.tree = r->tree,
		.min_percent = r->json ? 0 : TREE_PERCENT,
		.max_depth = r->max_depth,
		.json = r->json != NULL,
		.quiet = r->quiet,
	};
	struct time_span span;
	int status = check_fleet_options(q);

	if (status)
		return status;
	if (ask.off_cpu && (ask.event || ask.weight))
		return usage_error(&q->usage, "--off-cpu has no '%s': it is of time",
				   ask.event ? "--event" : "--weight");
	if (q->opts.fleet.hourly && (q->opts.fleet.hosts.count || q->opts.fleet.labels.count))
		return usage_error(&q->usage, "--hourly has sums of all hosts: not with --%s",
				   q->opts.fleet.hosts.count ? "host" : "label");
	for (unsigned i = 0; i < q->opts.fleet.labels.count; i++)
		if (!strchr(q->opts.fleet.labels.values[i], '='))
			return usage_error(
				&q->usage,
				"option '--label' cannot be '%s': KEY=REGEX was expected",
				q->opts.fleet.labels.values[i]);
	status = read_span(q, &span);
	if (!status && r->min_percent)
		status = pick_options_percent(r->min_percent, r->min_percent_name, &q->usage,
					      &ask.min_percent);
	if (!status && q->opts.diff_before)
		status = read_length(q, "diff-before", q->opts.diff_before, &ask.before_ns);
	if (!status && ask.before_ns > span.from_ns)
		return usage_error(&q->usage, "--diff-before is longer ago than there is time");
	return status ? status : query_fleet_run(&ask, &span);
}

static int answer(struct query *q)
{
	const struct query_opts usual = { .report = REPORT_OPTS_DEFAULTS };
	struct time_span span;
	int status, err;

	if (q->opts.fleet.from)
		return ask_fleet(q);
	if (!usage_has_none(&q->usage, &q->opts, &usual, OF_FLEET_ALONE,
			    "a spool, without --from,"))
		return MESSAGE_USAGE;
	if (q->opts.inputs.count && !q->opts.services)
		return usage_error(&q->usage,
				   "--input goes with --services: 'ebprec report' shows a capture");
	if (!q->opts.spool)
		q->opts.spool = spool_default();
	err = q->opts.inputs.count ? 0 : spool_open(q->opts.spool, SPOOL_READ, &q->spool);
	if (err)
		return fail_open(q->opts.spool, err);
	if (q->opts.services)
		return list_services(q);
	status = read_services(q);
	if (!status)
		status = read_span(q, &span);
	if (status)
		return status;
	return q->opts.diff_before ? compare_spans(q, &span) : report_span_of(q, &span);
}

static int parse_and_answer(struct query *q, int argc, char **argv)
{
	const char *reads[] = { q->sources[0].room_path, q->sources[1].room_path, NULL };
	int status;

	q->usage.reads_also = reads;
	if (!usage_parse(&q->usage, &q->opts, argc, argv, 0, 0, NULL, &status))
		return status;
	q->usage.reads_also = NULL;
	q->children_given = cmd_report_is_given(argc, argv, "--children", "--no-children");
	return answer(q);
}

int cmd_query(int argc, char **argv)
{
	struct option *options = join_options();
	struct query *q = calloc(1, sizeof(*q));
	int status = options && q ? 0 : message_error("cannot query: %s", strerror(ENOMEM));

	if (!status) {
		q->usage = query_usage;
		q->usage.options = options;
		q->opts = (struct query_opts){ .report = REPORT_OPTS_DEFAULTS };
		q->sources[1].room_fd = -1;
		status = query_source_prepare(&q->sources[0]);
		if (!status)
			status = query_source_prepare(&q->sources[1]);
		if (!status)
			status = parse_and_answer(q, argc, argv);
		spool_close(q->spool);
		name_filter_done(&q->services);
		for (int i = 0; i < 2; i++)
			query_source_done(&q->sources[i]);
	}
	free(options);
	free(q);
	return status;
}
