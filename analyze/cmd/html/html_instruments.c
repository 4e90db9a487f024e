/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/html/html_instruments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/layout_of.h"

/* More than all names of all instruments have. */
#define NAMES_BYTES 1024

/* Leaves *one without samples where there are none. */
static int read_instrument(const struct report *first, const struct report_query *query,
			   const char *name, struct html_instrument *one)
{
	struct report_query how = *query;
	struct layout_of of;
	int err = layout_of_find(first->capture, name, &of);

	if (!err)
		err = load_choose_event(first->capture, &first->scan, of.event, &how.attr);
	if (err)
		return err;
	one->name = strdup(name);
	one->unit = of.unit;
	one->attr = how.attr;
	err = one->name ? report_open_beside(first, &one->report) : -ENOMEM;
	return err ? err : report_make(&one->report, &how);
}

static void free_instrument(struct html_instrument *one)
{
	report_done(&one->report);
	free(one->name);
	*one = (struct html_instrument){ 0 };
}

int html_instruments_read(const struct report *first, const struct report_query *query,
			  struct html_instruments *out)
{
	char names[NAMES_BYTES], *rest = names, *name;
	struct html_instruments made = { 0 };
	size_t most = 1;
	int err = layout_of_names(first->capture, names, sizeof(names));

	if (err || !*names)
		return err;
	for (const char *at = names; *at; at++)
		most += *at == ',';
	made.list = calloc(most, sizeof(*made.list));
	if (!made.list)
		return -ENOMEM;
	while (!err && (name = strsep(&rest, ","))) {
		struct html_instrument *one = &made.list[made.count];

		err = read_instrument(first, query, name + strspn(name, " "), one);
		if (err || !one->report.picked)
			free_instrument(one);
		else
			made.count++;
	}
	if (err)
		html_instruments_done(&made);
	else
		*out = made;
	return err;
}

void html_instruments_done(struct html_instruments *instruments)
{
	for (size_t i = 0; i < instruments->count; i++)
		free_instrument(&instruments->list[i]);
	free(instruments->list);
	*instruments = (struct html_instruments){ 0 };
}
