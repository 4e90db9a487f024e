/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_record - PERF_RECORD_SAMPLE from what a BPF program saw
 *
 * The layouts are those of the attrs in event_attrs.c: IDENTIFIER|IP|TID|TIME|CPU|PERIOD|CALLCHAIN, then
 * RAW, and CGROUP in attr[0].  Also the bytes of a sched:sched_switch.
 */
#ifndef EBPREC_RECORD_OUTPUT_SAMPLE_RECORD_H
#define EBPREC_RECORD_OUTPUT_SAMPLE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "format/unwind/stack_result.h"

#define SAMPLE_RECORD_RAW_MAX  2048
#define SAMPLE_RECORD_USER_MAX (CPU_SAMPLE_MAX + RUNTIME_SAMPLE_MAX) /* frames */
#define SAMPLE_RECORD_MAX_BYTES \
	(96 + (CPU_KERNEL_MAX + SAMPLE_RECORD_USER_MAX + 2) * 8 + SAMPLE_RECORD_RAW_MAX)

struct sample_record {
	uint64_t id;
	uint32_t pid, tid, cpu;
	uint64_t time_ns, period;
	const __u64 *kernel, *user; /* frames, leaf first; counts may be 0 */
	size_t kernel_count, user_count;
	const uint8_t *raw; /* tracepoints: 4 + raw_bytes is a multiple of 8; NULL: attr[0] */
	size_t raw_bytes;
	/* attr[0] only: */
	uint64_t cgroup_id;
	struct stack_result stack;
};

/* Writes the record, at most SAMPLE_RECORD_MAX_BYTES; returns its size, 0 when the counts are too large. */
size_t sample_record_encode(uint8_t *out, const struct sample_record *s);

/* Where the fields of sched:sched_switch lie on the running kernel. */
struct switch_layout {
	uint32_t id; /* of the tracepoint */
	/*
	 * Size of struct switch_fields at the end of the raw data: 4 + size_bytes is a multiple of
	 * 8.
	 */
	uint32_t size_bytes;
	uint32_t prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio;
	uint32_t prev_state_bytes; /* 8 or 4 */
	uint32_t common_pid;
};

/* From the kernel's format text.  -EBADMSG: a field is missing or has a size we do not know. */
int switch_layout_from_format(const char *format, struct switch_layout *out);
/* prev_state as the tracepoint has it: the kernel's __trace_sched_switch_state(). */
uint64_t switch_state(const struct switch_event *ev);
/* stack: of a switch with a weight.  out: layout->size_bytes bytes, at most SAMPLE_RECORD_RAW_MAX. */
void switch_encode(const struct switch_layout *layout, const struct switch_event *ev,
		   const struct stack_result *stack, uint8_t *out);

#endif
