/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_story - writes the capture that a text (standard input) describes, a line a record
 *
 *	TIME fork PPID PID TID			times are ns; 0 in side-band: was there before
 *	TIME comm PID TID NAME
 *	TIME exec PID TID NAME
 *	TIME exit PID TID
 *	TIME args PID WORD... [-- NAME=VALUE...]	how it was called
 *	TIME map PID START BYTES OFFSET PATH	numbers as in C
 *	TIME kmap START BYTES SYMBOL		the kernel's own, named after SYMBOL
 *	TIME ksym ADDR BYTES NAME		TIME unksym ADDR BYTES NAME
 *	TIME lost COUNT
 *	TIME later PID TID COOKIE ADDR,...	the user part of samples that have m:-640,COOKIE in their chain
 *	TIME sample PID TID CPU PERIOD CHAIN...	u:ADDR,... k:ADDR,... innermost first; m:NUMBER raw
 *	TIME switch CPU PID TID STATE COMM NEXT_TID NEXT_COMM [SYSCALL WEIGHT CHAIN...]
 *					STATE is the tracepoint's number; SYSCALL -1: none
 *	TIME wakeup CPU BY_PID BY_TID TID COMM [irq]	wakeup_new: the same
 *	TIME waker CPU BY_PID BY_TID TID [irq] CHAIN...	the stack of the thread that wakes TID up
 *	TIME child CPU PID TID CHILD_TID COMM	sched_process_fork
 *	TIME ended CPU PID TID PPID PRIO NICE POLICY RUNTIME VOLUNTARY INVOLUNTARY CODE COMM
 *	TIME slost COUNT			switches
 *	TIME mark CPU PID TID KIND ID DURATION GROUP NAME [TEXT]
 *	TIME mlost COUNT			marks
 *	- file NAME PATH			what is at PATH, embedded as NAME
 *	- account TEXT				what a recorder counted: JSON
 *	- meta TEXT				its META at the start: JSON
 *	- note TEXT
 *	- cgroup ID PATH
 *	- container ID NAME
 *	- kallsyms ADDR TYPE NAME [MODULE]	a line of /proc/kallsyms, embedded
 *	- walks HOW WHY FLAGS			how the stacks of the switches behind it were walked: enum stack_result_how ...
 *	- flush
 *
 * Empty lines and lines that start with # are skipped.  With --null lines end with a NUL.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/perf/perfrec.h"
#include "format/payload/cmdline_record.h"
#include "format/payload/context_record.h"
#include "format/payload/switch_fields.h"
#include "format/perf/trace_data.h"
#include "tests/lib/gen/records.h"
#include "tests/lib/gen/words.h"

/* Scheduler events: their tracepoints have the ids of the events, and fields as on Linux 6.18. */
enum {
	SCHED_SWITCH_ID = 204,
	SCHED_WAKEUP_ID,
	SCHED_WAKEUP_NEW_ID,
	SCHED_FORK_ID,
	SCHED_ATTRS = 4,
	OUR_ATTRS = SCHED_ATTRS + 3, /* the last are marks, exits and wakers */
	ALL_ATTRS = REC_ATTRS + OUR_ATTRS,
};

#define HEAD(name, id)                                                                 \
	"name: " name "\nID: " #id "\nformat:\n"                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(decl, off, size) "\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"
#define WAKEUP_FIELDS                                                          \
	FIELD("char comm[16]", 8, 16)                                          \
	FIELD("pid_t pid", 24, 4)                                              \
	FIELD("int prio", 28, 4)                                               \
	FIELD("int target_cpu", 32, 4)                                         \
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, " \
	"REC->pid, REC->prio, REC->target_cpu\n"

