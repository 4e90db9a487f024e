/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * side_queue - side-band records, held until they can be put in order
 *
 * Each CPU has its own ring, so the records of a capture come in no order that means anything
 * before they are sorted by time.  An event takes 48 bytes here; names and files go to their
 * tables.  Records that only count something are counted.
 *
 * A caller that knows that all further records are later than some time calls side_queue_settle(),
 * which gives out and drops the earlier ones: for a recording of an hour a few seconds are held.
 */
#ifndef EBPREC_ANALYZE_PROCESS_SIDE_QUEUE_H
#define EBPREC_ANALYZE_PROCESS_SIDE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/process/file_table.h"
#include "analyze/base/string_table.h"
#include "format/perf/perfrec.h"

#define SIDE_QUEUE_KERNEL UINT32_MAX /* the pid in the MMAP records of kernel and modules */

/*
 * The process of an MMAP or MMAP2 record, or SIDE_QUEUE_KERNEL: every mode but the kernel's is a process's, as
 * perf has it.
 */
static inline uint32_t side_queue_map_pid(uint16_t misc, uint32_t pid)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? SIDE_QUEUE_KERNEL
										 : pid;
}

enum side_kind { SIDE_MAP, SIDE_COMM, SIDE_FORK, SIDE_KSYMBOL, SIDE_CODE };

struct side_event {
	uint64_t time_ns;
	uint8_t kind; /* enum side_kind */
	bool flag;    /* COMM: exec; FORK: inherits nothing; KSYMBOL: unregister */
	uint32_t pid, tid;
	uint32_t id;         /* MAP, KSYMBOL, CODE: in the files; COMM: in the names */
	uint64_t start, end; /* MAP, KSYMBOL, CODE */
	union {
		uint64_t file_off_bytes; /* MAP, CODE */
		struct {
			uint32_t ppid, ptid; /* FORK */
		};
	};
};

struct process_model_counts {
	uint64_t lost_events, lost_samples; /* sums of LOST and LOST_SAMPLES */
	uint64_t throttled;                 /* THROTTLE records */
	uint64_t exits, unknown, broken;    /* records: EXIT, not understood, not readable */
};

/* A cgroup's path, as its last record has it. */
struct side_cgroup {
	uint64_t id;
	uint32_t path; /* in the names */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct side_queue {
	struct side_event *events;
	size_t count, capacity;
	size_t left_count; /* by the last side_queue_settle() */
	uint64_t open_ns;  /* events that are earlier were given out */
	struct side_cgroup *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct hash_index cgroup_index; /* by id */
	struct file_table files;
	struct process_model_counts counts;
};

/*
 * -ENOMEM, -EOVERFLOW; -ESTALE: it is earlier than one that was given out already.  A malformed
 * record is counted as broken: 0.
 */
int side_queue_add(struct side_queue *log, struct string_table *names,
		   const struct perfrec_side *side);
/* Whether the record makes no event, whatever comes before it: a guest's mapping, or one of no byte. */
bool side_queue_is_void(const struct perfrec_side *side);
/* The same in two steps.  -ENOENT: it makes no event, *out is as it was. */
int side_queue_make(struct side_queue *log, struct string_table *names,
		    const struct perfrec_side *side, struct side_event *out);
/* Also of an event that is in no record: -ENOMEM, -ESTALE. */
int side_queue_add_event(struct side_queue *log, const struct side_event *event);
/* A record that perfrec_side() did not understand (broken: could not read). */
void side_queue_add_unread(struct side_queue *log, uint32_t type, bool broken);

/*
 * Gives out the events by time, equal times as they came but SIDE_CODE behind the others, one call each, and
 * forgets them; files, cgroups and counts stay.  -ENOMEM, or what apply() returned: no good for anything then.
 */
typedef int (*side_queue_fn)(void *ctx, const struct side_event *event);
int side_queue_replay(struct side_queue *log, side_queue_fn apply, void *ctx);
/* Whether so many are held that giving out some is worth it. */
bool side_queue_is_full(const struct side_queue *log);
/* Only those earlier than open_ns: none such will be added. */
int side_queue_settle(struct side_queue *log, uint64_t open_ns, side_queue_fn apply, void *ctx);
/* The path of a cgroup; UINT32_MAX: not recorded. */
uint32_t sidelog_cgroup(const struct side_queue *log, uint64_t id);
void side_queue_done(struct side_queue *log);

#endif
