/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/metricout.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/say.h"
#include "analyze/vec.h"

/* ---- order ---- */

struct ranked {
	double value;
	uint32_t group;
};

static int by_value(const void *va, const void *vb)
{
	const struct ranked *a = va, *b = vb;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static const struct metric_column *column_called(const struct metric_view *v, const char *key)
{
	for (size_t i = 0; key && v->columns[i].op; i++) {
		if (!strcmp(v->columns[i].key, key))
			return &v->columns[i];
	}
	return NULL;
}

static uint64_t elapsed_ns(const struct metricsum *s)
{
	return s->to_ns - s->from_ns;
}

/* The groups that are shown, in their order. */
struct ranking {
	struct ranked *order; /* owned; NULL: no memory */
	size_t count;
};

static struct ranking rank(const struct metric_shown *s, const struct metricsum *sum)
{
	bool smallest = s->sort && s->sort[0] == '-';
	const struct metric_column *by = column_called(s->view,
						       s->sort ? s->sort + smallest : NULL);
	struct ranking r = { .order = calloc(sum->count + 1, sizeof(*r.order)) };
	struct ranked *to;

	for (size_t i = 0; r.order && i < sum->count; i++) {
		if (!metricview_wants(sum->table, s->view, metricsum_slots(sum, i)))
			continue;
		to = &r.order[r.count++];
		to->group = (uint32_t)i;
		if (by && by->op != METRIC_DIM)
			to->value = (smallest ? -1 : 1) * metricview_value(sum->table, by,
									   metricsum_slots(sum, i),
									   elapsed_ns(sum));
		else if (!sum->table->is_interval)
			to->value = -(double)sum->groups[i].time_ns;
	}
	if (r.count)
		qsort(r.order, r.count, sizeof(*r.order), by_value);
	return r;
}

/* ---- one value ---- */

static double scaled(double v, enum metric_unit unit)
{
	switch (unit) {
	case METRIC_US:
		return v / 1e3;
	case METRIC_MS:
		return v / 1e6;
	case METRIC_SEC:
		return v / 1e9;
	case METRIC_KIB:
		return v / 1024;
	default:
		return v;
	}
}

static bool is_whole(const struct metric_column *c)
{
	return c->op == METRIC_SUM || c->op == METRIC_OVER;
}

static void put_number(const struct metric_column *c, double v, FILE *to)
{
	static const int decimals[] = {
		[METRIC_PLAIN] = 0, [METRIC_US] = 1,    [METRIC_MS] = 3,    [METRIC_SEC] = 3,
		[METRIC_KIB] = 1,   [METRIC_TENTH] = 1, [METRIC_RATIO] = 3,
	};
	int places = decimals[c->unit];

	if (c->unit == METRIC_PLAIN && !is_whole(c))
		places = 1;
	fprintf(to, "%.*f", places, scaled(v, c->unit));
}

/* Of a row that is an event, pid and tid are the sample's. */
static void put_dim_text(const struct metric_shown *s, const struct metricsum *sum, size_t group,
			 const char *name, FILE *to)
{
	const uint64_t *slots = metricsum_slots(sum, group);
	struct metric_dim own;
	const struct metric_dim *d = metricview_dim(sum->table, name, &own);

	if (d)
		metricview_dim_text(sum->table, d, slots, &s->texts, to);
	else if (!strcmp(name, "pid"))
		fprintf(to, "%u", sum->groups[group].pid);
	else if (!strcmp(name, "tid"))
		fprintf(to, "%u", sum->groups[group].tid);
}

/* ---- text ---- */

struct cells {
	char **text; /* row by row; owned */
	size_t count, capacity, columns;
	bool *left; /* a column is text */
	bool failed;
};

static bool is_shown(const struct metric_table *t, const struct metric_column *c)
{
	return *c->title && metricview_has(t, c);
}

static void add_cell(struct cells *c, char *text)
{
	if (!text || vec_reserve(&c->text, &c->capacity, c->count + 1)) {
		c->failed = true;
		free(text);
		return;
	}
	c->text[c->count++] = text;
}

static void cells_done(struct cells *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->text[i]);
	free(c->text);
	free(c->left);
}

