/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/wait_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/profile/flat_profile.h"

#define RECORDER "ebprec-record"

static int by_text(const void *va, const void *vb)
{
	const struct wait_sum *a = va, *b = vb;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	return a->reason < b->reason ? -1 : a->reason > b->reason;
}

static int by_would_run(const void *va, const void *vb)
{
	const struct wait_sum *a = va, *b = vb;

	if (a->is_recorder != b->is_recorder)
		return a->is_recorder ? 1 : -1;
	if (a->would_run_us != b->would_run_us)
		return a->would_run_us > b->would_run_us ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return by_text(va, vb);
}

static struct wait_sum sum_of(const struct flat_row *row, const struct row_keys *keys)
{
	return (struct wait_sum){ .comm = keys->labels[row->group].texts[KEY_COMM],
				  .reason = keys->labels[row->frame].texts[KEY_SYMBOL],
				  .ns = row->self };
}

static int join(const struct flat *times, const struct flat *busy, const struct row_keys *keys,
		const struct string_table *names, struct wait_sum **out, size_t *count)
{
	struct wait_sum *list = calloc(times->count + 1, sizeof(*list)), *found;
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (; n < times->count && times->rows[n].self; n++) {
		list[n] = sum_of(&times->rows[n], keys);
		list[n].is_recorder = !strcmp(string_table_text(names, list[n].comm), RECORDER);
	}
	qsort(list, n, sizeof(*list), by_text);
	for (size_t i = 0; i < busy->count; i++) {
		const struct wait_sum want = sum_of(&busy->rows[i], keys);

		found = bsearch(&want, list, n, sizeof(*list), by_text);
		if (found)
			found->would_run_us = want.ns;
	}
	qsort(list, n, sizeof(*list), by_would_run);
	*out = list;
	*count = n;
	return 0;
}

int wait_sums_make(const struct stack_table *s, const struct row_keys_source *source,
		   struct wait_sum **out, size_t *count)
{
	struct sort_keys by = { { KEY_COMM, KEY_SYMBOL }, 2 };
	struct flat times = { 0 }, busy = { 0 };
	struct row_keys keys;
	int err = row_keys_make(&by, source, &keys);

	if (err)
		return err;
	err = flat_make(s, CALLTREE_SAMPLES, &keys, &by, source->names, false, &times);
	if (!err)
		err = flat_make(s, CALLTREE_PERIOD, &keys, &by, source->names, false, &busy);
	if (!err)
		err = join(&times, &busy, &keys, source->names, out, count);
	flat_done(&times);
	flat_done(&busy);
	row_keys_done(&keys);
	return err;
}
