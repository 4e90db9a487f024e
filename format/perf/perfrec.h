/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perfrec - the fields of one perf record
 *
 * A record's layout depends on its event's attr (sample_type and friends).  These parsers take the
 * record's bytes and the attr and give back plain structs; strings and arrays point into the
 * record.  Source: the comments at enum perf_event_type in <linux/perf_event.h>.
 */
#ifndef EBPREC_FORMAT_PERF_PERFREC_H
#define EBPREC_FORMAT_PERF_PERFREC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/err.h"
#include "format/base/file_id.h"

/* The fields of PERF_RECORD_SAMPLE.  Fields whose bit is not in sample_type are 0 (cpu: -1). */
struct perf_sample {
	uint64_t id, ip, time_ns, addr, stream_id, period, weight, data_src, cgroup;
	uint32_t pid, tid;
	int32_t cpu;
	uint8_t cpumode; /* header.misc & PERF_RECORD_MISC_CPUMODE_MASK */
	const uint8_t
		*chain; /* chain_count u64, leaf first, with PERF_CONTEXT_* markers: le64_load() */
	size_t chain_count;
	const uint8_t *read; /* PERF_SAMPLE_READ: read_count counts, see perfrec_count() */
	size_t read_count;
	uint8_t read_words; /* of each */
	uint8_t id_word;    /* index of the id among them; 0: none */
	const uint8_t *raw; /* PERF_SAMPLE_RAW */
	size_t raw_bytes;
	uint64_t user_regs_abi;   /* PERF_SAMPLE_REGS_ABI_*; 0: none */
	const uint8_t *user_regs; /* one u64 for each bit of attr.sample_regs_user */
	const uint8_t *user_stack;
	size_t user_stack_bytes; /* the dynamic size: the bytes that the kernel copied */
	/* Its room in the record.  The kernel does not clear it: behind the copy stands what the ring held before. */
	size_t user_stack_room_bytes;
};

/* rec: the complete record, header.size bytes.  -EBADMSG when it does not fit its attr. */
int perfrec_sample(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
		   struct perf_sample *out, struct parse_err *err);

/* All bits of a sample_type up to PERF_SAMPLE_WEIGHT_STRUCT (Linux 5.12; 6.19 has no others). */
#define PERFREC_SAMPLE_KNOWN ((uint64_t)(PERF_SAMPLE_WEIGHT_STRUCT << 1) - 1)

/* Fields that are not interpreted, for code that overwrites them; NULL: not there. */
struct perfrec_rest {
	const uint8_t *branches; /* entries of from, to and flags */
	size_t branch_bytes;
	const uint8_t *intr_regs; /* one u64 for each bit of attr.sample_regs_intr */
	const uint8_t *phys_addr;
	const uint8_t *aux;
	size_t aux_bytes;
};

/* -ENOTSUP: the sample_type has bits that are not known; else as perfrec_sample(). */
int perfrec_sample_rest(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
			struct perfrec_rest *out);

/* The process and thread of a sample, without reading the rest of it; false: the sample has none. */
bool perfrec_sample_ids(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
			uint32_t *pid, uint32_t *tid);
/* The time of a sample; 0: it has none. */
uint64_t perfrec_sample_time(const void *rec, size_t size_bytes,
			     const struct perf_event_attr *attr);

/* The value of a counter when the sample was taken; its event's id, 0 when ids were not asked for. */
struct perfrec_count {
	uint64_t id, value;
};

/* i: less than s->read_count. */
struct perfrec_count perfrec_count(const struct perf_sample *s, size_t i);

/*
 * The valid bytes of a record.  The kernel (6.18 and before) stretches KSYMBOL, BPF_EVENT and
 * TEXT_POKE records: when several events on a CPU want one, header.size of the second counts two
 * sample_id tails, of the third three.  The kernel writes one, right behind the body; the bytes
 * that follow are old contents of the ring.  tail_bytes: of the sample_id.  size_bytes when nothing
 * is wrong, or the record is too damaged to decide.
 */
size_t perfrec_true_size(const void *rec, size_t size_bytes, size_t tail_bytes);

/* Bytes of the sample_id tail of records that are not samples. */
size_t perfrec_tail_bytes(const struct perf_event_attr *attr);

/* The sample_id tail of a record that is not a sample.  All 0 without sample_id_all. */
struct perfrec_id {
	uint64_t time_ns, id;
	uint32_t pid, tid;
	int32_t cpu; /* -1: not there */
};

/* The time in the sample_id tail of a record that is not a sample; 0: none, or the record is too
 * short. */
uint64_t perfrec_time(const void *rec, size_t size_bytes, const struct perf_event_attr *attr);

/*
 * The id of any record, sample or not, found without knowing its attr: any attr will do when all
 * have IDENTIFIER, or all the same sample_type with ID.  0 when the attr has none.
 */
uint64_t perfrec_identifier(const void *rec, size_t size_bytes, const struct perf_event_attr *attr);

struct perfrec_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t start, size_bytes, file_off_bytes;
	struct file_id id;    /* nothing in MMAP */
	uint32_t prot, flags; /* PROT_EXEC is assumed for MMAP without MISC_MMAP_DATA */
	const char *path;
};

struct perfrec_comm {
	uint32_t pid, tid;
	bool exec;
	const char *comm;
};

struct perfrec_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct perfrec_ksymbol {
	uint64_t addr;
	uint32_t size_bytes;
	uint16_t type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	bool unregister;
	const char *name;
};

struct perfrec_lost {
	uint64_t id, count;
};

struct perfrec_cgroup {
	uint64_t id;
	const char *path;
};

#define PERFREC_LATER 22 /* PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19 */

/* The user part of the stacks of those samples of a thread that have this cookie. */
struct perfrec_later {
	uint64_t cookie;
	const uint8_t *frames; /* u64 each, innermost first; in the record */
	size_t count;
};

/* A side-band record that perfrec_side() parses; type determines which member is valid. */
struct perfrec_side {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	struct perfrec_id id;
	union {
		struct perfrec_mmap mmap;       /* PERF_RECORD_MMAP, PERF_RECORD_MMAP2 */
		struct perfrec_comm comm;       /* PERF_RECORD_COMM */
		struct perfrec_task task;       /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
		struct perfrec_ksymbol ksymbol; /* PERF_RECORD_KSYMBOL */
		struct perfrec_lost lost;       /* PERF_RECORD_LOST; LOST_SAMPLES (id 0) */
		struct perfrec_cgroup cgroup;   /* PERF_RECORD_CGROUP */
		struct perfrec_later later;     /* PERFREC_LATER */
	};
};

/*
 * Parses a record that is not a sample.  -ENOTSUP: a type without a member above (*out has type,
 * misc and id nevertheless); -EBADMSG: it does not fit.
 */
int perfrec_side(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
		 struct perfrec_side *out, struct parse_err *err);

#endif