/* What say_escaped() makes of a text that is being put together. */
static char *escaped(char *text)
{
	char *out = NULL;
	size_t bytes;
	FILE *to = text ? open_memstream(&out, &bytes) : NULL;

	if (to) {
		say_escaped(to, text, strlen(text));
		fclose(to);
	}
	free(text);
	return out;
}

static void dim_cell(struct cells *c, const struct metric_shown *s, const struct metricsum *sum,
		     size_t group, const char *name, const char *indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (to) {
		fputs(indent, to);
		put_dim_text(s, sum, group, name, to);
		fclose(to);
	}
	add_cell(c, escaped(text));
}

static void value_cells(struct cells *c, const struct metric_shown *s, const struct metricsum *sum,
			size_t group)
{
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		char *text = NULL;
		size_t bytes;
		FILE *to;

		if (!is_shown(sum->table, col))
			continue;
		if (col->op == METRIC_DIM) {
			dim_cell(c, s, sum, group, col->a, "");
			continue;
		}
		to = open_memstream(&text, &bytes);
		if (to) {
			put_number(col,
				   metricview_value(sum->table, col, metricsum_slots(sum, group),
						    elapsed_ns(sum)),
				   to);
			fclose(to);
		}
		add_cell(c, text);
	}
}

/* The dimension's cell with its comm: "1234 cat". */
static void name_cell(struct cells *c, const struct metric_shown *s, const struct metricsum *sum,
		      size_t group, const struct metric_dim *d, const char *indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (to) {
		fputs(indent, to);
		if (d->with_comm) {
			char *number = NULL;
			size_t number_bytes;
			FILE *n = open_memstream(&number, &number_bytes);

			if (n) {
				put_dim_text(s, sum, group, d->name, n);
				fclose(n);
				fprintf(to, "%7s ", number);
				free(number);
			}
			put_dim_text(s, sum, group, "comm", to);
		} else {
			put_dim_text(s, sum, group, d->name, to);
		}
		fclose(to);
	}
	add_cell(c, escaped(text));
}

static void header_cells(struct cells *c, const struct metric_shown *s,
			 const struct metric_table *t)
{
	char *title = NULL;
	size_t columns = 0;

	if (s->by_count) {
		const char *inner = s->by_count > 1 ? s->by[1]->title : NULL;
		const char *comm = s->by[s->by_count - 1]->with_comm || s->by[0]->with_comm
					   ? " COMM"
					   : "";

		if (asprintf(&title, "%s%s%s%s", s->by[0]->title, inner ? " / " : "",
			     inner ? inner : "", comm) < 0)
			title = NULL;
		add_cell(c, title);
	} else {
		add_cell(c, strdup("TIME(s)"));
	}
	columns = 1;
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (!is_shown(t, col))
			continue;
		add_cell(c, strdup(col->title));
		columns++;
	}
	c->columns = columns;
	c->left = calloc(columns, sizeof(bool));
	if (!c->left) {
		c->failed = true;
		return;
	}
	c->left[0] = s->by_count != 0;
	columns = 1;
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (is_shown(t, col))
			c->left[columns++] = col->op == METRIC_DIM && strcmp(col->a, "pid") != 0 &&
					     strcmp(col->a, "tid") != 0;
	}
}

