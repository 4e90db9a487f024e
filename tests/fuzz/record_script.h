/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tale - any bytes as records that could all stand in a capture, and the two captures that hold them
 *
 * A fuzzer that had to find out by itself how a capture is packed would never come to what its records
 * mean.  So each byte of the input is a deed of somebody, and what it needs comes behind it: few
 * processes, so that their numbers are used again; few addresses, so that mappings meet; and now and then
 * what no kernel would write.  The same records are put into a file of ours and into one as perf has
 * it, which are read in two ways that must agree.
 *
 * A tale ends the program when memory is short.
 */
#ifndef EBPREC_TESTS_TALE_H
#define EBPREC_TESTS_TALE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/buf.h"
#include "format/reader/capture.h"
#include "format/base/cursor.h"
#include "tests/lib/gen/records.h"

#define TALE_RECORDS_MAX 3000u
#define TALE_BEGIN_NS    100000u
#define TALE_PAGE        0x1000u
#define TALE_HIGH        0xffffffff81000000u /* where a kernel lies */
#define TALE_DEFERRED    ((uint64_t)-640)    /* a user part comes later; its cookie follows */

_Noreturn static inline void tale_fail(const char *truth, int line)
{
	fprintf(stderr, "line %d: not so: %s\n", line, truth);
	abort();
}

#define tale_must(truth) ((truth) ? (void)0 : tale_fail(#truth, __LINE__))

struct tale_record {
	size_t at, size_bytes;
	uint64_t said_ns; /* when its frame believes it was */
	enum ebx_stream stream;
	int cpu;
	bool flushed; /* what follows is in other frames */
};

struct tale {
	struct cursor in;
	uint64_t now_ns;
	bool liar;  /* frames of the side-band believe what is not so */
	bool later; /* user parts of stacks may come in records of their own */
	struct buf bytes;
	struct tale_record *list;
	size_t count, capacity;
	struct buf objects; /* files that the capture carries: u16 size and bytes of each */
	uint8_t rec[REC_MAX];
};

static inline void tale_done(struct tale *t)
{
	buf_done(&t->bytes);
	buf_done(&t->objects);
	free(t->list);
}

static inline bool tale_goes_on(const struct tale *t)
{
	return cursor_left(&t->in) && t->count < TALE_RECORDS_MAX;
}

/* ---- what bytes stand for ---- */

static inline uint32_t tale_id(struct tale *t)
{
	static const uint32_t odd[] = { 0,           1,        UINT32_MAX, 0x80000000u,
					0x7fffffffu, 4u << 20, 65536,      0xfffffffeu };
	uint8_t b = cursor_u8(&t->in);

	return b >= 248 ? odd[b & 7] : 2u + b % 12;
}

static inline uint64_t tale_address(struct tale *t)
{
	static const uint64_t odd[] = { 0,          1,
					UINT64_MAX, UINT64_MAX - TALE_PAGE + 1,
					1ull << 47, (1ull << 47) - 1,
					INT64_MAX,  TALE_HIGH + 0x1000000 };
	uint8_t b = cursor_u8(&t->in);

	if (b >= 248)
		return odd[b & 7];
	return b >= 224 ? TALE_HIGH + TALE_PAGE * (b & 31u) : TALE_PAGE * (1u + b % 16) + b / 16;
}

static inline uint64_t tale_length(struct tale *t)
{
	static const uint64_t odd[] = { 0,          1,         UINT64_MAX, 1ull << 63,
					1ull << 47, 0x1000000, 17,         UINT64_MAX - TALE_PAGE };
	uint8_t b = cursor_u8(&t->in);

	return b >= 240 ? odd[b & 7] : TALE_PAGE * (1u + b % 6);
}

/* Rings are not emptied in the order of time, and some of it is there from the beginning. */
static inline uint64_t tale_time(struct tale *t)
{
	static const uint64_t odd[] = { 0,         0,         0, 1, UINT64_MAX, UINT64_MAX - 1,
					INT64_MAX, 1ull << 40 };
	uint8_t b = cursor_u8(&t->in);

	if (b >= 248)
		return odd[b & 7];
	if (b >= 192)
		return t->now_ns - (b - 191u);
	t->now_ns += b % 64;
	return t->now_ns;
}

static inline const char *tale_text(struct tale *t, const char *prefix, char out[32])
{
	snprintf(out, 32, "%s%u", prefix, cursor_u8(&t->in) % 24);
	return out;
}

/* ---- records ---- */

/* Adds t->rec. */
static inline void tale_add(struct tale *t, enum ebx_stream stream, size_t size_bytes,
			    uint64_t time_ns, int cpu)
{
	struct tale_record r = { t->bytes.size_bytes, size_bytes, time_ns, stream, cpu, false };

	if (t->count == t->capacity) {
		t->capacity = 2 * t->capacity + 64;
		t->list = realloc(t->list, t->capacity * sizeof(*t->list));
		tale_must(t->list);
	}
	if (t->liar && stream == EBX_STREAM_SIDE && size_bytes % 3 == 1)
		r.said_ns += size_bytes;
	tale_must(!buf_add(&t->bytes, t->rec, size_bytes));
	t->list[t->count++] = r;
}

