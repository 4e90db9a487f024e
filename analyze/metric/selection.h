/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * selection - which tables are shown by what, their rows added up, and shown
 *
 * The common part of `ebprec metrics`, `ebprec live` and the counters of a page.
 */
#ifndef EBPREC_ANALYZE_METRIC_SELECTION_H
#define EBPREC_ANALYZE_METRIC_SELECTION_H

#include "analyze/metric/containers.h"
#include "analyze/metric/out.h"

/* How tables are asked for. */
struct metric_ask {
	const char *by, *sort; /* NULL: as the view has it */
	enum metric_form form;
	bool histogram;
	bool interval;   /* each interval by itself */
	bool no_moments; /* only tables whose rows are of intervals */
	bool no_legend;  /* columns were explained before */
	unsigned top;    /* rows; UINT32_MAX: not given */
};

/* One table on its way to the reader. */
struct metric_sums {
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

/* Embedded by the owner, which fills what is borrowed; metric_selection_done(). */
struct metric_selection {
	const struct metric_ask *ask;
	struct metric_rows *rows;
	struct string_table *names;
	const struct process_model *model; /* NULL: cgroups are shown by number */
	const struct process_model *tasks; /* NULL: processes have the comms of their rows */
	struct metric_sums tables[METRIC_TABLES_MAX];
	size_t table_count;
	struct containers containers;
	const char *notes; /* of the capture, about these tables; borrowed, NULL: none */
	uint64_t start_ns;
};

/* Whether the table of that view is meant by the name of an instrument or table; NULL: all are. */
bool metric_selection_is_meant(const struct metric_view *v, const char *name);
/* Rows that are events by themselves are a list: their values cannot be added up. */
bool metric_selection_is_list(const struct metric_table *t, const struct metric_view *v);
/* A column with numbers, which rows can be sorted by; with - in front, from the smallest on. */
bool metric_selection_has_column(const struct metric_view *v, const char *key);

/*
 * Adds the tables of m->rows that are meant by the name; again for others.  A table is added once.  -ENOENT: none that
 * is meant has what rows are to be grouped by, or none is meant; -ENOMEM.
 */
int metric_selection_add(struct metric_selection *m, const char *name);
/* Whether a table is shown whose rows are of intervals. */
bool metric_selection_has_intervals(const struct metric_selection *m);
/* Whether cgroups have to be known by name. */
bool metric_selection_want_cgroups(const struct metric_selection *m);
/* Whether a table is shown that has symbols. */
bool metric_selection_want_symbols(const struct metric_selection *m);
/* Whether a process is shown that has rows of its other threads only, so that its comm is in none. */
bool metric_selection_want_tasks(const struct metric_selection *m);
/* A row for metric_rows_walk(); ctx: the struct metric_selection.  -ENOMEM, -EOVERFLOW. */
int metric_selection_row(void *ctx, const struct metric_row *r);
/*
 * All rows have come: intervals are put in order, and what is not shown by them is of all of them, also of
 * those without a row.
 */
void metric_selection_end(struct metric_selection *m);
/* Whether no row has come. */
bool metric_selection_is_empty(const struct metric_selection *m);
/*
 * The next line of notes about a part that the shown instruments could not measure, *bytes long and without its end; NULL:
 * no more.  *at: m->notes at first, where it goes on then.
 */
const char *metric_selection_next_note(const struct metric_selection *m, const char **at,
				       size_t *bytes);
/* Writes the sums, as JSON with the notes; to: a writer of nothing yet, the other forms write to its stream.  -ENOMEM. */
int metric_selection_put(const struct metric_selection *m, struct json_writer *to);
/* Forgets the rows. */
void metric_selection_clear(struct metric_selection *m);
void metric_selection_done(struct metric_selection *m);

#endif
