/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * final_events - events that BPF programs hold in a map until the end, one for each stack
 *
 * A map whose name begins with final_ has values that are struct metric_event: the sums that a
 * program made for a stack (bpf/lib/alloc_sampling.bpf.h).  At the end each is a row of its table,
 * weighted by its column held_bytes; a value with 0 gives no row.
 */
#ifndef EBPREC_RECORD_METRIC_FINAL_EVENTS_H
#define EBPREC_RECORD_METRIC_FINAL_EVENTS_H

#include "record/instrument/instrument.h"
#include "record/metric/bpf_object.h"

/* Announces the last walk to the object's programs. */
void final_events_ending(const struct metric_object *o);
/* Emits the rows after the last walk. errno of the map, -EBADMSG: it holds other values. */
int final_events_emit(const struct metric_object *o, const struct metric_tables *tabs,
		      const struct instrument_ctx *c);

#endif
