/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * realtime - the thread that empties the rings gets a CPU before they are full
 *
 * Events come fastest when the machine is busiest, and then the recorder waits for a CPU as everybody
 * does.  A better nice value helps only within its own cgroup or session: in a session of its own among
 * twenty that compute, 35 ms of work took 500 ms, in which half of a ring of 32 MB filled.  So as long
 * as rings fill faster than they should, the thread is a real-time thread of the lowest priority; in
 * between it is an ordinary one.  The kernel leaves others 5 % of the time all the same.
 */
#ifndef EBPREC_RECORD_RECORDING_REALTIME_H
#define EBPREC_RECORD_RECORDING_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

struct realtime {
	bool allowed, now;
	bool by_right;  /* and takes CAP_SYS_NICE for it, as long as it shall */
	uint64_t count; /* how often it began */
};

/*
 * While rights are still there, in a thread or process that shall have the better nice value and
 * pass it on.  A priority that is not allowed is not set, and the thread continues as it is.
 */
void realtime_init(struct realtime *h);
/* The calling thread from here on; what it starts meanwhile does not get it. */
void realtime_set(struct realtime *h, bool now);

/* The fullest ring of each kind: what waits in it, and from when on it wakes us, or its size. */
struct realtime_fill {
	uint64_t events_bytes, wake_bytes;
	uint64_t side_bytes, side_ring_bytes;
};

/* Rings fill faster than they should. */
bool realtime_is_due(const struct realtime_fill *f);

#endif
