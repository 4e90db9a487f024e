/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * situation - what slows a recording down, in one word: by a few of its sums
 *
 * The rules are in the order of the enumeration, and the first that applies is the situation.  Special causes come
 * before general ones: a machine that swaps waits for disks, too, and one that starts programs all the time is busy.
 * Times are compared with the time that was recorded and with the time on CPUs, so that the rules are the same for a
 * second and an hour, for two CPUs and 200.
 */
#ifndef EBPREC_ANALYZE_REPORT_SITUATION_H
#define EBPREC_ANALYZE_REPORT_SITUATION_H

#include <stdbool.h>
#include <stdint.h>

enum situation {
	SITUATION_INCOMPLETE, /* a tenth is missing: the rest may be no picture of all */
	SITUATION_EMPTY,      /* neither samples nor waits */
	SITUATION_SWAPPING,   /* threads waited for memory on disk, a tenth of the time or more */
	SITUATION_FORK_STORM, /* 100 programs a second, or 20 that have a third of all CPU time */
	SITUATION_COLLECTING, /* a quarter of the samples is garbage collection */
	SITUATION_LOCKS,      /* waits for locks: half of the CPU time, three tenths of the time */
	SITUATION_DISK,       /* the same of disks */
	SITUATION_OVERLOAD,   /* as many threads waited for a CPU as ran, half of the time */
	SITUATION_CPU,        /* half of all CPUs, or half of one by a process */
	SITUATION_WAITING,    /* of a recording of some processes: they ran less than that */
	SITUATION_IDLE,       /* of all processes: less than a tenth of the CPUs was busy */
	SITUATION_PARTLY,     /* none of these */
	SITUATION_COUNT,
};

/* Times in ns, added up over threads; 0 where they are not known. */
struct situation_facts {
	uint64_t elapsed_ns; /* that was asked for */
	uint64_t cpus;       /* 0: not known */
	bool is_system_wide;
	bool is_damaged; /* the file is cut, or parts of it are unreadable */
	uint64_t samples, lost_samples;
	uint64_t run_ns;       /* on CPUs, of all processes but the idle task */
	uint64_t top_run_ns;   /* of the process, or the short ones of a name, that ran most */
	uint64_t started;      /* processes */
	uint64_t short_run_ns; /* on CPUs, of names that many short processes have */
	uint64_t collecting;   /* samples */
	uint64_t wait_ns;      /* off the CPU */
	uint64_t unknown_ns;   /* of threads, in which events are missing */
	uint64_t swap_ns, lock_ns, disk_ns, queue_ns; /* waits */
};

enum situation situation_find(const struct situation_facts *f);
/* "CPU-bound"; what a text begins with. */
const char *situation_title(enum situation s);

#endif
