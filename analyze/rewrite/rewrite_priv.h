/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rewrite_priv - what copying one capture and joining several have in common
 *
 * The writer is open; then, for each capture, its objects and its records.
 */
#ifndef EBPREC_ANALYZE_REWRITE_REWRITE_PRIV_H
#define EBPREC_ANALYZE_REWRITE_REWRITE_PRIV_H

#include "analyze/input/event/event_of.h"
#include "analyze/input/event/group_read.h"
#include "analyze/rewrite/rewrite.h"
#include "format/perf/perffile.h"

/* How to rewrite a capture that is one of several. */
struct rewrite_join {
	const uint64_t *new_ids; /* by attr of the capture */
	uint64_t start_ns;       /* for records without a time; 0: they stay so */
	const struct time_span
		*known; /* events of these times are left out, but for samples of CPUs */
	size_t known_count;
	void *ctx;
	bool (*wants)(void *ctx, const struct capture_object *o);
	int (*object)(void *ctx, const struct capture_object *o, const void *data,
		      size_t size_bytes);
	int (*flush)(void *ctx, struct writer *w); /* when there is much in memory */
	void *flush_ctx;
};

struct rewrite {
	const struct capture *c;
	struct event_of events; /* of c; set by rewrite_records() */
	const struct rewrite_opts *opts;
	const struct rewrite_join *join; /* NULL: the only one */
	struct time_span span;           /* of the filter, or all */
	struct writer *w;
	struct group_read
		*members; /* of a slice with counts of other events in its samples; else NULL */
	int members_err;  /* -ENOMEM: a count could not be stored; nothing more is copied */
	struct rewrite_stats stats;
	_Alignas(8) uint8_t copy[PERFFILE_RECORD_MAX]; /* of a record that had to be changed */
};

int rewrite_objects(struct rewrite *rw);
int rewrite_records(struct rewrite *rw);

#endif
