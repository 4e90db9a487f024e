/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event_attrs - the events of a capture: perf's attrs, and the ids of their records
 *
 * attr[0] is the sampling event (samply wants it first).  All share one sample_id tail, have
 * CALLCHAIN (without it `perf sched timehist` drops the column for all) and CLOCK_MONOTONIC.
 * Events that the kernel writes records for have the kernel's ids, one a CPU; ours are numbered
 * above them.
 */
#ifndef EBPREC_RECORD_EVENTS_EVENT_ATTRS_H
#define EBPREC_RECORD_EVENTS_EVENT_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/payload/metric_format.h"
#include "format/writer/writer.h"
#include "format/base/outbuf.h"

enum event_attrs_event {
	ATTR_SAMPLE, /* cycles or cpu-clock */
	ATTR_SWITCH, /* sched:sched_switch */
	ATTR_WAKEUP, /* sched:sched_wakeup, and so on */
	ATTR_WAKEUP_NEW,
	ATTR_MIGRATE,
	ATTR_FORK,
	ATTR_EXIT,
	ATTR_WAKER,   /* ebprec:waker */
	ATTR_RUNTIME, /* sched:sched_stat_runtime */
	ATTR_EXITED,  /* ebprec:exit */
	ATTR_MARK,    /* ebprec:mark */
	ATTR_SIDE,    /* dummy: the side-band */
	ATTR_METRIC,  /* the first table of the instruments, and those behind it */
	ATTR_END = ATTR_METRIC + METRIC_TABLES_MAX,
};

struct event_attrs_entry {
	bool present;
	char name[40];
	struct perf_event_attr attr;
	char *format;  /* of a kernel's tracepoint; owned, NULL: none */
	uint64_t *ids; /* owned */
	size_t id_count;
};

/*
 * An event of the kernel's that was opened when the file's head was written: see event_attrs_settle_ids().  Its id
 * may be a number that one of our own events got.
 */
struct event_attrs_late_id {
	uint64_t id;
	enum event_attrs_event event;
};

struct event_attrs {
	struct event_attrs_entry entry[ATTR_END];
	struct event_attrs_late_id *late; /* owned */
	size_t late_count;
};

void event_attrs_done(struct event_attrs *a);

/* The attr of the side-band for perf_event_open(); optional parts may be removed from it. */
void event_attrs_side_kernel(struct perf_event_attr *attr);
/*
 * The timer of cpu-clock interrupts a program at this frequency, whatever the program did meanwhile, and the kernel does
 * not throttle it: at 100 kHz an interrupt comes every 10 us, takes as long, and the program stands still.
 */
#define EVENT_ATTRS_CPU_CLOCK_MAX_HZ 25000

/* cycles: PERF_COUNT_HW_CPU_CYCLES, else cpu-clock, with at most that frequency. */
void event_attrs_sample_kernel(struct perf_event_attr *attr, bool cycles, unsigned freq_hz);

/* A tracepoint that is recorded as it is; its number goes to config. */
void event_attrs_trace_kernel(struct perf_event_attr *attr);

/* Describe an event in the file, from what the kernel was given or a tracepoint's id. */
void event_attrs_set_sample(struct event_attrs *a, const struct perf_event_attr *kernel);
void event_attrs_set_side(struct event_attrs *a, const struct perf_event_attr *kernel);
void event_attrs_set_tracepoint(struct event_attrs *a, enum event_attrs_event event,
				const char *name, uint32_t tracepoint_id);
/* The text of its format, for the file.  Taken: freed with *a. */
void event_attrs_set_format(struct event_attrs *a, enum event_attrs_event event, char *format);

/* The event will not be in the file after all. */
void event_attrs_unset(struct event_attrs *a, enum event_attrs_event event);

/* One more id of the kernel's for an event.  -ENOMEM. */
int event_attrs_add_id(struct event_attrs *a, enum event_attrs_event event, uint64_t id);
/* One that the head of the file does not have.  -ENOMEM. */
int event_attrs_add_late_id(struct event_attrs *a, enum event_attrs_event event, uint64_t id);
/*
 * A record of the side-band's, not a sample, as the kernel wrote it: where it names an event by a late id,
 * it gets one that readers know.
 */
void event_attrs_settle_ids(const struct event_attrs *a, struct perf_event_header *record);
/* Gives the present events that have no id one of their own.  -ENOMEM. */
int event_attrs_number(struct event_attrs *a);
/* The id that records of ours carry. */
uint64_t event_attrs_id(const struct event_attrs *a, enum event_attrs_event event);

/* Fills out[] in order; returns how many.  Borrowed from *a. */
size_t event_attrs_for_writer(const struct event_attrs *a, struct writer_attr out[ATTR_END]);
/* The EVENT_DESC section. */
void event_attrs_event_desc(const struct event_attrs *a, struct outbuf *out);

#endif
