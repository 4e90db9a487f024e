/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/out/aligned_table.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "analyze/out/terminal.h"
#include "format/text/json_writer.h"

#define NS_PER_SECOND     1000000000U
#define KEY_COLUMNS       18
#define TEXT_TABLE_SCHEMA 1
#define KEY_BYTES         64 /* of a key with its unit: they are ours */
#define GAP_COLUMNS       2

struct text_table {
	FILE *to;
	bool json;
	unsigned line_columns; /* of the terminal; 0: no limit */
	struct json_writer j;
	bool in_section, in_row;
	bool failed;
	struct aligned_table table; /* text only */
	size_t column;              /* of the table, that the next field is in */
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
	free(v);
	return err;
}

/* ---- keys ---- */

static void print_label(const char *key, FILE *to)
{
	for (; *key; key++)
		putc(*key == '_' ? ' ' : *key, to);
}

void text_table_section(struct text_table *v, const char *key)
{
	end_section(v);
	if (v->json) {
		json_writer_begin(&v->j, key);
	} else {
		putc('\n', v->to);
		print_label(key, v->to);
		putc('\n', v->to);
	}
	v->in_section = true;
}

/* ---- fields ---- */

/* The first row decides how its columns are aligned. */
static void add_cell(struct text_table *v, const char *text, size_t size_bytes,
		     enum aligned_kind kind)
{
	if (!v->table.column_count)
		return;
	if (!aligned_table_rows(&v->table))
		aligned_table_align(&v->table, v->column, kind);
	fwrite(text, 1, size_bytes, aligned_table_cell(&v->table));
	v->column = (v->column + 1) % v->table.column_count;
}

/* The field as a person reads it: a line, or a cell to be aligned when the table ends. */
static void text_field(struct text_table *v, const char *key, const char *text, size_t size_bytes,
		       enum aligned_kind kind)
{
	int pad;

	if (v->in_row) {
		add_cell(v, text, size_bytes, kind);
		return;
	}
	pad = KEY_COLUMNS - (int)strlen(key);
	fputs(v->in_section ? "  " : "", v->to);
	print_label(key, v->to);
	fprintf(v->to, "%*s", pad > 1 ? pad : 1, "");
	message_escaped(v->to, text, size_bytes);
	putc('\n', v->to);
}

void text_table_bytes_text(struct text_table *v, const char *key, const char *text,
			   size_t size_bytes)
{
	if (v->json)
		json_writer_text(&v->j, key, text, size_bytes);
	else
		text_field(v, key, text, size_bytes, ALIGNED_TEXT);
}

void text_table_text(struct text_table *v, const char *key, const char *text)
{
	text_table_bytes_text(v, key, text, strlen(text));
}

static void complete_field(struct text_table *v, const char *key, const char *text,
			   enum aligned_kind kind)
{
	if (v->json)
		text_table_text(v, key, text);
	else
		text_field(v, key, text, strlen(text), kind);
}

void text_table_complete_text(struct text_table *v, const char *key, const char *text)
{
	complete_field(v, key, text, ALIGNED_COMPLETE);
}

void text_table_measure(struct text_table *v, const char *key, const char *text)
{
	complete_field(v, key, text, ALIGNED_NUMBER);
}

void text_table_percent(struct text_table *v, const char *key, uint64_t part, uint64_t total)
{
	char text[16];

	snprintf(text, sizeof(text), "%.2f%%", number_percent(part, total));
	text_table_measure(v, key, text);
}

/* json: the number as JSON has it, under the key with its unit. */
static void number_field(struct text_table *v, const char *key, const char *unit, const char *json,
			 const char *shown)
{
	char name[KEY_BYTES];

	if (!v->json) {
		text_field(v, key, shown, strlen(shown), ALIGNED_NUMBER);
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
	const struct aligned_column column = { .title = "" };

	end_section(v);
	if (v->json) {
		json_writer_begin_array(&v->j, key);
		return;
	}
	v->column = 0;
	if (aligned_table_init(&v->table, GAP_COLUMNS)) {
		v->failed = true;
		return;
	}
	for (size_t i = 0; i < column_count; i++)
		print_label(columns[i], aligned_table_column(&v->table, &column));
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

void text_table_end(struct text_table *v)
{
	end_row(v);
	v->in_row = false;
	if (v->json) {
		json_writer_end_array(&v->j);
		return;
	}
	if (aligned_table_rows(&v->table)) {
		putc('\n', v->to);
		if (aligned_table_print(&v->table, v->line_columns, v->to))
			v->failed = true;
	}
	aligned_table_done(&v->table);
}
