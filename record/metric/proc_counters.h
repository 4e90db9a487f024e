/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * proc_counters - what the kernel counts anyway, read from /proc and /sys once an interval
 *
 * CPUs, memory, pressure, disks, interfaces, power and processes.  Numbers that grow become what they grew
 * by within the interval; those of the moment (now_*) stay as they are.  Needs no BPF.
 */
#ifndef EBPREC_RECORD_METRIC_PROC_COUNTERS_H
#define EBPREC_RECORD_METRIC_PROC_COUNTERS_H

#include "record/metric/table/table_reader.h"
#include "record/process/target_set.h"

struct proc_counters; /* opaque */

/*
 * Adds the tables of what this machine has; targets is borrowed.  root: in the place of /, for tests.
 * -ENOMEM, -EOVERFLOW, or why root cannot be opened.
 */
int proc_counters_new(struct metric_tables *tabs, struct event_attrs *attrs,
		      const struct targets *targets, const char *root, struct proc_counters **out);
void proc_counters_free(struct proc_counters *c); /* NULL is fine */
/* Reads the counters before the first interval: no rows. */
int proc_counters_begin(struct proc_counters *c);
/* Puts the rows of an interval into q.  A file that cannot be read gives none. */
int proc_counters_take(struct proc_counters *c, uint32_t interval, uint64_t since_ns,
		       struct row_queue *q);

#endif
