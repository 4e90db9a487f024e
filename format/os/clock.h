/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* clock - a clock's time in nanoseconds, and work that is due now and then */
#ifndef EBPREC_FORMAT_OS_CLOCK_H
#define EBPREC_FORMAT_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_timespec_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* 0: it cannot be read. */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return clock_timespec_ns(t);
}

/* At most once in every_ns: *last_ns is when it was true last, and is set to now_ns when it is. */
static inline bool clock_is_due(uint64_t *last_ns, uint64_t now_ns, uint64_t every_ns)
{
	if (now_ns - *last_ns < every_ns)
		return false;
	*last_ns = now_ns;
	return true;
}

#endif
