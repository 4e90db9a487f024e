/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/counters/counters_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/selection.h"
#include "analyze/metric/columns.h"
#include "format/base/vec.h"

#define GROUPS_MAX   32
#define POINTS_MAX   65536 /* of a table, where it has more than one group */
#define NO_ROW       UINT32_MAX
#define NUMBER_BYTES 32

struct counted {
	uint32_t name;
	size_t row_count;
	double weight;
};

/* An interval that has the group. */
struct seen {
	uint32_t group, row;
	size_t sum;
};

/* One table on its way to its lines. */
struct maker {
	struct metric_shown shown;
	struct metric_sums *sums;
	const struct metric_aggregate *sum; /* whose rows are looked at */
	struct string_table *names;         /* of all groups */
	struct counted *groups;             /* by number of the name, and then as they are shown */
	struct seen *seen;
	size_t group_count, group_capacity, seen_count, seen_capacity;
	size_t shown_count; /* groups that have lines: the first ones */
	uint32_t *rows;     /* of these, by interval: NO_ROW: it has none */
	struct page_counters *out;
};

/* ---- groups ---- */

/* As JSON has it: numbers of a dimension, and its text where it has one. */
static void put_name(const struct maker *m, uint32_t row, FILE *to)
{
	const struct metric_dim *d = m->shown.by[0];
	const char *between = "";

	for (size_t i = 0; i < 4 && d->fields[i]; i++) {
		if (d->text || !metric_rank_is_number(m->sums->table, d->fields[i]))
			continue;
		fputs(between, to);
		metric_rank_put_dim(&m->shown, m->sum, row, d->fields[i], to);
		between = "/";
	}
	if (metric_rank_is_number(m->sums->table, d->name))
		return;
	fputs(between, to);
	metric_rank_put_dim(&m->shown, m->sum, row, d->name, to);
}

/* with: the field that is asked for; NULL: the name. */
static int add_name(const struct maker *m, uint32_t row, const char *with,
		    struct string_table *names, uint32_t *out)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	if (with)
		metric_rank_put_dim(&m->shown, m->sum, row, with, to);
	else if (m->shown.by_count)
		put_name(m, row, to);
	fclose(to);
	err = text ? string_table_add(names, text, size, out) : -ENOMEM;
	free(text);
	return err;
}

static int add_groups_to(struct maker *m, uint32_t name)
{
	if (vec_reserve(&m->groups, &m->group_capacity, (size_t)name + 1))
		return -ENOMEM;
	for (; m->group_count <= name; m->group_count++)
		m->groups[m->group_count] = (struct counted){ .name = (uint32_t)m->group_count };
	return 0;
}

static double sorted_by(const struct maker *m, uint32_t row)
{
	const struct metric_view *v = m->sums->view;

	for (const struct metric_column *c = v->columns; c->op; c++)
		if (v->sort && c->op != METRIC_DIM && !strcmp(c->key, v->sort))
			return metric_column_value(m->sums->table, c,
						   metric_aggregate_slots(m->sum, row),
						   metric_rank_elapsed_ns(m->sum));
	return 0;
}

static int see_row(struct maker *m, size_t sum, uint32_t row)
{
	uint32_t name;
	int err = add_name(m, row, NULL, m->names, &name);

	if (!err)
		err = add_groups_to(m, name);
	if (!err && vec_reserve(&m->seen, &m->seen_capacity, m->seen_count + 1))
		err = -ENOMEM;
	if (err)
		return err;
	m->groups[name].row_count++;
	m->groups[name].weight += sorted_by(m, row);
	m->seen[m->seen_count++] = (struct seen){ name, row, sum };
	return 0;
}

static int see_rows(struct maker *m)
{
	int err = 0;

	for (size_t k = 0; k < m->sums->sum_count; k++) {
		m->sum = &m->sums->sums[k];
		for (uint32_t row = 0; !err && row < m->sum->count; row++)
			err = see_row(m, k, row);
	}
	return err;
}

