/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/sender.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/push/forms/clickhouse.h"
#include "analyze/push/forms/forms.h"
#include "analyze/push/retry.h"
#include "format/base/hash.h"
#include "format/os/clock.h"

/* STEP_TAKEN: a part was, or all, and the ledger could not be written. */
enum step { STEP_IDLE, STEP_VERSION, STEP_QUESTION, STEP_PART, STEP_TAKEN };

/* A server and what is under way there. */
struct lane {
	struct push_target *target;
	int64_t id;
	enum step step;
	struct push_waiting waiting; /* of which batch is */
	struct push_batch batch;
	size_t part;
	bool maybe_there; /* the next part may have arrived before */
	struct push_request request;
	struct push_exchange exchange;
	bool is_unrecorded; /* a part was taken, and the ledger does not have it */
	bool is_repeated;   /* and it may be there twice */
	unsigned failures;  /* one after the other, of the server */
	uint64_t next_ms;   /* of steady_ms(): nothing is sent before */
	char rejected[200]; /* the server's words about what it did not take */
};

struct push_sender {
	struct push_sender_opts opts;
	struct push_ledger *ledger;
	struct push_http *http;
	struct lane *lanes;
	size_t count;
	uint64_t took;
};

/* What the ledger has outlives a start of the machine. */
static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000000;
}

static uint64_t steady_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

char *push_batch_path(const char *folder, int64_t target, const char *host, uint64_t seq,
		      const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/%s-%" PRIu64 ".%" PRId64 "%s", folder, host, seq, target,
			suffix) < 0
		       ? NULL
		       : path;
}

/* HOST-SEQ.TARGET, from the end; false: it is no name of a batch. */
static bool read_name(char *name, uint64_t *seq, int64_t *target)
{
	char *dot = strrchr(name, '.'), *dash, *end;

	if (!dot || dot[1] < '0' || dot[1] > '9')
		return false;
	*dot = '\0';
	*target = strtoll(dot + 1, &end, 10);
	dash = strrchr(name, '-');
	if (*end || !dash || dash[1] < '0' || dash[1] > '9')
		return false;
	*dash = '\0';
	*seq = strtoull(dash + 1, &end, 10);
	return !*end;
}

static void clean_file(struct push_ledger *l, int dir_fd, const char *name)
{
	char host[NAME_MAX + 1];
	uint64_t seq;
	int64_t target;
	bool has;

	snprintf(host, sizeof(host), "%s", name);
	if (read_name(host, &seq, &target) && !push_ledger_has_batch(l, target, host, seq, &has) &&
	    !has)
		(void)unlinkat(dir_fd, name, 0);
}

void push_folder_clean(const char *folder, struct push_ledger *l)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		clean_file(l, dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

static char *path_of(const struct push_sender *s, const struct push_waiting *w, const char *suffix)
{
	return push_batch_path(s->opts.folder, w->target, w->host, w->seq, suffix);
}

static void report(const struct push_sender *s, const struct lane *l, enum push_event event,
		   const char *words)
{
	if (s->opts.on_event)
		s->opts.on_event(s->opts.arg, event, l->target, &l->waiting, words);
}

int push_sender_new(const struct push_sender_opts *opts, struct push_ledger *ledger,
		    struct push_target *targets, const int64_t *ids, size_t count,
		    struct push_sender **out)
{
	struct push_sender *s = calloc(1, sizeof(*s));
	int err = s ? push_http_new(&opts->http, &s->http) : -ENOMEM;

	if (!err && !(s->lanes = calloc(count + 1, sizeof(*s->lanes))))
		err = -ENOMEM;
	if (err) {
		push_sender_free(s);
		return err;
	}
	s->opts = *opts;
	s->ledger = ledger;
	s->count = count;
	for (size_t i = 0; i < count; i++)
		s->lanes[i] = (struct lane){ .target = &targets[i], .id = ids[i] };
	*out = s;
	return 0;
}

struct push_http *push_sender_http(struct push_sender *s)
{
	return s->http;
}

/* ---- one lane ---- */

static void end_request(struct push_sender *s, struct lane *l)
{
	push_http_end(s->http, &l->exchange);
	push_request_done(&l->request);
}

static void end_batch(struct push_sender *s, struct lane *l)
{
	end_request(s, l);
	push_batch_done(&l->batch);
	push_waiting_done(&l->waiting);
	l->step = STEP_IDLE;
}

void push_sender_free(struct push_sender *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->lanes && i < s->count; i++)
		end_batch(s, &s->lanes[i]);
	free(s->lanes);
	push_http_free(s->http);
	free(s);
}

