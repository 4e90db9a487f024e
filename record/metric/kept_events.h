/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kept_events - events that the kernel keeps until the end, one for each stack
 *
 * A map whose name begins with kept_ has values that are struct metric_event: what a program adds up for
 * a stack (bpf/lib/alloc_sampling.bpf.h).  At the end each is a row of its table, weighted by its column held_bytes;
 * none where that is 0.
 */
#ifndef EBPREC_RECORD_METRIC_KEPT_EVENTS_H
#define EBPREC_RECORD_METRIC_KEPT_EVENTS_H

#include "record/instrument/instrument.h"
#include "record/metric/bpf_object.h"

/* Says to the object's programs that the next walk is the last. */
void kept_events_ending(const struct metric_object *o);
/* Behind the last walk.  errno of the map, -EBADMSG: what is in it is none of ours. */
int kept_events_tell(const struct metric_object *o, const struct metric_tables *tabs,
		     const struct instrument_ctx *c);

#endif
