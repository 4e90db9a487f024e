/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/services.h"

#include <stdlib.h>
#include <string.h>

static int by_service(const void *va, const void *vb)
{
	const struct push_row *a = *(const struct push_row *const *)va,
			      *b = *(const struct push_row *const *)vb;
	int cmp = strcmp(a->service, b->service);

	if (!cmp)
		cmp = strcmp(a->container, b->container);
	return cmp ? cmp : a < b ? -1 : a > b;
}

const struct push_row **services_sort(const struct push_interval *in)
{
	const struct push_row **rows = calloc(in->row_count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < in->row_count; i++)
		rows[i] = &in->rows[i];
	if (rows)
		qsort(rows, in->row_count, sizeof(*rows), by_service);
	return rows;
}

size_t services_count(const struct push_row *const *rows, size_t count, size_t i,
		      bool with_container)
{
	size_t end = i;

	while (end < count && !strcmp(rows[end]->service, rows[i]->service) &&
	       (!with_container || !strcmp(rows[end]->container, rows[i]->container)))
		end++;
	return end - i;
}
