/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/out/message.h"
#include "analyze/out/terminal.h"
#include "format/text/json_writer.h"

#define NS_PER_SECOND     1000000000U
#define KEY_COLUMNS       18
#define TEXT_TABLE_SCHEMA 1
#define KEY_BYTES         64 /* of a key with its unit: they are ours */
#define TABLE_CELLS_MIN   64
#define TEXT_LEAST        10 /* columns that a text has on a terminal; else it is left out */

enum cell_kind {
	CELL_TEXT, /* may be cut */
	CELL_COMPLETE,
	CELL_NUMBER, /* the same, to the right */
};

struct cell {
	char *text; /* escaped, owned */
	enum cell_kind kind;
};

struct text_table {
	FILE *to;
	bool json;
	unsigned line_columns; /* of the terminal; 0: no limit */
	struct json_writer j;
	bool in_section, in_row;
	bool failed;
	const char *const *columns;
	size_t column_count;
	struct cell *cells; /* of the table, row by row (text only) */
	size_t cell_count, cell_room;
};

int text_table_open(FILE *to, bool json, struct text_table **out)
{
	struct text_table *v = calloc(1, sizeof(*v));
	struct terminal look;

	if (!v)
		return -ENOMEM;
	terminal_of(to, &look);
	v->line_columns = look.columns;
	v->to = to;
	v->json = json;
	v->j = (struct json_writer){ .to = to, .layout = JSON_WRITER_SPACED, .line_depth = 2 };
	if (json) {
		json_writer_begin(&v->j, NULL);
		json_writer_u64(&v->j, "schema", TEXT_TABLE_SCHEMA);
	}
	*out = v;
	return 0;
}

static void end_section(struct text_table *v)
{
	if (v->in_section && v->json)
		json_writer_end(&v->j);
	v->in_section = false;
}

int text_table_close(struct text_table *v)
{
	int err;

	if (!v)
		return 0;
	end_section(v);
	if (v->json)
		json_writer_end(&v->j);
	err = v->failed ? -ENOMEM : 0;
	free(v->cells);
	free(v);
	return err;
}

/* ---- keys ---- */

static void print_label(struct text_table *v, const char *key)
{
	for (; *key; key++)
		putc(*key == '_' ? ' ' : *key, v->to);
}

void text_table_section(struct text_table *v, const char *key)
{
	end_section(v);
	if (v->json) {
		json_writer_begin(&v->j, key);
	} else {
		putc('\n', v->to);
		print_label(v, key);
		putc('\n', v->to);
	}
	v->in_section = true;
}

/* ---- fields ---- */

static void add_cell(struct text_table *v, char *text, enum cell_kind kind)
{
	if (v->cell_count == v->cell_room) {
		size_t room = v->cell_room ? 2 * v->cell_room : TABLE_CELLS_MIN;
		struct cell *cells = reallocarray(v->cells, room, sizeof(*cells));

		if (!cells) {
			v->failed = true;
			free(text);
			return;
		}
		v->cells = cells;
		v->cell_room = room;
	}
	v->cells[v->cell_count++] = (struct cell){ .text = text, .kind = kind };
}

/* The field as a person reads it: a line, or a cell to be aligned when the table ends. */
static void text_field(struct text_table *v, const char *key, const char *text, size_t size_bytes,
		       enum cell_kind kind)
{
	char *cell = NULL;
	size_t cell_bytes;
	FILE *to;
	int pad;

	if (!v->in_row) {
		pad = KEY_COLUMNS - (int)strlen(key);
		fputs(v->in_section ? "  " : "", v->to);
		print_label(v, key);
		fprintf(v->to, "%*s", pad > 1 ? pad : 1, "");
		message_escaped(v->to, text, size_bytes);
		putc('\n', v->to);
		return;
	}
	to = open_memstream(&cell, &cell_bytes);
	if (to) {
		message_escaped(to, text, size_bytes);
		fclose(to);
	}
	if (cell)
		add_cell(v, cell, kind);
	else
		v->failed = true;
}

void text_table_bytes_text(struct text_table *v, const char *key, const char *text,
			   size_t size_bytes)
{
	if (v->json)
		json_writer_text(&v->j, key, text, size_bytes);
	else
		text_field(v, key, text, size_bytes, CELL_TEXT);
}