static const struct trace_data_event sched_events[SCHED_ATTRS] = {
	{ "sched", HEAD("sched_switch", 204) FIELD("char prev_comm[16]", 8, 16) FIELD(
			   "pid_t prev_pid", 24, 4) FIELD("int prev_prio", 28, 4)
			   FIELD("long prev_state", 32, 8) FIELD("char next_comm[16]", 40,
								 16) FIELD("pid_t next_pid", 56, 4)
				   FIELD("int next_prio", 60, 4) "\nprint fmt: \"%d ==> %d\", "
								 "REC->prev_pid, REC->next_pid\n" },
	{ "sched", HEAD("sched_wakeup", 205) WAKEUP_FIELDS },
	{ "sched", HEAD("sched_wakeup_new", 206) WAKEUP_FIELDS },
	{ "sched",
	  HEAD("sched_process_fork", 207) FIELD("__data_loc char[] parent_comm", 8, 4)
		  FIELD("pid_t parent_pid", 12, 4) FIELD("__data_loc char[] child_comm", 16, 4)
			  FIELD("pid_t child_pid", 20, 4) "\nprint fmt: \"%d\", REC->child_pid\n" },
};

struct story {
	struct writer *w;
	uint8_t rec[REC_MAX];
	uint64_t args_count, context_count;
	char *kallsyms; /* with the object's head in front */
	size_t kallsyms_bytes;
	FILE *kallsyms_to;
	struct stack_result walked;
};

static int side(struct story *s, size_t size, uint32_t type, uint16_t misc, uint64_t time_ns)
{
	size = rec_tail(s->rec, size, 0, 0, time_ns);
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec, rec_finish(s->rec, size, type, misc),
			     time_ns, -1);
}

static int put_process(struct story *s, uint32_t type, uint64_t time_ns, char *rest)
{
	uint32_t ppid = type == PERF_RECORD_FORK ? (uint32_t)number(&rest) : 0;

	le32_store(s->rec + 8, (uint32_t)number(&rest));
	le32_store(s->rec + 12, ppid);
	le32_store(s->rec + 16, (uint32_t)number(&rest));
	le32_store(s->rec + 20, ppid);
	le64_store(s->rec + 24, time_ns);
	return side(s, 32, type, 0, time_ns);
}

static int put_comm(struct story *s, bool exec, uint64_t time_ns, char *rest)
{
	le32_store(s->rec + 8, (uint32_t)number(&rest));
	le32_store(s->rec + 12, (uint32_t)number(&rest));
	return side(s, rec_string(s->rec, 16, rest ? rest : ""), PERF_RECORD_COMM,
		    exec ? PERF_RECORD_MISC_COMM_EXEC : 0, time_ns);
}

static int put_map(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t pid = (uint32_t)number(&rest);

	memset(s->rec, 0, 72);
	le32_store(s->rec + 8, pid);
	le32_store(s->rec + 12, pid);
	for (unsigned i = 0; i < 3; i++)
		le64_store(s->rec + 16 + 8 * i, number(&rest));
	le32_store(s->rec + 64, 5); /* r-x */
	return side(s, rec_string(s->rec, 72, rest ? rest : ""), PERF_RECORD_MMAP2,
		    PERF_RECORD_MISC_USER, time_ns);
}

static int put_kmap(struct story *s, uint64_t time_ns, char *rest)
{
	uint64_t start = number(&rest);
	char path[256];

	le32_store(s->rec + 8, UINT32_MAX);
	le32_store(s->rec + 12, 0);
	le64_store(s->rec + 16, start);
	le64_store(s->rec + 24, number(&rest));
	le64_store(s->rec + 32, start);
	snprintf(path, sizeof(path), "[kernel.kallsyms]%s", rest ? rest : "");
	return side(s, rec_string(s->rec, 40, path), PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
		    time_ns);
}

static int put_ksym(struct story *s, bool unregister, uint64_t time_ns, char *rest)
{
	le64_store(s->rec + 8, number(&rest));
	le32_store(s->rec + 16, (uint32_t)number(&rest));
	le16_store(s->rec + 20, PERF_RECORD_KSYMBOL_TYPE_BPF);
	le16_store(s->rec + 22, unregister ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	return side(s, rec_string(s->rec, 24, rest ? rest : ""), PERF_RECORD_KSYMBOL, 0, time_ns);
}

static int put_lost(struct story *s, uint64_t id, uint64_t time_ns, char *rest)
{
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_lost(s->rec, id, number(&rest), time_ns), time_ns, -1);
}

