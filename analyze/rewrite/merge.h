/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge - several captures of one machine as one
 *
 * The new file has all samples of all of them: reports are the sums of theirs.  Events that are
 * alike become one; each is written under one new id.  The state at the begin of a recording stands
 * in a capture without a time, before everything; for a capture that began later it gets that time,
 * or its mappings and pids would hold in the earlier ones.
 *
 * Where times overlap, switches, wakeups and marks are taken from the first capture that recorded
 * all processes; samples of CPUs are not the same events, and all stay.  Between captures it is not
 * known what threads did: the times of the parts are stored (EBX_META_PARTS) for readers that add
 * up times, and which processes each part recorded.  Times must be comparable: one clock, one boot.
 *
 * Limits: of code that a process made (perf-PID.map), and a pid that was used again for another
 * such process, the names of both are there.
 */
#ifndef EBPREC_ANALYZE_REWRITE_MERGE_H
#define EBPREC_ANALYZE_REWRITE_MERGE_H

#include <stdbool.h>

#include "analyze/rewrite/rewrite.h"

struct merge_how {
	bool any_boot;         /* of the machine: its clock is trusted */
	unsigned thread_count; /* 0: as many as there are CPUs; the file is the same */
};

struct merge_error {
	size_t input;   /* which one does not fit the first; of the inputs as given */
	char text[160]; /* why */
};

/*
 * Into fd, a new, empty regular file; borrowed.  any_boot: take them although their boot times
 * differ.  -EXDEV: they do not go together, *error has the reason; else errno of reading or writing.
 */
int merge_captures(const struct capture *const *inputs, size_t count, const struct merge_how *how,
		   int fd, struct rewrite_stats *out, struct merge_error *error);

#endif
