/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* flat, as text, CSV and JSON */
#include <inttypes.h>
#include <string.h>

#include "analyze/report/profile/flat_profile.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "format/text/json_writer.h"

#define MAX_KEY_COLUMNS    32 /* a longer text makes its own line longer, not all */
#define FLAT_SCHEMA        1
#define LAST_COLUMNS_LEAST 16
#define LAST_COLUMNS_GOOD  28 /* for which other texts give some of theirs */
#define KEY_COLUMNS_LEAST  14

struct table {
	const struct flat *f;
	const struct row_keys *t;
	const struct sort_keys *keys;
	const struct string_table *names;
	const struct flat_style *style;
	int weight_width, widths[SORT_KEY_COUNT];
	unsigned most[SORT_KEY_COUNT]; /* columns of a text; 0: as many as it needs */
	FILE *to;
};

static int digits(uint64_t value)
{
	return value < 10 ? 1 : 1 + digits(value / 10);
}

static uint64_t cost(const struct table *b, const struct flat_row *row)
{
	return b->style->no_children ? row->self : row->total;
}

static bool is_shown(const struct table *b, const struct flat_row *row)
{
	return cost(b, row) && cost(b, row) >= b->style->min_cost;
}

static const char *key_text(const struct table *b, const struct flat_row *row, enum sort_key key)
{
	uint32_t label = sort_key_info(key)->fields ? row->group : row->frame;

	return string_table_text(b->names, b->t->labels[label].texts[key]);
}

/* ---- text ---- */

/* Limits the texts to a terminal's line: the last gets the rest, the others give it some. */
static void limit(struct table *b)
{
	unsigned used = 8 + (b->style->no_children ? 0 : 9) + 4 + (unsigned)b->weight_width;
	unsigned all = b->style->look.columns;

	for (size_t k = 0; k < b->keys->count; k++) {
		used += k ? 2 : 0;
		used += b->keys->list[k] == KEY_SYMBOL ? 4 : 0;
		used += k + 1 < b->keys->count ? (unsigned)b->widths[k] : 0;
	}
	if (!all)
		return;
	for (size_t k = 0; k + 1 < b->keys->count; k++) {
		if (sort_key_info(b->keys->list[k])->is_number)
			continue;
		for (; used + LAST_COLUMNS_GOOD > all && b->widths[k] > KEY_COLUMNS_LEAST; used--)
			b->widths[k]--;
		b->most[k] = (unsigned)b->widths[k];
	}
	b->most[b->keys->count - 1] = all > used + LAST_COLUMNS_LEAST ? all - used
								      : LAST_COLUMNS_LEAST;
}

static void measure(struct table *b)
{
	b->weight_width = (int)strlen(b->style->weight);
	for (size_t k = 0; k < b->keys->count; k++)
		b->widths[k] = (int)strlen(sort_key_info(b->keys->list[k])->heading);
	for (size_t i = 0; i < b->f->count; i++) {
		const struct flat_row *row = &b->f->rows[i];

		if (!is_shown(b, row))
			continue;
		if (b->weight_width < digits(row->self))
			b->weight_width = digits(row->self);
		for (size_t k = 0; k < b->keys->count; k++) {
			const char *text = key_text(b, row, b->keys->list[k]);
			unsigned size = message_columns(text, strlen(text));

			if (size > MAX_KEY_COLUMNS)
				size = MAX_KEY_COLUMNS;
			if (b->widths[k] < (int)size)
				b->widths[k] = (int)size;
		}
	}
	limit(b);
}

static void write_key(const struct table *b, const struct flat_row *row, size_t k)
{
	enum sort_key key = b->keys->list[k];
	const char *text = key_text(b, row, key);
	int pad = b->widths[k] - (int)message_columns(text, strlen(text));
	bool right = sort_key_info(key)->is_number;

	fputs(k ? "  " : "", b->to);
	if (key == KEY_SYMBOL)
		fprintf(b->to, "[%c] ", b->t->labels[row->frame].is_kernel ? 'k' : '.');
	if (right && pad > 0)
		fprintf(b->to, "%*s", pad, "");
	message_escaped_within(b->to, text, strlen(text), b->most[k]);
	if (!right && pad > 0 && k + 1 < b->keys->count)
		fprintf(b->to, "%*s", pad, "");
}