/* Bytes that take no place of their own are those within a UTF-8 character. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cells(const struct cells *c, FILE *to)
{
	size_t *widths = calloc(c->columns, sizeof(*widths)), w, k;

	if (!widths)
		return;
	for (size_t i = 0; i < c->count; i++) {
		w = width_of(c->text[i]);
		if (w > widths[i % c->columns])
			widths[i % c->columns] = w;
	}
	for (size_t i = 0; i < c->count; i++) {
		k = i % c->columns;
		w = widths[k] - width_of(c->text[i]);
		if (!c->left[k])
			fprintf(to, "%*s", (int)w, "");
		fputs(c->text[i], to);
		if (k + 1 == c->columns)
			putc('\n', to);
		else
			fprintf(to, "%*s", (int)(c->left[k] ? w : 0) + 2, "");
	}
	free(widths);
}

static void put_histogram(const struct metric_shown *s, const struct metricsum *sum, size_t group,
			  FILE *to)
{
	static const char stars[] = "****************************************";
	const struct metric_table *t = sum->table;
	const struct metric_field *f = metricfmt_find(&t->fmt, s->view->histogram);
	const uint64_t *slots = metricsum_slots(sum, group) + t->slots[f - t->fmt.fields];
	uint32_t first = f->count, used = 0;
	uint64_t most = 1;
	int width;

	for (uint32_t i = 0; i < f->count; i++) {
		if (slots[i] && first == f->count)
			first = i;
		if (slots[i])
			used = i + 1;
		most = slots[i] > most ? slots[i] : most;
	}
	if (!used)
		return;
	fprintf(to, "%31s : count    distribution\n", s->view->histogram + strlen("hist_"));
	for (uint32_t i = first; i < used; i++) {
		width = (int)(40 * slots[i] / most);
		fprintf(to, "%13" PRIu64 " -> %-14" PRIu64 " : %-8" PRIu64 " |%.*s%*s|\n",
			i ? (uint64_t)1 << i : 0, ((uint64_t)2 << i) - 1, slots[i], width, stars,
			40 - width, "");
	}
	putc('\n', to);
}

static bool wants_histogram(const struct metric_shown *s, const struct metric_table *t)
{
	return s->histogram && s->view->histogram && metricfmt_find(&t->fmt, s->view->histogram);
}

static bool is_within(const struct metricsum *outer, size_t of, const struct metricsum *inner,
		      size_t group)
{
	for (size_t i = 0; i < outer->key_count; i++) {
		if (metricsum_slots(outer, of)[outer->keys[i]] !=
		    metricsum_slots(inner, group)[outer->keys[i]])
			return false;
	}
	return true;
}

/* The rows of one outer group; order: of the inner ones. */
static void inner_cells(struct cells *c, const struct metric_shown *s, size_t of,
			const struct ranking *order)
{
	unsigned left = s->top_inner ? s->top_inner : UINT32_MAX;

	for (size_t i = 0; i < order->count && left; i++) {
		if (!is_within(&s->outer, of, &s->inner, order->order[i].group))
			continue;
		name_cell(c, s, &s->inner, order->order[i].group, s->by[1], "  ");
		value_cells(c, s, &s->inner, order->order[i].group);
		left--;
	}
}

static void time_cell(struct cells *c, const struct metric_shown *s, const struct metricsum *sum,
		      size_t group)
{
	uint64_t ns = sum->groups[group].time_ns;
	char *text;

	ns = ns > s->start_ns ? ns - s->start_ns : 0;
	add_cell(c, asprintf(&text, "%" PRIu64 ".%06" PRIu64, ns / 1000000000,
			     ns % 1000000000 / 1000) < 0
			    ? NULL
			    : text);
}

static int put_text(const struct metric_shown *s, FILE *to)
{
	const struct metricsum *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct ranking order = rank(s, top), inner = rank(s, &s->inner);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	struct cells c = { 0 };

	c.failed = !order.order || !inner.order;
	if (!c.failed)
		header_cells(&c, s, top->table);
	for (size_t i = 0; i < shown && !c.failed; i++) {
		if (s->by_count)
			name_cell(&c, s, top, order.order[i].group, s->by[0], "");
		else
			time_cell(&c, s, top, order.order[i].group);
		value_cells(&c, s, top, order.order[i].group);
		if (s->by_count > 1)
			inner_cells(&c, s, order.order[i].group, &inner);
	}
	fprintf(to, "# %s: %.3f s", s->view->title, (double)elapsed_ns(top) / 1e9);
	fprintf(to, ", %zu of %zu\n", shown, order.count);
	if (!c.failed)
		print_cells(&c, to);
	for (size_t i = 0; i < shown && !c.failed && wants_histogram(s, top->table); i++) {
		putc('\n', to);
		if (s->by_count)
			put_dim_text(s, top, order.order[i].group, s->by[0]->name, to);
		putc('\n', to);
		put_histogram(s, top, order.order[i].group, to);
	}
	cells_done(&c);
	free(order.order);
	free(inner.order);
	return c.failed ? -ENOMEM : 0;
}

