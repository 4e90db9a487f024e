/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * removed - the list of what is gone from a spool, in a file of lines
 *
 *	FROM_NS TO_NS SAMPLES LOST BYTES WHY NAME .	separated by tabs; NAME may be empty: several captures
 *
 * A line is on the disk before the capture goes.  A line that was torn by a power cut is passed over.  A file
 * larger than a limit is written anew with its older half as one line, whose time is from the first to the last.
 */
#ifndef EBPREC_ANALYZE_SPOOL_REMOVED_H
#define EBPREC_ANALYZE_SPOOL_REMOVED_H

#include "analyze/spool/spool.h"

#define REMOVED_BYTES_MAX (512u << 10)

/* Embedded by the owner; removed_done(). */
struct removed_list {
	struct spool_removed *list;
	size_t count, capacity;
};

/* A file that is not there has no lines.  errno. */
int removed_read(const char *path, struct removed_list *out);
/* One more, in the file and in the list.  errno. */
int removed_add(const char *path, const struct spool_removed *entry, struct removed_list *list);
/* Drops the entries of a name from the list; they stay in the file. */
void removed_forget(struct removed_list *list, const char *name);
bool removed_has(const struct removed_list *list, const char *name);
void removed_done(struct removed_list *list);

#endif