/* "u:0x1,0x2" behind the chain so far; false when it is not of that form. */
static bool add_chain(struct story *s, char *part, size_t *count)
{
	uint64_t marker = *part == 'u' ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL;
	char *addr, *rest = part + 2;

	if (!strchr("ukm", *part) || part[1] != ':')
		return false;
	if (*part != 'm')
		le64_store(s->rec + 64 + 8 * (*count)++, marker);
	while ((addr = strsep(&rest, ",")) && *count < 8000)
		le64_store(s->rec + 64 + 8 * (*count)++, strtoull(addr, NULL, 0));
	return true;
}

static int put_later(struct story *s, uint64_t time_ns, char *rest)
{
	uint64_t pid = number(&rest), tid = number(&rest);
	size_t size = 24;
	char *addr;

	le64_store(s->rec + 8, number(&rest));
	while ((addr = strsep(&rest, ",")) && size < 64000) {
		le64_store(s->rec + size, strtoull(addr, NULL, 0));
		size += 8;
	}
	le64_store(s->rec + 16, (size - 24) / 8);
	size = rec_tail(s->rec, size, (uint32_t)pid, (uint32_t)tid, time_ns);
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_finish(s->rec, size, PERFREC_LATER, PERF_RECORD_MISC_USER),
			     time_ns, -1);
}

static int put_sample(struct story *s, uint64_t time_ns, char *rest)
{
	uint16_t misc = PERF_RECORD_MISC_USER;
	uint64_t pid = number(&rest), tid = number(&rest), cpu = number(&rest);
	size_t count = 0;
	char *part;

	le64_store(s->rec + 8, REC_CPU_ID);
	le32_store(s->rec + 24, (uint32_t)pid);
	le32_store(s->rec + 28, (uint32_t)tid);
	le64_store(s->rec + 32, time_ns);
	le64_store(s->rec + 40, cpu);
	le64_store(s->rec + 48, number(&rest));
	while ((part = word(&rest))) {
		if (!count && *part == 'k')
			misc = PERF_RECORD_MISC_KERNEL;
		if (!add_chain(s, part, &count))
			return -EINVAL;
	}
	le64_store(s->rec + 16, count > 1 ? le64_load(s->rec + 72) : 0x1234);
	le64_store(s->rec + 56, count);
	return writer_record(s->w, EBX_STREAM_CPU, s->rec,
			     rec_finish(s->rec, 64 + 8 * count, PERF_RECORD_SAMPLE, misc), time_ns,
			     (int)cpu);
}

/* The head of a scheduler event; its raw data begin at the place returned, chain behind it. */
static size_t begin_sched(struct story *s, uint64_t id, uint64_t time_ns, uint32_t cpu,
			  uint32_t pid, uint32_t tid, size_t chain_count)
{
	le64_store(s->rec + 8, id);
	le64_store(s->rec + 16, chain_count > 1 ? le64_load(s->rec + 72) : 0);
	le32_store(s->rec + 24, pid);
	le32_store(s->rec + 28, tid);
	le64_store(s->rec + 32, time_ns);
	le64_store(s->rec + 40, cpu);
	le64_store(s->rec + 48, 1);
	le64_store(s->rec + 56, chain_count);
	return 64 + 8 * chain_count;
}

static int end_sched(struct story *s, size_t at, size_t raw_bytes, uint64_t time_ns, uint32_t cpu)
{
	le32_store(s->rec + at, (uint32_t)raw_bytes);
	return writer_record(
		s->w, EBX_STREAM_SCHED, s->rec,
		rec_finish(s->rec, at + 4 + raw_bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL),
		time_ns, (int)cpu);
}

static void put_name(uint8_t *to, const char *name)
{
	if (name)
		memcpy(to, name, strnlen(name, 15));
}

