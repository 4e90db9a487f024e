/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * aligned_table - rows of texts and numbers, below their titles, in columns as wide as they need
 *
 * The columns come first, then the cells, row by row, and the print when all widths are known.  Cells may
 * hold texts from captures, and are escaped (message.h).  Order of calls: aligned_table_init,
 * aligned_table_column for each column, aligned_table_cell for each cell, aligned_table_print,
 * aligned_table_done.
 *
 * A table fits a terminal: texts give up some of their columns, and columns that still have no space are
 * left out, from the last one on, with a line below the table.  Numbers are never cut.
 */
#ifndef EBPREC_ANALYZE_OUT_ALIGNED_TABLE_H
#define EBPREC_ANALYZE_OUT_ALIGNED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum aligned_kind {
	ALIGNED_TEXT, /* may be cut */
	ALIGNED_COMPLETE,
	ALIGNED_NUMBER, /* the same, to the right */
};

struct aligned_column {
	const char *title; /* or its beginning; borrowed for the call */
	enum aligned_kind kind;
	unsigned width; /* at least so many columns of the terminal; 0: as its cells need */
};

struct aligned_table { /* the fields are the module's own */
	unsigned gap;  /* blanks between two columns */
	struct aligned_column *columns;
	size_t column_count, column_room;
	FILE *texts; /* of all cells, into text */
	char *text;
	size_t text_bytes;
	size_t *starts; /* of each cell in text; the titles are the first row */
	size_t cell_count, cell_room;
	bool failed;
};

/* -ENOMEM; otherwise free t with aligned_table_done(). */
int aligned_table_init(struct aligned_table *t, unsigned gap);
void aligned_table_done(struct aligned_table *t);

/* Begins the next column; what the caller writes to the stream follows c->title. */
FILE *aligned_table_column(struct aligned_table *t, const struct aligned_column *c);
/* Changes how a column is aligned. */
void aligned_table_align(struct aligned_table *t, size_t column, enum aligned_kind kind);
/* Begins the next cell; what the caller writes to the stream, until the next call, is its text. */
FILE *aligned_table_cell(struct aligned_table *t);
void aligned_table_text(struct aligned_table *t, const char *text);
void aligned_table_format(struct aligned_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* How many rows are complete, without the titles. */
size_t aligned_table_rows(const struct aligned_table *t);
/* Prints titles and rows; line_columns: of the terminal, 0: no limit.  -ENOMEM when cells are missing, or
 * nothing could be printed. */
int aligned_table_print(struct aligned_table *t, unsigned line_columns, FILE *to);

#endif
