/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * process_list - the processes that the side-band of a capture tells of: when they began and ended,
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

struct process_list_entry {
	uint32_t pid, ppid; /* ppid UINT32_MAX: not told */
	uint32_t comm;      /* the last name of its first thread; UINT32_MAX: not told */
	bool was_there;     /* before the recording */
	bool named_only;    /* met by one of those that were recorded, a waker or who ran next */
	uint64_t start_ns;  /* 0: not told */
	uint64_t end_ns;    /* 0: it was still there; its exit, or when another got its pid */
	uint32_t earlier;   /* that had the same pid before; UINT32_MAX: none */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct process_list {
	struct process_list_entry *list; /* in the order of time */
	size_t count, capacity;
	struct hash_index index; /* pid -> its last entry */
	struct cmdlines args;
};

/* -ENOMEM, -EOVERFLOW.  *out: process_list_done(). */
int process_list_load(const struct capture *c, struct string_table *names,
		      struct process_list *out);
void process_list_done(struct process_list *l);
/*
 * The place in the list of the process that had that pid for most of these times; UINT32_MAX: none was
 * told of.
 */
uint32_t process_list_at(const struct process_list *l, uint32_t pid, uint64_t from_ns,
			 uint64_t to_ns);
/* The last process with that pid; NULL: none was told of. */
const struct process_list_entry *process_list_find(const struct process_list *l, uint32_t pid);
/* How the process that had that pid at that time was called; NULL: not told. */
const struct cmdline_record *process_list_args(const struct process_list *l, uint32_t pid,
					       uint64_t time_ns);

#endif