static int put_switch(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t cpu = (uint32_t)number(&rest), pid = (uint32_t)number(&rest);
	uint32_t tid = (uint32_t)number(&rest), state = (uint32_t)number(&rest), next;
	const char *comm = word(&rest), *next_comm, *syscall;
	struct switch_fields info = { .stack = s->walked };
	size_t count = 0, at;
	uint8_t *raw;
	char *part;

	next = (uint32_t)number(&rest);
	next_comm = word(&rest);
	syscall = word(&rest);
	info.syscall = syscall ? (uint16_t)(strtol(syscall, NULL, 0) + 1) : 0;
	info.weight = (uint32_t)number(&rest);
	while ((part = word(&rest)))
		if (!add_chain(s, part, &count))
			return -EINVAL;
	at = begin_sched(s, SCHED_SWITCH_ID, time_ns, cpu, pid, tid, count);
	raw = s->rec + at + 4;
	memset(raw, 0, 76);
	le16_store(raw, SCHED_SWITCH_ID);
	put_name(raw + 8, comm);
	le32_store(raw + 24, tid);
	le32_store(raw + 28, 120);
	le64_store(raw + 32, state);
	put_name(raw + 40, next_comm);
	le32_store(raw + 56, next);
	le32_store(raw + 60, 120);
	switch_fields_encode(&info, raw + 76 - SWITCH_FIELDS_BYTES);
	return end_sched(s, at, 76, time_ns, cpu);
}

/* A wakeup, or a fork. */
static int put_task(struct story *s, uint64_t id, uint64_t time_ns, char *rest)
{
	uint32_t cpu = (uint32_t)number(&rest), pid = (uint32_t)number(&rest);
	uint32_t by = (uint32_t)number(&rest), tid = (uint32_t)number(&rest);
	const char *comm = word(&rest), *irq = word(&rest);
	size_t at = begin_sched(s, id, time_ns, cpu, pid, by, 0);
	uint8_t *raw = s->rec + at + 4;

	memset(raw, 0, 44);
	le16_store(raw, (uint16_t)id);
	raw[2] = irq ? 8 : 0;
	if (id == SCHED_FORK_ID) {
		le32_store(raw + 16, 16 << 16 | 24);
		put_name(raw + 24, comm);
		le32_store(raw + 20, tid);
	} else {
		put_name(raw + 8, comm);
		le32_store(raw + 24, tid);
		le32_store(raw + 28, 120);
	}
	return end_sched(s, at, 44, time_ns, cpu);
}

static int put_waker(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t cpu = (uint32_t)number(&rest), pid = (uint32_t)number(&rest);
	uint32_t by = (uint32_t)number(&rest);
	struct trace_data_waker waker = { .tid = (uint32_t)number(&rest) };
	size_t count = 0, at;
	char *part;

	while ((part = word(&rest))) {
		if (!strcmp(part, "irq"))
			waker.irq = 8;
		else if (!add_chain(s, part, &count))
			return -EINVAL;
	}
	stack_result_encode(&s->walked, waker.stack);
	at = begin_sched(s, TRACE_DATA_WAKER_ID, time_ns, cpu, pid, by, count);
	trace_data_waker_encode(s->rec + at + 4, by, &waker);
	return end_sched(s, at, TRACE_DATA_WAKER_BYTES, time_ns, cpu);
}

static int put_ended(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t cpu = (uint32_t)number(&rest);
	struct trace_data_exit e = { .pid = (uint32_t)number(&rest),
				     .tid = (uint32_t)number(&rest) };
	size_t at = begin_sched(s, TRACE_DATA_EXIT_ID, time_ns, cpu, e.pid, e.tid, 0);
	const char *nice;

	e.ppid = (uint32_t)number(&rest);
	e.prio = (int32_t)number(&rest);
	nice = word(&rest);
	e.nice = nice ? (int32_t)strtol(nice, NULL, 0) : 0;
	e.policy = (uint32_t)number(&rest);
	e.runtime_ns = number(&rest);
	e.voluntary = number(&rest);
	e.involuntary = number(&rest);
	e.code = (int32_t)number(&rest);
	put_name((uint8_t *)e.comm, word(&rest));
	trace_data_exit_encode(s->rec + at + 4, &e);
	return end_sched(s, at, TRACE_DATA_EXIT_BYTES, time_ns, cpu);
}

