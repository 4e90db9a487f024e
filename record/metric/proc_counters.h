/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counters - what the kernel counts anyway, read from /proc and /sys once an interval
 *
 * CPUs, memory, pressure, disks, interfaces, power and processes.  Numbers that grow become what they grew
 * by within the interval; those of the moment (now_*) stay as they are.  Needs no BPF.
 */
#ifndef EBPREC_RECORD_METRIC_PROC_COUNTERS_H
#define EBPREC_RECORD_METRIC_PROC_COUNTERS_H

#include "record/metric/table_reader.h"
#include "record/process/target_set.h"

struct counters; /* opaque */

/*
 * Adds the tables of what this machine has; targets is borrowed.  root: in the place of /, for tests.
 * -ENOMEM, -EOVERFLOW, or why root cannot be opened.
 */
int counters_new(struct metrictabs *tabs, struct attrs *attrs, const struct targets *targets,
		 const char *root, struct counters **out);
void counters_free(struct counters *c); /* NULL is fine */
/* What is there before the first interval: no rows. */
int counters_begin(struct counters *c);
/* Puts the rows of an interval into q.  A file that cannot be read gives none. */
int counters_take(struct counters *c, uint32_t interval, uint64_t since_ns, struct rowqueue *q);

/*
 * The numbers of /proc/PID/stat from field first to last (3 is the state, which is none): for tests.
 * comm gets 16 bytes.  -EBADMSG.
 */
int counters_parse_stat(const char *text, char comm[16], unsigned first, unsigned last,
			uint64_t *out);

#endif
