/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event_of - which event a record is of
 *
 * The one answer for all modules.  Records without an id (made up by perf, or without sample_id_all) are
 * of the first event.  The last answers are remembered: the ids of an event are as many as CPUs.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_EVENT_OF_H
#define EBPREC_ANALYZE_INPUT_EVENT_EVENT_OF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

#define EVENT_OF_KNOWN 64 /* ids of one event are in a row, those of others behind them */

struct event_of_id {
	uint64_t id; /* 0: none */
	const struct capture_attr *attr;
};

struct event_of {
	const struct capture *c; /* borrowed */
	const struct capture_attr *attrs;
	size_t count;
	uint64_t last_id;
	const struct capture_attr *last;
	struct event_of_id known[EVENT_OF_KNOWN];
};

static inline struct event_of event_of_capture(const struct capture *c)
{
	struct event_of f = { .c = c };

	f.attrs = capture_attrs(c, &f.count);
	return f;
}

/* True for nearly every sample of ours: its first field is the id. */
static inline bool event_of_fits(const struct event_of *f, const struct perf_event_header *header,
				 uint64_t id)
{
	return header->type == PERF_RECORD_SAMPLE && header->size >= sizeof(*header) + sizeof(id) &&
	       f->attrs[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER && le64_load(header + 1) == id;
}

/* The event with that id, as event_of_find() has it. */
const struct capture_attr *event_of_id(struct event_of *f, uint64_t id);

/* NULL: no attr has the record's id. */
static inline const struct capture_attr *event_of_find(struct event_of *f,
						       const struct perf_event_header *header)
{
	uint64_t id;

	if (f->count == 1)
		return &f->attrs[0];
	if (!f->count)
		return NULL;
	if (f->last && event_of_fits(f, header, f->last_id))
		return f->last;
	id = perfrec_identifier(header, header->size, &f->attrs[0].attr);
	if (f->last && id == f->last_id)
		return f->last;
	f->last = event_of_id(f, id);
	f->last_id = id;
	return f->last;
}

/* Whether its samples are rows of a table (FORMAT.md 7.1). */
bool event_is_table(const struct capture_attr *attr);

/* The usual name of the event, e.g. "cpu-clock"; never NULL. */
const char *event_name(const struct capture_attr *attr);

#endif