static int put_mark(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t cpu = (uint32_t)number(&rest), pid = (uint32_t)number(&rest);
	uint32_t tid = (uint32_t)number(&rest);
	struct trace_data_mark m = { .kind = (uint32_t)number(&rest), .message = "" };
	size_t at = begin_sched(s, TRACE_DATA_MARK_ID, time_ns, cpu, pid, tid, 0), bytes;

	m.id = number(&rest);
	m.duration_ns = number(&rest);
	m.group = word(&rest);
	m.name = word(&rest);
	if (!m.name)
		return -EINVAL;
	/* A minus: none. */
	m.group = strcmp(m.group, "-") ? m.group : "";
	m.name = strcmp(m.name, "-") ? m.name : "";
	if (rest)
		m.message = rest;
	bytes = trace_data_mark_encode(s->rec + at + 4, 2048, tid, &m);
	le32_store(s->rec + at, (uint32_t)bytes);
	return writer_record(
		s->w, EBX_STREAM_MARK, s->rec,
		rec_finish(s->rec, at + 4 + bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL),
		time_ns, (int)cpu);
}

static int put_file(struct story *s, char *rest)
{
	const char *name = word(&rest), *path = word(&rest);
	FILE *from = path ? fopen(path, "re") : NULL, *to;
	size_t size_bytes;
	char *object;
	int c, err;

	if (!from)
		return -ENOENT;
	to = open_memstream(&object, &size_bytes);
	fprintf(to, "%c%c%s", (int)strlen(name), 0, name);
	while ((c = getc(from)) != EOF)
		putc(c, to);
	fclose(from);
	fclose(to);
	err = writer_object(s->w, EBX_FILE, 100, (uint8_t *)object, size_bytes);
	free(object);
	return err;
}

/* The word "..." marks a command line that was truncated. */
static int put_args(struct story *s, uint64_t time_ns, char *rest)
{
	struct cmdline_record p = { .pid = (uint32_t)number(&rest), .time_ns = time_ns };
	char texts[4096];
	uint32_t *bytes = &p.args_bytes, used = CMDLINE_RECORD_HEAD_BYTES;
	char *next;

	while ((next = word(&rest)) && used + strlen(next) < sizeof(texts)) {
		if (!strcmp(next, "--")) {
			bytes = &p.env_bytes;
			p.flags |= CMDLINE_RECORD_ENV;
		} else if (!strcmp(next, "...")) {
			p.flags |= CMDLINE_RECORD_ARGS_CUT;
		} else {
			memcpy(texts + used, next, strlen(next) + 1);
			used += (uint32_t)strlen(next) + 1;
			*bytes += (uint32_t)strlen(next) + 1;
		}
	}
	cmdline_record_encode(&p, (uint8_t *)texts);
	return writer_object(s->w, EBX_ARGS, ++s->args_count, (uint8_t *)texts, used);
}

/* A service's name, or none: from then on the process has no context. */
static int put_context(struct story *s, uint64_t time_ns, char *rest)
{
	struct context_record r = { .pid = (uint32_t)number(&rest), .since_ns = time_ns };
	uint8_t bytes[CONTEXT_RECORD_HEAD_BYTES + CONTEXT_RECORD_NAME_MAX + 64];
	const char *name = word(&rest);

	if (name && strlen(name) > CONTEXT_RECORD_NAME_MAX)
		return -EINVAL;
	if (name)
		r.size_bytes = (uint32_t)context_record_message(name, strlen(name),
								bytes + CONTEXT_RECORD_HEAD_BYTES);
	context_record_encode(&r, bytes);
	return writer_object(s->w, EBX_CONTEXTS, ++s->context_count, bytes,
			     CONTEXT_RECORD_HEAD_BYTES + r.size_bytes);
}

