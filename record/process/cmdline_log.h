/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmdline_log - how processes were called, on its way into the capture
 *
 * Entries come from /proc at the beginning and from exec events (exec.c) afterwards; without BPF
 * from /proc, too, when the side-band reports an exec, which is too late for a process that lives
 * for a moment: these are counted.  Where a capture is made of a backlog, entries stay in memory
 * for as long as their process, or a child that was called the same, may be in the backlog.
 */
#ifndef EBPREC_RECORD_PROCESS_CMDLINE_LOG_H
#define EBPREC_RECORD_PROCESS_CMDLINE_LOG_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "format/payload/cmdline_record.h"
#include "format/writer/writer.h"
#include "record/base/u64map.h"
#include "format/base/outbuf.h"
#include "record/privsep/io_timeout.h"

struct cmdline_log_entry {
	uint32_t pid;
	uint32_t before; /* index of the process's entry before this one, plus one; 0: none */
	uint64_t since_ns, until_ns;   /* until_ns 0: still so */
	struct cmdline_log_text *text; /* shared with children; NULL: the process had ended */
};

/* Embedded by the owner; all zero but the switches is an empty one. */
struct cmdline_log {
	bool wanted, environment; /* what is asked for */
	bool in_window;           /* entries stay, for cmdline_log_copy() */
	struct writer *writer;    /* borrowed; without a window */
	struct outbuf pending;
	uint64_t next_object;
	struct cmdline_log_entry *list; /* in_window; by the time they came */
	size_t count, room;
	struct u64map last; /* by process: the index of its last entry */
	struct io_timeout
		*io;  /* borrowed: reads /proc when an exec is reported; NULL: it is not read */
	int late_err; /* of what was read then */
	uint64_t entry_count, missing_count, cut_count;
};

void cmdline_log_done(struct cmdline_log *k);
/* args and env are copied.  -ENOMEM. */
int cmdline_log_add(struct cmdline_log *k, const struct cmdline_record *p);

/* How a process was called, as its folder in /proc has it; all zero but environment. */
struct cmdline_log_texts {
	bool environment; /* is wanted, too */
	bool has_args, has_env;
	struct outbuf args, env;
};
/* Reads them; in any thread, as it may take for ever.  proc_fd: the folder. */
void cmdline_log_read(int proc_fd, struct cmdline_log_texts *t);
void cmdline_log_texts_done(struct cmdline_log_texts *t);
/* The process was called so at this time.  -ENOMEM; it was gone: counted, 0. */
int cmdline_log_take(struct cmdline_log *k, uint32_t pid, uint64_t time_ns,
		     const struct cmdline_log_texts *t);
/* A side-band record: forks and ends for the window; execs where no BPF program sees them. */
int cmdline_log_record(struct cmdline_log *k, const struct perf_event_header *record,
		       uint64_t time_ns, bool read_execs);
/* Forgets the processes that ended before that time. */
void cmdline_log_drop(struct cmdline_log *k, uint64_t before_ns);
/* Writes what has come together, without a window. */
int cmdline_log_flush(struct cmdline_log *k);
/* Writes all of the window. */
int cmdline_log_copy(const struct cmdline_log *k, struct writer *to);

#endif
