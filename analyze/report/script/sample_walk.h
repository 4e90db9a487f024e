/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_walk - the samples of a capture in the order of time, with what their stacks and names need
 *
 * Opened, it has a resolver with all names of the capture, the tracepoints' formats, and the state to complete
 * callchains; run, it calls for each sample that passes a filter, once for each event that it is of.
 */
#ifndef EBPREC_ANALYZE_REPORT_SCRIPT_SAMPLE_WALK_H
#define EBPREC_ANALYZE_REPORT_SCRIPT_SAMPLE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fold/count_samples.h"
#include "analyze/fold/sample_chain.h"
#include "analyze/input/event/filter.h"
#include "analyze/input/event/sample_decode.h"
#include "analyze/input/event/samples_by_time.h"
#include "analyze/input/tracepoint/tracepoint_text.h"
#include "analyze/names/name_context.h"
#include "analyze/process/process_model.h"

/* Not 0: stop, and return it. */
typedef int (*sample_walk_fn)(void *ctx, const struct perf_sample *sample,
			      const struct capture_attr *attr);

/* Embedded by the owner; all zero is an empty one. */
struct sample_walk {
	const struct capture *capture; /* borrowed, as are model and names */
	const struct process_model *model;
	const struct string_table *names;
	struct name_context namer;
	struct tracepoint_text *trace; /* NULL: tracepoints have no text */
	struct sample_chains chains;
	struct sample_chain chain;
	struct sample_decode decode;
	/* The run. */
	const struct filter *filter;
	const struct capture_attr *only; /* NULL: all events */
	sample_walk_fn fn;
	void *ctx;
	uint64_t broken;                    /* samples that do not fit their event */
	struct samples_by_time_stats stats; /* broken: more of them */
};

/* roots: borrowed until sample_walk_close(), which is due also after a failure.  -ENOMEM. */
int sample_walk_open(struct sample_walk *w, const struct capture *c, const struct load_scan *scan,
		     const struct process_model *model, const struct string_table *names,
		     const struct name_roots *roots, bool demangle);
/* -ENOMEM, or what fn returned. */
int sample_walk_run(struct sample_walk *w, const struct filter *filter,
		    const struct capture_attr *only, sample_walk_fn fn, void *ctx);
void sample_walk_close(struct sample_walk *w);

#endif
