/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * aside - what may never come back is done by a thread that can be left behind
 *
 * Opening a file, asking what it is and reading it wait for as long as its file system likes: for ever,
 * when it is a network's and the network is gone, or a program's that does not answer.  A recorder that
 * waited, too, would lose what comes in, and be ended by SIGKILL alone.
 * The thread keeps the rights to read and no others.  Used by one thread.
 */
#ifndef EBPREC_RECORD_PRIVSEP_IO_TIMEOUT_H
#define EBPREC_RECORD_PRIVSEP_IO_TIMEOUT_H

#include <stdint.h>

#define ASIDE_STUCK_MAX \
	8 /* threads that are left behind; then nothing is begun that may stay, too */

struct aside; /* opaque */

struct aside_job {
	void (*work)(struct aside_job *job);
	void (*drop)(
		struct aside_job *job); /* frees it, and what it got; in the thread, much later */
};

/* Makes no thread before it is needed.  -ENOMEM. */
int aside_new(struct aside **out);
/* Leaves behind what is stuck.  NULL is fine. */
void aside_free(struct aside *a);

/*
 * 0: job->work() has been done, and the job is the caller's.  -ETIMEDOUT: not in time, and it waits for
 * something (for a CPU it may wait ten times as long); -EBUSY: too many are stuck already; or no thread.
 * Then the job was taken, and is dropped.
 */
int aside_run(struct aside *a, struct aside_job *job, uint64_t max_ns);

#endif
