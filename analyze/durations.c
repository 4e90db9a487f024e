/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/durations.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/vec.h"

int durations_add(struct durations *d, uint64_t ns)
{
	if (vec_reserve(&d->ns, &d->capacity, d->count + 1))
		return -ENOMEM;
	d->ns[d->count++] = ns;
	d->sum_ns += ns;
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void durations_finish(struct durations *d)
{
	if (d->count)
		qsort(d->ns, d->count, sizeof(*d->ns), by_ns);
}

void durations_done(struct durations *d)
{
	free(d->ns);
	*d = (struct durations){ 0 };
}

uint64_t durations_quantile(const struct durations *d, double share)
{
	size_t rank;

	if (!d->count)
		return 0;
	rank = (size_t)(share * (double)d->count);
	if ((double)rank < share * (double)d->count)
		rank++; /* rounded up */
	return d->ns[rank ? rank - 1 : 0];
}
