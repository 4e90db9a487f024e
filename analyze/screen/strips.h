/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* strips - how many samples the largest groups had, second by second: the heat strips of a screen */
#ifndef EBPREC_ANALYZE_SCREEN_STRIPS_H
#define EBPREC_ANALYZE_SCREEN_STRIPS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/screen/history.h"

#define STRIPS_MAX 8

/* Read freely. */
struct strips {
	uint32_t labels
		[STRIPS_MAX]; /* texts of the history, the group with the most samples first */
	unsigned count;
	size_t from, second_count; /* of the history's seconds, by position */
	uint64_t *samples;         /* second_count for each strip; owned */
};

/*
 * The groups that had the most samples in seconds [first, first + count), by position; of equal ones those whose text
 * was added first.  Their samples are those of all seconds [from, to).  -ENOMEM, -EOVERFLOW: *out is empty.
 * *out: strips_done().
 */
int strips_make(struct history *h, enum history_by by, size_t first, size_t count, size_t from,
		size_t to, struct strips *out);
void strips_done(struct strips *s);
/* Of strip i in the second at this position; 0 outside of [from, to). */
uint64_t strips_samples(const struct strips *s, unsigned i, size_t position);

#endif