/* The empty name is in the list also where no group has it: last then. */
static int heavier(const void *va, const void *vb)
{
	const struct counted *a = va, *b = vb;

	if (!a->row_count != !b->row_count)
		return a->row_count ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Whether lines can be made of the column. */
static bool is_line(const struct maker *m, const struct metric_column *c)
{
	return c->op != METRIC_DIM && *c->title && metric_column_has(m->sums->table, c);
}

static size_t lines_of_group(const struct maker *m)
{
	size_t count = 0;

	for (const struct metric_column *c = m->sums->view->columns; c->op; c++)
		count += is_line(m, c);
	return count;
}

/* The rows of the groups that are shown; of several rows in an interval, which groups do not have, the first. */
static int place_rows(struct maker *m)
{
	size_t sums = m->sums->sum_count, cells = m->shown_count * sums;
	uint32_t *place = calloc(string_table_count(m->names), sizeof(*place));

	m->rows = calloc(cells + 1, sizeof(*m->rows));
	if (!m->rows || !place) {
		free(place);
		return -ENOMEM;
	}
	memset(m->rows, 0xff, cells * sizeof(*m->rows));
	for (uint32_t i = 0; i < m->group_count; i++)
		place[m->groups[i].name] = i;
	for (size_t i = 0; i < m->seen_count; i++) {
		const struct seen *at = &m->seen[i];
		uint32_t *row = &m->rows[place[at->group] * sums + at->sum];

		if (place[at->group] < m->shown_count && *row == NO_ROW)
			*row = at->row;
	}
	free(place);
	return 0;
}

static int choose_groups(struct maker *m)
{
	size_t most = POINTS_MAX / (lines_of_group(m) * m->sums->sum_count);

	qsort(m->groups, m->group_count, sizeof(*m->groups), heavier);
	while (m->group_count && !m->groups[m->group_count - 1].row_count)
		m->group_count--;
	most = most < 1 ? 1 : most > GROUPS_MAX ? GROUPS_MAX : most;
	m->shown_count = m->group_count < most ? m->group_count : most;
	return place_rows(m);
}

/* ---- lines ---- */

static int add_text(const struct maker *m, const char *text, size_t size, uint32_t *out)
{
	return string_table_add(m->out->names, text, size, out);
}

static const char *unit_of(const struct metric_column *c)
{
	switch (c->unit) {
	case METRIC_US:
	case METRIC_MS:
	case METRIC_SEC:
		return "ns";
	case METRIC_KIB:
		return "bytes";
	case METRIC_MEGA:
		return "millionths";
	default:
		return c->op == METRIC_PCT || c->op == METRIC_SHARE || c->op == METRIC_BUSY ||
				       c->op == METRIC_PART
			       ? "%"
			       : "";
	}
}

/* The name of a group: its dimension, its name and what is known of it, each once; of a table without groups its title. */
static int name_group(const struct maker *m, uint32_t of, uint32_t with, uint32_t *out)
{
	const struct metric_dim *d = m->shown.by[0];
	const char *name = string_table_text(m->out->names, of),
		   *more = string_table_text(m->out->names, with), *title = m->sums->view->title;
	char *text;
	int err;

	if (!*name)
		return add_text(m, title, strlen(title), out);
	/* As the kernel calls what is asked for these resources. */
	if (asprintf(&text, "%s%s%s%s%s", strcmp(d->name, "resource") ? d->name : "pressure on",
		     strcmp(name, d->name) ? " " : "", strcmp(name, d->name) ? name : "",
		     *more && strcmp(more, name) ? " " : "", strcmp(more, name) ? more : "") < 0)
		return -ENOMEM;
	err = add_text(m, text, strlen(text), out);
	free(text);
	return err;
}

/* Words of keys that are abbreviations, and what they stand for. */
static const char *const words[][2] = {
	{ "some", "some task waiting" },
	{ "full", "all tasks waiting" },
	{ "ios", "requests" },
	{ "avg", "mean" },
	{ "rx", "received" },
	{ "tx", "sent" },
	{ "minor", "minor faults" },
	{ "major", "major faults" },
	{ "rss", "resident memory" },
	{ "irq", "interrupts" },
	{ "iowait", "idle with I/O pending" },
	{ "voluntary", "voluntary switches" },
	{ "involuntary", "involuntary switches" },
	{ "ns", "time" },
};

static void put_word(const char *word, size_t bytes, FILE *to)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i][0]) == bytes && !memcmp(word, words[i][0], bytes)) {
			fputs(words[i][1], to);
			return;
		}
	fwrite(word, 1, bytes, to);
}

