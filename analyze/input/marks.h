/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * marks - the marks of a capture in the order of time, and the spans they make
 *
 * A span begins and ends with the same id in the same process (in any of its threads), or, without an
 * id, with the same group and name: the last one that is open ends first.  One without an end lasts to
 * the end of the capture.  An end without a beginning, which was before the recording, makes no span.
 * A slice has the spans that reach into it from their beginning to their end, too.
 */
#ifndef EBPREC_ANALYZE_INPUT_MARKS_H
#define EBPREC_ANALYZE_INPUT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/base/string_table.h"
#include "analyze/input/event/time_span.h"
#include "format/base/buf.h"
#include "format/reader/capture.h"

#define MARKS_NONE UINT32_MAX

struct mark {
	uint64_t time_ns, duration_ns, id;
	uint32_t pid, tid, cpu;
	uint32_t kind;              /* enum trace_data_mark_kind */
	uint32_t group, name, text; /* in the names; an end with an id has none but a text */
	uint32_t span;              /* that it begins, ends or is; MARKS_NONE */
	uint32_t place; /* among the marks as they are read; the order of those of one time */
};

struct markspan {
	uint64_t start_ns, end_ns;
	uint32_t begin;       /* the mark; the same as end when one record has the complete span */
	uint32_t end;         /* MARKS_NONE: it has none */
	uint32_t group, name; /* in the names */
	uint32_t depth;       /* how many spans of its process contain it */
	uint32_t number;      /* by start, from 1 on, of those of the same group and name */
};

/* Embedded by the owner; read freely. */
struct marks {
	struct mark *marks; /* by time; equal times as they are in the file */
	size_t count, capacity;
	struct markspan *spans; /* by start; of equal starts the longer one first */
	size_t span_count, span_capacity;
	uint64_t broken; /* marks that could not be read */
	uint64_t ends_without_begin;
};

/* -ENOMEM; a capture without marks gives none.  *out: marks_done(). */
int marks_load(const struct capture *c, struct string_table *names, struct marks *out);
void marks_done(struct marks *m);

/*
 * Adds the records of marks outside of a part of the time whose spans reach into it (slice_border.h): where they
 * begin, end or are.  -ENOMEM.
 */
int marks_add_border(const struct capture *c, const struct time_span *part, struct buf *to);

#endif
