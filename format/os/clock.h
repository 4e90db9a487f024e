/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* clock - a clock's time in nanoseconds */
#ifndef EBPREC_FORMAT_OS_CLOCK_H
#define EBPREC_FORMAT_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

#endif
