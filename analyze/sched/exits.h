/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * exits - the processes that ended while it was recorded, and all of their lives
 *
 * From ebprec:exit, which the BPF program sends for each thread when it has left the CPU for the
 * last time.  Times and switches of a process are those of its threads that ended in the recording;
 * times of other threads are in no event.
 */
#ifndef EBPREC_ANALYZE_SCHED_EXITS_H
#define EBPREC_ANALYZE_SCHED_EXITS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

struct exited {
	uint64_t time_ns; /* its first thread's last moment */
	uint32_t comm;    /* of its first thread, in the names */
	uint32_t pid, ppid, cpu;
	int32_t prio, nice;
	uint32_t policy; /* SCHED_* */
	int32_t code;    /* as wait() has it */
	uint32_t threads;
	uint64_t runtime_ns, voluntary, involuntary;
};

struct exits {
	struct exited *list; /* by time */
	size_t count, capacity;
	uint64_t broken; /* events that could not be read */
};

/* Those that the filter asks for.  -ENOMEM, -EOVERFLOW; none is no error.  *out: exits_done(). */
int exits_load(const struct capture *c, struct string_table *names, const struct filter *filter,
	       struct exits *out);
void exits_done(struct exits *e);

/* "other", "fifo"; "?" for one that is not known. */
const char *exits_policy(uint32_t policy);

#endif
