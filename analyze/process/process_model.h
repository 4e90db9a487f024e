/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * process_model - which thread, of which process, with which files mapped, at this moment?
 *
 * Pids are reused, programs exec, threads rename themselves, libraries come and go while the
 * machine is recorded.  A model takes the side-band records of a capture in any order, and once
 * sealed answers by time.  After sealing it is read-only: any number of threads may ask.
 *
 * A process is a pid from one fork or exec to the next: an epoch.  FORK to another pid starts an
 * epoch that inherits the parent's maps and comm of that time; FORK within a pid is a thread;
 * COMM with the exec bit starts an epoch without maps (but for the moment that the exec still
 * takes, see apply_exec()); COMM without it renames a thread.  EXIT adds nothing to a later FORK or
 * exec (a task is still sampled after its EXIT, and threads may outlive their leader), so it is
 * counted and otherwise ignored.
 *
 * A space is an epoch for as long as each address means one thing in it.  A mapping beside the
 * others joins the space; a mapping over an earlier one starts a new space, from its time on.  So
 * (space, address) is the key of a place, without a time.
 *
 * Limits: munmap has no record, so a stale range lives until something covers it.  The maps of
 * tasks that share memory without being threads (vfork) are copied as of the fork.
 */
#ifndef EBPREC_ANALYZE_PROCESS_PROCESS_MODEL_H
#define EBPREC_ANALYZE_PROCESS_PROCESS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/process/file_table.h"
#include "analyze/process/side_queue.h"
#include "analyze/base/string_table.h"
#include "format/base/buildid.h"
#include "format/perf/perfrec.h"
#include "format/reader/capture.h"

#define PROCESS_MODEL_NONE UINT32_MAX

struct process_model; /* opaque */

/* Names go to names, which must outlive the model.  -ENOMEM; *out untouched on failure. */
int process_model_new(struct string_table *names, struct process_model **out);
void process_model_free(struct process_model *m); /* NULL is fine */

/*
 * Takes a copy.  Records the model has no use for are counted.  -EALREADY after sealing, -ENOMEM;
 * -ESTALE: process_model_settle() was called with a later time.
 */
int process_model_add(struct process_model *m, const struct perfrec_side *side);
/* The same in two steps, of which only the first needs the record.  -ENOENT: there is no second one. */
int process_model_make_event(struct process_model *m, const struct perfrec_side *side,
			     struct side_event *out);
int process_model_add_event(struct process_model *m, const struct side_event *event);
/* Before any event is added: the files of events that were made get other numbers, see file_table_choose(). */
int process_model_choose_files(struct process_model *m, const uint32_t *order, size_t count,
			       uint32_t *numbers);
/* Counts a record that perfrec_side() did not understand (false) or could not read (true). */
void process_model_add_unread(struct process_model *m, uint32_t type, bool broken);
/*
 * Build-ids that stand in a feature section and not in the MMAP records: given to files of that
 * path that have none.  Before sealing.  -EALREADY, -ENOMEM.
 */
int process_model_add_build_id(struct process_model *m, const char *path, const struct buildid *id);

/* Reads what processes published.  Before sealing.  -ENOMEM, -EOVERFLOW. */
int process_model_read_contexts(struct process_model *m, const struct capture *c);

/*
 * The names of the code that a process made are known: its executable mappings without a file
 * become one file, whose offsets are addresses.  Before settling and sealing.  -EALREADY, -ENOMEM.
 */
int process_model_add_jit(struct process_model *m, uint32_t pid);

/*
 * And some of it is known to the moment: from time_ns on, [addr, addr + size_bytes) of the process
 * is at off_bytes of that file.  After process_model_add_jit().
 */
int process_model_add_jit_code(struct process_model *m, uint32_t pid, uint64_t time_ns,
			       uint64_t addr, uint64_t size_bytes, uint64_t off_bytes);

/*
 * No record still to come is earlier than open_ns: what is earlier is applied and forgotten.  The answers are the
 * same without.  -EALREADY after sealing; -ENOMEM: the model is unusable.
 */
bool process_model_is_full(
	const struct process_model *m); /* whether there is so much that this is worth it */
int process_model_settle(struct process_model *m, uint64_t open_ns);
/* Sorts by time (equal times: in the order they came) and applies.  -ENOMEM: the model is unusable. */
int process_model_seal(struct process_model *m);

/* ---- questions, after sealing ---- */

struct process_model_where {
	uint32_t epoch; /* PROCESS_MODEL_NONE: never heard of that process */
	uint32_t space; /* for process_model_place() */
	uint32_t
		comm; /* in names; PROCESS_MODEL_NONE: not known, the convention is to print ":TID" */
};

/* Always answers: *out has what is known. */
void process_model_thread(const struct process_model *m, uint32_t pid, uint32_t tid,
			  uint64_t time_ns, struct process_model_where *out);
/* The same, and for which times around time_ns the answer is the same (both included). */
void process_model_thread_while(const struct process_model *m, uint32_t pid, uint32_t tid,
				uint64_t time_ns, struct process_model_where *out,
				uint64_t *from_ns, uint64_t *to_ns);
/* The space of kernel addresses. */
uint32_t process_model_kernel(const struct process_model *m, uint64_t time_ns);
uint32_t process_model_kernel_while(const struct process_model *m, uint64_t time_ns,
				    uint64_t *from_ns, uint64_t *to_ns);

struct process_model_place {
	uint32_t file; /* for process_model_file() */
	uint64_t file_off_bytes;
};

/* False: nothing was mapped there. */
bool process_model_place(const struct process_model *m, uint32_t space, uint64_t addr,
			 struct process_model_place *out);

/* The mapping from an address on. */
struct process_model_map {
	uint64_t start, end, file_off_bytes;
	uint32_t file; /* for process_model_file() */
};

/*
 * The mapping that has addr, or as much of it around addr as is its own in this space.  False: nothing
 * was mapped there.
 */
bool process_model_map_at(const struct process_model *m, uint32_t space, uint64_t addr,
			  struct process_model_map *out);

/* The first mapping that ends behind addr.  False: none. */
bool process_model_next_map(const struct process_model *m, uint32_t space, uint64_t addr,
			    struct process_model_map *out);

/* Whether anything is mapped there; a kernel thread's space is empty. */
bool process_model_has_maps(const struct process_model *m, uint32_t space);
/* The path of a cgroup, in names; PROCESS_MODEL_NONE: not recorded. */
uint32_t process_model_cgroup(const struct process_model *m, uint64_t id);

/* The name of the service that a process published, in names; 0: none. */
uint32_t process_model_context(const struct process_model *m, uint32_t pid, uint64_t time_ns);

/* With which stacks of its places are hashed: one key for all tables that are joined. */
const struct hash_key *process_model_hash_key(const struct process_model *m);

const struct process_model_file *process_model_file(const struct process_model *m, uint32_t file);
uint32_t process_model_file_count(const struct process_model *m);
uint32_t process_model_epoch_count(const struct process_model *m);
uint32_t process_model_epoch_pid(const struct process_model *m, uint32_t epoch);
/* When it began, and the space that it ended with. */
uint64_t process_model_epoch_since(const struct process_model *m, uint32_t epoch);
uint32_t process_model_epoch_space(const struct process_model *m, uint32_t epoch);
const struct process_model_counts *process_model_counts(const struct process_model *m);

#endif
