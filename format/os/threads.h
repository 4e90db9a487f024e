/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* threads - how many of them some work is worth */
#ifndef EBPREC_FORMAT_OS_THREADS_H
#define EBPREC_FORMAT_OS_THREADS_H

#include <stddef.h>
#include <unistd.h>

#define THREADS_AT_ONCE 8 /* more gain little, and each has tables of its own */

/* asked: 0 for as many as there are CPUs.  most: pieces of work there are.  At least 1. */
static inline unsigned threads_choose(unsigned asked, size_t most)
{
	long cpus = asked ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = asked ? asked : cpus < 1 ? 1 : (unsigned)cpus;

	if (count > THREADS_AT_ONCE)
		count = THREADS_AT_ONCE;
	if (count > most)
		count = (unsigned)most;
	return count ? count : 1;
}

#endif
