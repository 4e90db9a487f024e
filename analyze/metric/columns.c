/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/columns.h"

#include <stdio.h>
#include <string.h>

/* A sum of numbers, "a+b-?c"; false: one of them is not there, and has no ? in front. */
static bool sum_of(const struct metric_table *t, const char *fields, const uint64_t *slots,
		   __int128 *out)
{
	const struct metric_field *f;
	char name[METRIC_NAME_BYTES];
	__int128 sum = 0;
	int sign = 1;
	size_t bytes;
	bool optional;

	for (;; fields += bytes + 1) {
		bytes = strcspn(fields, "+-");
		optional = *fields == '?';
		snprintf(name, sizeof(name), "%.*s", (int)bytes - optional, fields + optional);
		f = metric_format_find(&t->fmt, name);
		if (f && f->kind == METRIC_TEXT)
			f = NULL;
		if (!f && !optional)
			return false;
		if (f && slots) {
			uint64_t v = slots[t->slots[f - t->fmt.fields]];

			sum += sign *
			       (f->kind == METRIC_SIGNED ? (__int128)(int64_t)v : (__int128)v);
		}
		if (!fields[bytes])
			break;
		sign = fields[bytes] == '-' ? -1 : 1;
	}
	*out = sum;
	return true;
}

bool metric_column_wanted(const struct metric_table *t, const struct metric_view *v,
			  const uint64_t *slots)
{
	uint32_t slot = v->only ? metric_rows_number_slot(t, v->only) : METRIC_ROWS_NONE;

	return slot == METRIC_ROWS_NONE || slots[slot];
}

bool metric_column_has(const struct metric_table *t, const struct metric_column *c)
{
	struct metric_dim own;
	__int128 sum;

	if (c->op == METRIC_DIM)
		return !strcmp(c->a, "pid") || !strcmp(c->a, "tid") ||
		       metric_dimension_find(t, c->a, &own);
	return sum_of(t, c->a, NULL, &sum) && (!c->b || sum_of(t, c->b, NULL, &sum));
}

bool metriccolumn_exact(const struct metric_table *t, const struct metric_column *c,
			const uint64_t *slots, __int128 *out)
{
	__int128 a = 0, b = 0;

	if (c->op != METRIC_SUM && c->op != METRIC_OVER)
		return false;
	*out = 0;
	if (!sum_of(t, c->a, slots, &a) || (c->b && !sum_of(t, c->b, slots, &b)))
		return true;
	if (c->op == METRIC_SUM || a > b)
		*out = c->op == METRIC_SUM ? a : a - b;
	return true;
}

bool metric_column_is_known(const struct metric_table *t, const struct metric_column *c,
			    const uint64_t *slots)
{
	__int128 known = 0;

	return c->op != METRIC_SUM || !c->b || !sum_of(t, c->b, slots, &known) || known != 0;
}

double metric_column_value(const struct metric_table *t, const struct metric_column *c,
			   const uint64_t *slots, uint64_t elapsed_ns)
{
	__int128 sums[2] = { 0, 0 };
	double a, b;

	if (!sum_of(t, c->a, slots, &sums[0]) || (c->b && !sum_of(t, c->b, slots, &sums[1])))
		return 0;
	a = (double)sums[0];
	b = (double)sums[1];
	switch (c->op) {
	case METRIC_AVG:
		return b != 0 ? a / b : 0;
	case METRIC_PCT:
		return b != 0 ? 100 * a / b : 0;
	case METRIC_SHARE:
		return a + b != 0 ? 100 * a / (a + b) : 0;
	case METRIC_OVER:
		return a > b ? a - b : 0;
	case METRIC_PART:
		return a > b ? 100 * (a - b) / a : 0;
	case METRIC_RATE:
		return elapsed_ns ? a * 1e9 / (double)elapsed_ns : 0;
	case METRIC_BUSY:
		return elapsed_ns ? 100 * a / (double)elapsed_ns : 0;
	default:
		return a;
	}
}
