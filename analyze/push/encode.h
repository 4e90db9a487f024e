/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* encode - the batches of a capture for one server, written and put into the ledger, all or none */
#ifndef EBPREC_ANALYZE_PUSH_ENCODE_H
#define EBPREC_ANALYZE_PUSH_ENCODE_H

#include "analyze/push/forms/interval.h"
#include "analyze/push/ledger.h"
#include "analyze/push/forms/target.h"

/* Of a capture. */
struct push_source {
	const char *host, *event;
	const char *weight_type, *weight_unit; /* of struct push_interval */
	uint64_t period_ns;
	char *identity;      /* owned; the same for the same recording, under whatever file name */
	uint64_t to_wall_ns; /* what makes Unix time of its clock, by adding */
	uint64_t interval_ns;
	uint64_t end_ns; /* of its clock: the last sample */
	uint64_t lost;
	bool has_samples;
	/* Of these, that which the form takes. */
	const struct push_samples *samples;
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
 * Writes each interval's batch below folder, and then the ledger has them, and the capture.  On failure neither stays.
 * *count: batches.  The errors of files and of the ledger.
 */
int push_encode(struct push_ledger *l, const struct push_target *t, int64_t target,
		const char *folder, const struct push_source *source, uint64_t *count);

#endif
