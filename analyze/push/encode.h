/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* encode - the batches of a capture for one server */
#ifndef EBPREC_ANALYZE_PUSH_ENCODE_H
#define EBPREC_ANALYZE_PUSH_ENCODE_H

#include "analyze/push/forms/interval.h"
#include "analyze/push/forms/target.h"

/* Of a capture. */
struct push_source {
	const char *host;
	const struct push_labels *labels; /* of samples: points have theirs */
	char *identity;      /* owned; the same for the same recording, under whatever file name */
	uint64_t to_wall_ns; /* what makes Unix time of its clock, by adding */
	uint64_t interval_ns;
	uint64_t end_ns; /* of its clock: the last sample; UINT64_MAX: not known */
	/* Of these, that which the form takes. */
	const struct push_counted *counted;
	size_t counted_count;
	const struct push_points *points;
};

/*
 * The identity of a recording: its host, when it began and ended, what its recorder wrote of it.  Owned; NULL: no memory.
 */
struct capture;
struct time_span;
char *push_identity(const struct capture *c, const char *host, const struct time_span *span,
		    uint64_t to_wall_ns);
/* A name as it may stand in the name of a file, and in all forms; owned, NULL: no memory. */
char *push_host_name(const char *host);

/*
 * Makes each interval's batch, numbered from first_seq on, and gives it away; give: its error ends it.  *count: batches.
 * -ENOMEM.
 */
int push_encode(const struct push_target *t, const struct push_source *source, uint64_t sender,
		uint64_t first_seq, int (*give)(void *arg, const struct push_batch *b), void *arg,
		uint64_t *count);

#endif
