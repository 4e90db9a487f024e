/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tableworker - unwind tables made in a thread of their own
 *
 * Making a table takes 0.2 s for a large library, and longer when its disk is slow; rings are to
 * be emptied meanwhile.  A job goes in, is worked on by the one thread, and comes out again; only
 * one thread may put in and take out.  A job has a ruleset of its own, so that nothing is shared.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_BUILDER_H
#define EBPREC_RECORD_UNWIND_TABLE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/unwind/module_table.h"
#include "record/events/side_record.h"
#include "record/unwind/table_cache.h"

struct tableworker; /* opaque */

struct tablejob {
	uint32_t number;           /* for who asks */
	struct siderec_map source; /* its path is the job's */
	/* The result: */
	int err; /* -ESTALE: the file cannot be reached this way; else what reading it said */
	struct unwtable *table; /* NULL without err: no rows in it */
	struct ruleset *rules;  /* what the table's ids mean */
	bool kept;              /* it was in the cache */
	uint64_t took_ns;
	uint64_t reader_ns; /* CPU time of the process that reads files, all in all */
	char death[48];     /* err is -ECHILD: what happened to it */
	struct tablejob *next;
};

/*
 * Starts the thread.  *cache is borrowed and used by the thread alone from here on; NULL: none.
 * program: what reads the files in a process of its own (elfworker.h); NULL: the thread does.
 */
int tableworker_new(struct tablecache *cache, const char *program, struct tableworker **out);
/*
 * Jobs inside are freed.  False: the thread does not come back from a file that hangs; it and the
 * cache are left to the end of the process.  NULL is fine.
 */
bool tableworker_free(struct tableworker *w);

/* Copies *source.  -ENOMEM. */
int tableworker_put(struct tableworker *w, uint32_t number, const struct siderec_map *source);
uint32_t tableworker_count(const struct tableworker *w); /* put in and not yet taken */
/* A job that is done, to be freed with tablejob_free(); NULL: none yet. */
struct tablejob *tableworker_take(struct tableworker *w);
void tablejob_free(struct tablejob *job); /* NULL is fine */

/* Becomes readable when a job is done; tableworker_take() makes it unreadable. */
int tableworker_fd(const struct tableworker *w);
/* Waits until a job is done, or for max_ns. */
void tableworker_wait(struct tableworker *w, uint64_t max_ns);

#endif
