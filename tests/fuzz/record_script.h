/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * record_script - any bytes as records that could all stand in a capture, and the two captures that hold them
 *
 * A fuzzer that had to find out by itself how a capture is packed would never come to what its records
 * mean.  So each byte of the input is an operation of a process, and its operands come behind it: few
 * processes, so that their numbers are used again; few addresses, so that mappings meet; and now and then
 * what no kernel would write.  The same records are put into a file of ours and into one as perf has
 * it, which are read in two ways that must agree.
 *
 * A script ends the program when memory is short.
 */
#ifndef EBPREC_TESTS_FUZZ_RECORD_SCRIPT_H
#define EBPREC_TESTS_FUZZ_RECORD_SCRIPT_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/buf.h"
#include "format/reader/capture.h"
#include "format/base/cursor.h"
#include "tests/lib/gen/records.h"

#define SCRIPT_RECORDS_MAX 3000u
#define SCRIPT_BEGIN_NS    100000u
#define SCRIPT_PAGE        0x1000u
#define SCRIPT_HIGH        0xffffffff81000000u /* where a kernel lies */
#define SCRIPT_DEFERRED    ((uint64_t)-640)    /* a user part comes later; its cookie follows */

_Noreturn static inline void script_fail(const char *truth, int line)
{
	fprintf(stderr, "line %d: not so: %s\n", line, truth);
	abort();
}

#define script_must(truth) ((truth) ? (void)0 : script_fail(#truth, __LINE__))

struct script_record {
	size_t at, size_bytes;
	uint64_t block_ns; /* its time in the head of its block */
	enum ebx_stream stream;
	int cpu;
	bool flushed; /* what follows is in other blocks */
};

struct record_script {
	struct cursor in;
	uint64_t now_ns;
	bool liar;  /* blocks of the side-band have wrong times */
	bool later; /* user parts of stacks may come in records of their own */
	struct buf bytes;
	struct script_record *list;
	size_t count, capacity;
	struct buf objects; /* files that the capture carries: u16 size and bytes of each */
	uint8_t rec[REC_MAX];
};

static inline void script_done(struct record_script *t)
{
	buf_done(&t->bytes);
	buf_done(&t->objects);
	free(t->list);
}

static inline bool script_goes_on(const struct record_script *t)
{
	return cursor_left(&t->in) && t->count < SCRIPT_RECORDS_MAX;
}

/* ---- what bytes stand for ---- */

static inline uint32_t script_id(struct record_script *t)
{
	static const uint32_t unusual[] = { 0,           1,        UINT32_MAX, 0x80000000u,
					    0x7fffffffu, 4u << 20, 65536,      0xfffffffeu };
	uint8_t b = cursor_u8(&t->in);

	return b >= 248 ? unusual[b & 7] : 2u + b % 12;
}

static inline uint64_t script_address(struct record_script *t)
{
	static const uint64_t unusual[] = { 0,          1,
					    UINT64_MAX, UINT64_MAX - SCRIPT_PAGE + 1,
					    1ull << 47, (1ull << 47) - 1,
					    INT64_MAX,  SCRIPT_HIGH + 0x1000000 };
	uint8_t b = cursor_u8(&t->in);

	if (b >= 248)
		return unusual[b & 7];
	return b >= 224 ? SCRIPT_HIGH + SCRIPT_PAGE * (b & 31u)
			: SCRIPT_PAGE * (1u + b % 16) + b / 16;
}

static inline uint64_t script_length(struct record_script *t)
{
	static const uint64_t unusual[] = {
		0, 1, UINT64_MAX, 1ull << 63, 1ull << 47, 0x1000000, 17, UINT64_MAX - SCRIPT_PAGE
	};
	uint8_t b = cursor_u8(&t->in);

	return b >= 240 ? unusual[b & 7] : SCRIPT_PAGE * (1u + b % 6);
}

/* Rings are not emptied in the order of time, and some of it is there from the beginning. */
static inline uint64_t script_time(struct record_script *t)
{
	static const uint64_t unusual[] = { 0,         0,         0, 1, UINT64_MAX, UINT64_MAX - 1,
					    INT64_MAX, 1ull << 40 };
	uint8_t b = cursor_u8(&t->in);

	if (b >= 248)
		return unusual[b & 7];
	if (b >= 192)
		return t->now_ns - (b - 191u);
	t->now_ns += b % 64;
	return t->now_ns;
}

static inline const char *script_text(struct record_script *t, const char *prefix, char out[32])
{
	snprintf(out, 32, "%s%u", prefix, cursor_u8(&t->in) % 24);
	return out;
}

/* ---- records ---- */

/* Adds t->rec. */
static inline void script_add(struct record_script *t, enum ebx_stream stream, size_t size_bytes,
			      uint64_t time_ns, int cpu)
{
	struct script_record r = { t->bytes.size_bytes, size_bytes, time_ns, stream, cpu, false };

	if (t->count == t->capacity) {
		t->capacity = 2 * t->capacity + 64;
		t->list = realloc(t->list, t->capacity * sizeof(*t->list));
		script_must(t->list);
	}
	if (t->liar && stream == EBX_STREAM_SIDE && size_bytes % 3 == 1)
		r.block_ns += size_bytes;
	script_must(!buf_add(&t->bytes, t->rec, size_bytes));
	t->list[t->count++] = r;
}

