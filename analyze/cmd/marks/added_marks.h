/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* added_marks - a capture with marks that were not recorded: lines of a journal, messages of a bus */
#ifndef EBPREC_ANALYZE_CMD_MARKS_ADDED_MARKS_H
#define EBPREC_ANALYZE_CMD_MARKS_ADDED_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cmd/common/usage.h"
#include "analyze/input/event/time_span.h"
#include "analyze/rewrite/mark_record.h"
#include "format/reader/capture.h"
#include "format/writer/writer.h"

#define ADDED_MARKS_MAX 100000 /* that a capture gets */

/* The options of both commands: each embeds the struct, and puts ADDED_MARKS_OPTIONS(offset of it) among its own. */
struct added_marks_options {
	const char *input, *output; /* output NULL: the capture is replaced */
	bool quiet;
};

#define ADDED_MARKS_OPTIONS(at)                                               \
	OPTION(OPT_STRING, 'i', "input", "FILE",                              \
	       (at) + offsetof(struct added_marks_options, input),            \
	       "the capture (default: ebprec.data)"),                         \
		OPTION(OPT_STRING, 'o', "output", "FILE",                     \
		       (at) + offsetof(struct added_marks_options, output),   \
		       "the new capture (default: the old one is replaced)"), \
		OPTION(OPT_FLAG, 'q', "quiet", NULL,                          \
		       (at) + offsetof(struct added_marks_options, quiet),    \
		       "print only errors, and what is missing")

struct added_marks {
	const struct added_marks_options *options; /* borrowed */
	const char *group,
		*what;     /* a capture gets a group of marks once; what: "lines of the journal" */
	const char *fewer; /* options that leave some out, for a message */

	struct capture *capture;
	const struct capture_attr *attr; /* the event of marks */
	struct time_span span;           /* of the recording, CLOCK_MONOTONIC */
	uint64_t mono_ns, wall_ns;       /* one moment on both clocks */
	struct writer *w;                /* while added_marks_write() calls fill */
	uint64_t count, left_out_count;
	int write_err; /* of the new capture */
};

/* Takes the capture from words, of the command line; an exit status, with a message. */
int added_marks_input(struct added_marks_options *o, const struct usage *usage, char **words);
/* Why libsystemd.so.0, which both need, was not loaded. */
const char *added_marks_library_why(int err);
/* Opens the capture; an exit status, with a message.  added_marks_close() in any case. */
int added_marks_open(struct added_marks *a);
void added_marks_close(struct added_marks *a);
/* fill calls it for each mark; the errors of the writer. */
int added_marks_put(struct added_marks *a, const struct mark_record *m);
/*
 * Writes the new capture; fill: puts the marks, 0 or a negative errno.  An exit status, with a message, but where fill failed:
 * then *fill_err, with none.
 */
int added_marks_write(struct added_marks *a, int (*fill)(void *arg), void *arg, int *fill_err);

#endif