static int put_cgroup(struct story *s, char *rest)
{
	uint64_t id = number(&rest);

	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_cgroup(s->rec, id, rest ? rest : ""), 0, -1);
}

static int put_container(struct story *s, char *rest)
{
	const char *id = word(&rest);

	return id && rest ? rec_container(s->w, id, rest) : -EINVAL;
}

static int put_kallsyms(struct story *s, const char *rest)
{
	fprintf(s->kallsyms_to, "%s\n", rest ? rest : "");
	return 0;
}

static int put(struct story *s, char *line)
{
	const char *time = word(&line), *verb = word(&line);
	uint64_t time_ns = time ? strtoull(time, NULL, 0) : 0;

	if (!time || *time == '#')
		return 0;
	if (!verb)
		return -EINVAL;
	if (!strcmp(verb, "fork"))
		return put_process(s, PERF_RECORD_FORK, time_ns, line);
	if (!strcmp(verb, "exit"))
		return put_process(s, PERF_RECORD_EXIT, time_ns, line);
	if (!strcmp(verb, "comm") || !strcmp(verb, "exec"))
		return put_comm(s, *verb == 'e', time_ns, line);
	if (!strcmp(verb, "args"))
		return put_args(s, time_ns, line);
	if (!strcmp(verb, "context"))
		return put_context(s, time_ns, line);
	if (!strcmp(verb, "map"))
		return put_map(s, time_ns, line);
	if (!strcmp(verb, "kmap"))
		return put_kmap(s, time_ns, line);
	if (!strcmp(verb, "ksym") || !strcmp(verb, "unksym"))
		return put_ksym(s, *verb == 'u', time_ns, line);
	if (!strcmp(verb, "lost"))
		return put_lost(s, REC_CPU_ID, time_ns, line);
	if (!strcmp(verb, "slost"))
		return put_lost(s, SCHED_SWITCH_ID, time_ns, line);
	if (!strcmp(verb, "ended"))
		return put_ended(s, time_ns, line);
	if (!strcmp(verb, "mlost"))
		return put_lost(s, TRACE_DATA_MARK_ID, time_ns, line);
	if (!strcmp(verb, "mark"))
		return put_mark(s, time_ns, line);
	if (!strcmp(verb, "switch"))
		return put_switch(s, time_ns, line);
	if (!strcmp(verb, "wakeup"))
		return put_task(s, SCHED_WAKEUP_ID, time_ns, line);
	if (!strcmp(verb, "wakeup_new"))
		return put_task(s, SCHED_WAKEUP_NEW_ID, time_ns, line);
	if (!strcmp(verb, "waker"))
		return put_waker(s, time_ns, line);
	if (!strcmp(verb, "child"))
		return put_task(s, SCHED_FORK_ID, time_ns, line);
	if (!strcmp(verb, "later"))
		return put_later(s, time_ns, line);
	if (!strcmp(verb, "sample"))
		return put_sample(s, time_ns, line);
	if (!strcmp(verb, "kallsyms"))
		return put_kallsyms(s, line);
	if (!strcmp(verb, "account"))
		return writer_object(s->w, EBX_META, EBX_META_ACCOUNT, (uint8_t *)line,
				     strlen(line));
	if (!strcmp(verb, "file"))
		return put_file(s, line);
	if (!strcmp(verb, "cgroup"))
		return put_cgroup(s, line);
	if (!strcmp(verb, "container"))
		return put_container(s, line);
	if (!strcmp(verb, "walks")) {
		s->walked.how = (uint8_t)number(&line);
		s->walked.why = (uint8_t)number(&line);
		s->walked.flags = (uint16_t)number(&line);
		return 0;
	}
	if (!strcmp(verb, "note"))
		return writer_object(s->w, EBX_NOTE, 0, line, strlen(line));
	if (!strcmp(verb, "meta"))
		return writer_object(s->w, EBX_META, EBX_META_START, line, strlen(line));
	if (!strcmp(verb, "flush"))
		return writer_flush(s->w, true);
	return -EINVAL;
}

