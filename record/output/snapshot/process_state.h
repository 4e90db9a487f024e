/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * process_state - what side-band records add up to
 *
 * A capture that begins in the middle of a recording needs the state before it: which process has
 * which file mapped where, and the names of threads.  process_state_record() takes the records that
 * are left out of such a capture, in the order of time; process_state_each() gives back the fewest
 * that lead to the same state, with time 0, as perf has them for tasks that existed before.
 *
 * Bounded by what is there: processes that ended are forgotten by process_state_settle(), a mapping
 * when others cover it, a BPF program's code when it is unloaded.  Limits: the end of a mapping is
 * not recorded, and neither is that of a cgroup; where an EXIT was lost, its thread stays until its
 * number is used again.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_PROCESS_STATE_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_state; /* opaque */

/* side_id: the id of the event for our own records.  -ENOMEM. */
int process_state_new(uint64_t side_id, struct process_state **out);
void process_state_free(struct process_state *s); /* NULL is fine */

/*
 * Takes one complete record, with its sample_id tail; kinds that leave no state (LOST, THROTTLE)
 * and broken ones are passed over.  -ENOMEM.
 */
int process_state_record(struct process_state *s, const uint8_t *record, size_t size_bytes);

/* Forgets the threads that ended before this moment, and processes that have none left. */
void process_state_settle(struct process_state *s, uint64_t before_ns);

/* Forgets the cgroups for which drop() returns true. */
void process_state_drop_cgroups(struct process_state *s,
				bool (*drop)(void *arg, uint64_t id, const char *path), void *arg);

/*
 * The state as records: the kernel, code, cgroups, then each process with its threads, names and
 * mappings.  Stops when on_record returns an error, and returns it.
 */
int process_state_each(struct process_state *s,
		       int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
		       void *arg);

size_t process_state_cgroup_count(const struct process_state *s);

#endif
