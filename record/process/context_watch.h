/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * context_watch - looks for the contexts that processes publish
 *
 * No event of every kernel reports that a process publishes its context, which it does some time after it began.  So it
 * is looked for when a process is 1 s old, 10 s, 100 s, and so on, 80 processes a second at most; most have ended by
 * then.  A context that the first look finds holds since the process began.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTEXT_WATCH_H
#define EBPREC_RECORD_PROCESS_CONTEXT_WATCH_H

#include <linux/perf_event.h>

#include "record/privsep/io_timeout.h"
#include "record/process/context_log.h"

#define CONTEXT_WATCH_MAX 32768u /* processes; others are not looked at, and counted as refused */

struct context_watch_process; /* in context_watch.c */

/* Embedded by the owner; all zero but the first two, and log's, is an empty one. */
struct context_watch {
	bool wanted;
	struct io_timeout *io; /* borrowed */
	struct context_log log;
	struct context_watch_process *list;
	size_t count, room;
	struct u64map by_pid; /* index in the list */
	uint64_t next_ns;     /* nothing is due earlier */
	int late_err;         /* of what was found by a look */
};

void context_watch_done(struct context_watch *w);
/*
 * A process was looked at as of as_of_ns, and has this context, or none.  since_ns: when it began, 0: before the recording.
 * -ENOMEM.
 */
int context_watch_saw(struct context_watch *w, uint32_t pid, uint64_t since_ns, uint64_t as_of_ns,
		      const struct outbuf *context);
/* A record of the side-band: processes that begin, exec and end.  -ENOMEM. */
int context_watch_record(struct context_watch *w, const struct perf_event_header *record,
			 uint64_t time_ns);
/* Begins the looks that are due.  -ENOMEM, of earlier ones, too. */
int context_watch_look(struct context_watch *w, uint64_t now_ns);

#endif
