/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capture_stats - how much of what is in a capture
 *
 * One walk over the records counts them by type and by event, and adds up what was lost, by event,
 * as LOST records have it; the blocks' headers repeat the same losses.  Blocks and objects are
 * summed from what capture_open() found.
 */
#ifndef EBPREC_ANALYZE_INPUT_CAPTURE_STATS_H
#define EBPREC_ANALYZE_INPUT_CAPTURE_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "format/reader/capture.h"

#define CAPTURE_STATS_TYPES 96 /* record types up to here are counted apart */
#define CAPTURE_STATS_KINDS 16 /* the same for kinds of private objects */

struct capture_stats_stream {
	uint64_t block_count, record_count, sample_count, lost_count;
	uint64_t raw_bytes, file_bytes; /* raw: 0 when a block's is not known */
};

struct capture_stats_attr {
	uint64_t sample_count;
	uint64_t lost_count;      /* as LOST and LOST_SAMPLES records have it, each loss once */
	uint64_t ring_lost_count; /* as LOST records have it, of the ring of this event */
};

struct capture_stats_kind {
	uint64_t object_count, part_count, cut_count, raw_bytes, file_bytes;
};

struct capture_stats {
	struct capture_stats_stream
		streams[EBX_STREAM_END]; /* [0]: CAPTURE_STREAM_MIXED and unknown ones */
	struct capture_stats_kind kinds[CAPTURE_STATS_KINDS]; /* [0]: unknown kinds */
	uint64_t types[CAPTURE_STATS_TYPES];
	uint64_t other_types;             /* records of a type beyond */
	struct capture_stats_attr *attrs; /* [attr], and one more for ids that no attr has; owned */
	size_t attr_count;
	uint64_t
		lost_count; /* of all attrs, as LOST and LOST_SAMPLES records have it, each loss once */
	uint32_t bad_blocks; /* found broken by the walk */
};

/* Counts the records in streams of the mask (bit 1 << stream); all: UINT32_MAX.  *out is owned:
 * capture_stats_done().  -ENOMEM. */
int capture_stats_capture(const struct capture *c, uint32_t stream_mask, struct capture_stats *out);
/* The same, but samples are counted only where the filter asks for their time. */
int capture_stats_during(const struct capture *c, uint32_t stream_mask, const struct filter *filter,
			 struct capture_stats *out);
void capture_stats_done(struct capture_stats *t);

/*
 * Whether LOST_SAMPLES records repeat what LOST records have: in perf's files, and captures made of these, where events
 * count what they lost themselves (PERF_FORMAT_LOST, since Linux 6.0), and perf record writes that at its end.
 */
bool capture_stats_repeat_losses(const struct capture *c);

/* "MMAP2"; NULL for a type without a name. */
const char *capture_stats_type_name(unsigned type);

#endif