void text_table_text(struct text_table *v, const char *key, const char *text)
{
	text_table_bytes_text(v, key, text, strlen(text));
}

static void complete_field(struct text_table *v, const char *key, const char *text,
			   enum cell_kind kind)
{
	if (v->json)
		text_table_text(v, key, text);
	else
		text_field(v, key, text, strlen(text), kind);
}

void text_table_complete_text(struct text_table *v, const char *key, const char *text)
{
	complete_field(v, key, text, CELL_COMPLETE);
}

void text_table_measure(struct text_table *v, const char *key, const char *text)
{
	complete_field(v, key, text, CELL_NUMBER);
}

void text_table_percent(struct text_table *v, const char *key, uint64_t part, uint64_t total)
{
	char text[16];

	snprintf(text, sizeof(text), "%.2f%%", total ? 100.0 * (double)part / (double)total : 0);
	text_table_measure(v, key, text);
}

/* json: the number as JSON has it, under the key with its unit. */
static void number_field(struct text_table *v, const char *key, const char *unit, const char *json,
			 const char *shown)
{
	char name[KEY_BYTES];

	if (!v->json) {
		text_field(v, key, shown, strlen(shown), CELL_NUMBER);
		return;
	}
	snprintf(name, sizeof(name), "%s%s", key, unit);
	json_writer_number(&v->j, name, "%s", json);
}

static void u64_field(struct text_table *v, const char *key, const char *unit, uint64_t number,
		      const char *shown)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	number_field(v, key, unit, digits, shown ? shown : digits);
}

void text_table_number(struct text_table *v, const char *key, uint64_t number)
{
	u64_field(v, key, "", number, NULL);
}

void text_table_signed(struct text_table *v, const char *key, int64_t number)
{
	char shown[24];

	snprintf(shown, sizeof(shown), "%" PRId64, number);
	if (v->json || number >= 0)
		number_field(v, key, "", shown, shown);
	else
		text_table_text(v, key, shown);
}

void text_table_unknown(struct text_table *v, const char *key, const char *unit)
{
	number_field(v, key, unit, "null", "-");
}

void text_table_bool(struct text_table *v, const char *key, bool value)
{
	if (v->json)
		json_writer_bool(&v->j, key, value);
	else
		text_table_text(v, key, value ? "yes" : "no");
}

void text_table_size(struct text_table *v, const char *key, uint64_t size_bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths = size_bytes;
	char shown[32];
	size_t unit = 0;

	if (size_bytes < 1024) {
		snprintf(shown, sizeof(shown), "%" PRIu64 " B", size_bytes);
	} else {
		/* In tenths of the unit, without losing the top bits of a large size. */
		for (; tenths >= 1024 * 1024; unit++)
			tenths >>= 10;
		tenths = tenths * 10 / 1024;
		snprintf(shown, sizeof(shown), "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
			 tenths % 10, units[unit]);
	}
	u64_field(v, key, "_bytes", size_bytes, shown);
}

void text_table_ns(struct text_table *v, const char *key, uint64_t ns)
{
	char shown[40];

	snprintf(shown, sizeof(shown), "%" PRIu64 ".%09" PRIu64 " s", ns / NS_PER_SECOND,
		 ns % NS_PER_SECOND);
	u64_field(v, key, "_ns", ns, shown);
}

void text_table_wall_ns(struct text_table *v, const char *key, uint64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_SECOND);
	char date[40] = "?", shown[80];
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(shown, sizeof(shown), "%s.%06" PRIu64 " UTC", date, ns % NS_PER_SECOND / 1000);
	u64_field(v, key, "_ns", ns, shown);
}

void text_table_lines(struct text_table *v, const char *key, const char *text, size_t size_bytes)
{
	const char *end = text + size_bytes, *eol;

	if (v->json) {
		text_table_bytes_text(v, key, text, size_bytes);
		return;
	}
	for (; text < end; text = eol + 1) {
		eol = memchr(text, '\n', (size_t)(end - text));
		if (!eol)
			eol = end;
		fputs("  ", v->to);
		message_escaped(v->to, text, (size_t)(eol - text));
		putc('\n', v->to);
	}
}

/* ---- tables ---- */

