/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Tables on the servers that have tables, and what waits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/push/cmd_push.h"
#include "analyze/out/message.h"
#include "analyze/push/ask/clickhouse_ask.h"
#include "analyze/push/forms/clickhouse.h"
#include "analyze/push/forms/forms.h"

static int run_statement(struct push_state *p, const struct push_target *t, const char *sql,
			 char *words, size_t words_bytes)
{
	struct push_exchange x;
	struct push_http *http = push_sender_http(p->sender);
	int status = 0, err = push_clickhouse_ask(http, t, sql, &x);

	if (err)
		return message_error("cannot ask '%s': %s", t->name, strerror(-err));
	if (x.status != 200)
		status = message_error("cannot set up '%s': %s", t->name, x.words);
	snprintf(words, words_bytes, "%s", x.words);
	push_http_end(http, &x);
	return status;
}

static int set_up(struct push_state *p, struct push_target *t)
{
	char words[PUSH_WORDS_BYTES], *sql;
	int err = 0, status = run_statement(p, t, "SELECT version()", words, sizeof(words));
	size_t i = 0;

	if (status)
		return status;
	t->version = push_clickhouse_version(words);
	for (; !status; i++) {
		err = push_clickhouse_statement(t, p->opts->replicated, p->opts->days, i, &sql);
		if (err || !sql)
			break;
		status = run_statement(p, t, sql, words, sizeof(words));
		free(sql);
	}
	if (err)
		return message_error("cannot set up '%s': %s", t->name, strerror(-err));
	if (!status && !p->opts->quiet)
		message_note("'%s' (ClickHouse %" PRIu64 ".%" PRIu64 ") has its tables%s", t->name,
			     t->version / 1000, t->version % 1000,
			     t->version >= PUSH_CLICKHOUSE_FULL
				     ? ""
				     : ", without LowCardinality and TTL, which it is too old for");
	return status;
}

int push_setup(struct push_state *p)
{
	size_t done = 0;
	int status = 0;

	for (size_t i = 0; i < p->count && !status; i++) {
		if (p->targets[i].form != &push_clickhouse)
			continue;
		status = set_up(p, &p->targets[i]);
		done++;
	}
	if (!status && !done)
		return usage_error(p->usage,
				   "--setup makes tables of ClickHouse, and no --to is one");
	return status;
}

/* ---- what waits ---- */

static int print_waiting(void *ctx, const struct push_waiting *w)
{
	struct push_state *p = ctx;
	char *path = push_batch_path(p->out, w->target, w->host, w->seq,
				     w->refused ? ".refused" : "");

	if (!path)
		return -ENOMEM;
	printf("  %s: %s, %" PRIu64 " samples or points, %u tries", path,
	       w->refused ? "refused" : "waits", w->samples, w->tries);
	if (w->words)
		fputs(": ", stdout);
	if (w->words)
		message_escaped(stdout, w->words, strlen(w->words));
	putchar('\n');
	free(path);
	return 0;
}

static int print_target(void *ctx, int64_t target, const char *name)
{
	struct push_state *p = ctx;
	struct push_sums sums;
	int err = push_ledger_sums(p->ledger, target, &sums);

	if (err)
		return err;
	message_escaped(stdout, name, strlen(name));
	printf("\n  sent %" PRIu64 " batches, %" PRIu64 " samples or points, %" PRIu64
	       " bytes before compression; %" PRIu64 " wait, %" PRIu64 " were refused\n",
	       sums.sent, sums.sent_samples, sums.sent_bytes, sums.waiting, sums.refused);
	if (sums.repeated)
		printf("  %" PRIu64
		       " parts of batches may be there twice: they were sent again, as their answer was lost\n",
		       sums.repeated);
	if (sums.removed)
		printf("  %" PRIu64 " captures were removed before they were sent\n", sums.removed);
	return push_ledger_each(p->ledger, target, print_waiting, p);
}

static int count_target(void *ctx, int64_t target, const char *name)
{
	size_t *count = ctx;

	(void)target;
	(void)name;
	++*count;
	return 0;
}

int push_status(struct push_state *p)
{
	size_t count = 0;
	int err = p->ledger ? push_ledger_targets(p->ledger, count_target, &count) : 0;

	if (!err && !count && !p->opts->quiet)
		message_note("nothing was ever to be sent from '%s' (-d DIR is another folder)",
			     p->opts->folder);
	if (!err && count)
		err = push_ledger_targets(p->ledger, print_target, p);
	return err ? push_ledger_error(p, err) : MESSAGE_OK;
}
