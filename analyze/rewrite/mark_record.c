/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/mark_record.h"

#include <linux/perf_event.h>
#include <string.h>

#include "format/base/cursor.h"

/* perf_event_open(2): the fields in the order in which a sample has them. */
static const struct {
	uint64_t bit;
	enum { IS_ID, IS_TASK, IS_TIME, IS_OTHER } is;
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, IS_ID }, { PERF_SAMPLE_IP, IS_OTHER },
	{ PERF_SAMPLE_TID, IS_TASK },      { PERF_SAMPLE_TIME, IS_TIME },
	{ PERF_SAMPLE_ADDR, IS_OTHER },    { PERF_SAMPLE_ID, IS_ID },
	{ PERF_SAMPLE_STREAM_ID, IS_ID },  { PERF_SAMPLE_CPU, IS_OTHER },
	{ PERF_SAMPLE_PERIOD, IS_OTHER },  { PERF_SAMPLE_CALLCHAIN, IS_OTHER },
};

static uint64_t value_of(const struct capture_attr *attr, const struct mark_record *m, size_t field)
{
	switch (fields[field].is) {
	case IS_ID:
		return attr->id_count ? attr->ids[0] : 0;
	case IS_TASK:
		return (uint64_t)m->tid << 32 | m->pid;
	case IS_TIME:
		return m->time_ns;
	default:
		/* No address, CPU 0, and no frames; each mark counts once. */
		return fields[field].bit == PERF_SAMPLE_PERIOD;
	}
}

size_t mark_record_encode(const struct capture_attr *attr, const struct mark_record *m,
			  uint8_t out[MARK_RECORD_BYTES_MAX])
{
	uint64_t type = attr->attr.sample_type, left = type & ~(uint64_t)PERF_SAMPLE_RAW;
	size_t at = sizeof(struct perf_event_header), bytes;
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
					    .misc = PERF_RECORD_MISC_KERNEL };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!(type & fields[i].bit))
			continue;
		le64_store(out + at, value_of(attr, m, i));
		at += 8;
		left &= ~fields[i].bit;
	}
	if (left || !(type & PERF_SAMPLE_RAW))
		return 0;
	bytes = trace_data_mark_encode(out + at + 4, MARK_RECORD_BYTES_MAX - at - 4, m->tid,
				       &m->mark);
	if (!bytes)
		return 0;
	le32_store(out + at, (uint32_t)bytes);
	at += 4 + bytes;
	header.size = (uint16_t)at;
	memcpy(out, &header, sizeof(header));
	return at;
}
