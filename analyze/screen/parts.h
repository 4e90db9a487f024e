/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * parts - follows a recording that is still going on, in files that follow each other (`record --rotate`)
 *
 * Each second that is complete in the file is counted as `ebprec report --time` counts it, and added to a history; waits
 * only when they are asked for, from the same files, which are there for as long as the history goes back.  What has been read of symbols stays while the process has memory for it.
 */
#ifndef EBPREC_ANALYZE_SCREEN_PARTS_H
#define EBPREC_ANALYZE_SCREEN_PARTS_H

#include <sys/types.h>

#include "analyze/names/name_context.h"
#include "analyze/screen/history.h"

/* Embedded by the owner, who sets the first six; the rest is zero. */
struct parts {
	const char *path; /* of the first file; the others are PATH.1, PATH.2, ...; borrowed */
	struct name_roots roots; /* what it points to is borrowed */
	struct filter filter;    /* what is counted, but for its span; the lists are borrowed */
	bool demangle;
	/* The event of an instrument that is counted, too; -ENOENT, -ENODATA: the capture has none.  NULL: none is. */
	int (*find_event)(void *arg, const struct capture *c, size_t *attr);
	void *find_event_arg;
	/* With more memory in use than this, symbols are dropped; all of them once in ten seconds, or with half as much again.  0: never */
	size_t limit_bytes;
	unsigned number;        /* of the file that is read */
	uint64_t next_second;   /* that is not in the history yet; 0: none was */
	uint64_t forget_second; /* before that one, half as much again is allowed */
	uint64_t marks_ns;      /* marks before that time are in the history */
	struct name_context names;
	off_t seen_bytes; /* of the file at the last call */
	bool no_switches; /* only samples are counted: the recording has none, or the owner wants none */
	uint64_t host_ns,
		sample_ns; /* one moment by the wall clock and by the capture's; 0: not known */
};

/*
 * Adds the seconds that have become complete since the last call, and closes them; at most most of them.  Returns how
 * many, or -EAGAIN: there is nothing yet; -ENOENT: the file is gone; -EBADMSG, -ENOMEM, or the errno of the read.
 */
int parts_poll(struct parts *p, struct history *h, unsigned most);
/*
 * Counts waits or wakers in closed seconds [first, first + count) of the history that do not have them, by position, the last ones
 * first; at most most of them.  Those of a file that is gone stay empty.  Returns how many, or a negative errno.
 */
int parts_fill(struct parts *p, struct history *h, size_t first, size_t count,
	       enum history_measure measure, unsigned most);
void parts_done(struct parts *p);

#endif
