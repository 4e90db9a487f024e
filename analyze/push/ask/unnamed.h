/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unnamed - frames of a database that have no name, but the build and the address of their function
 *
 * A host without debug files sends "cc1+0x5a3f20" (function_label.h) and why it has no name.  A row of the same frame with a higher version
 * names it, for all hosts and all samples that were ever sent.
 */
#ifndef EBPREC_ANALYZE_PUSH_ASK_UNNAMED_H
#define EBPREC_ANALYZE_PUSH_ASK_UNNAMED_H

#include "analyze/push/http.h"

struct push_unnamed {
	uint64_t frame, address;
	char *build_id, *file; /* owned */
	char *found;           /* owned; NULL: not found */
};

/* By build-id. */
struct push_unnamed_list {
	struct push_unnamed *list;
	size_t count, capacity;
};

/* At most so many.  *out: push_unnamed_done().  Errors of push_clickhouse_rows(). */
int push_unnamed_ask(struct push_http *h, const struct push_target *t, size_t most,
		     struct push_unnamed_list *out, char words[PUSH_WORDS_BYTES]);
/* Names in the database those of [first, end) that were found.  The same errors. */
int push_unnamed_store(struct push_http *h, const struct push_target *t,
		       const struct push_unnamed_list *list, size_t first, size_t end,
		       char words[PUSH_WORDS_BYTES]);
void push_unnamed_done(struct push_unnamed_list *l);

#endif
