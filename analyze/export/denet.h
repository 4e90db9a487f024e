/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * denet - time off the CPU as the JSON of denet's eBPF module has it
 *
 *	{"ebpf": {"offcpu": {total_time_ns, total_events, avg_time_ns, max_time_ns, min_time_ns,
 *	 thread_stats: {"PID:TID": {tid, total_time_ns, count, avg_time_ns, max_time_ns, min_time_ns}},
 *	 top_blocking_threads: [{pid, tid, time_ms, percentage}]}}}
 *
 * An event is from when a thread leaves a CPU to when it is back on one, both seen; denet leaves
 * out those below 1 ms, and takes the stacks of the next thread for those of the thread that left,
 * which is why there are none here: `report --off-cpu` has them.
 */
#ifndef EBPREC_ANALYZE_EXPORT_DENET_H
#define EBPREC_ANALYZE_EXPORT_DENET_H

#include <stdio.h>

#include "analyze/input/event/filter.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/text/json_writer.h"

/* The member "offcpu" alone; the same errors, and then nothing is written. */
int denet_put_offcpu(const struct capture *c, struct string_table *names,
		     const struct filter *filter, struct json_writer *j);
/* -ENODATA: the capture has no switches; -ENOMEM, -EOVERFLOW: nothing is written.  -EIO. */
int denet_write(const struct capture *c, struct string_table *names, const struct filter *filter,
		FILE *to);

#endif
