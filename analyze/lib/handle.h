/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* handle - an open capture as libebprec knows it, and why its last call failed */
#ifndef EBPREC_ANALYZE_LIB_HANDLE_H
#define EBPREC_ANALYZE_LIB_HANDLE_H

#include "analyze/input/cmdlines.h"
#include "analyze/input/marks.h"
#include "analyze/lib/ebprec.h"
#include "analyze/report/report.h"
#include "format/reader/capture.h"

struct ebprec {
	struct capture *capture; /* NULL: it could not be opened */
	char *path;
	struct report facts; /* has_facts: its side-band; no samples are counted of it */
	bool has_facts;
	size_t chosen; /* with has_facts: the event that is counted when none is named; SIZE_MAX: there are no events */
	uint32_t *processes; /* lives of first threads, in facts.tasks */
	size_t process_count;
	struct cmdlines cmdlines;
	char **args; /* by process, as they were asked for; NULL: not yet */
	struct marks marks;
	uint32_t *mark_order; /* of marks that are listed, by start; NULL: not read yet */
	size_t mark_count;
	char error[256];
};

/* Forgets the error of the call before.  Returns -EBADF, with an error, where nothing is open. */
int handle_begin(struct ebprec *e);
/* The same, and reads the side-band, once. */
int handle_begin_with_facts(struct ebprec *e);
/* Keeps the words of an error; returns code. */
int handle_fail(struct ebprec *e, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The error of a structure that sized_take() or sized_give() refused; returns code. */
int handle_fail_structure(struct ebprec *e, int code, const char *name);

#endif
