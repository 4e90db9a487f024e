/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * context_log - what processes publish about themselves, on its way into the capture
 *
 * A process that uses OpenTelemetry's process context has a mapping of this name, whose header leads to a message (OTEP
 * 4719).  Nothing of a message is interpreted here.  An entry holds until another one of the process, or until it execs
 * or ends.
 *
 * Where a capture is made of a backlog, entries stay in memory for as long as their process may be in the backlog.
 * Memory is limited, as any process can publish: a message that finds no room counts as refused.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTEXT_LOG_H
#define EBPREC_RECORD_PROCESS_CONTEXT_LOG_H

#include <stdbool.h>

#include "format/base/outbuf.h"
#include "format/payload/context_record.h"
#include "format/writer/writer.h"
#include "record/base/u64map.h"

#define CONTEXT_LOG_ENTRIES_MAX 8192u
#define CONTEXT_LOG_BYTES_MAX   (8u << 20) /* of messages */

struct context_log_entry; /* in context_log.c */

/* Embedded by the owner; all zero but the first two is an empty one. */
struct context_log {
	bool in_window;        /* entries stay, for context_log_copy() */
	struct writer *writer; /* borrowed; without a window */
	struct outbuf pending;
	uint64_t next_object;
	struct context_log_entry *list; /* by the time they came */
	size_t count, room, message_bytes;
	struct u64map last;     /* by process that has a context: the index of its entry */
	uint64_t refused_count; /* published, and not recorded */
};

void context_log_done(struct context_log *k);
/* The process publishes this message, which is copied; what is known of a later time stays.  -ENOMEM. */
int context_log_add(struct context_log *k, uint32_t pid, uint64_t time_ns, const void *message,
		    size_t size_bytes);
/* Whether anything is known of the process. */
bool context_log_has(const struct context_log *k, uint32_t pid);
/*
 * Reads the message that a process publishes; in any thread, as it may take for ever.  proc_fd: its folder; maps: its
 * file of this name.  Nothing is put behind *out where there is none, or none that can be read.
 */
void context_log_read(int proc_fd, const char *maps, struct outbuf *out);
/* It has none any more: it execs, or ends.  -ENOMEM. */
int context_log_end(struct context_log *k, uint32_t pid, uint64_t time_ns);
/* Forgets what had ended before that time. */
void context_log_drop(struct context_log *k, uint64_t before_ns);
/* Writes what has come together, without a window. */
int context_log_flush(struct context_log *k);
/* Writes all of the window. */
int context_log_copy(const struct context_log *k, struct writer *to);

#endif
