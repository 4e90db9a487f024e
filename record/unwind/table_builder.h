/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table_builder - unwind tables made in a thread of their own
 *
 * Making a table takes 0.2 s for a large library, and longer when its disk is slow; rings are to
 * be emptied meanwhile.  A job goes in, is worked on by the one thread, and comes out again; only
 * one thread may put in and take out.  A job has a ruleset of its own, so that nothing is shared.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_BUILDER_H
#define EBPREC_RECORD_UNWIND_TABLE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/unwind/table/module_table.h"
#include "record/base/mapping.h"
#include "record/privsep/io_timeout.h"
#include "record/unwind/table_cache.h"

struct table_builder; /* opaque */
struct table_opening; /* in table_builder.c */

struct table_job {
	uint32_t number;       /* for the caller */
	struct mapping source; /* its path is the job's */
	/* The result: */
	int err; /* -ESTALE: the file cannot be reached this way; else the error of reading it */
	struct module_table *table; /* NULL without err: no rows in it */
	struct rule_table *rules;   /* what the table's ids mean */
	bool from_cache;            /* it was in the cache */
	uint64_t took_ns;
	uint64_t reader_ns;           /* CPU time of the process that reads files, all in all */
	char death[80];               /* err is -ECHILD: what happened to it */
	struct table_opening *opened; /* the builder's, before the job is taken */
	struct table_job *next;
};

/*
 * Starts the thread.  io opens the files, as that may take for ever; borrowed.  *cache is borrowed and used by the
 * thread alone from here on; NULL: none.
 * program: what reads the files in a process of its own (elf_reader.h); NULL: the thread does.
 */
int table_builder_new(struct io_timeout *io, struct table_cache *cache, const char *program,
		      struct table_builder **out);
/*
 * Jobs inside are freed.  False: the thread does not come back from a file that hangs; it and the
 * cache are left to the end of the process.  NULL is fine.
 */
bool table_builder_free(struct table_builder *w);

/* Copies *source.  -ENOMEM. */
int table_builder_put(struct table_builder *w, uint32_t number, const struct mapping *source);
uint32_t table_builder_count(const struct table_builder *w); /* put in and not yet taken */
/* A job that is done, to be freed with tablejob_free(); NULL: none yet. */
struct table_job *table_builder_take(struct table_builder *w);
void tablejob_free(struct table_job *job); /* NULL is fine */

/* Becomes readable when a job is done; table_builder_take() makes it unreadable. */
int table_builder_fd(const struct table_builder *w);
/* Waits until a job, or I/O, is done, or for max_ns. */
void table_builder_wait(struct table_builder *w, uint64_t max_ns);

#endif
