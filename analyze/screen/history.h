/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * history - what the last minutes were spent on, a second each
 *
 * A second has the stacks that reports of its parts counted: samples of the CPUs, and what threads waited for or ran, in
 * microseconds.  Any run of seconds can be added up again, so the past is shown as the present is.  Functions and threads
 * have numbers that all seconds share.
 *
 * Memory is bounded: seconds beyond the limit are dropped, the oldest first, and with them from time to time the names,
 * functions and threads that no other second has.
 */
#ifndef EBPREC_ANALYZE_SCREEN_HISTORY_H
#define EBPREC_ANALYZE_SCREEN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/fold/stack_table.h"
#include "analyze/report/report.h"
#include "format/base/hash_index.h"

/* What of a second is added up. */
enum history_measure {
	HISTORY_CPU,    /* samples of code that ran */
	HISTORY_OFFCPU, /* microseconds that threads waited */
	HISTORY_WALL,   /* both: the microseconds that threads lived */
	HISTORY_WAKERS, /* as HISTORY_OFFCPU, and below each reason the stack of the thread that ended the wait */
	HISTORY_EVENT, /* what the events of an instrument weigh */
};

/* What is counted together. */
enum history_by {
	HISTORY_BY_PROGRAM,
	HISTORY_BY_PROCESS,
	HISTORY_BY_THREAD,
	HISTORY_BY_CONTAINER,
	HISTORY_BY_UNIT, /* of systemd: the last .service, .scope or .slice of the control group */
	HISTORY_BYS,
};

/* All numbers but is_kernel, is_wait and the ids are texts in the names. */
struct history_frame {
	uint32_t name, dso;
	bool is_kernel;
	bool is_wait;  /* no function but what was waited for, "[futex]" */
	bool is_blank; /* one of these that is no wait: what is not known */
};

struct history_task {
	uint32_t comm, pid, tid, container, unit;
};

struct history_mark {
	uint64_t time_ns;
	char *text; /* owned */
};

struct history_second {
	uint64_t second; /* of the capture's clock: [second, second + 1) s */
	struct stack_table samples, times, wakers, events;
	unsigned first_part, last_part; /* the files that have it, by number */
	uint64_t sample_count, lost;
	uint32_t *cpu_samples; /* by CPU; owned */
	size_t cpu_count, cpu_capacity;
	bool has_part;              /* first_part and last_part are set */
	bool has_times, has_wakers; /* they have been counted: see history_has() */
};

/* Of the machine: how many threads ran or waited for a CPU, on average. */
struct history_load {
	uint64_t second;
	double runnable;
};

/* Read freely; embedded by the owner. */
struct history {
	struct string_table *names;
	struct history_frame *frames;
	size_t frame_count, frame_capacity;
	struct hash_index frame_index;
	struct history_task *tasks;
	size_t task_count, task_capacity;
	struct hash_index task_index;
	struct history_second *seconds; /* rising, without gaps being filled */
	size_t count, capacity;
	struct history_mark *marks; /* by time */
	size_t mark_count, mark_capacity;
	struct history_load *loads; /* limit_count; that of a second is at its number modulo this */
	size_t limit_bytes;         /* of all seconds */
	unsigned limit_count;       /* how many seconds there may be */
	bool no_kernel, no_user;    /* set by the owner: samples in that mode are not added */
	size_t compacted_at; /* how many tasks and frames there were after the last clean-up */
	unsigned clean_ups;  /* each gave frames, tasks and texts new numbers */
};

/* -ENOMEM.  *h: history_done(). */
int history_init(struct history *h, unsigned limit_count, size_t limit_bytes);
void history_done(struct history *h);

/*
 * The second of this number, which is made if need be; numbers rise, and only the last may be added to.  NULL: no memory,
 * or it is before the last one.
 */
struct history_second *history_second_of(struct history *h, uint64_t second);
/*
 * Adds what a report counted in a part of this second: samples of the CPUs (HISTORY_CPU; it was made with keep_samples),
 * the time of threads (HISTORY_WALL, which has HISTORY_OFFCPU, too; with off_cpu and wall), waits with their wakers (HISTORY_WAKERS;
 * with off_cpu and wakers) or events.  Groups of r distinguish comm, pid, tid and cgroup.  -ENOMEM, -EOVERFLOW.
 */
int history_add(struct history *h, struct history_second *s, struct report *r,
		enum history_measure measure);
/*
 * Waits and wakers cost more than all else and are not always shown, so they may be added to a closed second, too, between
 * these two: history_open() drops what there was of the measure.  -ENOMEM.
 */
int history_open(struct history_second *s, enum history_measure measure);
void history_close(struct history_second *s, enum history_measure measure);
bool history_has(const struct history_second *s, enum history_measure measure);
void history_set_runnable(struct history *h, uint64_t second, double runnable);
/* The mean of these seconds, by position; < 0: that of none is known. */
double history_runnable(const struct history *h, size_t first, size_t count);
/* The number of a frame or task, whose texts are in the names; an old one where there is an equal one.  -ENOMEM. */
int history_add_frame(struct history *h, const struct history_frame *frame, uint32_t *out);
int history_add_task(struct history *h, const struct history_task *task, uint32_t *out);
/* Nothing more is added to s, nor to those before it.  Drops what is too much.  -ENOMEM. */
int history_close_second(struct history *h, struct history_second *s);
/* Copies text.  -ENOMEM. */
int history_add_mark(struct history *h, uint64_t time_ns, const char *text);

/*
 * Adds up seconds [first, first + count), by position, of one measure.  -ENOMEM, -EOVERFLOW.  *out: stack_table_done(); its
 * frames and groups are numbers of h's frames and tasks; what counts is sample_count for HISTORY_CPU, else period_sum.
 */
int history_select(const struct history *h, size_t first, size_t count,
		   enum history_measure measure, struct stack_table *out);
/* The frame of this name in this file, which is a wait or a function; UINT32_MAX: none has been added. */
uint32_t history_find_frame(const struct history *h, const char *name, const char *dso);
/* The text of a task, in the names.  -ENOMEM, -EOVERFLOW. */
int history_label(struct history *h, enum history_by by, uint32_t task, uint32_t *out);
size_t history_bytes(const struct history *h); /* of all seconds */

#endif
