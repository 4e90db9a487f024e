/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * markdown - text from a capture within Markdown (CommonMark, and tables as GitHub has them)
 *
 * A name is written as a code span: its characters have no meaning there, whether they are HTML, links, mentions or
 * emphasis.  The span begins and ends with more backticks than the name has in a row.  Controls and broken UTF-8 are
 * escaped as on a terminal (format/text/escape.h), so a name is one line.
 */
#ifndef EBPREC_ANALYZE_OUT_MARKDOWN_H
#define EBPREC_ANALYZE_OUT_MARKDOWN_H

#include <stddef.h>
#include <stdio.h>

/* At most so many columns of the text, ".." where something is missing; "-" for an empty one.  Nothing without memory. */
void markdown_code(FILE *to, const char *text, unsigned columns);
/* The same within a table, where a '|' would end the cell. */
void markdown_cell(FILE *to, const char *text, unsigned columns);
/*
 * A block of code of the first lines of a text, each of at most so many columns, and how many lines are missing.
 * Nothing for a text without lines.
 */
void markdown_block(FILE *to, const char *text, size_t lines, unsigned columns);

#endif
