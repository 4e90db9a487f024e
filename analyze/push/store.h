/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* store - the batches of a capture for one server become files, and the ledger has them: all or none */
#ifndef EBPREC_ANALYZE_PUSH_STORE_H
#define EBPREC_ANALYZE_PUSH_STORE_H

#include "analyze/push/forms/batch.h"
#include "analyze/push/ledger.h"

/* Embedded by the owner. */
struct push_store {
	struct push_ledger *ledger;
	const char *folder; /* of batches */
	int64_t target;
	const char *host; /* whose batches these are */
	bool open;        /* between begin and commit */
};

/* All: the errors of files and of the ledger; after one push_store_abandon(). */
int push_store_begin(struct push_store *s);
/* -EBADMSG: the batch is not the one that is next. */
int push_store_add(struct push_store *s, const struct push_batch *b);
/* identity: of the capture. */
int push_store_commit(struct push_store *s, const char *identity);
/* None of them stays.  Nothing, where none is open. */
void push_store_abandon(struct push_store *s);

#endif
