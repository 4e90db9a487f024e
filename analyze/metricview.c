/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metricview.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/keytab.h"

/* ---- views: the columns of ../docs/instruments ---- */

static const struct metric_view views[] = {
	{ "syscalls",
	  "syscalls",
	  "System calls",
	  { "syscall", "process" },
	  "total_ns",
	  "hist_ns",
	  { { "COUNT", "count", METRIC_SUM, "count", NULL, METRIC_PLAIN },
	    { "ERRORS", "errors", METRIC_SUM, "errors", NULL, METRIC_PLAIN },
	    { "TIME (us)", "total_ns", METRIC_SUM, "total_ns", NULL, METRIC_US },
	    { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "count", METRIC_US },
	    { "MAX(us)", "max_ns", METRIC_SUM, "max_ns", NULL, METRIC_US },
	    { "BLOCKED", "now_blocked", METRIC_SUM, "now_blocked", NULL, METRIC_PLAIN },
	    { "FOR(ms)", "now_blocked_ns", METRIC_SUM, "now_blocked_ns", NULL, METRIC_MS } } },
	{ "syscall_errors",
	  "syscalls",
	  "System calls that failed",
	  { "syscall", "error" },
	  "count",
	  NULL,
	  { { "COUNT", "count", METRIC_SUM, "count", NULL, METRIC_PLAIN } } },
	{ "syscalls_slow",
	  "syscalls",
	  "Slow system calls",
	  { NULL },
	  NULL,
	  NULL,
	  { { "PID", "pid", METRIC_DIM, "pid", NULL, METRIC_PLAIN },
	    { "TID", "tid", METRIC_DIM, "tid", NULL, METRIC_PLAIN },
	    { "COMM", "comm", METRIC_DIM, "comm", NULL, METRIC_PLAIN },
	    { "SYSCALL", "syscall", METRIC_DIM, "syscall", NULL, METRIC_PLAIN },
	    { "TIME(ms)", "took_ns", METRIC_SUM, "took_ns", NULL, METRIC_MS },
	    { "RET", "ret", METRIC_SUM, "ret", NULL, METRIC_PLAIN } } },
};

const struct metric_view *metricview_at(size_t i)
{
	return i < sizeof(views) / sizeof(views[0]) ? &views[i] : NULL;
}

/* A table that nobody has told us of: grouped by its keys, every number a column. */
static void make_view(const struct metric_table *t, struct metric_view *v)
{
	size_t by = 0, column = 0;

	*v = (struct metric_view){ .table = t->fmt.name,
				   .instrument = t->fmt.name,
				   .title = t->fmt.name };
	if (t->pid != METRICROWS_NONE && t->is_interval)
		v->by[by++] = "process";
	for (size_t i = 0; i < t->fmt.field_count; i++) {
		const struct metric_field *f = &t->fmt.fields[i];
		bool is_key = f->is_key && strcmp(f->name, "since_ns") &&
			      strcmp(f->name, "interval") && strcmp(f->name, "pid") &&
			      strcmp(f->name, "tid");

		if (is_key && by < METRIC_BY_MAX - 1) {
			v->by[by++] = f->name;
		} else if (!f->is_key && !strncmp(f->name, "hist_", 5)) {
			v->histogram = f->name;
		} else if (!f->is_key && f->count == 1 && column < METRIC_COLUMNS_MAX - 1 &&
			   strcmp(f->name, "cgroup") != 0) {
			if (f->kind != METRIC_TEXT && !v->sort && t->is_interval)
				v->sort = f->name;
			v->columns[column++] = (struct metric_column){
				f->name, f->name,
				f->kind == METRIC_TEXT ? METRIC_DIM : METRIC_SUM, f->name, NULL,
				METRIC_PLAIN
			};
		} else if (f->kind == METRIC_TEXT && !t->is_interval &&
			   column < METRIC_COLUMNS_MAX - 1) {
			v->columns[column++] = (struct metric_column){
				f->name, f->name, METRIC_DIM, f->name, NULL, METRIC_PLAIN
			};
		}
	}
}

const struct metric_view *metricview_of(const struct metric_table *t, struct metric_view *own)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (!strcmp(views[i].table, t->fmt.name))
			return &views[i];
	}
	make_view(t, own);
	return own;
}

/* ---- dimensions ---- */

static void text_syscall(const uint64_t *values, char out[METRICNAME_BYTES])
{
	metricname_syscall((uint32_t)values[0], values[1] != 0, out);
}

static void text_errno(const uint64_t *values, char out[METRICNAME_BYTES])
{
	metricname_errno((uint32_t)values[0], out);
}

static const struct metric_dim dims[] = {
	{ "process", "PID", { "pid" }, NULL, true },
	{ "thread", "TID", { "pid", "tid" }, NULL, true },
	{ "comm", "COMM", { "comm" }, NULL, false },
	{ "cgroup", "CGROUP", { "cgroup" }, NULL, false },
	{ "container", "CONTAINER", { "cgroup" }, NULL, false },
	{ "syscall", "SYSCALL", { "nr", "abi" }, text_syscall, false },
	{ "error", "ERROR", { "error" }, text_errno, false },
};

