/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/layout_of.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/metric/layouts.h"

/* The unit of a table's events; NULL: it has no stacks. */
static const char *unit_of(const struct metric_table *t, const struct metric_view *v,
			   const struct metric_view *own)
{
	if (t->is_interval)
		return NULL;
	return v == own ? "weight" : v->weight; /* a user's own table has none */
}

int layout_of_find(const struct capture *c, const char *name, struct layout_of *out)
{
	const struct metric_view *v;
	struct metric_view own;
	struct metric_rows rows;
	bool known = false, found = false;
	const char *unit;
	int err = metric_rows_open(c, &rows);

	if (err)
		return err;
	for (size_t i = 0; i < rows.count && !found; i++) {
		v = metric_view_of(&rows.tables[i], &own);
		if (strcmp(v->instrument, name) != 0 && strcmp(rows.tables[i].fmt.name, name) != 0)
			continue;
		known = true;
		unit = unit_of(&rows.tables[i], v, &own);
		found = unit != NULL;
		if (found)
			*out = (struct layout_of){ rows.tables[i].attr->name, unit };
	}
	metric_rows_done(&rows);
	return found ? 0 : known ? -ENODATA : -ENOENT;
}

int layout_of_names(const struct capture *c, char *out, size_t out_bytes)
{
	const struct metric_view *v;
	struct metric_view own;
	struct metric_rows rows;
	const char *name, *last = "";
	size_t used = 0;
	int err = metric_rows_open(c, &rows);

	*out = '\0';
	for (size_t i = 0; !err && i < rows.count; i++) {
		v = metric_view_of(&rows.tables[i], &own);
		name = v == &own ? rows.tables[i].fmt.name : v->instrument;
		if (!unit_of(&rows.tables[i], v, &own) || !strcmp(name, last) ||
		    used + strlen(name) + 3 > out_bytes)
			continue;
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", used ? ", " : "",
					 name);
		last = v == &own ? "" : v->instrument;
	}
	if (!err)
		metric_rows_done(&rows);
	return err;
}