static void write_row(const struct table *b, const struct flat_row *row)
{
	terminal_percent(b->to, &b->style->look, number_percent(row->self, b->f->sum));
	if (!b->style->no_children) {
		putc(' ', b->to);
		terminal_percent(b->to, &b->style->look, number_percent(row->total, b->f->sum));
	}
	fprintf(b->to, "  %*" PRIu64 "  ", b->weight_width, row->self);
	for (size_t k = 0; k < b->keys->count; k++)
		write_key(b, row, k);
	putc('\n', b->to);
}

static void write_headings(const struct table *b)
{
	fputs(terminal_ink(&b->style->look, INK_FAINT), b->to);
	fprintf(b->to, "#   self%s  %*s  ", b->style->no_children ? "" : "    total",
		b->weight_width, b->style->weight);
	for (size_t k = 0; k < b->keys->count; k++) {
		const struct sort_key_info *info = sort_key_info(b->keys->list[k]);
		int width = k + 1 < b->keys->count || info->is_number ? b->widths[k] : 0;

		fprintf(b->to, info->is_number ? "%s%*s" : "%s%-*s", k ? "  " : "", width,
			info->heading);
	}
	fputs(terminal_plain(&b->style->look, INK_FAINT), b->to);
	putc('\n', b->to);
}

static void write_text(struct table *b)
{
	size_t hidden = 0;

	measure(b);
	write_headings(b);
	for (size_t i = 0; i < b->f->count; i++) {
		if (is_shown(b, &b->f->rows[i]))
			write_row(b, &b->f->rows[i]);
		else
			hidden += !!cost(b, &b->f->rows[i]);
	}
	if (hidden)
		fprintf(b->to, "# %zu more, each below --min-percent\n", hidden);
}

/* ---- for programs ---- */

static void write_csv_key(const struct table *b, const struct flat_row *row, enum sort_key key)
{
	const char *text = key_text(b, row, key);

	if (sort_key_info(key)->is_number)
		fputs(text, b->to);
	else
		message_csv(b->to, text, strlen(text));
}

static void write_csv(struct table *b)
{
	fputs(b->style->no_children ? "self" : "self,total", b->to);
	for (size_t k = 0; k < b->keys->count; k++)
		fprintf(b->to, ",%s", sort_key_info(b->keys->list[k])->name);
	fputs("\r\n", b->to);
	for (size_t i = 0; i < b->f->count; i++) {
		const struct flat_row *row = &b->f->rows[i];

		if (!is_shown(b, row))
			continue;
		fprintf(b->to, "%" PRIu64, row->self);
		if (!b->style->no_children)
			fprintf(b->to, ",%" PRIu64, row->total);
		for (size_t k = 0; k < b->keys->count; k++) {
			putc(',', b->to);
			write_csv_key(b, row, b->keys->list[k]);
		}
		fputs("\r\n", b->to);
	}
}

static void write_json_row(const struct table *b, const struct flat_row *row, struct json_writer *j)
{
	json_writer_begin(j, NULL);
	json_writer_u64(j, "self", row->self);
	if (!b->style->no_children)
		json_writer_u64(j, "total", row->total);
	for (size_t k = 0; k < b->keys->count; k++)
		sort_key_json(j, b->keys->list[k], key_text(b, row, b->keys->list[k]));
	if (sort_keys_has(b->keys, KEY_SYMBOL))
		json_writer_bool(j, "kernel", b->t->labels[row->frame].is_kernel);
	json_writer_end(j);
}

static void write_json(struct table *b)
{
	struct json_writer j = { .to = b->to, .layout = JSON_WRITER_SPACED, .line_depth = 2 };

	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "schema", FLAT_SCHEMA);
	if (b->style->event)
		json_writer_string(&j, "event", b->style->event);
	json_writer_string(&j, "weight", b->style->weight);
	json_writer_u64(&j, "sum", b->f->sum);
	json_writer_begin_array(&j, "rows");
	for (size_t i = 0; i < b->f->count; i++)
		if (is_shown(b, &b->f->rows[i]))
			write_json_row(b, &b->f->rows[i], &j);
	json_writer_end_array(&j);
	json_writer_end(&j);
}

void flat_write(const struct flat *f, const struct row_keys *t, const struct sort_keys *keys,
		const struct string_table *names, const struct flat_style *style, FILE *to)
{
	struct table b = { .f = f, .t = t, .keys = keys, .names = names, .style = style, .to = to };

	if (style->form == FLAT_CSV)
		write_csv(&b);
	else if (style->form == FLAT_JSON)
		write_json(&b);
	else
		write_text(&b);
}
