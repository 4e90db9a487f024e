/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sched_script - a record script's (record_script.h) switches, wakeups, migrations, forks and exits, in any order */
#ifndef EBPREC_TESTS_FUZZ_SCHED_SCRIPT_H
#define EBPREC_TESTS_FUZZ_SCHED_SCRIPT_H

#include "analyze/sched/event.h"
#include "format/payload/switch_fields.h"
#include "format/perf/trace_data.h"
#include "tests/fuzz/record_script.h"

enum { SCHED_SCRIPT_EVENTS = SCHED_EVENT_KINDS, SCHED_SCRIPT_ID = 300 };

#define SCHED_SCRIPT_FIELD(decl, off, size) \
	"\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"
#define SCHED_SCRIPT_COMMON                                            \
	SCHED_SCRIPT_FIELD("unsigned short common_type", 0, 2)         \
	SCHED_SCRIPT_FIELD("unsigned char common_flags", 2, 1)         \
	SCHED_SCRIPT_FIELD("unsigned char common_preempt_count", 3, 1) \
	SCHED_SCRIPT_FIELD("int common_pid", 4, 4)
#define SCHED_SCRIPT_TASK                          \
	SCHED_SCRIPT_FIELD("char comm[16]", 8, 16) \
	SCHED_SCRIPT_FIELD("pid_t pid", 24, 4) SCHED_SCRIPT_FIELD("int prio", 28, 4)

/* By enum sched_event_kind; the ids are those of SCHED_SCRIPT_ID on. */
static const struct trace_data_event sched_script_formats[SCHED_SCRIPT_EVENTS] = {
	{ "sched",
	  "name: sched_switch\nID: 300\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_FIELD(
		  "char prev_comm[16]", 8, 16) SCHED_SCRIPT_FIELD("pid_t prev_pid", 24, 4)
		  SCHED_SCRIPT_FIELD("int prev_prio", 28, 4) SCHED_SCRIPT_FIELD(
			  "long prev_state", 32, 8) SCHED_SCRIPT_FIELD("char next_comm[16]", 40, 16)
			  SCHED_SCRIPT_FIELD("pid_t next_pid", 56, 4) SCHED_SCRIPT_FIELD(
				  "int next_prio", 60, 4) "\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_wakeup\nID: 301\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_TASK
		   "\nprint fmt: \"\"\n" },
	{ "sched",
	  "name: sched_wakeup_new\nID: 302\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_TASK
	  "\nprint fmt: \"\"\n" },
	{ "sched",
	  "name: sched_migrate_task\nID: 303\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_TASK
	  "\nprint fmt: \"\"\n" },
	{ "sched",
	  "name: sched_process_fork\nID: 304\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_FIELD(
		  "char child_comm[16]", 8, 16)
		  SCHED_SCRIPT_FIELD("pid_t child_pid", 24, 4) "\nprint fmt: \"\"\n" },
	{ "sched",
	  "name: sched_process_exit\nID: 305\nformat:\n" SCHED_SCRIPT_COMMON SCHED_SCRIPT_TASK
	  "\nprint fmt: \"\"\n" },
};

#define SCHED_SCRIPT_RAW (64 + SWITCH_FIELDS_BYTES)

/* ---- events ---- */

static inline void sched_script_comm(struct record_script *t, uint8_t *out)
{
	uint8_t b = cursor_u8(&t->in);

	memset(out, 0, 16);
	if (b >= 240)
		memset(out, 'x', 16); /* without an end */
	else
		snprintf((char *)out, 16, "c%u", b % 8);
}

/* The fields of an event; SCHED_EVENT_SWITCH is the one that has more than a thread. */
static inline void sched_script_fields(struct record_script *t, uint8_t *raw, unsigned kind)
{
	static const uint64_t states[] = { 0,    1,     2,     4,     8,          0x10,  0x20, 0x40,
					   0x80, 0x100, 0x402, 0x101, 1ull << 40, 0x110, 1,    0 };
	uint8_t how = cursor_u8(&t->in);
	const struct switch_fields info = { .policy = how >> 4 & 7,
					    .syscall = how & 16 ? 5 : 0,
					    .weight = how & 32 ? 1u + how : 0 };

	memset(raw, 0, SCHED_SCRIPT_RAW);
	le16_store(raw, (uint16_t)(SCHED_SCRIPT_ID + kind));
	sched_script_comm(t, raw + 8);
	le32_store(raw + 24, script_id(t));
	le32_store(raw + 28, how);
	if (kind != SCHED_EVENT_SWITCH)
		return;
	le64_store(raw + 32, states[how & 15]);
	sched_script_comm(t, raw + 40);
	le32_store(raw + 56, script_id(t));
	le32_store(raw + 60, how);
	if (how & 64)
		switch_fields_encode(&info, raw + SCHED_SCRIPT_RAW - SWITCH_FIELDS_BYTES);
}

static inline void sched_script_event(struct record_script *t, unsigned kind)
{
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = script_time(t);
	size_t chain = how & 4, size = 64 + 8 * chain;
	uint32_t tid = script_id(t), cpu = how & 3;
	struct script_record *r;

	le64_store(t->rec + 8, SCHED_SCRIPT_ID + kind);
	le64_store(t->rec + 16, 0);
	le32_store(t->rec + 24, how & 8 ? script_id(t) : tid);
	le32_store(t->rec + 28, tid);
	le64_store(t->rec + 32, time_ns);
	le64_store(t->rec + 40, how >= 252 ? 0xfffeu + (how & 3) : cpu);
	le64_store(t->rec + 48, 1);
	le64_store(t->rec + 56, chain);
	for (size_t i = 0; i < chain; i++)
		le64_store(t->rec + 64 + 8 * i, script_address(t));
	if (chain && t->later && how & 16) {
		le64_store(t->rec + 64 + 8 * 2, SCRIPT_DEFERRED);
		le64_store(t->rec + 64 + 8 * 3, script_cookie(t));
	}
	le32_store(t->rec + size, SCHED_SCRIPT_RAW);
	sched_script_fields(t, t->rec + size + 4, kind);
	if (how >= 128 && how < 132) /* one that does not fit */
		le32_store(t->rec + size, 40);
	size += 4 + SCHED_SCRIPT_RAW;
	script_add(t, EBX_STREAM_SCHED, rec_finish(t->rec, size, PERF_RECORD_SAMPLE, 0), time_ns,
		   (int)cpu);
	r = &t->list[t->count - 1];
	if (t->liar && how >= 132 && how < 136)
		r->block_ns += 50;
	if (how >= 224 && how < 240)
		script_flush(t);
}

/* One of the first event: it ran. */
static inline void sched_script_sample(struct record_script *t)
{
	uint64_t chain[] = { script_address(t), script_address(t) };
	struct rec_sample s = { .chain = chain, .chain_count = 2 };
	size_t size;

	s.pid = s.tid = script_id(t);
	s.time_ns = script_time(t);
	if (t->later && s.pid & 1) {
		chain[0] = SCRIPT_DEFERRED;
		chain[1] = script_cookie(t);
	}
	size = rec_sample(t->rec, &s);
	script_add(t, EBX_STREAM_CPU, size, s.time_ns, 0);
}

#endif
