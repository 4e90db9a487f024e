/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/sample_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/payload/switch_fields.h"
#include "format/perf/trace_data.h"

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
	le32_store(p, v);
	return p + sizeof(v);
}

static uint8_t *put_u64(uint8_t *p, uint64_t v)
{
	le64_store(p, v);
	return p + sizeof(v);
}

static uint8_t *put_chain(uint8_t *p, const struct sample_record *s)
{
	size_t i;

	p = put_u64(p, s->kernel_count + !!s->kernel_count + s->user_count + !!s->user_count);
	if (s->kernel_count)
		p = put_u64(p, PERF_CONTEXT_KERNEL);
	for (i = 0; i < s->kernel_count; i++)
		p = put_u64(p, s->kernel[i]);
	if (s->user_count)
		p = put_u64(p, PERF_CONTEXT_USER);
	for (i = 0; i < s->user_count; i++)
		p = put_u64(p, s->user[i]);
	return p;
}

size_t sample_record_encode(uint8_t *out, const struct sample_record *s)
{
	uint8_t *p = out + sizeof(struct perf_event_header);
	uint64_t ip = 0;
	uint16_t misc = PERF_RECORD_MISC_KERNEL;

	if (s->kernel_count > CPU_KERNEL_MAX || s->user_count > SAMPLE_RECORD_USER_MAX ||
	    s->raw_bytes > SAMPLE_RECORD_RAW_MAX)
		return 0;
	if (s->kernel_count) {
		ip = s->kernel[0];
	} else if (s->user_count) {
		ip = s->user[0];
		misc = PERF_RECORD_MISC_USER;
	}
	p = put_u64(p, s->id);
	p = put_u64(p, ip);
	p = put_u32(p, s->pid);
	p = put_u32(p, s->tid);
	p = put_u64(p, s->time_ns);
	p = put_u32(p, s->cpu);
	p = put_u32(p, 0);
	p = put_u64(p, s->period);
	p = put_chain(p, s);
	if (s->raw) {
		p = put_u32(p, (uint32_t)s->raw_bytes);
		memcpy(p, s->raw, s->raw_bytes);
		p += s->raw_bytes;
	} else {
		p = put_u32(p, STACK_RESULT_BYTES);
		stack_result_encode(&s->stack, p);
		p += STACK_RESULT_BYTES;
		p = put_u64(p, s->cgroup_id);
	}
	le32_store(out, PERF_RECORD_SAMPLE);
	le16_store(out + 4, misc);
	le16_store(out + 6, (uint16_t)(p - out));
	return (size_t)(p - out);
}

int switch_layout_from_format(const char *format, struct switch_layout *out)
{
	struct switch_layout l = { 0 };
	struct {
		const char *name;
		uint32_t *off;
		uint32_t size_bytes; /* 0: see below */
	} fields[] = {
		{ "common_pid", &l.common_pid, 4 }, { "prev_comm", &l.prev_comm, 16 },
		{ "prev_pid", &l.prev_pid, 4 },     { "prev_prio", &l.prev_prio, 4 },
		{ "prev_state", &l.prev_state, 0 }, { "next_comm", &l.next_comm, 16 },
		{ "next_pid", &l.next_pid, 4 },     { "next_prio", &l.next_prio, 4 },
	};
	struct trace_data_field field;
	uint32_t end = 0;
	size_t i;
	int err;

	err = trace_data_format_id(format, &l.id);
	if (err)
		return err;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		err = trace_data_format_field(format, fields[i].name, &field);
		if (err)
			return -EBADMSG;
		if (fields[i].size_bytes ? field.size_bytes != fields[i].size_bytes
					 : field.size_bytes != 4 && field.size_bytes != 8)
			return -EBADMSG;
		if (field.off_bytes > SAMPLE_RECORD_RAW_MAX - 64)
			return -EBADMSG;
		if (!fields[i].size_bytes)
			l.prev_state_bytes = field.size_bytes;
		*fields[i].off = field.off_bytes;
		if (field.off_bytes + field.size_bytes > end)
			end = field.off_bytes + field.size_bytes;
	}
	l.size_bytes = ((end + SWITCH_FIELDS_BYTES + 4 + 7) & ~7u) - 4;
	*out = l;
	return 0;
}

/* include/linux/sched.h, 6.1 to 6.18 */
enum {
	STATE_UNINTERRUPTIBLE = 0x2,
	STATE_REPORT = 0x7f, /* the states a task is shown in */
	STATE_REPORT_IDLE = 0x80,
	STATE_REPORT_MAX = 0x100, /* "R+": preempted */
	STATE_IDLE = 0x402,       /* UNINTERRUPTIBLE | NOLOAD */
	STATE_RTLOCK_WAIT = 0x1000,
	STATE_FROZEN = 0x8000,
};

uint64_t switch_state(const struct switch_event *ev)
{
	uint32_t state = (ev->prev_state | ev->prev_exit_state) & STATE_REPORT;

	if (ev->preempt)
		return STATE_REPORT_MAX;
	if ((ev->prev_state & STATE_IDLE) == STATE_IDLE)
		state = STATE_REPORT_IDLE;
	if (ev->prev_state & (STATE_RTLOCK_WAIT | STATE_FROZEN))
		state = STATE_UNINTERRUPTIBLE;
	return state ? 1ULL << (31 - __builtin_clz(state)) : 0;
}

void switch_encode(const struct switch_layout *layout, const struct switch_event *ev,
		   const struct stack_result *stack, uint8_t *out)
{
	uint64_t state = switch_state(ev);
	struct switch_fields info = {
		.policy = (uint8_t)(ev->policy + 1),
		.syscall = ev->syscall,
		.weight = ev->weight,
	};

	if (ev->weight)
		info.stack = *stack;
	memset(out, 0, layout->size_bytes);
	le16_store(out, (uint16_t)layout->id); /* common_type */
	le32_store(out + layout->common_pid, ev->prev_tid);
	memcpy(out + layout->prev_comm, ev->prev_comm, sizeof(ev->prev_comm));
	le32_store(out + layout->prev_pid, ev->prev_tid);
	le32_store(out + layout->prev_prio, (uint32_t)(int32_t)ev->prev_prio);
	if (layout->prev_state_bytes == 8)
		le64_store(out + layout->prev_state, state);
	else
		le32_store(out + layout->prev_state, (uint32_t)state);
	memcpy(out + layout->next_comm, ev->next_comm, sizeof(ev->next_comm));
	le32_store(out + layout->next_pid, ev->next_tid);
	le32_store(out + layout->next_prio, (uint32_t)(int32_t)ev->next_prio);
	switch_fields_encode(&info, out + layout->size_bytes - SWITCH_FIELDS_BYTES);
}
