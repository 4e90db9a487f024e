/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sink - where records go, and the count of what went there
 *
 * Between the sources of records (instruments, snapshot, side-band) and the writer: knows the ids
 * and streams, counts, and keeps to perf's contract about FINISHED_ROUND: after a round ends,
 * nothing older than the newest record of the round before may follow.
 */
#ifndef EBPREC_RECORD_OUTPUT_SINK_H
#define EBPREC_RECORD_OUTPUT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/writer/writer.h"
#include "record/events/event_attrs.h"
#include "record/output/account.h"
#include "record/output/sample_record.h"
#include "record/events/side_record.h"

struct sink {
	struct writer *writer;           /* borrowed */
	const struct event_attrs *attrs; /* borrowed */
	bool samples_in_side_rings;      /* so what these lose is mostly samples, and counted so */
	struct account account;
	uint64_t newest_ns;       /* of all records so far */
	uint64_t round_newest_ns; /* newest_ns when the last round ended, */
	uint64_t floor_ns;        /* and the one before: nothing older may come */
	uint64_t reported_lost[EBPREC_EV_END];
	struct account written; /* the account as of the last good flush */
	bool gave_up;           /* what was counted after it is not in the file */
	uint64_t unwritten
		[EBPREC_EV_END]; /* lost here, not in a ring; account.lost_count has them */
};

/* A sample of ours; its id is filled in. */
int sink_sample(struct sink *e, enum event_attrs_event event, struct sample_record *s);
/* Counts how a user stack came out. */
void sink_count_stack(struct sink *e, const struct stack_result *info);
/* A complete side-band record of the kernel's. */
int sink_kernel(struct sink *e, const struct perf_event_header *record, uint64_t time_ns);
/* A side-band record of ours: r->bytes, size_bytes as the siderec function returned. */
int sink_side(struct sink *e, const struct side_record *r, size_t size_bytes);
/* A record's id for side-band of ours. */
uint64_t sink_side_id(const struct sink *e);

/* An event that came out of a ring could not be recorded: it counts as lost. */
void sink_count_unrecorded(struct sink *e, uint32_t type);
/*
 * The losses of the rings, counted from the beginning: the difference to the last call becomes a
 * LOST record.
 */
int sink_lost(struct sink *e, const uint64_t counts[EBPREC_EV_END], uint64_t now_ns);
/* Writes out what there is and ends a round. */
int sink_flush(struct sink *e);
/*
 * After a failed write: records that were not written count as lost, in LOST records, too.  The
 * writer can then be finished.
 */
int sink_give_up(struct sink *e, uint64_t now_ns);
/* A round has ended: what came in went elsewhere than into the writer's file. */
void sink_round(struct sink *e);

#endif
