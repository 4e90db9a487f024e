/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * journal - the lines of the system's journal from a time of a boot
 *
 * By libsystemd (sd-journal(3)), which is loaded at run time.  A line has the CLOCK_MONOTONIC of its arrival in the
 * journal, the clock of captures; those of other boots are known by their
 * difference between the wall clock and that one, which is the time of the boot.  Only the fields below are read: no command line, no field of audit.
 * Limits: a line that the journal took late stands where it was taken, not where it was sent; JOURNAL_TEXT_MAX bytes
 * of a text; a recording in which the wall clock was set loses the lines of one side of that.
 */
#ifndef EBPREC_ANALYZE_REWRITE_JOURNAL_H
#define EBPREC_ANALYZE_REWRITE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"

#define JOURNAL_TEXT_MAX   400
#define JOURNAL_NAME_MAX   128
#define JOURNAL_PRIORITIES 8

struct journal_line {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid;     /* of the sender; 0: the kernel, or not known */
	unsigned priority;
	char unit[JOURNAL_NAME_MAX]; /* or the identifier, of what belongs to no unit; "kernel" */
	char identifier[JOURNAL_NAME_MAX];
	char text[JOURNAL_TEXT_MAX];
};

struct journal_ask {
	const char *const *paths; /* files, or folders of files; none: the system's */
	size_t path_count;
	const char *const *units; /* a line is of one of these lists with commas; none: all */
	size_t unit_count;
	unsigned most_priority;    /* no line above it: 7 has all, 3 errors and worse */
	struct time_span span;     /* CLOCK_MONOTONIC */
	uint64_t mono_ns, wall_ns; /* one moment on both clocks, in that boot */
};

struct journal; /* opaque: the library */

/* Loads the library; a process that is confined may not.  -ENOENT: there is none; -ENOTSUP: a static program loads none; -ENOMEM.  *out: journal_free(). */
int journal_new(struct journal **out);
void journal_free(struct journal *j); /* NULL is fine */
/*
 * Calls fn for each line, in the journal's order; a result other than 0 ends it and is returned.  -ENOENT: no such
 * file; -EACCES: this user may not read it; or what the library returns.
 */
int journal_read(const struct journal *l, const struct journal_ask *ask,
		 int (*fn)(void *arg, const struct journal_line *line), void *arg);

/* "err"; NULL: there are no more. */
const char *journal_priority_name(unsigned priority);

#endif
