/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * index - the facts of a spool's captures, in SQLite
 *
 * A row stands for one state of a file: its name, inode, size and time of change.  Every change is a
 * transaction, so a process that is killed leaves the rows before or after it.  What is wrong with the
 * file, or was written by another version, makes it an empty one.
 */
#ifndef EBPREC_ANALYZE_SPOOL_INDEX_H
#define EBPREC_ANALYZE_SPOOL_INDEX_H

#include "analyze/spool/spool.h"

struct index; /* opaque; one thread */

/*
 * path: of the database.  writes: it is made, and made anew where it is damaged (*was_damaged); else it is only
 * read, and what is not there or damaged is empty.  -ENOMEM; -EIO, -ENOSPC ...: it cannot be written.
 */
int index_open(const char *path, bool writes, struct index **out, bool *was_damaged);
void index_close(struct index *x); /* NULL is fine */

/* Calls fn with each row; the name is borrowed during the call.  Negative: the result of fn, or -EBADMSG. */
int index_each(struct index *x, int (*fn)(void *arg, const struct spool_capture *row), void *arg);
/* Puts a row, in the place of one of that name; services may be NULL: not known.  *row: its number.  errno. */
int index_put(struct index *x, const struct spool_capture *c, const struct service_counts *services,
	      int64_t *row);
/* Whether the services of a row are known: 1, and appended; 0.  errno. */
int index_services(struct index *x, int64_t row, struct service_counts *to);
int index_remove(struct index *x, int64_t row);

#endif