/* Bytes of the key without the unit, which values have: "read_bytes", "user_percent"; a mean of bytes is "avg_bytes". */
static size_t without_unit(const char *key)
{
	static const char *const units[] = { "_percent", "_bytes" };
	size_t bytes = strlen(key);

	for (size_t i = 0; i < 2; i++) {
		size_t unit = strlen(units[i]);

		if (bytes > unit && !strcmp(key + bytes - unit, units[i]) &&
		    !(i && bytes >= unit + 3 && !memcmp(key + bytes - unit - 3, "avg", 3)))
			return bytes - unit;
	}
	return bytes;
}

/* A column in words, by its key in JSON. */
static int name_column(const struct maker *m, const char *key, uint32_t *out)
{
	const char *from = strncmp(key, "now_", 4) ? key : key + 4;
	const char *end = from + without_unit(from);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	while (from < end) {
		const char *word = from;

		while (from < end && *from != '_')
			from++;
		put_word(word, (size_t)(from - word), to);
		from += from < end;
		if (from < end)
			putc(' ', to);
	}
	fclose(to);
	err = text ? add_text(m, text, size, out) : -ENOMEM;
	free(text);
	return err;
}

static int name_line(const struct maker *m, const struct metric_column *c, uint32_t row,
		     struct page_counters_line *line)
{
	const struct metric_dim *d = m->shown.by[0];
	const char *more = d ? metric_dimension_with(m->sums->table, d) : NULL;
	uint32_t with;
	int err = add_name(m, row, NULL, m->out->names, &line->of);

	if (!err)
		err = more ? add_name(m, row, more, m->out->names, &with)
			   : add_text(m, "", 0, &with);
	if (!err)
		err = name_group(m, line->of, with, &line->group);
	if (!err)
		err = name_column(m, c->key, &line->what);
	if (!err)
		err = add_text(m, c->key, strlen(c->key), &line->key);
	return err ? err : add_text(m, unit_of(c), strlen(unit_of(c)), &line->unit);
}

/* The value as JSON has it; what has decimals there, in thousandths. */
static int64_t value_of(const struct maker *m, const struct metric_column *c, uint32_t row)
{
	const uint64_t *slots = metric_aggregate_slots(m->sum, row);
	char text[NUMBER_BYTES];
	__int128 exact;
	double value;

	if (metriccolumn_exact(m->sums->table, c, slots, &exact))
		return exact > -PAGE_COUNTERS_VALUE_MAX && exact < PAGE_COUNTERS_VALUE_MAX
			       ? (int64_t)exact
			       : INT64_MAX;
	value = metric_column_value(m->sums->table, c, slots, metric_rank_elapsed_ns(m->sum));
	if (!(value > -1e12 && value < 1e12))
		return INT64_MAX;
	snprintf(text, sizeof(text), "%.3f", value);
	memmove(strchr(text, '.'), strchr(text, '.') + 1, 4);
	return strtoll(text, NULL, 10);
}

static int add_line(struct maker *m, const struct metric_column *c, const uint32_t *rows)
{
	struct page_counters_line line = { .in_thousandths = c->op != METRIC_SUM &&
							     c->op != METRIC_OVER };
	size_t sums = m->sums->sum_count, last = sums - 1;
	int err;

	while (last && rows[last] == NO_ROW)
		last--;
	m->sum = &m->sums->sums[last]; /* of names the last ones are shown */
	err = name_line(m, c, rows[last], &line);
	if (!err)
		err = page_counters_add_line(m->out, &line);
	for (size_t k = 0; !err && k < sums; k++) {
		m->sum = &m->sums->sums[k];
		if (rows[k] != NO_ROW)
			err = page_counters_add_point(m->out, k, value_of(m, c, rows[k]));
	}
	return err;
}