static inline void tale_side(struct tale *t, size_t size_bytes, uint64_t time_ns, uint16_t misc)
{
	le16_store(t->rec + 4, misc);
	tale_add(t, EBX_STREAM_SIDE, size_bytes, time_ns, -1);
}

static inline void tale_flush(struct tale *t)
{
	if (t->count)
		t->list[t->count - 1].flushed = true;
}

/* A new process, or a thread of one that need not be known. */
static inline void tale_fork(struct tale *t)
{
	uint32_t pid = tale_id(t), ppid = tale_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = tale_time(t);
	uint32_t type = how & 64 ? PERF_RECORD_EXIT : PERF_RECORD_FORK;
	size_t size = rec_task(t->rec, type, pid, how & 1 ? pid : ppid, time_ns);

	if (how & 6) /* the thread */
		le32_store(t->rec + 16, how & 2 ? ppid : tale_id(t));
	if (how & 8)
		le32_store(t->rec + 20, tale_id(t));
	if (how & 16)
		le64_store(t->rec + 24, how & 32 ? 0 : time_ns + 5);
	tale_side(t, size, time_ns, how >= 192 ? PERF_RECORD_MISC_FORK_EXEC : 0);
}

static inline void tale_comm(struct tale *t)
{
	uint32_t pid = tale_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint32_t tid = how & 1 ? tale_id(t) : pid;
	char name[32];
	uint64_t time_ns = tale_time(t);
	size_t size = rec_comm(t->rec, pid, tid, tale_text(t, how & 2 ? "a comm;" : "c", name),
			       time_ns);

	tale_side(t, size, time_ns, how & 4 ? PERF_RECORD_MISC_COMM_EXEC : 0);
}

static inline void tale_map(struct tale *t)
{
	static const uint16_t modes[] = {
		PERF_RECORD_MISC_USER,         PERF_RECORD_MISC_USER,
		PERF_RECORD_MISC_USER,         PERF_RECORD_MISC_KERNEL,
		PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_CPUMODE_UNKNOWN,
		PERF_RECORD_MISC_HYPERVISOR,   PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
	};
	static const char *const odd[] = { "//anon",
					   "[heap]",
					   "[vdso]",
					   "/memfd:x (deleted)",
					   "[stack]",
					   "",
					   "[kernel.kallsyms]_text",
					   "[kernel.kallsyms]" };
	uint32_t pid = tale_id(t);
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = tale_time(t);
	char name[32];
	const char *path = how & 8 ? odd[cursor_u8(&t->in) & 7] : tale_text(t, "/f", name);
	size_t size = rec_mmap2(t->rec, how & 16 ? UINT32_MAX : pid, path, time_ns);
	uint16_t misc = modes[how & 7];

	le64_store(t->rec + 16, tale_address(t));
	le64_store(t->rec + 24, tale_length(t));
	if (how & 32)
		le64_store(t->rec + 32, tale_address(t));
	if (how & 64) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		t->rec[40] = cursor_u8(&t->in) % 32;
		t->rec[44] = t->rec[63] = 7;
	} else if (how & 128) {
		le64_store(t->rec + 48, cursor_u8(&t->in) % 4);
		le32_store(t->rec + 64, 1); /* not executable */
	}
	tale_side(t, size, time_ns, misc);
}

