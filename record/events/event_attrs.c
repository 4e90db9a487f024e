/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/event_attrs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/base/cursor.h"
#include "format/perf/header_string.h"
#include "record/events/side_record.h"

#define TAIL_TYPE   (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define SAMPLE_TYPE (TAIL_TYPE | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

void event_attrs_done(struct event_attrs *a)
{
	size_t i;

	for (i = 0; i < ATTR_END; i++) {
		free(a->entry[i].ids);
		free(a->entry[i].format);
	}
	free(a->late);
	*a = (struct event_attrs){ 0 };
}

static void common(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

void event_attrs_side_kernel(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = TAIL_TYPE,
		.mmap = 1,
		.mmap2 = 1, /* without build_id: see mapped_files.h */
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.namespaces = 1,
		.cgroup = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.watermark = 1,
	};
	common(attr);
}

void event_attrs_sample_kernel(struct perf_event_attr *attr, bool cycles, unsigned freq_hz)
{
	if (!cycles && freq_hz > EVENT_ATTRS_CPU_CLOCK_MAX_HZ)
		freq_hz = EVENT_ATTRS_CPU_CLOCK_MAX_HZ;
	*attr = (struct perf_event_attr){
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = TAIL_TYPE | PERF_SAMPLE_PERIOD,
		.freq = 1,
		.sample_freq = freq_hz,
		.disabled = 1,
		.exclude_idle = 1,
		.exclude_guest = 1,
	};
	common(attr);
}

void event_attrs_trace_kernel(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = TAIL_TYPE | PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	common(attr);
}

static struct event_attrs_entry *set(struct event_attrs *a, enum event_attrs_event event,
				     const char *name)
{
	struct event_attrs_entry *e = &a->entry[event];

	e->present = true;
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

void event_attrs_set_sample(struct event_attrs *a, const struct perf_event_attr *kernel)
{
	bool cycles = kernel->type == PERF_TYPE_HARDWARE;
	struct event_attrs_entry *e = set(a, ATTR_SAMPLE, cycles ? "cycles" : "cpu-clock");

	if (kernel->exclude_kernel)
		strcat(e->name, ":u"); /* in perf's words */
	e->attr = *kernel;
	/* Fields that samples of ebprec do not have. */
	e->attr.sample_regs_user = 0;
	e->attr.sample_stack_user = 0;
	e->attr.exclude_callchain_user = 0;
	e->attr.sample_type = SAMPLE_TYPE | PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP;
}

void event_attrs_set_side(struct event_attrs *a, const struct perf_event_attr *kernel)
{
	struct event_attrs_entry *e = set(a, ATTR_SIDE, "dummy:HG");

	e->attr = *kernel;
	e->attr.sample_type = SAMPLE_TYPE;
	e->attr.read_format = 0;
	e->attr.build_id = 1; /* the records in the file have them: mapped_files.h */
}

void event_attrs_set_tracepoint(struct event_attrs *a, enum event_attrs_event event,
				const char *name, uint32_t tracepoint_id)
{
	struct event_attrs_entry *e = set(a, event, name);

	e->attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint_id,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE | PERF_SAMPLE_RAW,
	};
	common(&e->attr);
}

void event_attrs_set_format(struct event_attrs *a, enum event_attrs_event event, char *format)
{
	free(a->entry[event].format);
	a->entry[event].format = format;
}

void event_attrs_unset(struct event_attrs *a, enum event_attrs_event event)
{
	free(a->entry[event].format);
	free(a->entry[event].ids);
	a->entry[event] = (struct event_attrs_entry){ 0 };
}

int event_attrs_add_id(struct event_attrs *a, enum event_attrs_event event, uint64_t id)
{
	struct event_attrs_entry *e = &a->entry[event];
	uint64_t *ids = realloc(e->ids, (e->id_count + 1) * sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	e->ids = ids;
	ids[e->id_count++] = id;
	return 0;
}

int event_attrs_add_late_id(struct event_attrs *a, enum event_attrs_event event, uint64_t id)
{
	struct event_attrs_late_id *late = realloc(a->late, (a->late_count + 1) * sizeof(*late));

	if (!late)
		return -ENOMEM;
	a->late = late;
	late[a->late_count++] = (struct event_attrs_late_id){ id, event };
	return 0;
}

static void settle(const struct event_attrs *a, uint8_t *at)
{
	uint64_t id = le64_load(at);

	for (size_t i = 0; i < a->late_count; i++) {
		if (a->late[i].id == id) {
			le64_store(at, event_attrs_id(a, a->late[i].event));
			return;
		}
	}
}

void event_attrs_settle_ids(const struct event_attrs *a, struct perf_event_header *record)
{
	uint8_t *body = (uint8_t *)(record + 1);

	if (!a->late_count || record->size < sizeof(*record) + SIDE_RECORD_TAIL_BYTES)
		return;
	/* id, lost; time, id, stream_id */
	if (record->type == PERF_RECORD_LOST)
		settle(a, body);
	if (record->type == PERF_RECORD_THROTTLE || record->type == PERF_RECORD_UNTHROTTLE) {
		settle(a, body + 8);
		settle(a, body + 16);
	}
	settle(a, (uint8_t *)record + record->size - 8);
}

int event_attrs_number(struct event_attrs *a)
{
	uint64_t next = 0;
	size_t i, k;
	int err = 0;

	for (i = 0; i < ATTR_END; i++) {
		for (k = 0; k < a->entry[i].id_count; k++) {
			if (a->entry[i].ids[k] > next)
				next = a->entry[i].ids[k];
		}
	}
	for (i = 0; i < ATTR_END && !err; i++) {
		if (a->entry[i].present && !a->entry[i].id_count)
			err = event_attrs_add_id(a, (enum event_attrs_event)i, ++next);
	}
	return err;
}

uint64_t event_attrs_id(const struct event_attrs *a, enum event_attrs_event event)
{
	return a->entry[event].id_count ? a->entry[event].ids[0] : 0;
}

size_t event_attrs_for_writer(const struct event_attrs *a, struct writer_attr out[ATTR_END])
{
	size_t i, count = 0;

	for (i = 0; i < ATTR_END; i++) {
		if (!a->entry[i].present)
			continue;
		out[count++] = (struct writer_attr){
			.attr = a->entry[i].attr,
			.ids = a->entry[i].ids,
			.id_count = a->entry[i].id_count,
		};
	}
	return count;
}

void event_attrs_event_desc(const struct event_attrs *a, struct outbuf *out)
{
	const struct event_attrs_entry *e;
	uint32_t count = 0;
	size_t i, k;

	for (i = 0; i < ATTR_END; i++)
		count += a->entry[i].present;
	outbuf_u32(out, count);
	outbuf_u32(out, sizeof(struct perf_event_attr));
	for (i = 0; i < ATTR_END; i++) {
		e = &a->entry[i];
		if (!e->present)
			continue;
		outbuf_add(out, &e->attr, sizeof(e->attr));
		outbuf_u32(out, (uint32_t)e->id_count);
		header_string(out, e->name);
		for (k = 0; k < e->id_count; k++)
			outbuf_u64(out, e->ids[k]);
	}
}