/* Reads the story; *line_number is that of the line that failed. */
static int read_story(struct story *s, FILE *from, bool null, unsigned *line_number)
{
	static const char name[] = "/proc/kallsyms";
	char *line = NULL;
	size_t capacity = 0;
	int err = 0;

	s->kallsyms_to = open_memstream(&s->kallsyms, &s->kallsyms_bytes);
	if (!s->kallsyms_to)
		return -errno;
	fprintf(s->kallsyms_to, "%c%c%s", (int)(sizeof(name) - 1), 0, name);
	while (!err && getdelim(&line, &capacity, null ? '\0' : '\n', from) >= 0) {
		++*line_number;
		if (!null)
			line[strcspn(line, "\n")] = '\0';
		err = put(s, line);
	}
	free(line);
	fclose(s->kallsyms_to);
	if (!err && s->kallsyms_bytes > 2 + sizeof(name) - 1)
		err = writer_object(s->w, EBX_FILE, 1, s->kallsyms, s->kallsyms_bytes);
	free(s->kallsyms);
	return err ? err : writer_finish(s->w, NULL, 0);
}

static int generate(int fd, const struct words_opts *words, unsigned *line_number)
{
	uint8_t host[256];
	struct writer_feature features[] = { { PERFFILE_HOSTNAME, host,
					       rec_host(host, sizeof(host), words->host) },
					     { PERFFILE_TRACING_DATA, NULL, 0 } };
	struct writer_attr attrs[ALL_ATTRS];
	struct trace_data_event events[OUR_ATTRS];
	static const uint64_t synthetic[OUR_ATTRS - SCHED_ATTRS] = { TRACE_DATA_MARK_ID,
								     TRACE_DATA_EXIT_ID,
								     TRACE_DATA_WAKER_ID };
	static uint64_t ids[OUR_ATTRS];
	uint8_t *tracing;
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = ALL_ATTRS,
		.features = features,
		.feature_count = 2,
		.clock_mono_ns = 1000000000,
		.clock_wall_ns = 1700000000000000000,
		.uuid = "gen_story",
		.level = 1,
		.plain = words->plain,
	};
	static struct story s = { .walked = { .how = STACK_RESULT_CFI, .why = 1 } };
	int err;

	rec_attrs(attrs);
	for (unsigned i = 0; i < OUR_ATTRS; i++) {
		ids[i] = i < SCHED_ATTRS ? SCHED_SWITCH_ID + i : synthetic[i - SCHED_ATTRS];
		attrs[REC_ATTRS + i] = attrs[2];
		attrs[REC_ATTRS + i].attr.type = PERF_TYPE_TRACEPOINT;
		attrs[REC_ATTRS + i].attr.config = ids[i];
		attrs[REC_ATTRS + i].ids = &ids[i];
	}
	memcpy(events, sched_events, sizeof(sched_events));
	events[SCHED_ATTRS] = (struct trace_data_event){ "ebprec", trace_data_mark_format() };
	events[SCHED_ATTRS + 1] = (struct trace_data_event){ "ebprec", trace_data_exit_format() };
	events[SCHED_ATTRS + 2] = (struct trace_data_event){ "ebprec", trace_data_waker_format() };
	err = trace_data_build(events, OUR_ATTRS, NULL, &tracing, &features[1].size_bytes);
	if (err)
		return err;
	features[1].data = tracing;
	err = writer_new(fd, &opts, &s.w);
	free(tracing);
	if (!err)
		err = read_story(&s, stdin, words->null, line_number);
	writer_free(s.w);
	return err;
}

int main(int argc, char **argv)
{
	struct words_opts opts;
	unsigned line_number = 0;
	int fd, err;

	if (!words_parse(argc, argv, &opts)) {
		fprintf(stderr, "usage: gen_story [--plain] [--null] [--host NAME] FILE < STORY\n");
		return 2;
	}
	fd = open(opts.output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : generate(fd, &opts, &line_number);
	if (err) {
		fprintf(stderr, "gen_story: line %u: %s\n", line_number, strerror(-err));
		return 1;
	}
	return 0;
}
