/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/query/cmd_query_fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/secret_file.h"
#include "analyze/cmd/query/cmd_query_tables.h"
#include "analyze/out/message.h"
#include "analyze/push/ask/fleet.h"
#include "analyze/push/forms/forms.h"
#include "analyze/out/terminal.h"
#include "analyze/report/profile/callgraph.h"
#include "analyze/report/profile/flame_svg.h"
#include "analyze/report/profile/folded.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_US     1000
#define TIMEOUT_MS    120000
#define MOST_STACKS   20000

/* ---- pictures ---- */

struct drawing {
	const struct query_fleet_ask *ask;
	const struct push_fleet *fleet;
	const char *unit;
};

static int draw(void *arg, FILE *to)
{
	const struct drawing *d = arg;
	const struct flame_style style = { .title = d->ask->opts->from,
					   .unit = d->unit,
					   .kinds = d->fleet->kinds };

	return flame_svg_write(&d->fleet->tree, d->fleet->names, &style, to);
}

static int write_tree(const struct query_fleet_ask *ask, const struct push_fleet *f,
		      const char *unit)
{
	struct callgraph_style style = { .weight = unit,
					 .min_percent = ask->min_percent,
					 .max_depth = ask->max_depth,
					 .json = ask->json };

	terminal_of(stdout, &style.look);
	return query_tables_tree(f, &style);
}

static int write_answer(const struct query_fleet_ask *ask, const struct push_fleet *f,
			const char *unit)
{
	struct drawing d = { ask, f, unit };
	int err;

	if (ask->svg)
		err = cmd_write_output(ask->svg, draw, &d);
	else if (ask->folded)
		err = folded_write(&f->tree, f->names, 0, stdout);
	else if (ask->tree)
		err = write_tree(ask, f, unit);
	else
		err = query_tables_functions(f, ask->json);
	if (err)
		return message_cannot_write(ask->svg ? ask->svg : "standard output", err);
	if (f->unknown)
		message_note("%" PRIu64 " of %" PRIu64 " are of stacks that have not arrived yet",
			     f->unknown, f->sum);
	if (!f->sum && !ask->quiet)
		message_note("'%s' has nothing of that time, service and host", ask->opts->from);
	return MESSAGE_OK;
}

/* ---- the database ---- */

static bool is_by_weight(const struct query_fleet_ask *ask)
{
	return ask->off_cpu || (ask->weight && strcmp(ask->weight, "samples") != 0);
}

static int read_fleet(const struct query_fleet_ask *ask, const struct push_target *t,
		      const struct time_span *span, struct push_fleet *out)
{
	const struct push_http_opts http = { .ca_file = ask->opts->ca, .timeout_ms = TIMEOUT_MS };
	const struct push_fleet_ask of = {
		.services = ask->services->values,
		.service_count = ask->services->count,
		.hosts = ask->opts->hosts.values,
		.host_count = ask->opts->hosts.count,
		.labels = ask->opts->labels.values,
		.label_count = ask->opts->labels.count,
		.event = ask->off_cpu ? PUSH_WAITS : ask->event,
		.from_s = span->from_ns / NS_PER_SECOND,
		.to_s = span->to_ns / NS_PER_SECOND,
		.most_stacks = MOST_STACKS,
		.hourly = ask->opts->hourly,
		.by_weight = is_by_weight(ask),
		.unit = ask->off_cpu ? NS_PER_US : 1,
		.with_kinds = ask->svg,
	};
	char words[PUSH_WORDS_BYTES] = "";
	struct push_http *h;
	int err = push_http_new(&http, &h);

	if (err == -ENOENT)
		return message_error(
			"cannot ask '%s': libcurl.so.4 cannot be loaded (Debian: libcurl4; a static "
			"ebprec cannot load it at all)",
			t->name);
	if (!err) {
		err = push_fleet_read(h, t, &of, out, words);
		push_http_free(h);
	}
	if (err == -EIO)
		return message_error("cannot ask '%s': %s", t->name, words);
	return err ? message_error("cannot ask '%s': %s", t->name, strerror(-err)) : 0;
}

static int show_fleet(const struct query_fleet_ask *ask, const struct push_target *t,
		      const struct time_span *span)
{
	const char *unit = ask->off_cpu ? "us" : is_by_weight(ask) ? ask->weight : "samples";
	struct push_fleet f;
	int status = read_fleet(ask, t, span, &f);

	if (status)
		return status;
	status = write_answer(ask, &f, unit);
	push_fleet_done(&f);
	return status;
}

static int compare_fleets(const struct query_fleet_ask *ask, const struct push_target *t,
			  const struct time_span *span)
{
	const struct time_span earlier = { span->from_ns - ask->before_ns,
					   span->to_ns - ask->before_ns };
	struct push_fleet before, after;
	int err, status = read_fleet(ask, t, &earlier, &before);

	if (status)
		return status;
	status = read_fleet(ask, t, span, &after);
	if (!status) {
		err = query_tables_diff(&before, &after, ask->json);
		status = err ? message_cannot_write("standard output", err) : MESSAGE_OK;
		if (!status && !(before.sum && after.sum) && !ask->quiet)
			message_note("'%s' has nothing of that service and host %s",
				     ask->opts->from, before.sum ? "now" : "before");
		push_fleet_done(&after);
	}
	push_fleet_done(&before);
	return status;
}

int query_fleet_run(const struct query_fleet_ask *ask, const struct time_span *span)
{
	struct push_target t;
	const char *problem;
	char *secret = NULL;
	int err = push_target_parse(ask->opts->from, &t, &problem), status = 0;

	if (!err && t.form != &push_clickhouse) {
		push_target_done(&t);
		problem = "only clickhouse:// can be asked";
		err = -EINVAL;
	}
	if (err == -EINVAL && !strstr(ask->opts->from, "://"))
		problem = "clickhouse://HOST/DATABASE was expected (--spool DIR reads a folder)";
	if (err == -EACCES)
		return usage_error(ask->usage, "option '--from': %s", problem);
	if (err == -EINVAL)
		return usage_error(ask->usage, "option '--from' cannot be '%s': %s",
				   ask->opts->from, problem);
	if (err)
		return message_error("cannot query: %s", strerror(-err));
	if (ask->opts->token)
		status = secret_file_read(ask->opts->token, &secret);
	t.secret = secret;
	if (!status)
		status = ask->before_ns ? compare_fleets(ask, &t, span) : show_fleet(ask, &t, span);
	push_target_done(&t);
	free(secret);
	return status;
}
