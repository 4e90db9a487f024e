/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* lock_names - gives the addresses in tables their names: what the recorder saw there, and data_names.h */
#ifndef EBPREC_ANALYZE_METRIC_LOCK_NAMES_H
#define EBPREC_ANALYZE_METRIC_LOCK_NAMES_H

#include "analyze/metric/rows.h"
#include "analyze/names/data_names.h"
#include "analyze/names/name_context.h"

/* Embedded by the owner; all zero is an empty one. */
struct lock_names {
	struct name_context context;
	struct data_names *data;
};

/* Borrows all until lock_names_close(), which also has to follow a failure.  -ENOMEM. */
int lock_names_open(struct lock_names *l, const struct capture *c, const struct load_scan *scan,
		    const struct process_model *model, struct string_table *names,
		    const struct name_roots *roots);
void lock_names_close(struct lock_names *l);
/* Rows that are read from now on have symbols and functions. */
void lock_names_use(struct lock_names *l, struct metric_rows *rows);

#endif
