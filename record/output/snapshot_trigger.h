/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * triggers - what makes a recording with --ring write what it has
 *
 *	mark:TEXT              a mark with this text, or this name
 *	runq:20ms              a thread that wants to run had to wait so long for a CPU
 *	psi:cpu:some:50ms/1s   the kernel's pressure stall information: tasks waited for so long of the time
 *
 * After one has fired none does for TRIGGERS_PAUSE_NS: what keeps being so would fill the disk.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_TRIGGER_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/options.h"
#include "format/perf/trace_data.h"
#include "record/base/messages.h"

#define TRIGGERS_PAUSE_NS 10000000000ULL

enum trigger_kind { TRIGGER_MARK, TRIGGER_RUNQ, TRIGGER_PSI };

struct trigger {
	enum trigger_kind kind;
	const char *words; /* as given, borrowed */
	const char *mark;  /* its text, in words */
	uint64_t late_us;  /* of RUNQ */
	char file[32];     /* of PSI: "/proc/pressure/cpu" */
	bool full;         /* all tasks waited, not some */
	uint64_t stall_us, window_us;
};

/* Pure.  -EINVAL. */
int trigger_parse(const char *words, struct trigger *out);

struct triggers {
	struct trigger *list;
	int *fds; /* of PSI; -1: none */
	size_t count;
	uint64_t fired_ns;
	const char *fired; /* words of the one that fired; NULL: none did */
};

/* Opens them; all have been parsed before.  On failure note_fail() has said why. */
int triggers_open(struct triggers *t, const struct option_list *words, struct notes *notes);
void triggers_done(struct triggers *t); /* zeroed is fine */
/* A mark was recorded, at this time. */
void triggers_mark(struct triggers *t, const struct tracing_mark *m, uint64_t time_ns);
/* A thread got a CPU at this time that waited too long for it: as RUNQ, of which there is one, says. */
void triggers_late(struct triggers *t, uint64_t time_ns);
/* The fd of trigger i, which has an event for EPOLLPRI; -1: none. */
int triggers_fd(const struct triggers *t, size_t i);
/* That fd had one. */
void triggers_pressure(struct triggers *t, size_t i, uint64_t now_ns);

#endif