static int add_lines(struct maker *m)
{
	int err = 0;

	for (size_t i = 0; i < m->shown_count; i++)
		for (const struct metric_column *c = m->sums->view->columns; !err && c->op; c++)
			if (is_line(m, c))
				err = add_line(m, c, m->rows + i * m->sums->sum_count);
	return err;
}

static int add_table(struct maker *m)
{
	struct page_counters_table table = { .group_count = m->group_count,
					     .shown_count = m->shown_count };
	const struct metric_view *v = m->sums->view;
	const char *by = m->shown.by_count ? m->shown.by[0]->name : "";
	int err = add_text(m, m->sums->table->fmt.name, strlen(m->sums->table->fmt.name),
			   &table.name);

	if (!err)
		err = add_text(m, v->title, strlen(v->title), &table.title);
	if (!err)
		err = add_text(m, by, strlen(by), &table.by);
	if (!err)
		err = page_counters_add_table(m->out, &table);
	for (size_t k = 0; !err && k < m->sums->sum_count; k++)
		err = page_counters_add_interval(m->out, m->sums->sums[k].from_ns,
						 m->sums->sums[k].to_ns);
	return err ? err : add_lines(m);
}

/* ---- tables ---- */

/* Groups of two dimensions become those of the first. */
static int fold_sums(struct metric_sums *one)
{
	struct metric_aggregate outer;
	int err = 0;

	for (size_t k = 0; k < one->sum_count; k++)
		metric_aggregate_finish(&one->sums[k]);
	for (size_t k = 0; !err && one->by_count > 1 && k < one->sum_count; k++) {
		err = metric_aggregate_fold(&one->sums[k], one->keys, one->outer_key_count, &outer);
		if (err)
			break;
		metric_aggregate_done(&one->sums[k]);
		one->sums[k] = outer;
	}
	return err;
}

static int make_table(const struct metric_selection *selection, struct metric_sums *one,
		      struct page_counters *out)
{
	struct maker m = { .sums = one, .out = out };
	int err;

	/* Rows of processes that ended make no line. */
	if (one->view->only || !one->sum_count)
		return 0;
	m.shown = (struct metric_shown){ .view = one->view,
					 .by_count = one->by_count,
					 .texts = { .names = selection->names } };
	memcpy(m.shown.by, one->by, sizeof(one->by));
	if (!lines_of_group(&m))
		return 0;
	err = string_table_new(&m.names);
	if (!err)
		err = fold_sums(one);
	if (!err)
		err = see_rows(&m);
	if (!err)
		err = choose_groups(&m);
	if (!err && m.shown_count)
		err = add_table(&m);
	free(m.rows);
	free(m.groups);
	free(m.seen);
	string_table_free(m.names);
	return err;
}

static int make_tables(struct metric_selection *selection, const struct filter *filter,
		       struct page_counters *out)
{
	int err = metric_selection_add(selection, NULL);

	if (err == -ENOENT) /* none has intervals */
		return 0;
	if (!err)
		err = metric_rows_walk(selection->rows, selection->names, filter,
				       metric_selection_row, selection);
	if (!err)
		metric_selection_end(selection);
	for (size_t i = 0; !err && i < selection->table_count; i++)
		err = make_table(selection, &selection->tables[i], out);
	return err;
}

int page_counters_read(const struct report *r, const struct filter *filter,
		       struct page_counters *out)
{
	const struct metric_ask ask = { .interval = true, .no_moments = true };
	struct metric_selection *selection = calloc(1, sizeof(*selection));
	struct metric_rows rows = { 0 };
	int err = page_counters_init(out);

	if (!err && !selection)
		err = -ENOMEM;
	if (!err)
		err = metric_rows_open(r->capture, &rows);
	if (!err && rows.count) {
		rows.skips_lost = true;
		*selection =
			(struct metric_selection){ .ask = &ask, .rows = &rows, .names = r->names };
		err = make_tables(selection, filter, out);
		metric_selection_done(selection);
	}
	metric_rows_done(&rows);
	free(selection);
	return err;
}
