/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sched_state - the scheduler events that decide in which state threads are now
 *
 * A thread that waits when a file of a recording begins left its CPU in the file before.  So the next file begins with
 * these events (EBX_BORDER, FORMAT.md 5.6): of each thread that is on no CPU the switch from one, with its stack, or the
 * fork, and the wakeup since then; of each CPU its last switch.  Records come in the order in which rings are emptied, so their
 * times decide which is the last.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_SCHED_STATE_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_SCHED_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/buf.h"
#include "record/events/event_attrs.h"

struct sched_state; /* opaque */

/* attrs: of the capture; read now.  *out NULL: it has no switches, or not the fields that are needed.  -ENOMEM. */
int sched_state_new(const struct event_attrs *attrs, struct sched_state **out);
void sched_state_free(struct sched_state *s); /* NULL is fine */

/* A record of the capture; others than switches, wakeups and forks are left out.  -ENOMEM. */
int sched_state_record(struct sched_state *s, const uint8_t *record, size_t size_bytes);
/*
 * The object of a file that begins at from_ns, into an empty buffer; it stays empty where there was no switch.  -ENOMEM.
 */
int sched_state_border(struct sched_state *s, uint64_t from_ns, struct buf *out);
/* How many threads are known: those that ended are forgotten in time. */
size_t sched_state_thread_count(const struct sched_state *s);

#endif