static uint64_t wait_of(const struct push_sender *s, unsigned tries, uint64_t asked_s)
{
	struct hash_key random = { 0 };

	(void)hash_key_new(&random); /* without it all wait the shortest time */
	return push_wait_ms(tries, (uint32_t)random.a, s->opts.most_wait_ms, asked_s);
}

/* Whether the server may have what was sent to it last, though its answer is none of success. */
static bool may_have_arrived(const struct lane *l)
{
	const struct push_exchange *x = &l->exchange;

	return l->step == STEP_PART && x->was_sent && (x->status < 400 || x->status >= 500);
}

/* The batch waits; is_server: and so do the others of this server. */
static int put_off(struct push_sender *s, struct lane *l, bool is_server, const char *words,
		   uint64_t asked_s)
{
	uint64_t wait_ms;
	int err;

	l->failures += is_server;
	wait_ms = wait_of(s, is_server ? l->failures : l->waiting.tries, asked_s);
	l->next_ms = is_server ? steady_ms() + wait_ms : 0;
	l->waiting.is_unanswered = l->maybe_there || may_have_arrived(l);
	err = push_ledger_later(s->ledger, &l->waiting, now_ms() + wait_ms, words);
	report(s, l, PUSH_EVENT_LATER, words);
	end_batch(s, l);
	return err;
}

/* It stays as a file, for who wants to know what was refused, and is never sent again. */
static int set_aside(struct push_sender *s, struct lane *l, enum push_event event,
		     const char *words)
{
	char *from = path_of(s, &l->waiting, ""), *to = path_of(s, &l->waiting, ".refused");
	int err = from && to ? push_ledger_refuse(s->ledger, &l->waiting, words) : -ENOMEM;

	if (!err && event == PUSH_EVENT_REFUSED)
		(void)rename(from, to); /* the ledger has it either way */
	free(from);
	free(to);
	if (!err) {
		report(s, l, event, words);
		s->took++;
	}
	end_batch(s, l);
	return err;
}

static int begin_exchange(struct push_sender *s, struct lane *l, enum step step)
{
	int err = push_http_begin(s->http, l->target, &l->request, PUSH_RECEIPT_MAX_BYTES,
				  &l->exchange);

	l->step = step;
	return err;
}

static int ask_version(struct push_sender *s, struct lane *l)
{
	if (asprintf(&l->request.url, "%s/?query=SELECT%%20version()", l->target->url) < 0) {
		l->request.url = NULL;
		return -ENOMEM;
	}
	return begin_exchange(s, l, STEP_VERSION);
}

static int finish_batch(struct push_sender *s, struct lane *l)
{
	char *path, words[PUSH_WORDS_BYTES];
	int err;

	if (l->waiting.rejected) {
		snprintf(words, sizeof(words), "%" PRIu64 " of its profiles were rejected: %.300s",
			 l->waiting.rejected, l->rejected);
		return set_aside(s, l, PUSH_EVENT_REFUSED, words);
	}
	path = path_of(s, &l->waiting, "");
	err = path ? push_ledger_sent(s->ledger, &l->waiting) : -ENOMEM;
	if (err) {
		l->step = STEP_TAKEN;
	} else {
		(void)unlink(path); /* one that stays has no row: push_folder_clean() */
		s->took++;
		l->failures = 0;
		report(s, l, PUSH_EVENT_SENT, NULL);
		end_batch(s, l);
	}
	free(path);
	return err;
}

