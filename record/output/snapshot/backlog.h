/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * backlog - the last part of a recording, in memory, ready to become a capture
 *
 * Takes what the writer packed since the last flush as one part.  Parts that are too old or too
 * large are dropped from the front; the state that their side-band leaves goes into process_state,
 * so that names stay right: a side-band record counts as state when it is older than the first
 * retained sample, and else is retained as it was.  sched_state has the waits since
 * then.  Objects (the machine, kernel symbols) stay for ever, but for those about files and mounts: file_origin_cache.h
 * holds these.  A backlog without
 * limits (0, 0) retains no part: only state and objects, with which the next file begins.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_BACKLOG_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/writer/writer.h"
#include "record/events/event_attrs.h"
#include "record/output/sink.h"

struct backlog; /* opaque */

/*
 * keep_ns, keep_bytes: the most that the parts hold; 0: no such limit.  attrs: the capture's; NULL: the
 * backlog keeps no states of threads.  -ENOMEM.
 */
int backlog_new(uint64_t keep_ns, uint64_t keep_bytes, uint64_t side_id,
		const struct event_attrs *attrs, struct backlog **out);
void backlog_free(struct backlog *w); /* NULL is fine */

/*
 * Takes what `from` has packed.  upto: the account as of now.  to: also put into this writer, which
 * has begun with backlog_begin(); NULL: nowhere.  Errors of memory, or of `to`.
 */
int backlog_take(struct backlog *w, struct writer *from, const struct account *upto,
		 uint64_t now_ns, struct writer *to);

/*
 * Puts into a fresh writer what stands at the beginning of a capture: objects, the states of threads, of
 * processes, and the side-band records that are newer than that.  *record_count: how many records that were.
 */
int backlog_begin(struct backlog *w, struct writer *to, uint64_t *record_count);
/* The state alone; stops when on_record returns an error, and returns it. */
int backlog_each_state(struct backlog *w,
		       int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
		       void *arg);
/* How many cgroups the state names, since when, and which of these to forget. */
size_t backlog_cgroup_count(const struct backlog *w);
uint64_t backlog_from_ns(const struct backlog *w);
void backlog_drop_cgroups(struct backlog *w,
			  bool (*may_go)(void *arg, uint64_t id, const char *path), void *arg);
/* Parts, oldest first; part 0 is the first one. */
size_t backlog_part_count(const struct backlog *w);
int backlog_put_part(const struct backlog *w, size_t part, struct writer *to);
const struct account *backlog_part_account(const struct backlog *w, size_t part); /* at its end */

/* The account up to the end of the last part. */
const struct account *backlog_account(const struct backlog *w);
/* The account up to the beginning of the backlog, and its time; 0: nothing was dropped. */
const struct account *backlog_before(const struct backlog *w);
uint64_t backlog_dropped_ns(const struct backlog *w);
/* Memory of the parts. */
uint64_t backlog_bytes(const struct backlog *w);

#endif
