/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_decode - from a record to a sample, and to the events that it is of
 *
 * A sample is of the event that its id names; one of a group that is sampled together is of each member
 * that counted something (group_read.h).  Records must come in the order of the file, or of time, where
 * groups are asked for.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_SAMPLE_DECODE_H
#define EBPREC_ANALYZE_INPUT_EVENT_SAMPLE_DECODE_H

#include <errno.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/event/group_read.h"

struct sample_decode {
	struct event_of events;
	struct group_read *members; /* NULL: no sample has counts of other events */
	const struct capture_attr
		*attr; /* the event of the record that was read last; NULL: none */
};

/* c is borrowed.  groups: samples are wanted of each event that they count.  -ENOMEM. */
int sample_decode_init(struct sample_decode *d, const struct capture *c, bool groups);
void sample_decode_done(struct sample_decode *d); /* all zero is fine */

/* Whether samples of the event that was read last are of other events, too. */
static inline bool sample_decode_is_group(const struct sample_decode *d)
{
	return d->members && d->attr && group_read_are_in(d->attr);
}

/*
 * 1: *out is the sample, and borrows from the record; 0: it is of no event, or not of `only`, if that is not
 * NULL; -EBADMSG: it does not fit its event.
 */
static inline int sample_decode(struct sample_decode *d, const struct perf_event_header *header,
				const struct capture_attr *only, struct perf_sample *out)
{
	d->attr = event_of_find(&d->events, header);
	if (!d->attr || (only && d->attr != only && !sample_decode_is_group(d)))
		return 0;
	return perfrec_sample(header, header->size, &d->attr->attr, out, NULL) ? -EBADMSG : 1;
}

/* Calls fn for each event that the sample which was read last is of; not 0 ends it, and is returned.  -ENOMEM. */
static inline int sample_decode_each(struct sample_decode *d, const struct perf_sample *sample,
				     group_read_fn fn, void *ctx)
{
	return sample_decode_is_group(d) ? group_read_each(d->members, sample, fn, ctx)
					 : fn(ctx, sample, d->attr);
}

#endif
