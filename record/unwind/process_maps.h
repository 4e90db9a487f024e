/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * process_maps - what is mapped in each process, for walking its stacks
 *
 * Fed in the order of time: by the processes that are there at start, then by the side-band's
 * records.  Keeps each process's executable mappings, and publishes them to the BPF maps when
 * process_maps_publish() is called; the state in between is what copies of stacks are walked by.
 * A fork shares its parent's mappings until one of both changes (the BPF side copies the entry at
 * the fork itself); an exec begins anew; where mappings overlap, the later one is right, because
 * munmap is not reported.
 */
#ifndef EBPREC_RECORD_UNWIND_PROCESS_MAPS_H
#define EBPREC_RECORD_UNWIND_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/unwind/table_store.h"

struct process_maps; /* opaque */

struct process_maps_stats {
	uint64_t process_count; /* now */
	uint64_t refused_count; /* publications that found no room */
};

struct runtimes;

/* Borrows all three; runtimes NULL: interpreters are not looked for.  -ENOMEM. */
int process_maps_new(struct unwind_bpf_maps *space, struct table_store *tables,
		     struct runtimes *runtimes, struct process_maps **out);
void process_maps_free(struct process_maps *u); /* NULL is fine */

/* Only executable mappings; time_ns: since when.  -ENOMEM: the process is as before. */
int process_maps_map(struct process_maps *u, const struct mapping *m, uint64_t time_ns);
/* The same of one that is known without its file; does nothing where something else is mapped by now. */
int process_maps_renew(struct process_maps *u, const struct mapping *m, uint64_t time_ns);
/* A new process; or, when both are the same, a thread. */
void process_maps_fork(struct process_maps *u, uint32_t parent, uint32_t child);
void process_maps_exec(struct process_maps *u, uint32_t pid, uint64_t time_ns);
/* A thread ended; with its last one, a process. */
void process_maps_exit(struct process_maps *u, uint32_t pid);

/*
 * Begins a process anew, as /proc has it: side-band records were lost.  process_maps_sweep()
 * forgets the processes that were not begun anew since it was last called.
 */
void process_maps_anew(struct process_maps *u, uint32_t pid);
/* The process is there: it is as before, and process_maps_sweep() keeps it. */
void process_maps_keep(struct process_maps *u, uint32_t pid);
void process_maps_sweep(struct process_maps *u);

/*
 * Writes the changes into the BPF maps; all records until as_of_ns have been fed.  A mapping
 * without space is tried again the next time.
 */
void process_maps_publish(struct process_maps *u, uint64_t as_of_ns);

/* Marks the tables that walks used since the last call. */
void process_maps_collect_used(struct process_maps *u, uint64_t now_ns);

/* Has the tables forget files that no process maps any more, when there are many. */
void process_maps_forget_files(struct process_maps *u, uint64_t now_ns);

/*
 * The mappings of a process as of now, for later look-ups; NULL when nothing is known.  Give it
 * back with process_maps_release().
 */
struct process_maps_run;
struct process_maps_run *process_maps_hold(struct process_maps *u, uint32_t pid);
void process_maps_release(struct process_maps *u, struct process_maps_run *run); /* NULL is fine */

/*
 * The mapping at pc as a walk sees it, and the number of its table.  False: nothing is known to be
 * there.  run may be NULL.
 */
bool process_maps_find(struct process_maps *u, const struct process_maps_run *run, uint64_t pc,
		       struct walk_map *out, uint32_t *table);

/* The number of the interpreter that is mapped, and what the process adds to its addresses; 0: none.  run may be NULL. */
uint32_t process_maps_runtime(const struct process_maps_run *run, uint64_t *base);

void process_maps_get_stats(const struct process_maps *u, struct process_maps_stats *out);

#endif
