/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwmaps - what is mapped in each process, for walking its stacks
 *
 * Fed in the order of time: by the processes that are there at start, then by the side-band's
 * records.  Keeps each process's executable mappings, and publishes them to the BPF maps when
 * unwmaps_publish() is called; the state in between is what copies of stacks are walked by.
 * A fork shares its parent's mappings until one of both changes (the BPF side copies the entry at
 * the fork itself); an exec begins anew; where mappings overlap, the later one is right, because
 * munmap is not reported.
 */
#ifndef EBPREC_RECORD_UNWIND_PROCESS_MAPS_H
#define EBPREC_RECORD_UNWIND_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/unwind/table_store.h"

struct unwmaps; /* opaque */

struct unwmaps_stats {
	uint64_t process_count; /* now */
	uint64_t published_count;
	uint64_t refused_count; /* publications that found no room */
};

/* Borrows both.  -ENOMEM. */
int unwmaps_new(struct walkspace *space, struct unwtables *tables, struct unwmaps **out);
void unwmaps_free(struct unwmaps *u); /* NULL is fine */

/* Only executable mappings.  -ENOMEM: the process is as before. */
int unwmaps_map(struct unwmaps *u, const struct siderec_map *m);
/* The same of one that is known without its file; does nothing where something else is mapped by now. */
int unwmaps_renew(struct unwmaps *u, const struct siderec_map *m);
/* A new process; or, when both are the same, a thread. */
void unwmaps_fork(struct unwmaps *u, uint32_t parent, uint32_t child);
void unwmaps_exec(struct unwmaps *u, uint32_t pid, uint64_t time_ns);
/* A thread ended; with its last one, a process. */
void unwmaps_exit(struct unwmaps *u, uint32_t pid);

/*
 * Begins a process anew, as /proc has it: what the side-band said was lost.  unwmaps_sweep()
 * forgets the processes that were not begun anew since it was last called.
 */
void unwmaps_anew(struct unwmaps *u, uint32_t pid);
/* The process is there: it is as before, and unwmaps_sweep() keeps it. */
void unwmaps_keep(struct unwmaps *u, uint32_t pid);
void unwmaps_sweep(struct unwmaps *u);

/*
 * Tells BPF what changed; everything that happened until as_of_ns has been fed.  What finds no room
 * is tried again the next time.
 */
void unwmaps_publish(struct unwmaps *u, uint64_t as_of_ns);

/* Tells the tables which of them walks came to since the last call. */
void unwmaps_collect_used(struct unwmaps *u, uint64_t now_ns);

/* Has the tables forget files that nobody maps any more, when there are many. */
void unwmaps_forget_files(struct unwmaps *u, uint64_t now_ns);

/*
 * What is mapped in a process now, to be asked later; NULL when nothing is known.  Give it back
 * with unwmaps_release().
 */
struct unwmaps_run;
struct unwmaps_run *unwmaps_hold(struct unwmaps *u, uint32_t pid);
void unwmaps_release(struct unwmaps *u, struct unwmaps_run *run); /* NULL is fine */

/*
 * The mapping at pc as a walk sees it, and the number of its table.  False: nothing is known to be
 * there.  run may be NULL.
 */
bool unwmaps_find(struct unwmaps *u, const struct unwmaps_run *run, uint64_t pc,
		  struct walk_map *out, uint32_t *table);

void unwmaps_get_stats(const struct unwmaps *u, struct unwmaps_stats *out);

#endif