static int send_part(struct push_sender *s, struct lane *l)
{
	int err;

	while (l->part < l->batch.part_count && !l->batch.parts[l->part].body.size_bytes)
		l->part++;
	if (l->part >= l->batch.part_count)
		return finish_batch(s, l);
	if (l->maybe_there && l->target->form->question) {
		err = l->target->form->question(l->target, &l->batch, l->part, &l->request.url);
		if (err != -ENOENT)
			return err ? err : begin_exchange(s, l, STEP_QUESTION);
	}
	err = push_target_request(l->target, &l->batch, l->part, &l->request);
	return err ? err : begin_exchange(s, l, STEP_PART);
}

static int begin_batch(struct push_sender *s, struct lane *l)
{
	char *path;
	int err = push_ledger_next(s->ledger, l->id, now_ms(), &l->waiting);

	if (err)
		return err == -ENOENT ? 0 : err;
	path = path_of(s, &l->waiting, "");
	err = path ? push_batch_read(path, &l->batch) : -ENOMEM;
	free(path);
	if (err && err != -ENOMEM)
		return set_aside(s, l, PUSH_EVENT_GONE, strerror(-err));
	l->part = l->waiting.parts;
	*l->rejected = '\0';
	/* Of a server that can be asked the ledger does not have which parts it took. */
	l->maybe_there = l->target->form->counts_twice ? l->waiting.is_unanswered
						       : l->waiting.tries;
	l->waiting.tries++;
	if (!err)
		err = push_ledger_try(s->ledger, &l->waiting);
	if (err) {
		end_batch(s, l);
		return err;
	}
	return l->target->form == &push_clickhouse && !l->target->version ? ask_version(s, l)
									  : send_part(s, l);
}

/* ---- answers ---- */

/* The halves are written in the place of the batch before either is sent, and of each the order is that of the batch. */
static int halve(struct push_sender *s, struct lane *l)
{
	char *path = path_of(s, &l->waiting, "");
	int err = path ? push_batch_halve(&l->batch, l->part) : -ENOMEM;

	if (!err)
		err = push_batch_write(&l->batch, path);
	free(path);
	if (err == -ENOENT || err == -EFBIG)
		return set_aside(
			s, l, PUSH_EVENT_REFUSED,
			"it is too large (413), and has too few rows or too many parts to be halved");
	if (err)
		return put_off(s, l, false, strerror(-err), 0);
	report(s, l, PUSH_EVENT_HALVED, NULL);
	l->maybe_there = false;
	end_request(s, l);
	return send_part(s, l);
}

static int on_failure(struct push_sender *s, struct lane *l)
{
	const struct push_exchange *x = &l->exchange;
	char words[PUSH_WORDS_BYTES + 32];
	enum push_outcome outcome = push_outcome_of(x->status);

	if (x->status)
		snprintf(words, sizeof(words), "HTTP %ld: %s", x->status, x->words);
	else
		snprintf(words, sizeof(words), "%s", x->words);
	if (l->step != STEP_PART && (outcome == PUSH_REFUSED || outcome == PUSH_TOO_LARGE))
		outcome = PUSH_MISDIRECTED; /* a question was refused, not the batch */
	if (outcome == PUSH_TOO_LARGE)
		return halve(s, l);
	if (outcome == PUSH_REFUSED)
		return set_aside(s, l, PUSH_EVENT_REFUSED, words);
	return put_off(s, l, outcome != PUSH_LATER, words, x->retry_after_s);
}

static int on_version(struct push_sender *s, struct lane *l)
{
	l->target->version = push_clickhouse_version(l->exchange.words);
	if (!l->target->version)
		return put_off(s, l, true, "the answer is not ClickHouse's", 0);
	end_request(s, l);
	return send_part(s, l);
}

