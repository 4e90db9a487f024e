/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * schedev - which records of a capture are scheduler events, and what they say
 *
 * The tracepoints sched:* of ours and of perf's files, with the fields where the file's own format
 * texts say.  One record at a time: in which order they happened is schedflow's business.
 */
#ifndef EBPREC_ANALYZE_SCHED_EVENT_H
#define EBPREC_ANALYZE_SCHED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

#define SCHEDEV_NONE UINT32_MAX

enum schedev_kind {
	SCHEDEV_SWITCH,     /* tid leaves cpu, next_tid comes */
	SCHEDEV_WAKEUP,     /* tid is runnable */
	SCHEDEV_WAKEUP_NEW, /* for the first time */
	SCHEDEV_MIGRATE,    /* tid is moved to another queue */
	SCHEDEV_FORK,       /* tid was made by a thread of by_pid */
	SCHEDEV_EXIT,       /* tid begins to end */
	SCHEDEV_KINDS,
};

/* prev_state of the tracepoint: 0 is R, this is R+ (preempted), the others are bits. */
enum schedev_state {
	SCHEDEV_RUNNABLE = 0,
	SCHEDEV_SLEEP = 0x1,
	SCHEDEV_DISK = 0x2,
	SCHEDEV_STOPPED = 0x4,
	SCHEDEV_TRACED = 0x8,
	SCHEDEV_DEAD = 0x10,
	SCHEDEV_ZOMBIE = 0x20,
	SCHEDEV_PARKED = 0x40,
	SCHEDEV_IDLE = 0x80,
	SCHEDEV_PREEMPTED = 0x100,
};

struct sched_event {
	uint64_t time_ns;
	uint32_t pid, tid; /* pid: UINT32_MAX where the event does not say */
	uint32_t comm;     /* of tid, in the names; SCHEDEV_NONE: not told */
	uint32_t next_tid, next_comm;
	uint32_t by_pid;     /* the waker's, the parent's */
	uint32_t weight;     /* switches that its stack stands for; 0: no stack */
	uint32_t stack;      /* with a weight: schedflow's number of it; else SCHEDEV_NONE */
	uint16_t cpu, state; /* state: enum schedev_state of who leaves */
	uint16_t syscall;    /* that who leaves is in, and 1; 0: none, or not told */
	int16_t prio, next_prio;
	uint8_t kind;   /* enum schedev_kind */
	uint8_t policy; /* of who leaves: SCHED_*, and 1; 0: not told */
};

struct schedev; /* opaque */

/* -ENOMEM.  A capture without scheduler events is no error.  names may be NULL: comms stay untold. */
int schedev_new(const struct capture *c, struct strings *names, struct schedev **out);
void schedev_free(struct schedev *s); /* NULL is fine */

/* Whether the capture may have events of this kind. */
bool schedev_has(const struct schedev *s, enum schedev_kind kind);
bool schedev_has_any(const struct schedev *s);
/* How many events are missing, when so many are of each event of the capture. */
uint64_t schedev_lost_of(const struct schedev *s, const uint64_t *lost_by_attr);
/* The same, by a record that need not be a LOST one. */
uint64_t schedev_lost(const struct schedev *s, const struct perf_event_header *record);

/*
 * 1: *e is filled, but for its stack's number; 0: the sample is of another event; -EBADMSG: it does not
 * fit its format; -ENOMEM, -EOVERFLOW.  sample, if not NULL, is as perfrec_sample() has it.
 */
int schedev_read(struct schedev *s, const struct perf_event_header *header, struct sched_event *e,
		 struct perf_sample *sample);
/* The event of the record that was read last, of whatever kind; NULL: none of the capture's. */
const struct capture_attr *schedev_last(const struct schedev *s);

#endif
