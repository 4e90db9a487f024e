/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/percentiles.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"

int percentiles_add(struct percentiles *d, uint64_t ns)
{
	if (vec_reserve(&d->ns, &d->capacity, d->count + 1))
		return -ENOMEM;
	d->ns[d->count++] = ns;
	d->sum_ns = saturate_add(d->sum_ns, ns);
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

#define DIGIT_BITS 11
#define DIGITS     (1 << DIGIT_BITS)

/* One digit of all; false: they have it in common. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
	size_t starts[DIGITS] = { 0 }, sum = 0, n;

	for (size_t i = 0; i < count; i++)
		starts[from[i] >> shift & (DIGITS - 1)]++;
	if (starts[from[0] >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		n = starts[i];
		starts[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

void percentiles_finish(struct percentiles *d)
{
	uint64_t *to = d->count >= DIGITS ? malloc(d->count * sizeof(*to)) : NULL, *swap;

	if (!to) {
		if (d->count)
			qsort(d->ns, d->count, sizeof(*d->ns), by_ns);
		return;
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS)
		if (sort_digit(d->ns, to, d->count, shift)) {
			swap = d->ns, d->ns = to, to = swap;
			d->capacity = d->count;
		}
	free(to);
}

void percentiles_done(struct percentiles *d)
{
	free(d->ns);
	*d = (struct percentiles){ 0 };
}

uint64_t percentiles_quantile(const struct percentiles *d, double share)
{
	size_t rank;

	if (!d->count)
		return 0;
	rank = saturate_part(share * (double)d->count, d->count);
	if ((double)rank < share * (double)d->count)
		rank++; /* rounded up */
	return d->ns[rank ? rank - 1 : 0];
}
