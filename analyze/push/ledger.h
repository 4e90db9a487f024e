/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ledger - which captures were encoded for which server, and which batches wait
 *
 * An SQLite file.  It decides: a batch's file without a row was never sent, and is written anew.  What changes
 * together is one transaction, on the disk when the call returns.  All: -EAGAIN where it may pass (a full disk, another
 * process has it), else -EIO, and push_ledger_problem() is why; -ENOMEM.
 */
#ifndef EBPREC_ANALYZE_PUSH_LEDGER_H
#define EBPREC_ANALYZE_PUSH_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_ledger; /* opaque */

/* One that waits. */
struct push_waiting {
	int64_t target;
	char *host; /* owned by push_waiting_done() */
	uint64_t seq;
	uint64_t bytes, samples; /* samples: or points */
	unsigned tries;          /* that were begun */
	size_t parts;            /* of it that were taken: the next one is sent first */
	uint64_t rejected;       /* of these: what the server did not take */
	bool is_unanswered;      /* the next part may have arrived before */
	char *words;             /* owned; of the last failure; NULL: none */
	uint64_t next_ms;
	bool refused;
};

struct push_sums {
	uint64_t waiting, waiting_bytes, refused;
	uint64_t sent, sent_samples, sent_bytes;
	uint64_t repeated; /* parts that the server may have twice */
	uint64_t removed;  /* captures that were removed before they were encoded */
	uint64_t next_ms;  /* when the first of them may be tried; UINT64_MAX: none waits */
};

/* path: made if need be.  *problem: owned by the caller, NULL or why it failed. */
int push_ledger_open(const char *path, struct push_ledger **out, char **problem);
void push_ledger_close(struct push_ledger *l); /* NULL is fine */
/* Why the last call failed that did; "": none did. */
const char *push_ledger_problem(const struct push_ledger *l);
/*
 * After -EAGAIN: what was written lately goes to its place in the file, where there is room, so that its journal begins anew and needs
 * no more of the disk.
 */
void push_ledger_make_room(struct push_ledger *l);

/* The random number of this ledger: sequence numbers count within it. */
uint64_t push_ledger_sender(const struct push_ledger *l);
int push_ledger_target(struct push_ledger *l, const char *name, int64_t *out);

int push_ledger_begin(struct push_ledger *l);
int push_ledger_commit(struct push_ledger *l);
void push_ledger_rollback(struct push_ledger *l);

int push_ledger_has_capture(struct push_ledger *l, int64_t target, const char *identity, bool *out);
int push_ledger_add_capture(struct push_ledger *l, int64_t target, const char *identity);
/* A capture was removed that the target has not had. */
int push_ledger_add_removed(struct push_ledger *l, int64_t target);
/* The one that is taken next. */
int push_ledger_next_seq(struct push_ledger *l, int64_t target, const char *host, uint64_t *out);
/* From 1 on, each once. */
int push_ledger_take_seq(struct push_ledger *l, int64_t target, const char *host, uint64_t *out);
/* w: without tries, words and times. */
int push_ledger_add(struct push_ledger *l, const struct push_waiting *w);

/* The first that may be tried by now, or only in more than a day.  -ENOENT: none. */
int push_ledger_next(struct push_ledger *l, int64_t target, uint64_t now_ms,
		     struct push_waiting *out);
/* Whether there is a batch of that number, that waits or was refused. */
int push_ledger_has_batch(struct push_ledger *l, int64_t target, const char *host, uint64_t seq,
			  bool *out);
/* Before anything of it is sent: it is unanswered until push_ledger_later() has another thing of it. */
int push_ledger_try(struct push_ledger *l, const struct push_waiting *w);
/* w->parts were taken, but for w->rejected; repeated: the last of them may be there twice. */
int push_ledger_taken(struct push_ledger *l, const struct push_waiting *w, bool repeated);
/* is_unanswered: as of w, from then on. */
int push_ledger_later(struct push_ledger *l, const struct push_waiting *w, uint64_t next_ms,
		      const char *words);
int push_ledger_refuse(struct push_ledger *l, const struct push_waiting *w, const char *words);
/* It was taken: counted, and its row is gone. */
int push_ledger_sent(struct push_ledger *l, const struct push_waiting *w);
void push_waiting_done(struct push_waiting *w);

int push_ledger_sums(struct push_ledger *l, int64_t target, struct push_sums *out);
/* Each that waits or was refused, in order.  A negative return of see ends it and is returned. */
int push_ledger_each(struct push_ledger *l, int64_t target,
		     int (*see)(void *ctx, const struct push_waiting *w), void *ctx);
/* Each target that was ever named. */
int push_ledger_targets(struct push_ledger *l,
			int (*see)(void *ctx, int64_t target, const char *name), void *ctx);

#endif
