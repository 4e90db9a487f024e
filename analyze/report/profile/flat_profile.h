/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * flat_profile - costs in rows: by function, or by whatever keys were asked for
 *
 * Self is what was spent in a row's frames, total what was spent in them and in all they called; a
 * row that is on a stack more than once is counted once for it.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_FLAT_PROFILE_H
#define EBPREC_ANALYZE_REPORT_PROFILE_FLAT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/out/terminal.h"

struct flat_row {
	uint32_t group, frame; /* labels of the keytab */
	uint64_t self, total;
};

struct flat {
	struct flat_row *rows;
	size_t count, capacity;
	uint64_t sum; /* of all stacks */
	struct hash_index index;
};

/*
 * Rows by self, then total (by_total: the other way round), both falling; then by their keys in
 * the order of keys->list, symbol first.  s: its frames are functions, its groups those of t.
 * -ENOMEM.  *out: flat_done().
 */
int flat_make(const struct stack_table *s, enum calltree_weight weight, const struct row_keys *t,
	      const struct sort_keys *keys, const struct string_table *names, bool by_total,
	      struct flat *out);
void flat_done(struct flat *f);

enum flat_form { FLAT_TEXT, FLAT_CSV, FLAT_JSON };

struct flat_style {
	uint64_t min_cost;  /* rows with less total (self, without children) are only counted */
	const char *weight; /* heading of the column of numbers: "samples", "period" */
	const char *event;  /* FLAT_JSON; NULL: none */
	bool no_children;   /* no column of totals */
	enum flat_form form;
	struct terminal look; /* FLAT_TEXT */
};

/* One line a row, as wide as it needs to be; or a table for programs, with all digits. */
void flat_write(const struct flat *f, const struct row_keys *t, const struct sort_keys *keys,
		const struct string_table *names, const struct flat_style *style, FILE *to);

#endif