void text_table_begin(struct text_table *v, const char *key, const char *const *columns,
		      size_t column_count)
{
	end_section(v);
	v->columns = columns;
	v->column_count = column_count;
	v->cell_count = 0;
	if (v->json)
		json_writer_begin_array(&v->j, key);
}

static void end_row(struct text_table *v)
{
	if (v->in_row && v->json)
		json_writer_end(&v->j);
}

void text_table_row(struct text_table *v)
{
	end_row(v);
	if (v->json)
		json_writer_begin(&v->j, NULL);
	v->in_row = true;
}

static size_t shown_columns(const char *text)
{
	return message_columns(text, strlen(text));
}

static size_t column_width(const struct text_table *v, size_t column)
{
	size_t i, length, width = strlen(v->columns[column]);

	for (i = column; i < v->cell_count; i += v->column_count) {
		length = shown_columns(v->cells[i].text);
		width = length > width ? length : width;
	}
	return width;
}

/* The width that the columns need, when texts give all that they can. */
static size_t least_width(const struct text_table *v, const size_t *widths, size_t count)
{
	size_t sum = count ? 2 * (count - 1) : 0;

	for (size_t i = 0; i < count; i++)
		sum += v->cells[i].kind == CELL_TEXT && widths[i] > TEXT_LEAST ? TEXT_LEAST
									       : widths[i];
	return sum;
}

/* How many columns the terminal has room for; of their texts the widest are cut. */
static size_t fit(const struct text_table *v, size_t *widths)
{
	size_t count = v->column_count, sum, widest;

	if (!v->line_columns)
		return count;
	while (count > 1 && least_width(v, widths, count) > v->line_columns)
		count--;
	sum = 2 * (count - 1);
	for (size_t i = 0; i < count; i++)
		sum += widths[i];
	for (; sum > v->line_columns; sum--) {
		widest = count;
		for (size_t i = 0; i < count; i++)
			if (v->cells[i].kind == CELL_TEXT && widths[i] > TEXT_LEAST &&
			    (widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			break;
		widths[widest]--;
	}
	return count;
}

/* last: what follows it needs no blanks. */
static void print_cell(struct text_table *v, size_t column, const char *text, size_t width,
		       bool last)
{
	size_t used = shown_columns(text), pad = used < width ? width - used : 0;
	enum cell_kind kind = v->cells[column].kind;

	fputs(column ? "  " : "", v->to);
	if (kind == CELL_NUMBER)
		fprintf(v->to, "%*s", (int)pad, "");
	message_escaped_within(v->to, text, strlen(text), (unsigned)width);
	if (kind != CELL_NUMBER && !last)
		fprintf(v->to, "%*s", (int)pad, "");
}

static void title_of(const struct text_table *v, size_t column, char title[64])
{
	snprintf(title, 64, "%s", v->columns[column]);
	for (char *c = title; *c; c++)
		*c = *c == '_' ? ' ' : *c;
}

static void print_table(struct text_table *v)
{
	size_t i, column, shown, *widths = calloc(v->column_count, sizeof(*widths));
	char title[64];

	if (!widths) {
		v->failed = true;
		return;
	}
	for (column = 0; column < v->column_count; column++)
		widths[column] = column_width(v, column);
	shown = fit(v, widths);
	putc('\n', v->to);
	for (column = 0; column < shown; column++) {
		title_of(v, column, title);
		print_cell(v, column, title, widths[column], column + 1 == shown);
	}
	putc('\n', v->to);
	for (i = 0; i < v->cell_count; i++) {
		column = i % v->column_count;
		if (column < shown)
			print_cell(v, column, v->cells[i].text, widths[column],
				   column + 1 == shown);
		if (column + 1 == v->column_count)
			putc('\n', v->to);
	}
	for (column = shown; column < v->column_count; column++) {
		title_of(v, column, title);
		fprintf(v->to, "%s%s", column == shown ? "without room: " : ", ", title);
	}
	fputs(shown < v->column_count ? "\n" : "", v->to);
	free(widths);
}

void text_table_end(struct text_table *v)
{
	size_t i;

	end_row(v);
	v->in_row = false;
	if (v->json)
		json_writer_end_array(&v->j);
	else if (v->cell_count && v->cell_count % v->column_count == 0)
		print_table(v);
	for (i = 0; i < v->cell_count; i++)
		free(v->cells[i].text);
	v->cell_count = 0;
}
