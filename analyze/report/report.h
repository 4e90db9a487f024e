/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * report - a capture's stacks, counted and named
 *
 * Joins the modules: loading, names, stack quality.  Intermediate results are freed as soon as the
 * next step has its input; stacks of functions stay.
 */
#ifndef EBPREC_ANALYZE_REPORT_REPORT_H
#define EBPREC_ANALYZE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/process/service.h"
#include "analyze/fold/groups.h"
#include "analyze/fold/count_samples.h"
#include "analyze/names/function_table.h"
#include "analyze/sched/offcpu.h"
#include "analyze/report/name_filter.h"
#include "analyze/fold/stack_table.h"
#include "analyze/base/string_table.h"
#include "analyze/report/key/name_sources.h"
#include "analyze/report/wait_table.h"
#include "analyze/report/quality/symbol_coverage.h"
#include "analyze/report/quality/stack_quality.h"

/* The first half: whose samples there are. */
struct report {
	const struct capture *capture; /* borrowed */
	struct string_table *names;
	bool is_beside;     /* names and containers are another report's, */
	bool has_its_model; /* and model and scan, too */
	struct tasks tasks; /* report_open_with_tasks() */
	struct process_model *
		model; /* NULL once the stacks are made without keep_model, or when it is read later */
	struct container_names *containers;
	const struct service_rules *services; /* of the query */
	const struct capture_attr *attr;      /* that was counted; NULL before report_make() */
	const char *event; /* its name; NULL: waits were counted, or it is before report_make() */
	struct load_scan scan;
	struct process_model_counts counts;
	void (*on_made)(void *arg); /* called at the end of report_make(); NULL: none */
	void *on_made_arg;
	/* The second half. */
	struct stack_table stacks;      /* frames: functions of naming */
	struct groups *groups;          /* of the stacks; their cgroups are numbers in names */
	struct stack_counter_sum *sums; /* with sum_groups: by group; NULL: the stacks have them */
	size_t sum_count;
	uint64_t picked; /* samples in the stacks */
	struct function_table naming;
	uint16_t compilers; /* of unnamed code that any process has mapped: see runtimes.h */
	struct stack_quality quality;
	struct stack_quality_work *stack_quality_work; /* NULL: there is none, or it is done */
	struct symbol_coverage symbols;
	struct name_sources sources; /* with_sources */
	struct stack_counter_counts sampled;
	struct load_stats stats;
	struct offcpu waits;          /* with off_cpu */
	struct wait_table wait_table; /* with wait_rows */
	int kallsyms_err; /* 0, or why there are no kernel names: kallsyms_of_capture() */
	/* The divisor of periods, as a power of two: their sum was more than INT64_MAX. */
	unsigned period_shift;
};

struct name_context;

struct report_query {
	size_t attr;
	const struct filter *filter;
	const struct name_filter *pick;       /* NULL: all */
	const struct service_rules *services; /* borrowed until report_done(); NULL: none */
	bool off_cpu;               /* not samples but waits, in microseconds as their period */
	bool wakers;                /* with off_cpu: and the threads that ended them */
	bool wait_rows;             /* with off_cpu: the table, of what is picked */
	bool by_busy;               /* with off_cpu: see offcpu_query */
	bool each_wait;             /* likewise */
	bool exact_waits;           /* likewise: in nanoseconds, and how many waits as samples */
	bool wall;                  /* with off_cpu: and the time on a CPU, by samples of attr, */
	bool wall_by_period;        /* or by their periods */
	struct offcpu_times *times; /* with off_cpu: see offcpu_query */
	unsigned fields;            /* enum group_fields: the fields that are distinguished */
	bool sum_groups; /* stacks of groups are not distinguished, only their sums; without pick */
	bool keep_samples;       /* the stacks have each sample besides */
	bool keep_model;         /* for report_open_beside() */
	uint64_t quantum_ns;     /* of GROUP_TIME; 0: 1 */
	uint64_t sample_ns;      /* see load_query */
	unsigned thread_count;   /* 0: chosen */
	struct name_roots roots; /* borrowed during the call */
	bool with_lines;         /* the lines of a function are functions of their own */
	bool with_locations; /* each place is a function of its own; with with_lines and with_inlined */
	bool with_inlined; /* inlined functions are frames, too */
	bool with_gaps;    /* symbols has the missing files of inlined functions */
	bool with_sources; /* functions of several files are distinguished, and their builds known */
	/* Called when all places have names; NULL: none.  A result other than 0 ends the report. */
	int (*on_named)(void *arg, struct resolver *resolver);
	void *on_named_arg;
	/*
	 * Where names were found for an earlier state of this capture, and are to be found for later ones; all zero at first.
	 * roots are those of all these reports, and live as long.  NULL: names are found for this report alone.
	 */
	struct name_context *namer;
	bool demangle;
	bool without_interpreter; /* its own functions between those of the program are left out */
	bool quality_later;       /* it is only wanted after report_end_quality() */
	bool no_quality;          /* nor then */
	bool apart; /* stacks of equal names need not be made one: the caller adds them up anyway */
};

/* Reads the side-band.  -ENOMEM, -EOVERFLOW.  *r: report_done(). */
int report_open(const struct capture *capture, struct report *r);
/* The same, and from the same pass over the side-band the lives of tasks. */
int report_open_with_tasks(const struct capture *capture, struct report *r);
/* As report_open(), but the side-band may be read by report_make(), and only what its query needs; until then
 * there is no model. */
int report_open_later(const struct capture *capture, struct report *r);
/*
 * Another report of the same capture: its texts are numbers of the same table, which is first's, as are names of
 * containers.  The side-band is read again only where first has no model any more.  first is done after it.
 * -ENOMEM, -EOVERFLOW.
 */
int report_open_beside(const struct report *first, struct report *r);
/* From the first sample to the last; NULL: not known.  Borrowed. */
const struct time_span *report_span(const struct report *r);
/* Counts and names; once.  -ENOMEM, -EOVERFLOW. */
int report_make(struct report *r, const struct report_query *query);
/*
 * With quality_later: waits for the stack quality, which is made while the stacks are shown.
 * -ENOMEM.
 */
int report_end_quality(struct report *r);
void report_done(struct report *r);

/* The comm of a group as texts show it, made fit for folded stacks ('_' for blanks). */
int report_comm_label(struct report *r, uint32_t group, uint32_t *label);
/* The same of a number of struct group's comm. */
int report_comm_label_of(struct report *r, uint32_t number, uint32_t *label);

#endif
