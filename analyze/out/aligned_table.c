/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/aligned_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/message.h"
#include "format/base/vec.h"

#define TEXT_LEAST 10 /* columns that a text has on a terminal; else it is left out */

int aligned_table_init(struct aligned_table *t, unsigned gap)
{
	*t = (struct aligned_table){ .gap = gap };
	t->texts = open_memstream(&t->text, &t->text_bytes);
	return t->texts ? 0 : -ENOMEM;
}

void aligned_table_done(struct aligned_table *t)
{
	if (t->texts)
		fclose(t->texts);
	free(t->text);
	free(t->starts);
	free(t->columns);
	*t = (struct aligned_table){ 0 };
}

/* ---- cells ---- */

FILE *aligned_table_cell(struct aligned_table *t)
{
	long at = ftell(t->texts);

	if (at < 0 || vec_reserve(&t->starts, &t->cell_room, t->cell_count + 1))
		t->failed = true;
	else
		t->starts[t->cell_count++] = (size_t)at;
	return t->texts;
}

void aligned_table_text(struct aligned_table *t, const char *text)
{
	fputs(text, aligned_table_cell(t));
}

void aligned_table_format(struct aligned_table *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(aligned_table_cell(t), fmt, args);
	va_end(args);
}

FILE *aligned_table_column(struct aligned_table *t, const struct aligned_column *c)
{
	if (vec_reserve(&t->columns, &t->column_room, t->column_count + 1)) {
		t->failed = true;
		return t->texts;
	}
	t->columns[t->column_count] = *c;
	t->columns[t->column_count++].title = NULL;
	aligned_table_text(t, c->title);
	return t->texts;
}

void aligned_table_align(struct aligned_table *t, size_t column, enum aligned_kind kind)
{
	if (column < t->column_count)
		t->columns[column].kind = kind;
}

size_t aligned_table_rows(const struct aligned_table *t)
{
	return t->column_count ? t->cell_count / t->column_count - 1 : 0;
}

static const char *cell_text(const struct aligned_table *t, size_t cell, size_t *size_bytes)
{
	size_t end = cell + 1 < t->cell_count ? t->starts[cell + 1] : t->text_bytes;

	*size_bytes = end - t->starts[cell];
	return t->text + t->starts[cell];
}

/* ---- widths ---- */

static void measure_columns(const struct aligned_table *t, size_t *widths)
{
	size_t column, bytes;
	const char *text;
	unsigned used;

	for (column = 0; column < t->column_count; column++)
		widths[column] = t->columns[column].width;
	for (size_t i = 0; i < t->cell_count; i++) {
		column = i % t->column_count;
		text = cell_text(t, i, &bytes);
		used = message_columns(text, bytes);
		widths[column] = used > widths[column] ? used : widths[column];
	}
}

static bool may_be_cut(const struct aligned_table *t, size_t column, const size_t *widths)
{
	return t->columns[column].kind == ALIGNED_TEXT && widths[column] > TEXT_LEAST;
}

/* The width that the columns need, when texts give all that they can. */
static size_t least_width(const struct aligned_table *t, const size_t *widths, size_t count)
{
	size_t sum = t->gap * (count - 1);

	for (size_t i = 0; i < count; i++)
		sum += may_be_cut(t, i, widths) ? TEXT_LEAST : widths[i];
	return sum;
}

/* How many columns the terminal has room for; of their texts the widest are cut. */
static size_t fit_columns(const struct aligned_table *t, unsigned line_columns, size_t *widths)
{
	size_t count = t->column_count, sum, widest;

	if (!line_columns)
		return count;
	while (count > 1 && least_width(t, widths, count) > line_columns)
		count--;
	sum = t->gap * (count - 1);
	for (size_t i = 0; i < count; i++)
		sum += widths[i];
	for (; sum > line_columns; sum--) {
		widest = count;
		for (size_t i = 0; i < count; i++)
			if (may_be_cut(t, i, widths) &&
			    (widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			break;
		widths[widest]--;
	}
	return count;
}

/* ---- print ---- */

static void print_blanks(size_t count, FILE *to)
{
	for (; count; count--)
		putc(' ', to);
}

/* last: what follows the cell needs no blanks. */
static void print_cell(const struct aligned_table *t, size_t cell, size_t width, bool last,
		       FILE *to)
{
	size_t bytes, used, column = cell % t->column_count;
	const char *text = cell_text(t, cell, &bytes);
	bool right = t->columns[column].kind == ALIGNED_NUMBER;

	used = message_columns(text, bytes);
	print_blanks((column ? t->gap : 0) + (right && used < width ? width - used : 0), to);
	message_escaped_within(to, text, bytes, (unsigned)width);
	if (!right && !last && used < width)
		print_blanks(width - used, to);
}

/* "without room: LAST, BUT ONE" */
static void print_left_out(const struct aligned_table *t, size_t shown, FILE *to)
{
	size_t bytes;
	const char *title;

	for (size_t column = shown; column < t->column_count; column++) {
		title = cell_text(t, column, &bytes);
		fputs(column == shown ? "without room: " : ", ", to);
		message_escaped(to, title, bytes);
	}
	if (shown < t->column_count)
		putc('\n', to);
}

int aligned_table_print(struct aligned_table *t, unsigned line_columns, FILE *to)
{
	size_t column, shown, *widths;

	if (fflush(t->texts) || t->failed || !t->column_count || t->cell_count % t->column_count)
		return -ENOMEM;
	widths = calloc(t->column_count, sizeof(*widths));
	if (!widths)
		return -ENOMEM;
	measure_columns(t, widths);
	shown = fit_columns(t, line_columns, widths);
	for (size_t i = 0; i < t->cell_count; i++) {
		column = i % t->column_count;
		if (column < shown)
			print_cell(t, i, widths[column], column + 1 == shown, to);
		if (column + 1 == t->column_count)
			putc('\n', to);
	}
	print_left_out(t, shown, to);
	free(widths);
	return 0;
}
