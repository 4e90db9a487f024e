/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * denet_env - the first two lines of denet's stream: the machine, and what was recorded
 *
 *	{kind: "env", ts_ms, host, kernel, lscpu: {sockets, cores_per_socket, threads_per_core, model},
 *	 numa: {nodes, distances, node_sizes_mb}, affinity_inherited, cpufreq_cpus, cpu_governor, cpu_freq_khz,
 *	 thp_enabled, smt_active, cgroup}
 *	{kind: "metadata", pid, cmd, executable, t0_ms, capabilities: {psi, perf_hw}}
 *
 * A value that the capture does not have is "", 0 or empty, or null where denet leaves a member
 * out: a machine without frequency scaling has no cpu_governor.  affinity_inherited and cgroup are
 * of the process that was recorded if it was one, else the recorder's.  cmd is the recorder's
 * command line.
 */
#ifndef EBPREC_ANALYZE_EXPORT_DENET_ENV_H
#define EBPREC_ANALYZE_EXPORT_DENET_ENV_H

#include <stdbool.h>

#include "format/reader/capture.h"
#include "format/text/json_writer.h"

struct denet_env {
	uint32_t pid;      /* of the process that was recorded; 0: there are several */
	uint64_t start_ms; /* of the recording, on the wall clock */
	bool has_pressure, has_counters;
};

void denet_env_write(const struct capture *c, const struct denet_env *e, struct json_writer *j);

#endif
