/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* durations - lengths of time, all of them kept: counts, sums, quantiles */
#ifndef EBPREC_ANALYZE_BASE_PERCENTILES_H
#define EBPREC_ANALYZE_BASE_PERCENTILES_H

#include <stddef.h>
#include <stdint.h>

/* Embedded by the owner; all zero is an empty set.  Read freely. */
struct durations {
	uint64_t *ns; /* rising, once durations_finish() was called */
	size_t count, capacity;
	uint64_t sum_ns;
};

int durations_add(struct durations *d, uint64_t ns); /* -ENOMEM */
void durations_finish(struct durations *d);
void durations_done(struct durations *d);

/* Of a finished set: the smallest that at least this share of all (0..1) does not exceed; 0: empty. */
uint64_t durations_quantile(const struct durations *d, double share);

#endif
