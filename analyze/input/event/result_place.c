/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/result_place.h"

#include <string.h>

#include "analyze/input/event/event_of.h"
#include "format/unwind/stack_result.h"

enum result_place result_place_of(const struct capture *c, size_t attr)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	const char *name = attrs[attr].name ? attrs[attr].name : "";

	if (capture_get_kind(c) != CAPTURE_EBX)
		return RESULT_NOWHERE;
	if (attrs[attr].attr.type != PERF_TYPE_TRACEPOINT)
		return attr ? RESULT_NOWHERE : RESULT_FIRST;
	return event_is_table(&attrs[attr]) || !strcmp(name, "sched:sched_switch") ? RESULT_LAST
										   : RESULT_NOWHERE;
}

bool result_place_find(enum result_place where, size_t raw_bytes, size_t *off)
{
	*off = where == RESULT_LAST && raw_bytes > STACK_RESULT_BYTES
		       ? raw_bytes - STACK_RESULT_BYTES
		       : 0;
	return where != RESULT_NOWHERE;
}
