/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* event_of - which attr a record belongs to; remembers the last answer */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_EVENT_OF_H
#define EBPREC_ANALYZE_INPUT_EVENT_EVENT_OF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

struct event_of {
	const struct capture *c;
	const struct capture_attr *attrs;
	size_t count;
	uint64_t last_id;
	const struct capture_attr *last;
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
	/* Records without an id (made up by perf, or without sample_id_all) are of no event. */
	f->last = id ? capture_attr_by_id(f->c, id) : &f->attrs[0];
	f->last_id = id;
	return f->last;
}

/* Whether its samples are rows of a table (FORMAT.md 7.1). */
bool event_is_table(const struct capture_attr *attr);

/* The usual name of the event, e.g. "cpu-clock"; never NULL. */
const char *event_name(const struct capture_attr *attr);

#endif
