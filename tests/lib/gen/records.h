/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * records - makes perf records of chosen contents, for tests
 *
 * All follow the attrs of rec_attrs(): the same sample_id tail everywhere.  Each function fills out
 * (at least REC_MAX bytes) and returns the record's size, a multiple of 8.
 */
#ifndef EBPREC_TESTS_RECORDS_H
#define EBPREC_TESTS_RECORDS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/payload/container_record.h"
#include "format/perf/perffile.h"
#include "format/unwind/stack_result.h"
#include "format/writer/writer.h"

#define REC_MAX         65536
#define REC_CPU_ID      101 /* id of the sampling event */
#define REC_SIDE_ID     102 /* id of the dummy event */
#define REC_RAW_ID      103 /* id of the bpf-output event: samples with RAW */
#define REC_ATTRS       3
#define REC_MMAP2_AT    0x400000ULL
#define REC_MMAP2_BYTES 0x100000ULL

static const uint64_t rec_ids[REC_ATTRS] = { REC_CPU_ID, REC_SIDE_ID, REC_RAW_ID };

/* A sampling event, a dummy for side-band, and one that carries raw bytes. */
static inline void rec_attrs(struct writer_attr out[REC_ATTRS])
{
	const struct perf_event_attr common = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = 1,
		.freq = 1,
		.sample_freq = 99,
		.type = PERF_TYPE_SOFTWARE,
	};

	for (unsigned i = 0; i < REC_ATTRS; i++)
		out[i] = (struct writer_attr){ .attr = common, .ids = &rec_ids[i], .id_count = 1 };
	out[0].attr.config = PERF_COUNT_SW_CPU_CLOCK;
	out[1].attr.config = PERF_COUNT_SW_DUMMY;
	out[1].attr.mmap = out[1].attr.mmap2 = out[1].attr.comm = out[1].attr.task = 1;
	out[2].attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	out[2].attr.sample_type |= PERF_SAMPLE_RAW;
}

static inline size_t rec_finish(uint8_t *out, size_t size, uint32_t type, uint16_t misc)
{
	le32_store(out, type);
	le16_store(out + 4, misc);
	le16_store(out + 6, (uint16_t)size);
	return size;
}

/* The sample_id tail of records that are not samples. */
static inline size_t rec_tail(uint8_t *out, size_t size, uint32_t pid, uint32_t tid,
			      uint64_t time_ns)
{
	le32_store(out + size, pid);
	le32_store(out + size + 4, tid);
	le64_store(out + size + 8, time_ns);
	le64_store(out + size + 16, 0); /* cpu, res */
	le64_store(out + size + 24, REC_SIDE_ID);
	return size + 32;
}

static inline size_t rec_string(uint8_t *out, size_t size, const char *s)
{
	size_t len = strlen(s) + 1, padded = (len + 7) & ~(size_t)7;

	memset(out + size, 0, padded);
	memcpy(out + size, s, len);
	return size + padded;
}

static inline size_t rec_comm(uint8_t *out, uint32_t pid, uint32_t tid, const char *comm,
			      uint64_t time_ns)
{
	size_t size = 16;

	le32_store(out + 8, pid);
	le32_store(out + 12, tid);
	size = rec_string(out, size, comm);
	size = rec_tail(out, size, pid, tid, time_ns);
	return rec_finish(out, size, PERF_RECORD_COMM, 0);
}

/* FORK or EXIT. */
static inline size_t rec_task(uint8_t *out, uint32_t type, uint32_t pid, uint32_t ppid,
			      uint64_t time_ns)
{
	le32_store(out + 8, pid);
	le32_store(out + 12, ppid);
	le32_store(out + 16, pid);
	le32_store(out + 20, ppid);
	le64_store(out + 24, time_ns);
	return rec_finish(out, rec_tail(out, 32, pid, pid, time_ns), type, 0);
}

/* count events of the event with this id. */
static inline size_t rec_lost(uint8_t *out, uint64_t id, uint64_t count, uint64_t time_ns)
{
	le64_store(out + 8, id);
	le64_store(out + 16, count);
	return rec_finish(out, rec_tail(out, 24, 0, 0, time_ns), PERF_RECORD_LOST, 0);
}

