/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/query/cmd_query_fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/secret_file.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"
#include "analyze/push/fleet.h"
#include "analyze/push/forms/forms.h"
#include "analyze/report/profile/flame_svg.h"
#include "analyze/report/profile/folded.h"

#define NS_PER_SECOND 1000000000ull
#define TIMEOUT_MS    120000
#define MOST_STACKS   20000
#define TABLE_ROWS    30

/* ---- a table ---- */

struct row {
	uint32_t label;
	uint64_t self, total;
};

static int by_self(const void *va, const void *vb, void *arg)
{
	const struct row *a = va, *b = vb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return strcmp(string_table_text(arg, a->label), string_table_text(arg, b->label));
}

/* Whether the label stands above a node, too: a recursion counts once. */
static bool is_above(const struct calltree *t, uint32_t node)
{
	uint32_t label = t->nodes[node].label;

	for (node = t->nodes[node].parent; node; node = t->nodes[node].parent)
		if (t->nodes[node].label == label)
			return true;
	return false;
}

/* A row for each label; owned, NULL: no memory.  Comms, which are below the root, are no functions. */
static struct row *make_rows(const struct push_fleet *f, size_t *count)
{
	const struct calltree *t = &f->tree;
	struct row *rows = calloc(string_table_count(f->names) + 1, sizeof(*rows));
	uint64_t *totals = calloc(t->count + 1, sizeof(*totals));

	*count = string_table_count(f->names);
	for (size_t i = 0; rows && i < *count; i++)
		rows[i].label = (uint32_t)i;
	for (size_t i = t->count; rows && totals && i-- > 1;) {
		const struct calltree_node *n = &t->nodes[i];

		totals[i] += n->self;
		totals[n->parent] += totals[i];
		if (n->parent == CALLTREE_ROOT && !n->self)
			continue;
		rows[n->label].self += n->self;
		if (!is_above(t, (uint32_t)i))
			rows[n->label].total += totals[i];
	}
	if (!totals) {
		free(rows);
		rows = NULL;
	}
	free(totals);
	return rows;
}

static int print_table(const struct query_fleet_ask *ask, const struct push_fleet *f)
{
	static const char *const columns[] = { "function", "self", "total", "share" };
	struct text_table *v;
	size_t count;
	struct row *rows = make_rows(f, &count);

	if (!rows || text_table_open(stdout, ask->json, &v)) {
		free(rows);
		return -ENOMEM;
	}
	qsort_r(rows, count, sizeof(*rows), by_self, f->names);
	text_table_begin(v, "functions", columns, 4);
	for (size_t i = 0; i < count && rows[i].self && (ask->json || i < TABLE_ROWS); i++) {
		text_table_row(v);
		text_table_text(v, "function", string_table_text(f->names, rows[i].label));
		text_table_number(v, "self", rows[i].self);
		text_table_number(v, "total", rows[i].total);
		text_table_percent(v, "share", rows[i].self, f->sum);
	}
	text_table_end(v);
	free(rows);
	return text_table_close(v);
}

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

static int write_answer(const struct query_fleet_ask *ask, const struct push_fleet *f,
			const char *unit)
{
	struct drawing d = { ask, f, unit };
	int err;

	if (ask->svg)
		err = cmd_write_output(ask->svg, draw, &d);
	else if (ask->folded)
		err = folded_write(&f->tree, f->names, 0, stdout);
	else
		err = print_table(ask, f);
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

static int read_fleet(const struct query_fleet_ask *ask, const struct push_target *t,
		      const struct time_span *span, struct push_fleet *out)
{
	const struct push_http_opts http = { .ca_file = ask->opts->ca, .timeout_ms = TIMEOUT_MS };
	const struct push_fleet_ask of = {
		.services = ask->services->values,
		.service_count = ask->services->count,
		.hosts = ask->opts->hosts.values,
		.host_count = ask->opts->hosts.count,
		.event = ask->event,
		.from_s = span->from_ns / NS_PER_SECOND,
		.to_s = span->to_ns / NS_PER_SECOND,
		.most_stacks = MOST_STACKS,
		.by_weight = ask->weight && strcmp(ask->weight, "samples") != 0,
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

int query_fleet_run(const struct query_fleet_ask *ask, const struct time_span *span)
{
	struct push_target t;
	struct push_fleet f;
	const char *problem;
	char *secret = NULL;
	int err = push_target_parse(ask->opts->from, &t, &problem), status = 0;

	if (!err && t.form != &push_clickhouse) {
		push_target_done(&t);
		problem = "only clickhouse:// can be asked";
		err = -EINVAL;
	}
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
		status = read_fleet(ask, &t, span, &f);
	if (!status) {
		status = write_answer(ask, &f,
				      ask->weight && strcmp(ask->weight, "samples") != 0
					      ? ask->weight
					      : "samples");
		push_fleet_done(&f);
	}
	push_target_done(&t);
	free(secret);
	return status;
}
