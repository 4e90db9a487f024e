/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/counters/counters.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/vec.h"

int page_counters_init(struct page_counters *c)
{
	*c = (struct page_counters){ 0 };
	return string_table_new(&c->names);
}

void page_counters_done(struct page_counters *c)
{
	string_table_free(c->names);
	free(c->tables);
	free(c->intervals);
	free(c->lines);
	free(c->points);
	free(c->texts);
	*c = (struct page_counters){ 0 };
}

/* ---- filling ---- */

int page_counters_add_table(struct page_counters *c, const struct page_counters_table *table)
{
	if (vec_reserve(&c->tables, &c->table_capacity, c->table_count + 1))
		return -ENOMEM;
	c->tables[c->table_count++] = *table;
	return 0;
}

int page_counters_add_interval(struct page_counters *c, uint64_t from_ns, uint64_t to_ns)
{
	if (vec_reserve(&c->intervals, &c->interval_capacity, c->interval_count + 1))
		return -ENOMEM;
	c->intervals[c->interval_count++] = (struct page_counters_interval){ from_ns, to_ns };
	c->tables[c->table_count - 1].interval_count++;
	return 0;
}

int page_counters_add_line(struct page_counters *c, const struct page_counters_line *line)
{
	if (vec_reserve(&c->lines, &c->line_capacity, c->line_count + 1))
		return -ENOMEM;
	c->lines[c->line_count++] = *line;
	c->tables[c->table_count - 1].line_count++;
	return 0;
}

int page_counters_add_point(struct page_counters *c, size_t interval, int64_t value)
{
	struct page_counters_line *line = &c->lines[c->line_count - 1];

	if (value <= -PAGE_COUNTERS_VALUE_MAX || value >= PAGE_COUNTERS_VALUE_MAX) {
		line->left_out++;
		return 0;
	}
	if (vec_reserve(&c->points, &c->point_capacity, c->point_count + 1))
		return -ENOMEM;
	c->points[c->point_count++] = (struct page_counters_point){ interval, value };
	line->point_count++;
	return 0;
}

int page_counters_make(struct page_counters *c, struct page_texts *texts)
{
	uint32_t count = c->names ? string_table_count(c->names) : 0;
	int err = 0;

	c->texts = calloc((size_t)count + 1, sizeof(*c->texts));
	if (!c->texts)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < count; i++)
		err = page_texts_add(texts, string_table_text(c->names, i), &c->texts[i]);
	return err;
}

/* ---- writing ---- */

#define COLUMN(list, count, name, value)                                   \
	do {                                                               \
		page_columns_begin(p, name);                               \
		for (size_t i = 0; i < c->count; i++)                      \
			page_columns_put(p, (uint64_t)(c->list[i].value)); \
	} while (0)

#define TEXT_COLUMN(list, count, name, value)                                                      \
	do {                                                                                       \
		page_columns_begin(p, name);                                                       \
		for (size_t i = 0; i < c->count; i++)                                              \
			page_columns_put(p, page_texts_number(texts, c->texts[c->list[i].value])); \
	} while (0)

static void write_tables(const struct page_counters *c, const struct page_texts *texts,
			 struct page_columns *p)
{
	page_columns_begin_table(p, "counters", c->table_count);
	TEXT_COLUMN(tables, table_count, "name", name);
	TEXT_COLUMN(tables, table_count, "title", title);
	TEXT_COLUMN(tables, table_count, "by", by);
	COLUMN(tables, table_count, "groups", group_count);
	COLUMN(tables, table_count, "shown", shown_count);
	COLUMN(tables, table_count, "lines", line_count);
	page_columns_end_table(p);
}

static void write_intervals(const struct page_counters *c, uint64_t base_us, struct page_columns *p)
{
	page_columns_begin_table(p, "counters.intervals", c->interval_count);
	page_columns_begin_differences(p, "from");
	for (size_t i = 0; i < c->interval_count; i++)
		page_columns_put_difference(p, (int64_t)(c->intervals[i].from_ns - base_us * 1000));
	page_columns_begin(p, "length");
	for (size_t i = 0; i < c->interval_count; i++)
		page_columns_put(p, c->intervals[i].to_ns - c->intervals[i].from_ns);
	page_columns_end_table(p);
}

static void write_lines(const struct page_counters *c, const struct page_texts *texts,
			struct page_columns *p)
{
	page_columns_begin_table(p, "counters.lines", c->line_count);
	TEXT_COLUMN(lines, line_count, "of", of);
	TEXT_COLUMN(lines, line_count, "group", group);
	TEXT_COLUMN(lines, line_count, "what", what);
	TEXT_COLUMN(lines, line_count, "key", key);
	TEXT_COLUMN(lines, line_count, "unit", unit);
	COLUMN(lines, line_count, "thousandths", in_thousandths);
	COLUMN(lines, line_count, "points", point_count);
	COLUMN(lines, line_count, "left_out", left_out);
	page_columns_end_table(p);
}

static void write_points(const struct page_counters *c, struct page_columns *p)
{
	const struct page_counters_point *at = c->points;
	size_t line = 0, first = 0; /* interval of the table */

	page_columns_begin_table(p, "counters.points", c->point_count);
	page_columns_begin_differences(p, "interval");
	for (size_t t = 0; t < c->table_count; t++) {
		for (size_t end = line + c->tables[t].line_count; line < end; line++)
			for (size_t i = 0; i < c->lines[line].point_count; i++, at++)
				page_columns_put_difference(p, (int64_t)(first + at->interval));
		first += c->tables[t].interval_count;
	}
	page_columns_begin_signed(p, "value");
	for (size_t i = 0; i < c->point_count; i++)
		page_columns_put_signed(p, c->points[i].value);
	page_columns_end_table(p);
}

void page_counters_write(const struct page_counters *c, uint64_t base_us,
			 const struct page_texts *texts, struct page_columns *columns)
{
	if (!c->line_count)
		return;
	write_tables(c, texts, columns);
	write_intervals(c, base_us, columns);
	write_lines(c, texts, columns);
	write_points(c, columns);
}
