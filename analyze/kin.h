/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kin - which records of the side-band say something of the threads of a slice
 *
 * What a process has mapped and what it is called comes from its own records and from those of
 * whoever forked it, as of the fork, and so on up.  So a kin is told of the threads that were seen in the
 * slice, and is then shown all records from the last one backwards.  It knows at each moment whose state
 * matters: where a fork has made an id, what that id was before does not, but what its parent was does.
 * That is exact for ids that are used again and again; an hour has many times pid_max processes.
 *
 * Behind the slice the ids of the slice themselves still matter: a mapping told of later may be the first
 * at its address, and who was never heard of before is taken for what it was first (model).  Such a latecomer
 * depends on its parents of then, and of these nobody knew yet: kin_again() says that all has to be shown once
 * more.
 */
#ifndef EBPREC_ANALYZE_KIN_H
#define EBPREC_ANALYZE_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/hashidx.h"

/* Of a thread or a process, they share their numbers. */
struct kin_member {
	uint32_t id;
	uint32_t process; /* a member: asked for as a thread of it; HASHIDX_NONE: of none */
	uint32_t pins;    /* threads asked for that may be of what it was before */
	uint32_t forked; /* the record that it is known by, if there is none before, + 1; 0: none */
	bool wanted;     /* its state at this moment matters */
	bool asked;      /* is in the slice */
	bool kept;       /* asked for as a thread of several: never let go */
	bool let_go;     /* and does not pin its process any more */
	bool heard;      /* a record by the end of the slice made it known */
	bool made_later; /* one behind it, which depends on others */
};

struct kin_task {
	uint32_t pid, tid, ppid, ptid;
};

/* Embedded by the owner; all zero is an empty one. */
struct kin {
	struct kin_member *members;
	size_t count, capacity;
	struct hashidx index;
	uint64_t from_ns, to_ns;
	bool entered; /* the slice, on the way back */
	bool repeated;
};

/* A sample between from_ns and to_ns is of this thread.  -ENOMEM, -EOVERFLOW. */
int kin_ask(struct kin *k, uint32_t pid, uint32_t tid);
/* All are asked for: records are shown from here on, each no later than the one before. */
void kin_begin(struct kin *k, uint64_t from_ns, uint64_t to_ns);

/*
 * Whether the record matters: 1 or 0; -ENOMEM, -EOVERFLOW.  *number is the record's among those that do.  Whoever
 * forks is known from then on at the latest, which an earlier record may say as well: when *number is another
 * than it was, the record of that number does not matter any more, and this one takes its place.
 */
int kin_fork(struct kin *k, const struct kin_task *task, uint64_t time_ns, uint32_t *number);
int kin_comm(struct kin *k, uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t *number);
int kin_map(struct kin *k, uint32_t pid, uint64_t time_ns, uint32_t *number);

/* All were shown: whether it has to be done again, from the last, for what mattered to be found. */
bool kin_again(struct kin *k);
void kin_done(struct kin *k);

#endif