/* Its rows are stored as one, or not; what else the server has would be doubled or lost. */
static int on_count(struct push_sender *s, struct lane *l)
{
	const struct push_part *part = &l->batch.parts[l->part];
	uint64_t before = 0, has;
	char *end, words[120];

	has = strtoull(l->exchange.words, &end, 10);
	if (end == l->exchange.words || *end)
		return put_off(s, l, true, "the answer is not a number", 0);
	for (size_t i = 0; i < l->part; i++)
		if (!strcmp(l->batch.parts[i].name, part->name))
			before += l->batch.parts[i].rows;
	end_request(s, l);
	if (has >= before + part->rows) {
		l->part++;
		return send_part(s, l);
	}
	if (has != before) {
		snprintf(words, sizeof(words),
			 "the server has %" PRIu64 " of %" PRIu64 " rows: neither none nor all",
			 has, before + part->rows);
		return set_aside(s, l, PUSH_EVENT_REFUSED, words);
	}
	l->maybe_there = false;
	return send_part(s, l);
}

/* What a server took in part is not sent again: it would have the rest twice. */
static void note_rejected(struct lane *l)
{
	const struct push_exchange *x = &l->exchange;
	char words[sizeof(l->rejected)];
	uint64_t count = l->target->form->rejected
				 ? l->target->form->rejected(x->answer.data, x->answer.size_bytes,
							     words, sizeof(words))
				 : 0;

	if (count)
		memcpy(l->rejected, words, sizeof(words));
	l->waiting.rejected += count;
}

/* What is known to be there is not sent to a server that would count it twice, whatever ends the sender. */
static int record_part(struct push_sender *s, struct lane *l)
{
	int err;

	if (l->is_unrecorded) {
		l->waiting.parts = l->part;
		err = push_ledger_taken(s->ledger, &l->waiting, l->is_repeated);
		if (err) {
			l->step = STEP_TAKEN;
			return err;
		}
		l->is_unrecorded = false;
		if (l->is_repeated)
			report(s, l, PUSH_EVENT_REPEATED, NULL);
	}
	return send_part(s, l);
}

static int on_taken(struct push_sender *s, struct lane *l)
{
	note_rejected(l);
	end_request(s, l);
	l->part++;
	if (l->target->form->counts_twice) {
		l->is_repeated = l->maybe_there;
		l->is_unrecorded = l->is_repeated || l->part < l->batch.part_count;
		l->maybe_there = false;
	}
	return record_part(s, l);
}

static int on_answer(struct push_sender *s, struct lane *l)
{
	if (push_outcome_of(l->exchange.status) != PUSH_TAKEN)
		return on_failure(s, l);
	switch (l->step) {
	case STEP_VERSION:
		return on_version(s, l);
	case STEP_QUESTION:
		return on_count(s, l);
	default:
		return on_taken(s, l);
	}
}

static int work_lane(struct push_sender *s, struct lane *l)
{
	switch (l->step) {
	case STEP_IDLE:
		return steady_ms() >= l->next_ms ? begin_batch(s, l) : 0;
	case STEP_TAKEN:
		return record_part(s, l);
	default:
		return l->exchange.done ? on_answer(s, l) : 0;
	}
}

/* Each lane, whatever comes of the others: the first error.  *busy: something is under way. */
static int work_lanes(struct push_sender *s, bool *busy)
{
	int first = 0, err;

	*busy = false;
	for (size_t i = 0; i < s->count; i++) {
		err = work_lane(s, &s->lanes[i]);
		first = first ? first : err;
		*busy |= s->lanes[i].step != STEP_IDLE;
	}
	return first;
}

int push_sender_work(struct push_sender *s, int timeout_ms, uint64_t *waiting, uint64_t *took)
{
	const uint64_t until_ms = steady_ms() + (uint64_t)timeout_ms;
	struct push_sums sums;
	bool busy;
	int err;

	s->took = 0;
	do {
		err = work_lanes(s, &busy);
		if (busy)
			push_http_work(s->http, 100);
	} while (busy && !err && steady_ms() < until_ms);
	*waiting = 0;
	for (size_t i = 0; i < s->count && !err; i++) {
		err = push_ledger_sums(s->ledger, s->lanes[i].id, &sums);
		*waiting += err ? 0 : sums.waiting;
	}
	*took = s->took;
	return err;
}