static size_t slots_of(const struct metric_table *t, const struct metric_dim *d, uint32_t *slots)
{
	size_t count = 0;

	for (size_t i = 0; i < 4 && d->fields[i]; i++) {
		slots[count] = metricrows_slot(t, d->fields[i]);
		if (slots[count] == METRICROWS_NONE)
			return 0;
		count++;
	}
	return count;
}

size_t metricview_dim_slots(const struct metric_table *t, const struct metric_dim *d,
			    uint32_t slots[4])
{
	return slots_of(t, d, slots);
}

const struct metric_dim *metricview_dim(const struct metric_table *t, const char *name,
					struct metric_dim *own)
{
	uint32_t slots[4];

	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
		if (!strcmp(dims[i].name, name) && slots_of(t, &dims[i], slots))
			return &dims[i];
	}
	if (metricrows_slot(t, name) == METRICROWS_NONE)
		return NULL;
	*own = (struct metric_dim){ .name = name, .title = name, .fields = { name } };
	return own;
}

static void cgroup_text(const struct metric_dim *d, uint64_t id, const struct metric_texts *texts,
			FILE *to)
{
	uint32_t path = texts->model ? model_cgroup(texts->model, id) : MODEL_NONE;
	char container[16] = "";

	if (path == MODEL_NONE) {
		fprintf(to, "%" PRIu64, id);
		return;
	}
	if (strcmp(d->name, "container") != 0) {
		fputs(strings_text(texts->names, path), to);
		return;
	}
	keytab_container(strings_text(texts->names, path), container);
	fputs(*container ? container : "-", to);
}

void metricview_dim_text(const struct metric_table *t, const struct metric_dim *d,
			 const uint64_t *slots, const struct metric_texts *texts, FILE *to)
{
	uint32_t places[4];
	size_t count = slots_of(t, d, places);
	const struct metric_field *f;
	uint64_t values[4];
	char text[METRICNAME_BYTES] = "";

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = slots[places[i]];
	f = metricfmt_find(&t->fmt, d->fields[count - 1]);
	if (!strcmp(d->fields[0], "cgroup")) {
		cgroup_text(d, values[0], texts, to);
	} else if (d->text) {
		d->text(values, text);
		fputs(text, to);
	} else if (f->kind == METRIC_TEXT) {
		fputs(strings_text(texts->names, (uint32_t)values[count - 1]), to);
	} else if (f->kind == METRIC_SIGNED) {
		fprintf(to, "%" PRId64, (int64_t)values[count - 1]);
	} else {
		fprintf(to, "%" PRIu64, values[count - 1]);
	}
}

/* ---- columns ---- */

/* A sum of fields, "a+b-c"; false: one of them is not there. */
static bool sum_of(const struct metric_table *t, const char *fields, const uint64_t *slots,
		   double *out)
{
	const struct metric_field *f;
	char name[METRIC_NAME_BYTES];
	double sign = 1, sum = 0;
	size_t bytes;

	for (;; fields += bytes + 1) {
		bytes = strcspn(fields, "+-");
		snprintf(name, sizeof(name), "%.*s", (int)bytes, fields);
		f = metricfmt_find(&t->fmt, name);
		if (!f)
			return false;
		if (slots) {
			uint64_t v = slots[t->slots[f - t->fmt.fields]];

			sum += sign * (f->kind == METRIC_SIGNED ? (double)(int64_t)v : (double)v);
		}
		if (!fields[bytes])
			break;
		sign = fields[bytes] == '-' ? -1 : 1;
	}
	*out = sum;
	return true;
}

bool metricview_has(const struct metric_table *t, const struct metric_column *c)
{
	struct metric_dim own;
	double sum;

	if (c->op == METRIC_DIM)
		return !strcmp(c->a, "pid") || !strcmp(c->a, "tid") ||
		       metricview_dim(t, c->a, &own);
	return sum_of(t, c->a, NULL, &sum) && (!c->b || sum_of(t, c->b, NULL, &sum));
}

double metricview_value(const struct metric_table *t, const struct metric_column *c,
			const uint64_t *slots, uint64_t elapsed_ns)
{
	double a = 0, b = 0;

	if (!sum_of(t, c->a, slots, &a) || (c->b && !sum_of(t, c->b, slots, &b)))
		return 0;
	switch (c->op) {
	case METRIC_AVG:
		return b != 0 ? a / b : 0;
	case METRIC_PCT:
		return b != 0 ? 100 * a / b : 0;
	case METRIC_SHARE:
		return a + b != 0 ? 100 * a / (a + b) : 0;
	case METRIC_RATE:
		return elapsed_ns ? a * 1e9 / (double)elapsed_ns : 0;
	case METRIC_BUSY:
		return elapsed_ns ? 100 * a / (double)elapsed_ns : 0;
	default:
		return a;
	}
}
