/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * schedev - scheduler events of a capture, in order of time
 *
 * Read from the tracepoints sched:* of ours and of perf's files, with the fields where the file's
 * own format texts say.  Each is kept in 56 bytes; stacks stay in the capture.
 */
#ifndef EBPREC_ANALYZE_SCHED_SCHEDEV_H
#define EBPREC_ANALYZE_SCHED_SCHEDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/strings.h"
#include "format/capture.h"

#define SCHEDEV_NONE UINT32_MAX

enum schedev_kind {
	SCHEDEV_SWITCH,     /* tid leaves cpu, next_tid comes */
	SCHEDEV_WAKEUP,     /* tid is runnable */
	SCHEDEV_WAKEUP_NEW, /* for the first time */
	SCHEDEV_MIGRATE,    /* tid is moved to another queue */
	SCHEDEV_FORK,       /* tid was made by by_tid */
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
	uint32_t by_pid, by_tid; /* the waker, the parent */
	uint32_t weight;         /* switches that its stack stands for; 0: no stack */
	uint16_t cpu, state;     /* state: enum schedev_state of who leaves */
	uint16_t syscall;        /* that who leaves is in, and 1; 0: none, or not told */
	int16_t prio, next_prio;
	uint8_t kind;   /* enum schedev_kind */
	bool by_irq;    /* an interrupt woke it */
	uint8_t policy; /* of who leaves: SCHED_*, and 1; 0: not told */
};

/* Read freely. */
struct schedev {
	struct sched_event *events; /* by time; equal times as they are in the file */
	size_t count, capacity;
	uint64_t lost;                          /* events that the capture says are missing */
	uint64_t broken;                        /* records that do not fit their format: left out */
	const struct capture_attr *switch_attr; /* NULL: the capture has none; borrowed from it */
	bool has_switches, has_wakeups, has_syscalls;
};

/* -ENOMEM, -EOVERFLOW; a capture without scheduler events gives none.  *out: schedev_done(). */
int schedev_load(const struct capture *c, struct strings *names, struct schedev *out);
void schedev_done(struct schedev *s);

#endif
