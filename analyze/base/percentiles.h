/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* percentiles - lengths of time, all of them stored: counts, sums, quantiles */
#ifndef EBPREC_ANALYZE_BASE_PERCENTILES_H
#define EBPREC_ANALYZE_BASE_PERCENTILES_H

#include <stddef.h>
#include <stdint.h>

/* Embedded by the owner; all zero is an empty set.  Read freely. */
struct percentiles {
	uint64_t *ns; /* rising, once percentiles_finish() was called */
	size_t count, capacity;
	uint64_t sum_ns;
};

int percentiles_add(struct percentiles *d, uint64_t ns); /* -ENOMEM */
void percentiles_finish(struct percentiles *d);
void percentiles_done(struct percentiles *d);

/*
 * In a finished set: the smallest length that at least this share of all (0..1) does not exceed; 0:
 * empty.
 */
uint64_t percentiles_quantile(const struct percentiles *d, double share);

#endif
