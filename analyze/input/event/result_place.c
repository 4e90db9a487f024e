/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/result_place.h"

#include <string.h>

#include "analyze/input/event/event_of.h"
#include "format/payload/switch_fields.h"

enum result_place result_place_of(const struct capture *c, size_t attr)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	const char *name = attrs[attr].name ? attrs[attr].name : "";

	if (capture_get_kind(c) != CAPTURE_EBX)
		return RESULT_NOWHERE;
	if (attrs[attr].attr.type != PERF_TYPE_TRACEPOINT)
		return attr ? RESULT_NOWHERE : RESULT_FIRST;
	if (!strcmp(name, "sched:sched_switch"))
		return RESULT_SWITCH;
	return event_is_table(&attrs[attr]) ? RESULT_LAST : RESULT_NOWHERE;
}

bool result_place_find(enum result_place where, size_t raw_bytes, size_t *off)
{
	*off = where != RESULT_FIRST && raw_bytes > STACK_RESULT_BYTES
		       ? raw_bytes - STACK_RESULT_BYTES
		       : 0;
	return where != RESULT_NOWHERE;
}

static bool read_switch(const struct perf_sample *s, struct stack_result *out)
{
	struct switch_fields fields;

	if (s->raw_bytes < SWITCH_FIELDS_BYTES ||
	    !switch_fields_decode(s->raw + s->raw_bytes - SWITCH_FIELDS_BYTES, SWITCH_FIELDS_BYTES,
				  &fields))
		return false;
	*out = fields.stack;
	return true;
}

bool result_place_read(enum result_place where, const struct perf_sample *s,
		       struct stack_result *out)
{
	size_t off;

	if (!s->raw || !result_place_find(where, s->raw_bytes, &off) ||
	    !(where == RESULT_SWITCH ? read_switch(s, out)
				     : stack_result_decode(s->raw + off, s->raw_bytes - off, out)))
		return false;
	/* In an event without it these bytes are 0, which means no user stack. */
	return where == RESULT_FIRST || out->how != STACK_RESULT_NONE;
}