static inline void script_side(struct record_script *t, size_t size_bytes, uint64_t time_ns,
			       uint16_t misc)
{
	le16_store(t->rec + 4, misc);
	script_add(t, EBX_STREAM_SIDE, size_bytes, time_ns, -1);
}

static inline void script_flush(struct record_script *t)
{
	if (t->count)
		t->list[t->count - 1].flushed = true;
}

/* A new process, or a thread of one that need not be known. */
static inline void script_fork(struct record_script *t)
{
	uint32_t pid = script_id(t), ppid = script_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = script_time(t);
	uint32_t type = how & 64 ? PERF_RECORD_EXIT : PERF_RECORD_FORK;
	size_t size = rec_task(t->rec, type, pid, how & 1 ? pid : ppid, time_ns);

	if (how & 6) /* the thread */
		le32_store(t->rec + 16, how & 2 ? ppid : script_id(t));
	if (how & 8)
		le32_store(t->rec + 20, script_id(t));
	if (how & 16)
		le64_store(t->rec + 24, how & 32 ? 0 : time_ns + 5);
	script_side(t, size, time_ns, how >= 192 ? PERF_RECORD_MISC_FORK_EXEC : 0);
}

static inline void script_comm(struct record_script *t)
{
	uint32_t pid = script_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint32_t tid = how & 1 ? script_id(t) : pid;
	char name[32];
	uint64_t time_ns = script_time(t);
	size_t size = rec_comm(t->rec, pid, tid, script_text(t, how & 2 ? "a comm;" : "c", name),
			       time_ns);

	script_side(t, size, time_ns, how & 4 ? PERF_RECORD_MISC_COMM_EXEC : 0);
}

static inline void script_map(struct record_script *t)
{
	static const uint16_t modes[] = {
		PERF_RECORD_MISC_USER,         PERF_RECORD_MISC_USER,
		PERF_RECORD_MISC_USER,         PERF_RECORD_MISC_KERNEL,
		PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_CPUMODE_UNKNOWN,
		PERF_RECORD_MISC_HYPERVISOR,   PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
	};
	static const char *const unusual[] = { "//anon",
					       "[heap]",
					       "[vdso]",
					       "/memfd:x (deleted)",
					       "[stack]",
					       "",
					       "[kernel.kallsyms]_text",
					       "[kernel.kallsyms]" };
	uint32_t pid = script_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = script_time(t);
	char name[32];
	const char *path = how & 8 ? unusual[cursor_u8(&t->in) & 7] : script_text(t, "/f", name);
	size_t size = rec_mmap2(t->rec, how & 16 ? UINT32_MAX : pid, path, time_ns);
	uint16_t misc = modes[how & 7];

	le64_store(t->rec + 16, script_address(t));
	le64_store(t->rec + 24, script_length(t));
	if (how & 32)
		le64_store(t->rec + 32, script_address(t));
	if (how & 64) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		t->rec[40] = cursor_u8(&t->in) % 32;
		t->rec[44] = t->rec[63] = 7;
	} else if (how & 128) {
		le64_store(t->rec + 48, cursor_u8(&t->in) % 4);
		le32_store(t->rec + 64, 1); /* not executable */
	}
	script_side(t, size, time_ns, misc);
}

