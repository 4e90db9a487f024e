/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_metric_jobs - which tables are shown by what, their rows added up, and shown
 *
 * The common part of `ebprec metrics` and `ebprec live`.
 */
#ifndef EBPREC_ANALYZE_CMD_METRICS_CMD_METRIC_JOBS_H
#define EBPREC_ANALYZE_CMD_METRICS_CMD_METRIC_JOBS_H

#include "analyze/cmd/common/usage.h"
#include "analyze/metric/containers.h"
#include "analyze/metric/out.h"

/* How tables are asked for. */
struct metric_jobs_ask {
	const struct usage *usage;
	const char *from;      /* where they come from, for messages */
	const char *by, *sort; /* NULL: as the view has it */
	enum metric_form form;
	bool histogram;
	bool interval;  /* each interval by itself */
	bool no_legend; /* columns were explained before */
	unsigned top;   /* rows; UINT32_MAX: not given */
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
	uint32_t keys[METRIC_AGGREGATE_KEYS_MAX];
	size_t key_count, outer_key_count;
	struct metric_aggregate *sums; /* one, or one an interval that has rows */
	size_t sum_count, sum_capacity;
	struct hash_index by_interval; /* interval -> its sum */
};

/* Embedded by the owner; metric_jobs_done(). */
struct metric_jobs {
	const struct metric_jobs_ask *ask;
	struct metric_rows *rows;
	struct string_table *names;
	const struct process_model *model; /* NULL: cgroups are shown by number */
	const struct process_model *tasks; /* NULL: processes have the comms of their rows */
	struct job jobs[METRIC_TABLES_MAX];
	size_t job_count;
	struct containers containers;
	const char *notes; /* of the capture, about these tables; borrowed, NULL: none */
	uint64_t start_ns;
};

/*
 * Chooses the tables of m->rows: all, or those of the instrument or table `name`; again for others.
 * 0, or the exit status after an error was printed.
 */
int metric_jobs_make(struct metric_jobs *m, const char *name);
/* Whether the name is of a part of recordings that has no tables: another command shows it, and a message was printed. */
bool metric_jobs_is_elsewhere(const char *name);
/* Whether cgroups have to be known by name. */
bool metric_jobs_want_cgroups(const struct metric_jobs *m);
/* Whether a table is shown that has symbols. */
bool metric_jobs_want_symbols(const struct metric_jobs *m);
/* Whether a process is shown that has rows of its other threads only, so that its comm is in none. */
bool metric_jobs_want_tasks(const struct metric_jobs *m);
/* A row for metric_rows_walk(); ctx: the struct metric_jobs.  -ENOMEM, -EOVERFLOW. */
int metric_jobs_row(void *ctx, const struct metric_row *r);
/*
 * All rows have come: intervals are put in order, and what is not shown by them is of all of them, also of
 * those without a row.
 */
void metric_jobs_end(struct metric_jobs *m);
/* Whether no row has come. */
bool metric_jobs_is_empty(const struct metric_jobs *m);
/* Shows the sums.  0, or the exit status after an error was printed. */
int metric_jobs_show(const struct metric_jobs *m);
/* Forgets the rows. */
void metric_jobs_clear(struct metric_jobs *m);
void metric_jobs_done(struct metric_jobs *m);

#endif
