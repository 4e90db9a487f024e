/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * waitreason - what a thread waits for, from its state, its system call and its kernel stack
 *
 * The functions on the kernel stack say most; the system call says something without a stack.
 */
#ifndef EBPREC_ANALYZE_SCHED_WAIT_REASON_H
#define EBPREC_ANALYZE_SCHED_WAIT_REASON_H

#include <stdbool.h>
#include <stdint.h>

/* How a thread left the CPU, or what it does now. */
enum wait_kind {
	WAIT_SLEEP,
	WAIT_BLOCK, /* uninterruptible */
	WAIT_STOP,
	WAIT_PREEMPTED,
	WAIT_RUN_QUEUE, /* woken, and not yet on a CPU */
	/* With all of the wall-clock: */
	WAIT_ON_CPU,  /* it does not wait */
	WAIT_BEFORE,  /* since before the recording: for what, nobody saw */
	WAIT_UNKNOWN, /* events are missing */
	WAIT_KINDS,
};

enum wait_reason {
	WAITREASON_OTHER,
	WAITREASON_FUTEX,
	WAITREASON_EPOLL,
	WAITREASON_POLL,
	WAITREASON_SELECT,
	WAITREASON_NANOSLEEP,
	WAITREASON_PIPE,
	WAITREASON_SOCKET,
	WAITREASON_FILE,
	WAITREASON_PAGE_FAULT,
	WAITREASON_BLOCK_IO,
	WAITREASON_LOCK,
	WAITREASON_CHILD,
	WAITREASON_TIMER,
	WAITREASON_SIGNAL,
	WAITREASON_EVENTFD,
	WAITREASON_IO_URING,
	WAITREASON_TTY,
	WAITREASON_READ,  /* of something: the stack was not taken */
	WAITREASON_WRITE, /* the same */
	WAITREASON_KTHREAD,
	WAITREASON_STOPPED,
	WAITREASON_UNINTERRUPTIBLE,
	WAITREASON_PREEMPTED,
	WAITREASON_RUN_QUEUE,
	WAITREASON_ON_CPU,
	WAITREASON_BEFORE,
	WAITREASON_UNKNOWN,
	WAITREASON_COUNT,
};

/* "futex", "page fault"; what JSON and texts call it. */
const char *waitreason_text(enum wait_reason reason);

/* What a function on the kernel stack says; WAITREASON_OTHER: nothing. */
enum wait_reason waitreason_of_function(const char *name);
/* What a system call of x86_64 says, by its number and 1 (0: none). */
enum wait_reason waitreason_of_syscall(uint16_t syscall);

/* Puts it together: functions are given one by one, innermost first. */
struct waitreason {
	enum wait_kind kind;
	enum wait_reason found; /* the first that a function said */
	bool is_kthread;
};
void waitreason_begin(struct waitreason *w, enum wait_kind kind);
void waitreason_function(struct waitreason *w, const char *name);
enum wait_reason waitreason_end(const struct waitreason *w, uint16_t syscall);

#endif
