/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_of.h"

#include <linux/perf_event.h>

#include "format/payload/metric_format.h"

const struct capture_attr *event_of_id(struct event_of *f, uint64_t id)
{
	struct event_of_id *known = &f->known[id % EVENT_OF_KNOWN];

	if (f->count < 2)
		return f->count ? &f->attrs[0] : NULL;
	if (!id)
		return &f->attrs[0];
	if (known->id != id)
		*known = (struct event_of_id){ id, capture_attr_by_id(f->c, id) };
	return known->attr;
}

bool event_is_table(const struct capture_attr *attr)
{
	return attr->attr.type == PERF_TYPE_TRACEPOINT && attr->attr.config >= METRIC_FIRST_ID &&
	       attr->attr.config < METRIC_FIRST_ID + METRIC_TABLES_MAX;
}

const char *event_name(const struct capture_attr *attr)
{
	static const char *const hardware[] = { "cycles",       "instructions", "cache-references",
						"cache-misses", "branches",     "branch-misses",
						"bus-cycles" };
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
	};
	uint64_t config = attr->attr.config;

	if (attr->name && *attr->name)
		return attr->name;
	if (attr->attr.type == PERF_TYPE_HARDWARE &&
	    config < sizeof(hardware) / sizeof(hardware[0]))
		return hardware[config];
	if (attr->attr.type == PERF_TYPE_SOFTWARE &&
	    config < sizeof(software) / sizeof(software[0]))
		return software[config];
	return attr->attr.type == PERF_TYPE_TRACEPOINT ? "tracepoint" : "event";
}
