/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* threadlist - the threads that the side-band of a capture tells of, and what it says is missing */
#ifndef EBPREC_ANALYZE_PROCESS_THREAD_LIST_H
#define EBPREC_ANALYZE_PROCESS_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

struct threadlist_entry {        /* a FORK record, or a COMM of a thread without one */
	uint64_t time_ns;        /* of the fork; 0: before the recording */
	uint32_t pid, tid, ppid; /* ppid UINT32_MAX: not told */
	uint32_t comm;           /* its last name; UINT32_MAX: not told */
};

/* Read freely. */
struct threadlist {
	struct threadlist_entry *list; /* in the order of time; an id may be there again */
	size_t count, capacity;
	struct hashidx index; /* tid -> its last entry */
	uint64_t *lost;       /* by event of the capture: how many the LOST records speak of */
};

/* -ENOMEM, -EOVERFLOW.  *out: threadlist_done(). */
int threadlist_load(const struct capture *c, struct strings *names, struct threadlist *out);
void threadlist_done(struct threadlist *l);
/* The last entry of that thread; NULL: none. */
const struct threadlist_entry *threadlist_find(const struct threadlist *l, uint32_t tid);

#endif
