/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * text_table - facts with names, as text for people or as JSON for programs
 *
 * A command passes each fact once; text_table turns it into an aligned line or a JSON member.  Keys
 * are the JSON names without unit ("duration", "file_size"); the JSON gets the unit as suffix
 * (_bytes, _ns) and the text gets spaces for '_'.  Text values come from captures and are escaped
 * (message.h).  Order of calls: text_table_open, sections and tables, text_table_close; tables do
 * not nest.
 *
 * Tables are aligned and fit a terminal (aligned_table.h).
 */
#ifndef EBPREC_ANALYZE_OUT_TEXT_TABLE_H
#define EBPREC_ANALYZE_OUT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_table; /* opaque; writes to one stream */

/* to is borrowed until text_table_close().  -ENOMEM. */
int text_table_open(FILE *to, bool json, struct text_table **out);
/* Ends the JSON and frees v; NULL is fine.  -ENOMEM when something could not be shown. */
int text_table_close(struct text_table *v);

void text_table_section(struct text_table *v,
			const char *key); /* the fields that follow; ends the last one */

void text_table_text(struct text_table *v, const char *key, const char *text);
/* A text that is no name: a part of it would mislead, so it is shown completely or not at all. */
void text_table_complete_text(struct text_table *v, const char *key, const char *text);
/* A number as a text, with its unit: aligned as numbers are, and never cut. */
void text_table_measure(struct text_table *v, const char *key, const char *text);
/* A share: "12.34%"; of nothing it is 0. */
void text_table_percent(struct text_table *v, const char *key, uint64_t part, uint64_t total);
void text_table_bytes_text(struct text_table *v, const char *key, const char *text,
			   size_t size_bytes);
void text_table_number(struct text_table *v, const char *key, uint64_t number);
void text_table_signed(struct text_table *v, const char *key, int64_t number);
void text_table_bool(struct text_table *v, const char *key, bool value);
void text_table_size(struct text_table *v, const char *key, uint64_t size_bytes);
/* A length of time: seconds with nine decimals. */
void text_table_ns(struct text_table *v, const char *key, uint64_t ns);
/* A moment on the wall clock, shown in UTC. */
void text_table_wall_ns(struct text_table *v, const char *key, uint64_t ns);
/* A number that is not known: `unit` as the one that is would have it ("_ns", ""). */
void text_table_unknown(struct text_table *v, const char *key, const char *unit);
/* A text of several lines, indented; one string in JSON. */
void text_table_lines(struct text_table *v, const char *key, const char *text, size_t size_bytes);

/* Columns are keys as above; every row gives as many fields, in that order, by the calls above
 * (with that key).  A table without rows is not shown as text, and [] in JSON. */
void text_table_begin(struct text_table *v, const char *key, const char *const *columns,
		      size_t column_count);
void text_table_row(struct text_table *v);
void text_table_end(struct text_table *v);

#endif
