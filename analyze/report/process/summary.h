/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * summary - which processes ran, when, and how much: the rows of a one-page answer
 *
 * Made from stacks that were distinguished by process and slice of time: each row has a strip of
 * its time, a column a slice.  Where context switches were recorded, a process that ran too shortly
 * to be sampled has a row, too.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROCESS_SUMMARY_H
#define EBPREC_ANALYZE_REPORT_PROCESS_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/process/tasks.h"
#include "analyze/report/report.h"
#include "analyze/sched/stats.h"

#define SUMMARY_SLICES 40

struct summary_row {
	uint32_t pid, comm; /* as in struct group: the last one */
	uint32_t life;      /* of its process, in the tasks; TASKS_NONE: not known */
	uint32_t cgroup;    /* in the names: its last */
	uint32_t strip;     /* whose slices are its own; SUMMARY_NO_STRIP: it has no samples */
	uint64_t samples, period;
	uint64_t run_ns; /* on a CPU: by switches, else as the caller has it; 0: not known */
	uint64_t first_ns, last_ns;    /* slices: when they begin */
	uint32_t processes;            /* that the row is of: more than one after summary_group() */
	uint64_t started_ns, ended_ns; /* of several: when the first began and the last ended */
	/* For several: the program that started most of them, and how many; TASKS_NONE: not known. */
	uint32_t parent_comm, parent_starts;
	uint32_t parent_pid; /* its process; TASKS_NONE: it was several */
};

#define SUMMARY_NO_STRIP UINT32_MAX

struct summary {
	struct summary_row *rows; /* summary_sort() */
	size_t count, capacity;
	/* Samples of each slice: of a million processes few have any. */
	uint64_t (*strips)[SUMMARY_SLICES];
	size_t strip_count, strip_capacity;
	uint64_t samples;
	uint64_t renamed; /* of them: of threads, or of a time, with another name than their row */
	uint64_t busiest; /* samples of the fullest slice, of all rows */
	uint64_t from_ns, slice_ns;
};

/* The fields that report_query needs so that summary_make() can do its work. */
unsigned summary_fields(void);
uint64_t summary_quantum_ns(const struct time_span *recorded);

/*
 * known: whose pids came again; a slice is of the process that had the pid for most of it.  -ENOMEM.
 * *out: summary_done().
 */
int summary_make(struct report *r, const struct time_span *recorded, const struct tasks *known,
		 struct summary *out);
/* Longest on a CPU first, then most samples, then by pid.  Due when the caller has changed rows[].run_ns. */
void summary_sort(struct summary *s);
/* Makes a row of all from first on; its strip is new.  -ENOMEM. */
int summary_rest(struct summary *s, size_t first, struct summary_row *out);
/* -ENOMEM. */
int summary_add_runs(struct summary *s, const struct sched_stats *runs, const struct tasks *known);
/*
 * Makes one row of processes of one name that began and ended in the recording within SUMMARY_SHORT_NS each,
 * where there are SUMMARY_GROUP_MIN or more.  It has the pid, and life, of the one that ran longest.
 * -ENOMEM.
 */
#define SUMMARY_SHORT_NS  1000000000u
#define SUMMARY_GROUP_MIN 3
int summary_group(struct summary *s, const struct tasks *known);
void summary_done(struct summary *s);

/* A character a slice, '.' to '#', by how much of a CPU-slice's most; out has room for a NUL. */
void summary_strip(const struct summary *s, const struct summary_row *row,
		   char out[SUMMARY_SLICES + 1]);

#endif
