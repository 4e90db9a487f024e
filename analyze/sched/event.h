/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event - which records of a capture are scheduler events, and their fields
 *
 * The tracepoints sched:* of ours and of perf's files, with the fields at the offsets of the file's
 * own format texts.  One record at a time: order.h puts them in order.
 */
#ifndef EBPREC_ANALYZE_SCHED_EVENT_H
#define EBPREC_ANALYZE_SCHED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

#define SCHED_EVENT_NONE UINT32_MAX

enum sched_event_kind {
	SCHED_EVENT_SWITCH, /* tid leaves cpu, next_tid comes */
	SCHED_EVENT_WAKEUP, /* tid is runnable, or without such events: will be (sched_waking) */
	SCHED_EVENT_WAKEUP_NEW, /* for the first time */
	SCHED_EVENT_MIGRATE,    /* tid is moved to another queue */
	SCHED_EVENT_FORK,       /* tid was made by a thread of by_pid */
	SCHED_EVENT_EXIT,       /* tid begins to end */
	SCHED_EVENT_KINDS,
};

/* prev_state of the tracepoint: 0 is R, this is R+ (preempted), the others are bits. */
enum sched_event_state {
	SCHED_EVENT_RUNNABLE = 0,
	SCHED_EVENT_SLEEP = 0x1,
	SCHED_EVENT_DISK = 0x2,
	SCHED_EVENT_STOPPED = 0x4,
	SCHED_EVENT_TRACED = 0x8,
	SCHED_EVENT_DEAD = 0x10,
	SCHED_EVENT_ZOMBIE = 0x20,
	SCHED_EVENT_PARKED = 0x40,
	SCHED_EVENT_IDLE = 0x80,
	SCHED_EVENT_PREEMPTED = 0x100,
};

struct sched_event {
	uint64_t time_ns;
	uint32_t pid, tid; /* pid: UINT32_MAX where the event does not have it */
	uint32_t comm;     /* of tid, in the names; SCHED_EVENT_NONE: not recorded */
	uint32_t next_tid, next_comm;
	uint32_t by_pid;     /* the waker's, the parent's */
	uint32_t weight;     /* switches that its stack stands for; 0: no stack */
	uint32_t stack;      /* with a weight: schedflow's number of it; else SCHED_EVENT_NONE */
	uint16_t cpu, state; /* state: enum sched_event_state of the thread that leaves */
	uint16_t syscall;    /* that the leaving thread is in, and 1; 0: none, or not recorded */
	int16_t prio, next_prio;
	uint8_t kind;   /* enum sched_event_kind */
	uint8_t policy; /* of the thread that leaves: SCHED_*, and 1; 0: not recorded */
};

struct sched_event_reader; /* opaque */

/* -ENOMEM.  A capture without scheduler events is no error.  names may be NULL: comms stay untold. */
int sched_event_new(const struct capture *c, struct string_table *names,
		    struct sched_event_reader **out);
/*
 * The same for the event alone whose samples are of the thread that wakes another: sched_waking, else sched_wakeup, of perf's
 * files.  *attr: that event; NULL: there is none.
 */
int sched_event_new_wakers(const struct capture *c, struct sched_event_reader **out,
			   const struct capture_attr **attr);
void sched_event_free(struct sched_event_reader *s); /* NULL is fine */

/* Whether the capture may have events of this kind. */
bool sched_event_has(const struct sched_event_reader *s, enum sched_event_kind kind);
bool sched_event_has_any(const struct sched_event_reader *s);
/* How many events are missing, when so many are of each event of the capture. */
uint64_t sched_event_lost_of(const struct sched_event_reader *s, const uint64_t *lost_by_attr);
/* The same, by a record that need not be a LOST one. */
uint64_t sched_event_lost(const struct sched_event_reader *s,
			  const struct perf_event_header *record);

/*
 * 1: *e is filled, but for its stack's number; 0: the sample is of another event; -EBADMSG: it does not
 * fit its format; -ENOMEM, -EOVERFLOW.  sample, if not NULL, is as perfrec_sample() has it.
 */
int sched_event_read(struct sched_event_reader *s, const struct perf_event_header *header,
		     struct sched_event *e, struct perf_sample *sample);
/* The event of the record that was read last, of whatever kind; NULL: none of the capture's. */
const struct capture_attr *sched_event_last(const struct sched_event_reader *s);

#endif
