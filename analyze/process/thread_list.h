/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * thread_list - the threads that the side-band of a capture tells of, and what it says is missing
 *
 * An id that is used again is another thread, from its FORK record on.
 */
#ifndef EBPREC_ANALYZE_PROCESS_THREAD_LIST_H
#define EBPREC_ANALYZE_PROCESS_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

struct thread_list_entry {       /* a FORK record, or a COMM of a thread without one */
	uint64_t time_ns;        /* of the fork; 0: before the recording */
	uint64_t told_ns;        /* of its first record */
	uint32_t pid, tid, ppid; /* ppid UINT32_MAX: not told */
	uint32_t comm;           /* its last name; UINT32_MAX: not told */
};

/* Read freely. */
struct thread_list {
	struct thread_list_entry *list; /* in the order of time; an id may be there again */
	size_t count, capacity;
	uint32_t *by_tid; /* the places in the list, by tid and then by time */
	uint64_t *lost;   /* by event of the capture: how many the LOST records speak of */
};

/* -ENOMEM, -EOVERFLOW.  *out: thread_list_done(). */
int thread_list_load(const struct capture *c, struct string_table *names, struct thread_list *out);
void thread_list_done(struct thread_list *l);
/*
 * The thread that had the id at that time: the last one that was forked by then, else the first.
 * NULL: none had it.
 */
const struct thread_list_entry *thread_list_at(const struct thread_list *l, uint32_t tid,
					       uint64_t time_ns);

#endif
