/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * io_timeout - I/O that may never return, in threads with a time limit
 *
 * Opening a file, stat() and reading take as long as its file system takes: for ever when its
 * network is gone, or its FUSE server does not answer.  The same holds for /proc/PID/maps, cmdline
 * and mem of a process whose mmap lock is held.  A recorder that waited would lose events, and only
 * SIGKILL would end it.
 *
 * A job is worked on by a thread, and its owner gets it back by a callback.  A job that takes longer than
 * its limit is given up: its owner is called at once, and the thread frees the job whenever it returns.
 * Jobs with equal keys run one after the other; while a thread hangs in one of them no other is begun.
 * So a process that hangs costs one thread.  To close a file may hang as well (FUSE asks its server), so what
 * was begun is dropped by a thread, too.  Limits: IO_THREADS_MAX threads, of which those of one group (the files
 * of a device) that hang are at most IO_HANGING_PER_GROUP, and those of one user (but root) IO_HANGING_PER_USER;
 * IO_JOBS_MAX jobs.
 *
 * The threads keep the capabilities for reading and no others.  One thread, the owner, makes all calls.
 */
#ifndef EBPREC_RECORD_PRIVSEP_IO_TIMEOUT_H
#define EBPREC_RECORD_PRIVSEP_IO_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

#define IO_THREADS_MAX       32u
#define IO_HANGING_PER_USER  8u
#define IO_HANGING_PER_GROUP 3u
#define IO_WAIT_NS           5000000u /* most files are in memory */
#define IO_WAITS_MAX         10u      /* in vain, between two passes; then nothing is waited for */
#define IO_JOBS_MAX          16384u   /* that wait, run, or are done and not yet collected */

struct io_timeout; /* opaque */

enum io_state { IO_QUEUED, IO_RUNNING, IO_DONE, IO_GIVING_UP, IO_RETURNED, IO_GIVEN_UP };

struct io_job {
	void (*work)(struct io_job *job); /* in a thread */
	/* In the owner's thread; the job is the callee's to free.  May begin other jobs. */
	void (*done)(struct io_job *job);
	/*
	 * In the owner's thread, while work() may still run: the job was given up, or was not
	 * begun.  Reads only fields that work() does not write, frees nothing.  NULL: no
	 * notification.
	 */
	void (*given_up)(struct io_job *job);
	/* Frees the job and closes what it got; in a thread, but for a job that was not begun. */
	void (*drop)(struct io_job *job);
	uint64_t key;   /* io_key(); 0: equal to no other */
	uint64_t group; /* io_key() of what several keys have in common, a device; 0: nothing */
	uint32_t user;  /* the owner of the file or process */
	/* The module's own: */
	struct io_job *next;
	uint64_t max_ns, queued_ns;
	enum io_state state;
};

struct io_timeout_stats {
	uint64_t given_up_count; /* began, and did not return in time */
	uint64_t refused_count;  /* were not begun, as an earlier one hangs or there are too many */
	uint32_t thread_count, hanging_count;
};

/* wait_ns: the owner waits so long for one job at most, IO_WAIT_NS.  Starts no thread.  -ENOMEM. */
int io_timeout_new(uint64_t wait_ns, struct io_timeout **out);
/* Gives up all that is left, without callbacks; a thread that hangs is not waited for.  NULL is fine. */
void io_timeout_free(struct io_timeout *io);

/* Never 0. kind: the meaning of the two numbers. */
enum io_kind {
	IO_KIND_FILE = 1,
	IO_KIND_DEVICE,
	IO_KIND_PROCESS,
	IO_KIND_CODE,
	IO_KIND_STORE,
	IO_KIND_LAYERS,
	IO_KIND_PROBES,
	IO_KIND_INTERPRETERS,
	IO_KIND_SCRIPTS
};
uint64_t io_key(enum io_kind kind, uint64_t a, uint64_t b);

/*
 * Takes the job, which is given up after max_ns.  wait: for a moment, as it will most likely be done then.
 * 0: job->done() has been called.  -EINPROGRESS: done() or given_up() will be, by io_timeout_pass().  -EBUSY: the
 * job was not taken.
 */
int io_timeout_run(struct io_timeout *io, struct io_job *job, bool wait, uint64_t max_ns);
/*
 * From now on the owner waits for max_ns at most, for all jobs together; UINT64_MAX, as at first: each has its own
 * limit alone.  Returns whether the limit before was reached.
 */
bool io_timeout_limit_waits(struct io_timeout *io, uint64_t max_ns);
/* Instead of freeing a job in done(): a thread calls drop(), by the limits of the job's key, group and user. */
void io_timeout_drop(struct io_timeout *io, struct io_job *job);
/* Calls back for all that is done, or has taken too long. */
void io_timeout_pass(struct io_timeout *io);
/* Jobs whose owner has not been called back. */
uint32_t io_timeout_pending(const struct io_timeout *io);
/* Readable when a job is done; io_timeout_pass() makes it unreadable. */
int io_timeout_fd(const struct io_timeout *io);
/* Waits until a job is done, or for max_ns. */
void io_timeout_wait(const struct io_timeout *io, uint64_t max_ns);
/*
 * Passes until nothing is pending.  After max_ns threads that wait for something are given up, with callbacks; those
 * that compute after ten times as long.
 */
void io_timeout_finish(struct io_timeout *io, uint64_t max_ns);
void io_timeout_get_stats(struct io_timeout *io, struct io_timeout_stats *out);

#endif
