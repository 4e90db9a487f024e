/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wait_reason - what a thread waits for, from its state, its system call and its kernel stack
 *
 * The functions on the kernel stack are the best source; without a stack the system call is.
 */
#ifndef EBPREC_ANALYZE_SCHED_WAIT_REASON_H
#define EBPREC_ANALYZE_SCHED_WAIT_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/call_abi.h"

/* How a thread left the CPU, or what it does now. */
enum wait_kind {
	WAIT_SLEEP,
	WAIT_BLOCK, /* uninterruptible */
	WAIT_STOP,
	WAIT_PREEMPTED,
	WAIT_RUN_QUEUE, /* woken, and not yet on a CPU */
	/* With all of the wall-clock: */
	WAIT_ON_CPU,  /* it does not wait */
	WAIT_BEFORE,  /* since before the recording: the reason is not known */
	WAIT_UNKNOWN, /* events are missing */
	WAIT_KINDS,
};

enum wait_reason {
	WAIT_REASON_OTHER,
	WAIT_REASON_FUTEX,
	WAIT_REASON_EPOLL,
	WAIT_REASON_POLL,
	WAIT_REASON_SELECT,
	WAIT_REASON_NANOSLEEP,
	WAIT_REASON_PIPE,
	WAIT_REASON_SOCKET,
	WAIT_REASON_FILE,
	WAIT_REASON_PAGE_FAULT,
	WAIT_REASON_BLOCK_IO,
	WAIT_REASON_LOCK,
	WAIT_REASON_CHILD,
	WAIT_REASON_TIMER,
	WAIT_REASON_SIGNAL,
	WAIT_REASON_EVENTFD,
	WAIT_REASON_IO_URING,
	WAIT_REASON_TTY,
	WAIT_REASON_READ,  /* of something: the stack was not taken */
	WAIT_REASON_WRITE, /* the same */
	WAIT_REASON_KTHREAD,
	WAIT_REASON_STOPPED,
	WAIT_REASON_UNINTERRUPTIBLE,
	WAIT_REASON_PREEMPTED,
	WAIT_REASON_RUN_QUEUE,
	WAIT_REASON_ON_CPU,
	WAIT_REASON_BEFORE,
	WAIT_REASON_UNKNOWN,
	WAIT_REASON_COUNT,
};

/* "futex", "page fault"; what JSON and texts call it. */
const char *wait_reason_text(enum wait_reason reason);

/*
 * Whether it is a way into the scheduler, which every wait takes: it does not depend on the reason.
 */
bool wait_reason_is_scheduler(const char *name);

/* Puts it together: functions are given one by one, innermost first. */
struct wait_reasons {
	enum wait_kind kind;
	enum wait_reason found; /* the first that a function has */
	bool is_kthread;
};
void wait_reason_begin(struct wait_reasons *w, enum wait_kind kind);
void wait_reason_function(struct wait_reasons *w, const char *name);
/* syscall: its number and 1; 0: none. */
enum wait_reason wait_reason_end(const struct wait_reasons *w, enum call_abi abi, uint16_t syscall);

#endif
