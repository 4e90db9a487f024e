/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * count_samples - from a capture to a model and counted stacks
 *
 * Two passes.  The first reads the side-band (in our captures only the blocks that hold it; in
 * perf's files everything, for it is mixed) and seals the model; the second counts samples.  Where
 * the blocks of a capture are independent, several threads count, each in tables of its own, and
 * the tables are added up: the result does not depend on their number.
 */
#ifndef EBPREC_ANALYZE_FOLD_COUNT_SAMPLES_H
#define EBPREC_ANALYZE_FOLD_COUNT_SAMPLES_H

#include <stdint.h>

#include "analyze/input/embedded_files.h"
#include "analyze/input/event/filter.h"
#include "analyze/process/jit_code.h"
#include "analyze/input/event/block_cache.h"
#include "analyze/fold/deferred_chains.h"
#include "analyze/process/process_model.h"
#include "analyze/process/tasks.h"
#include "analyze/fold/stack_counter.h"
#include "format/reader/capture.h"

/* Findings of the first pass. */
struct load_scan {
	size_t attr_count;
	uint64_t *attr_samples; /* perf's files: samples of each attr; NULL in our captures */
	uint64_t *attr_lost;    /* ours: events of each attr that were lost; NULL in perf's files */
	struct time_span span;  /* first and last sample; all when there is none */
	bool span_known;
	uint32_t damaged_blocks;
	/* Where the kernel lay: the symbol that its map is named after ("_text"), and its address. */
	char kernel_symbol[32];
	uint64_t kernel_addr;   /* 0: not known */
	struct embedded *files; /* that the capture carries */
	struct jit_code jits;
	struct block_cache cached; /* of a slice: all its samples; empty: read them from the file */
	struct deferred_chains later;
};

/*
 * names outlives the model.  slice: only samples of this time will be asked about, and the model may
 * know no other processes than theirs; NULL: it knows all.  -ENOMEM.  *scan: load_scan_done().
 */
int load_model(const struct capture *c, struct string_table *names, const struct time_span *slice,
	       struct process_model **out, struct load_scan *scan);
/* The same of all times, and from the same pass the lives of tasks.  *tasks: tasks_done(). */
int load_model_and_tasks(const struct capture *c, struct string_table *names,
			 struct process_model **out, struct load_scan *scan, struct tasks *tasks);
void load_scan_done(struct load_scan *scan);

/*
 * The attr whose samples are meant: by name ("cycles" also for "cycles:u"), or for NULL the one
 * that the capture is about: the first of ours, in perf's files the first that has samples.
 * -ENOENT: no attr of that name, or none at all.
 */
int load_choose_event(const struct capture *c, const struct load_scan *scan, const char *name,
		      size_t *attr);

/*
 * Whether all samples of the event are in the stream of CPUs: of ours those of the first, but a slice of
 * perf's may begin with an event of the scheduler.
 */
bool load_has_stream(const struct capture *c, size_t attr);
/* Whether besides there are no samples of other events in it: a slice of perf's file has all kinds there. */
bool load_stream_is_of_one(const struct capture *c);

struct load_query {
	size_t attr;                 /* index of the event */
	const struct filter *filter; /* NULL: all */
	struct groups *
		groups; /* the samples of different groups are counted apart; NULL: groups of comms */
	bool sum_groups;   /* stack_counter_sum_groups() */
	bool keep_samples; /* stack_counter_keep_samples() */
	struct symbol_buckets_set
		*parts;     /* for callers that want names only; NULL: every address counts */
	uint64_t sample_ns; /* weighs as much in place of its period; 0: the period */
	const struct string_table *names; /* the model's */
	const struct name_roots *roots; /* where to find files for stack copies; NULL: below "/" */
	const struct block_cache
		*cached; /* of load_scan, for the slice of the filter; NULL: none */
	const struct deferred_chains *later; /* of load_scan; NULL: none */
	unsigned thread_count;               /* 0: as many as there are CPUs, at most 8 */
};

struct load_stats {
	uint64_t event_samples;  /* of the event, in the file */
	uint64_t broken_samples; /* did not fit their attr: left out */
	uint32_t damaged_blocks;
};

/* *out: stack_counter_free().  -ENOMEM, -EOVERFLOW. */
int load_samples(const struct capture *c, const struct process_model *model,
		 const struct load_query *query, struct stack_counter **out,
		 struct load_stats *stats);

#endif
