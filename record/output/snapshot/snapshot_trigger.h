/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * snapshot_trigger - what makes a recording with --ring write what it has
 *
 *	mark:TEXT              a mark with this text, or this name
 *	runq:20ms              a thread that wants to run had to wait so long for a CPU
 *	psi:cpu:some:50ms/1s   the kernel's pressure stall information: tasks waited for so long of the time
 *
 * After one has fired none does for SNAPSHOT_TRIGGERS_PAUSE_NS: what keeps being so would fill the disk.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_TRIGGER_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/text/options.h"
#include "format/perf/trace_data.h"
#include "record/base/messages.h"

#define SNAPSHOT_TRIGGERS_PAUSE_NS 10000000000ULL

enum snapshot_trigger_kind { SNAPSHOT_TRIGGER_MARK, SNAPSHOT_TRIGGER_RUNQ, SNAPSHOT_TRIGGER_PSI };

struct snapshot_trigger {
	enum snapshot_trigger_kind kind;
	const char *words; /* as given, borrowed */
	const char *mark;  /* its text, in words */
	uint64_t late_us;  /* of RUNQ */
	char file[32];     /* of PSI: "/proc/pressure/cpu" */
	bool full;         /* all tasks waited, not some */
	uint64_t stall_us, window_us;
};

/* Pure.  -EINVAL. */
int snapshot_trigger_parse(const char *words, struct snapshot_trigger *out);

struct snapshot_triggers {
	struct snapshot_trigger *list;
	int *fds; /* of PSI; -1: none */
	size_t count;
	uint64_t fired_ns;
	const char *fired; /* words of the one that fired; NULL: none did */
};

/* Opens them; all have been parsed before.  On failure note_fail() has the reason. */
int snapshot_triggers_open(struct snapshot_triggers *t, const struct option_list *words,
			   struct notes *notes);
void snapshot_triggers_done(struct snapshot_triggers *t); /* zeroed is fine */
/* A mark was recorded, at this time. */
void snapshot_triggers_mark(struct snapshot_triggers *t, const struct trace_data_mark *m,
			    uint64_t time_ns);
/*
 * At this time a thread got a CPU that had waited for it longer than the RUNQ trigger allows (there
 * is one at most).
 */
void snapshot_triggers_late(struct snapshot_triggers *t, uint64_t time_ns);
/* The fd of trigger i, which has an event for EPOLLPRI; -1: none. */
int snapshot_triggers_fd(const struct snapshot_triggers *t, size_t i);
/* That fd had one. */
void snapshot_triggers_pressure(struct snapshot_triggers *t, size_t i, uint64_t now_ns);

#endif