static inline size_t rec_mmap2(uint8_t *out, uint32_t pid, const char *path, uint64_t time_ns)
{
	size_t size = 72;

	memset(out, 0, size);
	le32_store(out + 8, pid);
	le32_store(out + 12, pid);
	le64_store(out + 16, REC_MMAP2_AT);
	le64_store(out + 24, REC_MMAP2_BYTES);
	le32_store(out + 64, 5); /* r-x */
	le32_store(out + 68, 2); /* private */
	size = rec_string(out, size, path);
	size = rec_tail(out, size, pid, pid, time_ns);
	return rec_finish(out, size, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
}

static inline size_t rec_cgroup(uint8_t *out, uint64_t id, const char *path)
{
	size_t size;

	le64_store(out + 8, id);
	size = rec_string(out, 16, path);
	size = rec_tail(out, size, 0, 0, 0);
	return rec_finish(out, size, PERF_RECORD_CGROUP, 0);
}

/* A private object that names a container. */
static inline int rec_container(struct writer *w, const char *id, const char *name)
{
	struct container_record_entry e = { id, name, strlen(id), strlen(name) };
	uint8_t entry[CONTAINER_RECORD_ENTRY_MAX];

	if (e.id_bytes > CONTAINER_RECORD_DIGITS || e.name_bytes > CONTAINER_RECORD_NAME_MAX)
		return -EINVAL;
	return writer_object(w, EBX_CONTAINERS, 1, entry, container_record_encode(&e, entry));
}

/* The section HOSTNAME; room: of out.  Returns its size. */
static inline size_t rec_host(uint8_t *out, size_t room, const char *name)
{
	size_t bytes = strnlen(name, room - 5) + 1;

	le32_store(out, (uint32_t)bytes);
	memcpy(out + 4, name, bytes - 1);
	out[4 + bytes - 1] = 0;
	return 4 + bytes;
}

/* The kernel's own mapping, without which perf report warns. */
static inline size_t rec_kernel_mmap(uint8_t *out)
{
	size_t size = 40;

	le32_store(out + 8, UINT32_MAX);
	le32_store(out + 12, 0);
	le64_store(out + 16, 0xffffffff81000000);
	le64_store(out + 24, 0x1000000);
	le64_store(out + 32, 0xffffffff81000000);
	size = rec_string(out, size, "[kernel.kallsyms]_text");
	size = rec_tail(out, size, UINT32_MAX, 0, 0);
	return rec_finish(out, size, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
}

struct rec_sample {
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
	const uint64_t *chain; /* user addresses, leaf first */
	size_t chain_count;
	const uint8_t *raw;    /* NULL: a sample of the sampling event */
	size_t raw_bytes;      /* 4 + raw_bytes a multiple of 8 */
	const uint8_t *result; /* STACK_RESULT_BYTES, of the sampling event; NULL: it has none */
};

static inline size_t rec_sample(uint8_t *out, const struct rec_sample *s)
{
	size_t size = 64;

	le64_store(out + 8, s->raw ? REC_RAW_ID : REC_CPU_ID);
	le64_store(out + 16, s->chain_count ? s->chain[0] : REC_MMAP2_AT);
	le32_store(out + 24, s->pid);
	le32_store(out + 28, s->tid);
	le64_store(out + 32, s->time_ns);
	le32_store(out + 40, s->cpu);
	le32_store(out + 44, 0);
	le64_store(out + 48, 10101010); /* period */
	le64_store(out + 56, s->chain_count ? s->chain_count + 1 : 0);
	if (s->chain_count) {
		le64_store(out + size, PERF_CONTEXT_USER);
		size += 8;
	}
	for (size_t i = 0; i < s->chain_count; i++, size += 8)
		le64_store(out + size, s->chain[i]);
	if (s->raw) {
		le32_store(out + size, (uint32_t)s->raw_bytes);
		memcpy(out + size + 4, s->raw, s->raw_bytes);
		size += 4 + s->raw_bytes;
	} else if (s->result) {
		le32_store(out + size, STACK_RESULT_BYTES);
		memcpy(out + size + 4, s->result, STACK_RESULT_BYTES);
		size += 4 + STACK_RESULT_BYTES;
	}
	return rec_finish(out, size, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

#endif