/* ---- JSON and CSV ---- */

static void put_raw(const struct metric_column *c, double v, FILE *to)
{
	if (is_whole(c) || v == floor(v))
		fprintf(to, "%.0f", v);
	else
		fprintf(to, "%.3f", v);
}

static void put_quoted(const struct metric_shown *s, const struct metricsum *sum, size_t group,
		       const char *name, bool csv, FILE *to)
{
	char *text = NULL;
	size_t bytes;
	FILE *m = open_memstream(&text, &bytes);

	if (!m)
		return;
	put_dim_text(s, sum, group, name, m);
	fclose(m);
	if (!csv) {
		say_json(to, text, bytes);
	} else if (!text[strcspn(text, ",\"\n\r")]) {
		say_escaped(to, text, bytes);
	} else {
		putc('"', to);
		for (const char *p = text; *p; p++)
			fputs((char[]){ *p == '"' ? '"' : *p, *p == '"' ? '"' : '\0', '\0' }, to);
		putc('"', to);
	}
	free(text);
}

static bool is_number(const struct metric_table *t, const char *name)
{
	struct metric_dim own;
	const struct metric_dim *d = metricview_dim(t, name, &own);
	const struct metric_field *f = d ? metricfmt_find(&t->fmt, d->fields[0]) : NULL;

	if (!d)
		return !strcmp(name, "pid") || !strcmp(name, "tid");
	return !d->text && f && f->kind != METRIC_TEXT && strcmp(f->name, "cgroup") != 0;
}

static void json_dim(const struct metric_shown *s, const struct metricsum *sum, size_t group,
		     const struct metric_dim *d, FILE *to)
{
	const struct metric_table *t = sum->table;

	for (size_t i = 0; i < 4 && d->fields[i]; i++) {
		if (d->text || !is_number(t, d->fields[i]))
			continue;
		fprintf(to, "\"%s\": ", d->fields[i]);
		put_dim_text(s, sum, group, d->fields[i], to);
		fputs(", ", to);
	}
	if (d->text || !d->fields[0] || !is_number(t, d->fields[0])) {
		fprintf(to, "\"%s\": ", d->name);
		put_quoted(s, sum, group, d->name, false, to);
		fputs(", ", to);
	}
	if (d->with_comm && t->comm != METRICROWS_NONE) {
		fputs("\"comm\": ", to);
		put_quoted(s, sum, group, "comm", false, to);
		fputs(", ", to);
	}
}

static void json_values(const struct metric_shown *s, const struct metricsum *sum, size_t group,
			FILE *to)
{
	const char *comma = "";

	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metricview_has(sum->table, c))
			continue;
		fprintf(to, "%s\"%s\": ", comma, c->key);
		comma = ", ";
		if (c->op != METRIC_DIM)
			put_raw(c,
				metricview_value(sum->table, c, metricsum_slots(sum, group),
						 elapsed_ns(sum)),
				to);
		else if (is_number(sum->table, c->a))
			put_dim_text(s, sum, group, c->a, to);
		else
			put_quoted(s, sum, group, c->a, false, to);
	}
}

static void json_histogram(const struct metric_shown *s, const struct metricsum *sum, size_t group,
			   FILE *to)
{
	const struct metric_table *t = sum->table;
	const struct metric_field *f;
	const uint64_t *slots;
	uint32_t used = 0;

	if (!wants_histogram(s, t))
		return;
	f = metricfmt_find(&t->fmt, s->view->histogram);
	slots = metricsum_slots(sum, group) + t->slots[f - t->fmt.fields];
	for (uint32_t i = 0; i < f->count; i++)
		used = slots[i] ? i + 1 : used;
	fprintf(to, ", \"%s\": [", f->name);
	for (uint32_t i = 0; i < used; i++)
		fprintf(to, "%s%" PRIu64, i ? ", " : "", slots[i]);
	putc(']', to);
}

