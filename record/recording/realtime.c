/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/realtime.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "record/privsep/caps.h"

#define OWN_NICE (-10)

void realtime_init(struct realtime *h)
{
	const struct rlimit lowest = { .rlim_cur = 1, .rlim_max = 1 };

	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) > OWN_NICE && !errno)
		(void)setpriority(PRIO_PROCESS, 0, OWN_NICE);
	/* With this limit no right is needed later; but raising it takes CAP_SYS_RESOURCE, which some have not. */
	h->allowed = !setrlimit(RLIMIT_RTPRIO, &lowest);
	h->by_right = !h->allowed && caps_effective() & RIGHT(CAP_SYS_NICE);
	h->allowed |= h->by_right;
}

void realtime_set(struct realtime *h, bool now)
{
	const struct sched_param lowest = { .sched_priority = 1 }, none = { .sched_priority = 0 };

	if (!h->allowed || h->now == now)
		return;
	if (sched_setscheduler(0, (now ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK,
			       now ? &lowest : &none)) {
		h->allowed = false;
		return;
	}
	h->now = now;
	h->count += now;
}

bool realtime_is_due(const struct realtime_fill *f)
{
	/*
	 * A ring that is full enough to wake the recorder fills fast; the side-band wakes it for
	 * every exec.
	 */
	return f->events_bytes >= f->wake_bytes || f->side_bytes >= f->side_ring_bytes / 8;
}
