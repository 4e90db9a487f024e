/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * denet_sample - system calls and counters as the JSON of denet has them
 *
 *	{kind: "aggregated", ts_ms, cpu_usage, mem_rss_kb, mem_vms_kb, disk_read_bytes, disk_write_bytes, syscall_read_bytes,
 *	 syscall_write_bytes, page_faults_cached, page_faults_disk, sys_net_rx_bytes, sys_net_tx_bytes,
 *	 thread_count, process_count, uptime_secs,
 *	 psi_mem: {some_avg10, full_avg10}, perf: {cycles, instructions, cache_refs, cache_misses,
 *	 stalled_backend},
 *	 ebpf: {syscalls: {total, by_category, top_syscalls: [{name, count}], analysis: {syscall_rate_per_sec,
 *	  io_intensity, memory_intensity, cpu_intensity, network_intensity}}, offcpu: {...}}}
 *
 * It is of all processes that are asked for together (denet's AggregatedMetrics).  By intervals it is
 * denet's stream: two lines of denetenv, then a line an interval,
 *
 *	{kind: "tree", ts_ms, parent, children: [{pid, command, metrics}], aggregated: {...}}
 *
 * with each process by itself, and then without offcpu.  parent is the numbers of the process that was
 * recorded (COMMAND, or the only --pid), or that is the ancestor of all others here; null: there is no such one.
 * Facts that were not recorded are not there.
 */
#ifndef EBPREC_ANALYZE_EXPORT_DENET_SAMPLE_H
#define EBPREC_ANALYZE_EXPORT_DENET_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/input/event/filter.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

/*
 * -ENODATA: the capture has neither tables of system calls nor counters nor switches; -ENOMEM,
 * -EOVERFLOW, -EIO: what is written is then no JSON.
 */
int denet_sample_write(const struct capture *c, struct string_table *names,
		       const struct filter *filter, bool intervals, FILE *to);

#endif
