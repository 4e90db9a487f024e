/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * exporter - the forms in which a capture's stacks can leave it
 *
 * One table: `ebprec export --to NAME`, its help and its tests read it.  An exporter is given
 * counted stacks of functions, distinguished as far as it asks, and writes one file.  Outputs are
 * deterministic: the same capture gives the same bytes.
 */
#ifndef EBPREC_ANALYZE_EXPORT_EXPORTER_H
#define EBPREC_ANALYZE_EXPORT_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/report/report.h"
#include "analyze/report/profile/stack_path.h"

struct export_ask {
	const char *path;                /* of the capture, as the user named it */
	const struct capture_attr *attr; /* the event */
	enum calltree_weight weight;
	const char *weight_name, *unit; /* "samples" and "count", "time" and "nanoseconds" */
	uint64_t interval_ns;           /* between samples of a CPU; 0: not known */
	uint64_t wall_ns;               /* of the first sample; 0: not known */
	struct time_span span;          /* first and last sample; both 0: not known */
};

struct exporter {
	const char *name, *about;
	unsigned fields;   /* enum group_fields that it needs distinguished */
	bool with_sources; /* and has the file of each function */
	/* NULL: it writes a folder, of names alone (cmd_export_perf_cache.h). */
	int (*write)(struct report *r, const struct export_ask *ask, FILE *to);
	const char *reader; /* what it is for */
};

const struct exporter *exporters(size_t *count);
/* NULL: none of that name. */
const struct exporter *exporter_find(const char *name);

/* The stacks one by one, in an order that does not depend on how they were counted. */
struct export_stacks {
	const struct report *r;
	const struct group *groups;
	const struct stack_table_entry **list;
	size_t count;
	struct stack_path path; /* of the one that was read last */
	uint32_t *labels;       /* each function is its own label */
};

/* By comm, pid and tid; then by time; then by their frames.  -ENOMEM. */
int export_stacks_init(struct export_stacks *s, struct report *r);
void export_stacks_done(struct export_stacks *s);
/* Reads the i-th into s->path: functions, innermost first.  -ENOMEM. */
int export_stacks_read(struct export_stacks *s, size_t i);
const struct group *export_stacks_group(const struct export_stacks *s, size_t i);
uint64_t export_weight(const struct export_ask *ask, const struct stack_table_entry *e);
/* The comm of a group, "" + ":TID" where it is not known. */
const char *export_comm(const struct report *r, const struct group *g, char unknown[16]);
/* Its container, in the names; 0: none, or its cgroup was not recorded.  -ENOMEM, -EOVERFLOW. */
int export_container(const struct report *r, const struct group *g, uint32_t *out);

#define EXPORT_NO_FILE UINT32_MAX

/* The files of the functions; those of one path and one build are one. */
struct export_files {
	uint32_t *by_function; /* EXPORT_NO_FILE: of a path that was not wanted */
	uint32_t *functions;   /* of each: the first function in it */
	size_t count;
};

/* wants: which paths; NULL: all.  -ENOMEM: nothing is to be freed. */
int export_files_make(const struct report *r, bool (*wants)(const char *path),
		      struct export_files *out);
void export_files_done(struct export_files *f);

int export_pprof(struct report *r, const struct export_ask *ask, FILE *to);
int export_speedscope(struct report *r, const struct export_ask *ask, FILE *to);
int export_firefox(struct report *r, const struct export_ask *ask, FILE *to);
int export_chrome(struct report *r, const struct export_ask *ask, FILE *to);
int export_callgrind(struct report *r, const struct export_ask *ask, FILE *to);

#endif
