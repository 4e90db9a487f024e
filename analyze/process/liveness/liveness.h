/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * liveness - which records of the side-band matter to the threads of samples
 *
 * The mappings and the name of a process come from its own records and from those of its parent, as
 * of the fork, and so on up.  So liveness gets all samples first, and then records and samples from
 * the last one backwards.  It knows at each moment whose state matters: where a fork has made an
 * id, its state before does not matter, but the state of its parent does.  That is exact for ids
 * that are used again and again; an hour has many times pid_max processes.
 *
 * Behind a sample its process still matters for as long as it is the same program: a later mapping
 * may be the first at its address.  Such records are held until it turns out whether there is a
 * sample before them. And an id without earlier records counts as what it was first
 * (process_model): when all were shown, liveness_again() is true when there is such a one and all
 * have to be shown once more.
 *
 * Records that matter get numbers, which are given again when it turns out that one does not after all.
 */
#ifndef EBPREC_ANALYZE_PROCESS_LIVENESS_LIVENESS_H
#define EBPREC_ANALYZE_PROCESS_LIVENESS_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"

/* A thread or a process: they share their numbers. */
struct liveness_member {
	uint32_t id;
	uint32_t process; /* a member: asked for as a thread of it; HASH_INDEX_NONE: of none */
	uint32_t pins;    /* threads asked for that may be of what it was before */
	uint32_t forked; /* the record that it is known by, if there is none before, + 1; 0: none */
	uint32_t maybe; /* the last record that matters if there is a sample before, + 1; 0: none */
	uint64_t first_ns; /* of its samples; UINT64_MAX: it has none */
	bool wanted;       /* its state at this moment matters */
	bool retained;     /* never dropped */
	bool unheard;      /* there is a sample of it, and no record that made it known by then */
	bool missed;       /* a record that would have made it known did not matter */
};

struct liveness_task {
	uint32_t pid, tid, ppid, ptid;
};

/* Embedded by the owner; all zero is an empty one. */
struct liveness {
	struct liveness_member *members;
	size_t count, capacity;
	struct hash_index index;
	uint32_t *next; /* by number: of the records that matter maybe, the one before, + 1 */
	uint32_t *free; /* numbers to be given again: their records do not matter */
	size_t record_count, next_capacity, free_count, free_capacity;
	bool repeated;
};

/* Before anything is shown, of all samples in any order.  -ENOMEM, -EOVERFLOW. */
int liveness_expect(struct liveness *k, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* And of those whose records all matter, whenever they were: code that they made has times of its own. */
int liveness_keep(struct liveness *k, uint32_t pid);

/* A sample; those of the time of a record come before that.  -ENOMEM, -EOVERFLOW. */
int liveness_ask(struct liveness *k, uint32_t pid, uint32_t tid);
/* Whether a record of this id may matter at all. */
bool liveness_knows(const struct liveness *k, uint32_t id);
/* Whether the record matters, or may: 1, with its *number; or 0; -ENOMEM, -EOVERFLOW. */
int liveness_fork(struct liveness *k, const struct liveness_task *task, uint32_t *number);
int liveness_comm(struct liveness *k, uint32_t pid, uint32_t tid, bool exec, uint32_t *number);
int liveness_map(struct liveness *k, uint32_t pid, uint64_t time_ns, uint32_t *number);

/* All were shown: whether it has to be done again, from the last, for what mattered to be found. */
bool liveness_again(struct liveness *k);
void liveness_done(struct liveness *k);

#endif
