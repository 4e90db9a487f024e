/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * proclist - the processes that the side-band of a capture tells of: when they began and ended,
 * what they were called and how
 *
 * A pid that is used again is another process.  Who forks without an exec is called as its parent
 * was then.
 */
#ifndef EBPREC_ANALYZE_PROCESS_PROCESS_LIST_H
#define EBPREC_ANALYZE_PROCESS_PROCESS_LIST_H

#include <stdbool.h>

#include "analyze/input/cmdlines.h"
#include "format/base/hash_index.h"
#include "analyze/base/string_table.h"

struct proclist_entry {
	uint32_t pid, ppid; /* ppid UINT32_MAX: not told */
	uint32_t comm;      /* the last name of its first thread; UINT32_MAX: not told */
	bool was_there;     /* before the recording */
	bool named_only;    /* met by one of those that were recorded, a waker or who ran next */
	uint64_t start_ns;  /* 0: not told */
	uint64_t end_ns;    /* 0: it was still there; its exit, or when another got its pid */
	uint32_t earlier;   /* that had the same pid before; UINT32_MAX: none */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct proclist {
	struct proclist_entry *list; /* in the order of time */
	size_t count, capacity;
	struct hashidx index; /* pid -> its last entry */
	struct arglist args;
};

/* -ENOMEM, -EOVERFLOW.  *out: proclist_done(). */
int proclist_load(const struct capture *c, struct strings *names, struct proclist *out);
void proclist_done(struct proclist *l);
/*
 * The place in the list of the process that had that pid for most of these times; UINT32_MAX: none was
 * told of.
 */
uint32_t proclist_at(const struct proclist *l, uint32_t pid, uint64_t from_ns, uint64_t to_ns);
/* The last process with that pid; NULL: none was told of. */
const struct proclist_entry *proclist_find(const struct proclist *l, uint32_t pid);
/* How the process that had that pid at that time was called; NULL: not told. */
const struct procargs *proclist_args(const struct proclist *l, uint32_t pid, uint64_t time_ns);

#endif