static void json_inner(const struct metric_shown *s, size_t of, const struct ranking *order,
		       FILE *to)
{
	unsigned left = s->top_inner ? s->top_inner : UINT32_MAX;
	const char *comma = "";

	fputs(", \"rows\": [", to);
	for (size_t i = 0; i < order->count && left; i++) {
		if (!is_within(&s->outer, of, &s->inner, order->order[i].group))
			continue;
		fprintf(to, "%s\n    {", comma);
		comma = ",";
		json_dim(s, &s->inner, order->order[i].group, s->by[1], to);
		json_values(s, &s->inner, order->order[i].group, to);
		json_histogram(s, &s->inner, order->order[i].group, to);
		putc('}', to);
		left--;
	}
	fputs("]", to);
}

static int put_json(const struct metric_shown *s, bool first, FILE *to)
{
	const struct metricsum *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct ranking order = rank(s, top), inner = rank(s, &s->inner);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;

	fprintf(to,
		"%s\n {\"name\": \"%s\", \"instrument\": \"%s\", \"from_ns\": %" PRIu64
		", \"to_ns\": %" PRIu64 ", \"group_count\": %zu, \"rows\": [",
		first ? "" : ",", s->view->table, s->view->instrument, top->from_ns, top->to_ns,
		order.count);
	for (size_t i = 0; order.order && inner.order && i < shown; i++) {
		fprintf(to, "%s\n  {", i ? "," : "");
		if (s->by_count)
			json_dim(s, top, order.order[i].group, s->by[0], to);
		else
			fprintf(to, "\"time_ns\": %" PRIu64 ", ",
				top->groups[order.order[i].group].time_ns);
		json_values(s, top, order.order[i].group, to);
		json_histogram(s, top, order.order[i].group, to);
		if (s->by_count > 1)
			json_inner(s, order.order[i].group, &inner, to);
		putc('}', to);
	}
	fputs("]}", to);
	free(order.order);
	free(inner.order);
	return order.order && inner.order ? 0 : -ENOMEM;
}

static void csv_header(const struct metric_shown *s, FILE *to)
{
	const struct metric_table *t = s->inner.table;

	fputs("table,from_ns,to_ns", to);
	for (size_t i = 0; i < s->by_count; i++) {
		fprintf(to, ",%s", s->by[i]->name);
		if (s->by[i]->with_comm && t->comm != METRICROWS_NONE)
			fputs(",comm", to);
	}
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (metricview_has(t, c))
			fprintf(to, ",%s", c->key);
	}
	putc('\n', to);
}

static void csv_row(const struct metric_shown *s, size_t group, FILE *to)
{
	const struct metricsum *sum = &s->inner;
	bool moment = !sum->table->is_interval;

	fprintf(to, "%s,%" PRIu64 ",%" PRIu64, s->view->table,
		moment ? sum->groups[group].time_ns : sum->from_ns,
		moment ? sum->groups[group].time_ns : sum->to_ns);
	for (size_t i = 0; i < s->by_count; i++) {
		putc(',', to);
		put_quoted(s, sum, group, s->by[i]->name, true, to);
		if (!s->by[i]->with_comm || sum->table->comm == METRICROWS_NONE)
			continue;
		putc(',', to);
		put_quoted(s, sum, group, "comm", true, to);
	}
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metricview_has(sum->table, c))
			continue;
		putc(',', to);
		if (c->op == METRIC_DIM)
			put_quoted(s, sum, group, c->a, true, to);
		else
			put_raw(c,
				metricview_value(sum->table, c, metricsum_slots(sum, group),
						 elapsed_ns(sum)),
				to);
	}
	putc('\n', to);
}

static int put_csv(const struct metric_shown *s, bool first, FILE *to)
{
	struct ranking order = rank(s, &s->inner);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;

	if (first)
		csv_header(s, to);
	for (size_t i = 0; order.order && i < shown; i++)
		csv_row(s, order.order[i].group, to);
	free(order.order);
	return order.order ? 0 : -ENOMEM;
}

int metricout_put(const struct metric_shown *s, enum metric_form form, bool first, FILE *to)
{
	if (form == METRIC_JSON_FORM)
		return put_json(s, first, to);
	if (form == METRIC_CSV_FORM)
		return put_csv(s, first, to);
	if (!first)
		putc('\n', to);
	return put_text(s, to);
}
