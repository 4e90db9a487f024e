/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metricjobs - which tables are shown by what, their rows added up, and shown
 *
 * What `ebprec metrics` does with a capture and `ebprec live` with what comes in.
 */
#ifndef EBPREC_ANALYZE_CMD_CMD_METRICJOBS_H
#define EBPREC_ANALYZE_CMD_CMD_METRICJOBS_H

#include "analyze/cmd/usage.h"
#include "analyze/metric/containers.h"
#include "analyze/metric/out.h"

/* How tables are asked for. */
struct metricjobs_ask {
	const struct usage *usage;
	const char *from;      /* where they come from, for messages */
	const char *by, *sort; /* NULL: as the view has it */
	enum metric_form form;
	bool histogram;
	bool interval; /* each interval by itself */
	unsigned top;  /* rows; UINT32_MAX: not said */
};

/* One table on its way to the reader. */
struct job {
	struct metric_view own_view;
	const struct metric_view *view;
	const struct metric_table *table;
	struct metric_dim own[METRIC_BY_MAX];
	const struct metric_dim *by[METRIC_BY_MAX];
	size_t by_count;
	bool by_container;
	uint32_t keys[METRICSUM_KEYS_MAX];
	size_t key_count, outer_key_count;
	struct metricsum *sums; /* one, or one an interval */
	size_t sum_count, sum_capacity;
	uint64_t first_interval;
};

/* Embedded by the owner; metricjobs_done(). */
struct metricjobs {
	const struct metricjobs_ask *ask;
	struct metricrows *rows;
	struct strings *names;
	const struct model *model; /* NULL: cgroups are shown by number */
	struct job jobs[METRIC_TABLES_MAX];
	size_t job_count;
	struct containers containers;
	const char *notes; /* of the capture, about these tables; borrowed, NULL: none */
	uint64_t start_ns;
};

/*
 * Chooses the tables of m->rows that are meant: all, or those of the instrument or table `name`; again
 * for others.  0, or the exit status after an error was said.
 */
int metricjobs_make(struct metricjobs *m, const char *name);
/* Whether cgroups have to be known by name. */
bool metricjobs_want_cgroups(const struct metricjobs *m);
/* A row for metricrows_walk(); ctx: the struct metricjobs.  -ENOMEM, -EOVERFLOW. */
int metricjobs_row(void *ctx, const struct metric_row *r);
/* All rows have come: what is not shown by intervals is of all of them, also of those without a row. */
void metricjobs_end(struct metricjobs *m);
/* Whether no row has come. */
bool metricjobs_is_empty(const struct metricjobs *m);
/* Shows what was added up.  0, or the exit status after an error was said. */
int metricjobs_show(const struct metricjobs *m);
/* Forgets the rows. */
void metricjobs_clear(struct metricjobs *m);
void metricjobs_done(struct metricjobs *m);

#endif
