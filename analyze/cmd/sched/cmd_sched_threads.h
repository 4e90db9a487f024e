/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_sched_threads - the table of threads that `ebprec sched` prints
 *
 * It fits a terminal (aligned_table.h): only comms are cut.
 */
#ifndef EBPREC_ANALYZE_CMD_SCHED_CMD_SCHED_THREADS_H
#define EBPREC_ANALYZE_CMD_SCHED_CMD_SCHED_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/sched/stats.h"
#include "analyze/base/string_table.h"

struct cmd_sched_shown {
	bool all;     /* also threads that neither ran nor woke up */
	unsigned top; /* no more than this; 0: no limit */
};

/* On standard output.  -ENOMEM. */
int cmd_sched_threads(const struct sched_stats *s, const struct string_table *names,
		      const struct cmd_sched_shown *opts);

/* The comm of a thread; ":TID" in unknown where there is none. */
const char *cmd_sched_comm_text(const struct string_table *names,
				const struct sched_stats_thread *th, char unknown[16]);
/* Real-time threads have none that counts. */
bool cmd_sched_has_nice(const struct sched_stats_thread *th);

#endif
