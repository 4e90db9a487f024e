/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sender - sends the batches that wait, each to its server, one at a time a server and all servers at once
 *
 * A batch whose sending was begun before, by this process or one that was killed, may have arrived: the server is
 * asked first, or its form says that sending it again changes nothing.  A batch is done when each of its parts was taken.
 */
#ifndef EBPREC_ANALYZE_PUSH_SENDER_H
#define EBPREC_ANALYZE_PUSH_SENDER_H

#include "analyze/push/http.h"
#include "analyze/push/ledger.h"

/* What happened to a batch, for messages. */
enum push_event {
	PUSH_EVENT_SENT,
	PUSH_EVENT_LATER,   /* words: why */
	PUSH_EVENT_REFUSED, /* it is DIR/out/NAME.refused now; words: the server's */
	PUSH_EVENT_HALVED,
	PUSH_EVENT_REPEATED, /* a part of it may be there twice */
	PUSH_EVENT_GONE,     /* its file cannot be read; words: why */
};

struct push_sender_opts {
	const char *folder; /* with the batches; borrowed */
	struct push_http_opts http;
	uint64_t most_wait_ms; /* between two tries */
	void (*on_event)(void *arg, enum push_event event, const struct push_target *t,
			 const struct push_waiting *w, const char *words);
	void *arg;
};

struct push_sender; /* opaque */

/* targets, ids: by target, those of the ledger; all borrowed.  Errors of push_http_new(). */
int push_sender_new(const struct push_sender_opts *opts, struct push_ledger *ledger,
		    struct push_target *targets, const int64_t *ids, size_t count,
		    struct push_sender **out);
void push_sender_free(struct push_sender *s); /* NULL is fine */
/*
 * Works for at most so long.  *waiting: batches that wait; *took: how many were taken, or set aside.  The errors of the
 * ledger: after -EAGAIN it goes on when it is called again.
 */
int push_sender_work(struct push_sender *s, int timeout_ms, uint64_t *waiting, uint64_t *took);
struct push_http *push_sender_http(struct push_sender *s);

/* The path of a batch's file, owned; NULL: no memory. */
char *push_batch_path(const char *folder, int64_t target, const char *host, uint64_t seq,
		      const char *suffix);
/* Removes batches that the ledger does not have: their sender was killed before their row was there, or behind it. */
void push_folder_clean(const char *folder, struct push_ledger *l);

#endif
