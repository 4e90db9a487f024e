/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * script - a sample as the lines that `perf script` prints
 *
 * Parsers of that text are everywhere, so its form is the same to the byte: the line of the event,
 * a line a frame, an empty line.  The content is ours: names, and the addresses of frames
 * (docs/design/names.md lists perf's errors).
 */
#ifndef EBPREC_ANALYZE_REPORT_SCRIPT_SCRIPT_H
#define EBPREC_ANALYZE_REPORT_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/process/container_names.h"
#include "analyze/fold/sample_chain.h"
#include "analyze/process/process_model.h"
#include "analyze/sym/resolve.h"
#include "analyze/input/tracepoint/tracepoint_text.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_TRACE = 1 << 7,
	SCRIPT_IP = 1 << 8,
	SCRIPT_SYM = 1 << 9,
	SCRIPT_SYMOFF = 1 << 10,
	SCRIPT_DSO = 1 << 11,
	SCRIPT_CGROUP = 1 << 12,
	SCRIPT_CONTAINER = 1 << 13,
	SCRIPT_BUILD_ID = 1 << 14,
	SCRIPT_ORIGIN = 1 << 15, /* where a frame's name came from, or why it has none */
};

/*
 * The fields of a comma-separated list; of words with a '+' in front *more, which is besides what the
 * event has on its own.  -EINVAL: *bad is the word, *bad_bytes long.
 */
int script_parse_fields(const char *text, unsigned *out, unsigned *more, const char **bad,
			size_t *bad_bytes);
enum { SCRIPT_FIELDS = 16 };
/* The names of all fields. */
void script_field_names(const char *out[SCRIPT_FIELDS]);

struct script_memory; /* opaque: the cached lines */

/* The context of printing; all borrowed but the memory. */
struct script {
	const struct process_model *model;
	const struct string_table *names;
	struct resolver *resolver;
	struct tracepoint_text *trace; /* NULL: tracepoints have no text */
	struct sample_chain *chain;
	int event_width; /* of the longest event name */
	bool any_chain; /* an event of the file has stacks: where they are shown, comms are not padded */
	bool ns;        /* times with nine decimals */
	unsigned fields;                          /* 0: the event's own */
	unsigned more;                            /* and these */
	const struct container_names *containers; /* NULL: only their ids are shown */
	struct script_memory *memory;             /* owned: script_begin() */
};

/* When the rest is filled in.  -ENOMEM. */
int script_begin(struct script *s);
void script_end(struct script *s); /* also of one that was never begun */

/* -ENOMEM.  to: used by one thread, and faster when it knows that. */
int script_sample(const struct script *s, const struct perf_sample *sample,
		  const struct capture_attr *attr, FILE *to);

#endif