static inline void script_ksymbol(struct record_script *t)
{
	uint64_t addr = script_address(t), length = script_length(t), time_ns = script_time(t);
	uint8_t how = cursor_u8(&t->in);
	char name[32];
	size_t size = 24;

	le64_store(t->rec + 8, addr);
	le32_store(t->rec + 16, (uint32_t)length);
	le16_store(t->rec + 20, how & 3);
	le16_store(t->rec + 22, how & 4 ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	size = rec_string(t->rec, size, script_text(t, "bpf_prog_", name));
	size = rec_tail(t->rec, size, 0, 0, time_ns);
	script_side(t, rec_finish(t->rec, size, PERF_RECORD_KSYMBOL, 0), time_ns, 0);
}

static inline void script_cgroup(struct record_script *t)
{
	uint64_t time_ns = script_time(t);
	char name[32];
	size_t size;

	le64_store(t->rec + 8, cursor_u8(&t->in) % 6);
	size = rec_string(t->rec, 16, script_text(t, "/g", name));
	size = rec_tail(t->rec, size, 0, 0, time_ns);
	script_side(t, rec_finish(t->rec, size, PERF_RECORD_CGROUP, 0), time_ns, 0);
}

/* Few, so that a stack and its part meet. */
static inline uint64_t script_cookie(struct record_script *t)
{
	uint8_t b = cursor_u8(&t->in);

	return b >= 248 ? SCRIPT_DEFERRED + (b & 3) : b % 6;
}

/* Marks an event as one with such parts. */
static inline void script_defers(struct perf_event_attr *attr)
{
	uint8_t *flags = (uint8_t *)attr + 40;

	le64_store(flags, le64_load(flags) | 1ull << 39);
}

/* The user part of a stack. */
static inline void script_part(struct record_script *t)
{
	uint32_t tid = script_id(t);
	uint8_t how = cursor_u8(&t->in);
	size_t count = how & 7, size = 24;
	uint64_t time_ns;

	le64_store(t->rec + 8, script_cookie(t));
	le64_store(t->rec + 16, how >= 248 ? UINT64_MAX / 4 : count);
	for (size_t i = 0; i < count; i++, size += 8)
		le64_store(t->rec + size, !i && how & 8 ? PERF_CONTEXT_USER
					  : how >= 240  ? script_cookie(t)
							: script_address(t));
	time_ns = script_time(t);
	size = rec_tail(t->rec, size, how & 16 ? script_id(t) : tid, tid, time_ns);
	script_side(t, rec_finish(t->rec, size, PERFREC_LATER, 0), time_ns, PERF_RECORD_MISC_USER);
}

/* id: of an event, or of none. */
static inline void script_lost(struct record_script *t, uint64_t id)
{
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = script_time(t);
	size_t size = rec_lost(t->rec, id, how % 8 ? how : UINT64_MAX / 3, time_ns);

	if (how & 128) {
		le64_store(t->rec + 8, how);
		size = rec_tail(t->rec, 16, 0, 0, time_ns);
		rec_finish(t->rec, size, PERF_RECORD_LOST_SAMPLES, 0);
	}
	script_side(t, size, time_ns, 0);
}

/* A record of any type and any bytes. */
static inline void script_raw(struct record_script *t)
{
	uint32_t type = 1 + cursor_u8(&t->in) % 24u;
	uint8_t how = cursor_u8(&t->in);
	size_t body = 8 * (size_t)(how % 16), got;
	const uint8_t *raw;

	if (type == PERF_RECORD_SAMPLE)
		type = PERF_RECORD_NAMESPACES;
	got = body < cursor_left(&t->in) ? body : cursor_left(&t->in);
	memset(t->rec, 0, 8 + body);
	raw = cursor_bytes(&t->in, got);
	if (got)
		memcpy(t->rec + 8, raw, got);
	if (!(how & 16) && body >= 32) /* as others have it */
		rec_tail(t->rec, body - 24, 5, 5, t->now_ns);
	rec_finish(t->rec, 8 + body, type, 0);
	script_side(t, 8 + body, t->now_ns, how & 32 ? PERF_RECORD_MISC_USER : 0);
}

/* The record of the side-band that `op` stands for, if for any: 0 to 10 do, and 13 with user parts. */
static inline bool script_op(struct record_script *t, uint8_t op, uint64_t lost_id)
{
	switch (op) {
	case 0:
	case 1:
		script_fork(t);
		return true;
	case 2:
		script_comm(t);
		return true;
	case 3:
	case 4:
	case 5:
		script_map(t);
		return true;
	case 6:
		script_ksymbol(t);
		return true;
	case 7:
		script_cgroup(t);
		return true;
	case 8:
		script_lost(t, lost_id);
		return true;
	case 9:
		script_raw(t);
		return true;
	case 10:
		script_flush(t);
		return true;
	case 13:
		if (t->later)
			script_part(t);
		return t->later;
	default:
		return false;
	}
}

/* ---- captures ---- */

struct script_capture {
	void *bytes;
	struct capture *c;
};

/* Ours, with the objects; or plain, as perf has it.  script_close(). */
static inline struct script_capture script_open(const struct record_script *t,
						struct writer_opts opts, bool plain)
{
	struct cursor objects = cursor_of(t->objects.data, t->objects.size_bytes);
	struct script_capture out;
	struct writer *w = NULL;
	int fd = memfd_create("script", MFD_CLOEXEC);
	off_t size_bytes;

	opts.plain = plain;
	script_must(fd >= 0 && !writer_new(fd, &opts, &w));
	for (uint64_t i = 0; cursor_left(&objects); i++) {
		size_t bytes = cursor_u16(&objects);

		script_must(!writer_object(w, EBX_FILE, i, cursor_bytes(&objects, bytes), bytes));
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct script_record *r = &t->list[i];

		script_must(!writer_record(w, r->stream, t->bytes.data + r->at, r->size_bytes,
					   r->block_ns, r->cpu));
		if (r->flushed && !plain)
			script_must(!writer_flush(w, false));
	}
	script_must(!writer_finish(w, NULL, 0));
	writer_free(w);
	size_bytes = lseek(fd, 0, SEEK_END);
	out.bytes = malloc((size_t)size_bytes);
	script_must(out.bytes && pread(fd, out.bytes, (size_t)size_bytes, 0) == size_bytes);
	close(fd);
	script_must(!capture_from_bytes(out.bytes, (size_t)size_bytes, &out.c, NULL));
	script_must(capture_get_kind(out.c) == (plain ? CAPTURE_PERF : CAPTURE_EBX));
	return out;
}

static inline void script_close(struct script_capture *c)
{
	capture_close(c->c);
	free(c->bytes);
}

#endif
