/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * view - the rows that a screen shows of some seconds: a table, a tree, an icicle
 *
 * Below the root of its tree are groups (programs, threads, ...), below these the calls.  Steps zoom: each leaves of a stack what is
 * below the outermost frame or group that it names, and only stacks that have it.  A filter leaves the stacks on which a name
 * matches.  Nothing here knows of a terminal.
 */
#ifndef EBPREC_ANALYZE_SCREEN_VIEW_H
#define EBPREC_ANALYZE_SCREEN_VIEW_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/screen/history.h"

enum view_form {
	VIEW_TABLE,  /* groups, or functions: each once */
	VIEW_TREE,   /* callees below their callers, most costly first */
	VIEW_ICICLE, /* the same in the order of names, which does not jump */
	VIEW_FORMS,
};

/* A label is a frame of the history, or with this bit the text of a group. */
#define VIEW_GROUP 0x80000000u

struct view_step {
	uint32_t label;
	bool direct; /* below the step before it (the first: below the root), with nothing in between */
};

struct view_query {
	enum view_form form;
	enum history_measure measure;
	enum history_by by;
	bool groups;           /* they are rows; else functions of all groups are together */
	const regex_t *filter; /* NULL: none */
	const struct view_step *steps;
	size_t step_count;
	unsigned
		least_of; /* tree, icicle: no rows of less than the sum divided by this, but the first below the root; 0: all */
};

struct view_row {
	uint32_t label, node; /* node: of the tree; a table's rows have none, CALLTREE_ROOT */
	unsigned depth;       /* of a tree, from 0 on */
	uint64_t self, total;
	uint64_t at; /* icicle: where it begins, in the unit of totals */
};

/* Read freely. */
struct view {
	struct calltree tree; /* of what the steps and the filter leave */
	uint64_t *totals;     /* by node */
	struct view_row *rows;
	size_t count, capacity;
	uint64_t all;  /* of the seconds, whatever steps and filter leave: shares are of this */
	uint64_t left; /* what they leave */
};

/*
 * stacks: as history_select() makes them, of the same measure.  Labels of groups become texts of h.  -ENOMEM, -EOVERFLOW.
 * *out: view_done().
 */
int view_make(struct history *h, const struct stack_table *stacks, const struct view_query *query,
	      struct view *out);
void view_done(struct view *v);

/* The text of a label: borrowed until the history is closed for another second. */
const char *view_text(const struct history *h, uint32_t label);
/* The file that a frame is in, its base name; "" for groups and waits. */
const char *view_object(const struct history *h, uint32_t label);
/* The steps from the root of v to a node, outermost first, all direct.  Returns how many; only room of them are written. */
size_t view_steps(const struct view *v, uint32_t node, struct view_step *out, size_t room);

#endif
