/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_tracing - any bytes as tracing data, as the format of a tracepoint, and as its text */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/tracepoint/tracepoint_format.h"
#include "format/payload/metric_format.h"
#include "format/perf/trace_data.h"
#include "record/events/tracepoint/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void read_format(const char *text)
{
	static const char *const names[] = { "prev_comm", "prev_pid", "next_pid", NULL };
	struct metric_format metric;
	struct trace_data_field field;
	struct tracepoint_layout layout;
	uint32_t id;

	(void)trace_data_format_id(text, &id);
	(void)trace_data_format_field(text, "prev_comm", &field);
	(void)trace_data_format_field(text, "", &field);
	(void)tracepoint_layout_from_format(text, names, &layout);
	if (!metric_format_parse(text, &metric))
		(void)metric_format_raw_bytes(&metric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1), *found = NULL;
	struct trace_data_mark mark;
	struct trace_data_waker waker;

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	if (!tracepoint_format_find(data, size_bytes, "sched", "sched_switch", &found))
		read_format(found);
	free(found);
	read_format(text);
	free(text);
	(void)trace_data_waker_decode(data, size_bytes, &waker);
	/* The texts of a mark lie in the record, and end there. */
	if (!trace_data_mark_decode(data, size_bytes, &mark) &&
	    strlen(mark.group) + strlen(mark.name) + strlen(mark.message) > 3 * size_bytes)
		abort();
	return 0;
}