static inline void tale_ksymbol(struct tale *t)
{
	uint64_t addr = tale_address(t), length = tale_length(t), time_ns = tale_time(t);
	uint8_t how = cursor_u8(&t->in);
	char name[32];
	size_t size = 24;

	le64_store(t->rec + 8, addr);
	le32_store(t->rec + 16, (uint32_t)length);
	le16_store(t->rec + 20, how & 3);
	le16_store(t->rec + 22, how & 4 ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	size = rec_string(t->rec, size, tale_text(t, "bpf_prog_", name));
	size = rec_tail(t->rec, size, 0, 0, time_ns);
	tale_side(t, rec_finish(t->rec, size, PERF_RECORD_KSYMBOL, 0), time_ns, 0);
}

static inline void tale_cgroup(struct tale *t)
{
	uint64_t time_ns = tale_time(t);
	char name[32];
	size_t size;

	le64_store(t->rec + 8, cursor_u8(&t->in) % 6);
	size = rec_string(t->rec, 16, tale_text(t, "/g", name));
	size = rec_tail(t->rec, size, 0, 0, time_ns);
	tale_side(t, rec_finish(t->rec, size, PERF_RECORD_CGROUP, 0), time_ns, 0);
}

/* Few, so that a stack and its part meet. */
static inline uint64_t tale_cookie(struct tale *t)
{
	uint8_t b = cursor_u8(&t->in);

	return b >= 248 ? TALE_DEFERRED + (b & 3) : b % 6;
}

/* Says of an event that it has such parts. */
static inline void tale_defers(struct perf_event_attr *attr)
{
	uint8_t *flags = (uint8_t *)attr + 40;

	le64_store(flags, le64_load(flags) | 1ull << 39);
}

/* The user part of a stack. */
static inline void tale_part(struct tale *t)
{
	uint32_t tid = tale_id(t);
	uint8_t how = cursor_u8(&t->in);
	size_t count = how & 7, size = 24;
	uint64_t time_ns;

	le64_store(t->rec + 8, tale_cookie(t));
	le64_store(t->rec + 16, how >= 248 ? UINT64_MAX / 4 : count);
	for (size_t i = 0; i < count; i++, size += 8)
		le64_store(t->rec + size, !i && how & 8 ? PERF_CONTEXT_USER
					  : how >= 240  ? tale_cookie(t)
							: tale_address(t));
	time_ns = tale_time(t);
	size = rec_tail(t->rec, size, how & 16 ? tale_id(t) : tid, tid, time_ns);
	tale_side(t, rec_finish(t->rec, size, PERFREC_LATER, 0), time_ns, PERF_RECORD_MISC_USER);
}

/* id: of an event, or of none. */
static inline void tale_lost(struct tale *t, uint64_t id)
{
	uint8_t how = cursor_u8(&t->in);
	uint64_t time_ns = tale_time(t);
	size_t size = rec_lost(t->rec, id, how % 8 ? how : UINT64_MAX / 3, time_ns);

	if (how & 128) {
		le64_store(t->rec + 8, how);
		size = rec_tail(t->rec, 16, 0, 0, time_ns);
		rec_finish(t->rec, size, PERF_RECORD_LOST_SAMPLES, 0);
	}
	tale_side(t, size, time_ns, 0);
}

/* A record of any type and any bytes. */
static inline void tale_raw(struct tale *t)
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
	tale_side(t, 8 + body, t->now_ns, how & 32 ? PERF_RECORD_MISC_USER : 0);
}

/* What of the side-band `deed` means, if it means any of it: 0 to 10 do, and 13 with user parts. */
static inline bool tale_deed(struct tale *t, uint8_t deed, uint64_t lost_id)
{
	switch (deed) {
	case 0:
	case 1:
		tale_fork(t);
		return true;
	case 2:
		tale_comm(t);
		return true;
	case 3:
	case 4:
	case 5:
		tale_map(t);
		return true;
	case 6:
		tale_ksymbol(t);
		return true;
	case 7:
		tale_cgroup(t);
		return true;
	case 8:
		tale_lost(t, lost_id);
		return true;
	case 9:
		tale_raw(t);
		return true;
	case 10:
		tale_flush(t);
		return true;
	case 13:
		if (t->later)
			tale_part(t);
		return t->later;
	default:
		return false;
	}
}

/* ---- captures ---- */

struct tale_capture {
	void *bytes;
	struct capture *c;
};

/* Ours, with the objects; or plain, as perf has it.  tale_close(). */
static inline struct tale_capture tale_open(const struct tale *t, struct writer_opts opts,
					    bool plain)
{
	struct cursor objects = cursor_of(t->objects.data, t->objects.size_bytes);
	struct tale_capture out;
	struct writer *w = NULL;
	int fd = memfd_create("tale", MFD_CLOEXEC);
	off_t size_bytes;

	opts.plain = plain;
	tale_must(fd >= 0 && !writer_new(fd, &opts, &w));
	for (uint64_t i = 0; cursor_left(&objects); i++) {
		size_t bytes = cursor_u16(&objects);

		tale_must(!writer_object(w, EBX_FILE, i, cursor_bytes(&objects, bytes), bytes));
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct tale_record *r = &t->list[i];

		tale_must(!writer_record(w, r->stream, t->bytes.data + r->at, r->size_bytes,
					 r->said_ns, r->cpu));
		if (r->flushed && !plain)
			tale_must(!writer_flush(w, false));
	}
	tale_must(!writer_finish(w, NULL, 0));
	writer_free(w);
	size_bytes = lseek(fd, 0, SEEK_END);
	out.bytes = malloc((size_t)size_bytes);
	tale_must(out.bytes && pread(fd, out.bytes, (size_t)size_bytes, 0) == size_bytes);
	close(fd);
	tale_must(!capture_from_bytes(out.bytes, (size_t)size_bytes, &out.c, NULL));
	tale_must(capture_get_kind(out.c) == (plain ? CAPTURE_PERF : CAPTURE_EBX));
	return out;
}

static inline void tale_close(struct tale_capture *c)
{
	capture_close(c->c);
	free(c->bytes);
}

#endif
