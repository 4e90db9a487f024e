/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tasks - which threads and processes there were: when each began and ended, whose child it was, and what it
 * was called at each moment
 *
 * The one reader of FORK, COMM and EXIT records for all modules that ask about the lives of tasks.
 * (A process_model reads them for another question: which files a process has mapped at a moment.)
 * A tid that is used again is another life; of a merged capture, one that a later part finds is that of an
 * earlier part if both began at one time.  The life of a process is that of its first thread, and
 * lasts until its last thread ends.  A task is called as its parent was when it was forked, until a
 * COMM renames it.
 *
 * Rings of CPUs are emptied one after the other, so records wait until 65536 of them can be sorted by time.
 */
#ifndef EBPREC_ANALYZE_PROCESS_TASKS_H
#define EBPREC_ANALYZE_PROCESS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/cmdlines.h"
#include "format/base/hash_index.h"
#include "format/perf/perfrec.h"
#include "format/reader/capture.h"

#define TASKS_NONE UINT32_MAX
/* A process's start in /proc is in units of 10 ms: two starts that differ by less are one. */
#define TASKS_START_SLACK_NS 20000000U

struct tasks_life {
	uint64_t start_ns; /* of the fork; 0: not known */
	uint64_t end_ns;   /* 0: still there, or not known */
	uint64_t first_ns; /* of its first record */
	uint32_t pid, tid;
	uint32_t ppid;                   /* TASKS_NONE: no FORK record */
	uint32_t comm;                   /* its last name, in the strings; TASKS_NONE: not known */
	uint32_t first_name, name_count; /* in names[], by time */
	uint64_t found_by; /* a bit for each later part of a merged capture that found it there */
	bool was_found;    /* it began before such a part, and is not in those before */
	bool was_there;    /* before the recording; start_ns, if known, is of then */
	bool named_only;   /* no more than a COMM: it woke a recorded one, or ran next */
	bool execed;       /* it became another program */
	bool is_kernel; /* a kernel thread: kthreadd, or forked by one and never another program */
};

/* A life is called so from since_ns on. */
struct tasks_name {
	uint64_t since_ns;
	uint32_t comm; /* in the strings */
	uint32_t life; /* in lives[] */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct tasks {
	struct tasks_life *lives; /* by time */
	size_t count, capacity;
	struct tasks_name *names; /* of one life after the other */
	size_t name_count, name_capacity;
	uint32_t *by_tid;                /* numbers of lives, by tid and then by time */
	uint64_t *lost;                  /* by event of the capture: the sums of its LOST records */
	struct capture_meta_part *parts; /* of a merged capture */
	size_t part_count;
};

/* Reads the records of a capture.  -ENOMEM, -EOVERFLOW.  *out: tasks_done(). */
int tasks_load(const struct capture *c, struct string_table *strings, struct tasks *out);
void tasks_done(struct tasks *t);

/* The same for a caller that reads the side-band for itself and others.  strings: borrowed. */
struct tasks_reader; /* opaque */
int tasks_reader_new(const struct capture *c, struct string_table *strings,
		     struct tasks_reader **out);
void tasks_reader_free(struct tasks_reader *r); /* NULL is fine */
/* Any side-band record; others than FORK, COMM, EXIT and LOST are ignored.  -ENOMEM, -EOVERFLOW. */
int tasks_reader_add(struct tasks_reader *r, const struct perfrec_side *side);
/* -ENOMEM, -EOVERFLOW.  *out: tasks_done(). */
int tasks_reader_finish(struct tasks_reader *r, struct tasks *out);

/* The life that had the tid at that time: the last that had begun by then, else the first.  NULL: none. */
const struct tasks_life *tasks_at(const struct tasks *t, uint32_t tid, uint64_t time_ns);
/*
 * The task's name at that time, in the strings; its first name before that.  TASKS_NONE: not known.
 */
uint32_t tasks_comm_at(const struct tasks *t, const struct tasks_life *life, uint64_t time_ns);
/* The same of the thread that had the tid at that time; TASKS_NONE also if it was not of that process. */
uint32_t tasks_thread_comm(const struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Whether the part with that number (0: the only one) recorded the life and it was there when switches of it began. */
bool tasks_is_in_part(const struct tasks *t, const struct tasks_life *life, size_t part,
		      uint64_t begin_ns);
bool tasks_is_process(const struct tasks_life *life);
/* The name that the parent had when it forked that life, in the strings; TASKS_NONE: not known. */
uint32_t tasks_parent_comm(const struct tasks *t, const struct tasks_life *life);
/* The last process with that pid, in lives[]; TASKS_NONE: none. */
uint32_t tasks_process(const struct tasks *t, uint32_t pid);
/* The one that had the pid for most of these times, else the last one. */
uint32_t tasks_process_during(const struct tasks *t, uint32_t pid, uint64_t from_ns,
			      uint64_t to_ns);
/*
 * The command line of the process that had that pid at that time: its own or its parent's; NULL:
 * none.
 */
const struct cmdline_record *tasks_cmdline(const struct tasks *t, const struct cmdlines *cmdlines,
					   uint32_t pid, uint64_t time_ns);

#endif
