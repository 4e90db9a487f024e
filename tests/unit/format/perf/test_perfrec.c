/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* perfrec: samples, complete and broken */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "tests/unit/recbytes.h"

/* One sample as Linux 6.18 wrote it: perf record -d -T --call-graph dwarf,256 and more. */
static const uint8_t kernel_sample[640] = {
	0x09, 0x00, 0x00, 0x00, 0x01, 0x00, 0x80, 0x02, 0x00, 0x34, 0x45, 0x81, 0xff, 0xff, 0xff,
	0xff, 0xa7, 0x23, 0x00, 0x00, 0xa7, 0x23, 0x00, 0x00, 0x65, 0x87, 0x2f, 0x0f, 0x0e, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x84, 0x1e, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0x00, 0x34, 0x45, 0x81, 0xff, 0xff, 0xff, 0xff, 0x0b, 0xb8, 0x68,
	0x81, 0xff, 0xff, 0xff, 0xff, 0x01, 0xbb, 0x68, 0x81, 0xff, 0xff, 0xff, 0xff, 0x57, 0xf9,
	0x5f, 0x81, 0xff, 0xff, 0xff, 0xff, 0x41, 0x43, 0x5e, 0x81, 0xff, 0xff, 0xff, 0xff, 0xee,
	0xc5, 0x58, 0x81, 0xff, 0xff, 0xff, 0xff, 0x8c, 0x4c, 0x5e, 0x81, 0xff, 0xff, 0xff, 0xff,
	0xdc, 0xbe, 0x5e, 0x81, 0xff, 0xff, 0xff, 0xff, 0xe0, 0xc6, 0x5e, 0x81, 0xff, 0xff, 0xff,
	0xff, 0x86, 0x27, 0x1f, 0x82, 0xff, 0xff, 0xff, 0xff, 0x82, 0x0c, 0x00, 0x81, 0xff, 0xff,
	0xff, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1c, 0xfa, 0x19, 0x78, 0xdc,
	0x7f, 0x00, 0x00, 0x20, 0x50, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0xb0, 0x1e, 0x3a, 0x78,
	0xdc, 0x7f, 0x00, 0x00, 0xf8, 0xbd, 0x1c, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0xa0, 0xc2, 0x1c, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x50, 0x48,
	0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0xc8, 0x47, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0x1c,
	0xfa, 0x19, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x02, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x33, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0xe8, 0x47, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0x7f, 0x47, 0x16, 0x10, 0xfd, 0x7f,
	0x00, 0x00, 0xf0, 0x46, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0x80, 0x47, 0x16, 0x10, 0xfd,
	0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x5a, 0x42, 0x78,
	0xdc, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x70, 0x8e, 0x3e,
	0x78, 0xdc, 0x7f, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x6e, 0x68,
	0x3f, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0xe0, 0x62, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0xb0,
	0x68, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x10, 0x84, 0x3e, 0x78, 0xdc, 0x7f, 0x00, 0x00,
	0x70, 0x8e, 0x3e, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x40, 0x89, 0x3e, 0x78, 0xdc, 0x7f, 0x00,
	0x00, 0xd0, 0x5a, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x80, 0x16, 0x3a, 0x78, 0x02, 0x00,
	0x00, 0x00, 0x00, 0x48, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0xe8, 0x47, 0x16, 0x10, 0xfd,
	0x7f, 0x00, 0x00, 0x00, 0x48, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x08, 0x3a,
	0x78, 0xdc, 0x7f, 0x00, 0x00, 0xe0, 0x22, 0x3a, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x02, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc8, 0x22, 0x3a, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5d, 0xb5, 0x20, 0x78, 0xdc, 0x7f, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x1f, 0xca, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfe, 0x00, 0x00, 0x01, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xd8, 0x49, 0x16, 0x10, 0xfd,
	0x7f, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xf8, 0x49, 0x16, 0x10, 0xfd, 0x7f, 0x00, 0x00, 0xb8, 0x92, 0x15,
	0x04, 0xce, 0x55, 0x00, 0x00, 0x20, 0x50, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x9a, 0xb6,
	0x20, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x20, 0x50, 0x42, 0x78, 0xdc, 0x7f, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x21, 0x00, 0x08, 0x05, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const struct perf_event_attr kernel_attr = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER |
		       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |
		       PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
		       PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_WEIGHT_STRUCT,
	.sample_id_all = 1,
	.sample_regs_user = 0xff0fff,
	.sample_stack_user = 256,
	.build_id = 1,
};

static int sample(const void *bytes, size_t size_bytes, const struct perf_event_attr *attr,
		  struct perf_sample *out, struct parse_err *err)
{
	return perfrec_sample(bytes, size_bytes, attr, out, err);
}

static void perfrec_kernel_sample_has_all_fields(void **state)
{
	struct perf_sample s;

	assert_int_equal(sample(kernel_sample, sizeof(kernel_sample), &kernel_attr, &s, NULL), 0);
	assert_true(s.ip == 0xffffffff81453400);
	assert_int_equal(s.pid, 9127);
	assert_int_equal(s.tid, 9127);
	assert_true(s.time_ns == 1159895943013);
	assert_true(s.period == 2000000);
	assert_int_equal(s.cpu, -1);
	assert_int_equal(s.cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(s.chain_count, 12);
	assert_true(le64_load(s.chain) == PERF_CONTEXT_KERNEL);
	assert_true(le64_load(s.chain + 11 * 8) == 0xffffffff81000c82);
	assert_true(s.user_regs_abi == PERF_SAMPLE_REGS_ABI_64);
	assert_true(le64_load(s.user_regs) == 0x7fdc7819fa1c);
	assert_true(le64_load(s.user_regs + 19 * 8) == 0x7fdc783e8e70);
	assert_true(s.user_stack == kernel_sample + 0x148);
	assert_true(s.user_stack_bytes == 256);
	assert_true(s.weight == 0);
	assert_true(s.data_src == 0x1e05080021);
	assert_true(s.cgroup == 1);
}

static void perfrec_ids_are_those_of_the_complete_sample(void **state)
{
	/* Anything before the ids, and nothing at all where they were not asked for. */
	static const uint64_t types[] = {
		PERF_SAMPLE_TID,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct perf_event_attr attr = { .sample_type = types[i] };
		size_t words = (size_t)__builtin_popcountll(types[i]), size = 8 + 8 * words;
		uint8_t rec[48] = { PERF_RECORD_SAMPLE };
		uint32_t pid = 1, tid = 2;
		struct perf_sample s;
		bool has = types[i] & PERF_SAMPLE_TID;

		le16_store(rec + 6, (uint16_t)size);
		for (size_t at = 8; at < size; at += 4)
			le32_store(rec + at, (uint32_t)(1000 * i + at));
		assert_int_equal(sample(rec, size, &attr, &s, NULL), 0);
		assert_int_equal(perfrec_sample_ids(rec, size, &attr, &pid, &tid), has);
		assert_int_equal(pid, has ? s.pid : 1);
		assert_int_equal(tid, has ? s.tid : 2);
		assert_int_equal(perfrec_sample_time(rec, size, &attr),
				 types[i] & PERF_SAMPLE_TIME ? s.time_ns : 0);
	}
}

static void perfrec_ids_of_a_cut_sample_are_not_read(void **state)
{
	size_t end = 8 + 8 + 8; /* header, IP, TID */
	uint32_t pid = 0, tid = 0;

	for (size_t n = 0; n <= sizeof(kernel_sample); n++) {
		uint8_t *cut = malloc(n + 1);

		memcpy(cut, kernel_sample, n);
		assert_int_equal(perfrec_sample_ids(cut, n, &kernel_attr, &pid, &tid), n >= end);
		assert_int_equal(perfrec_sample_time(cut, n, &kernel_attr) != 0, n >= end + 8);
		free(cut);
	}
	assert_int_equal(pid, 9127);
	assert_int_equal(tid, 9127);
}

static void perfrec_every_cut_of_a_sample_is_refused(void **state)
{
	uint8_t *cut;
	size_t n;

	for (n = 0; n < sizeof(kernel_sample); n++) {
		struct perf_sample s = { .ip = 42 };
		struct parse_err err = { 0 };

		cut = malloc(n + 1);
		memcpy(cut, kernel_sample, n);
		if (n >= 8)
			le16_store(cut + 6, (uint16_t)n);
		assert_int_equal(sample(cut, n, &kernel_attr, &s, &err), -EBADMSG);
		assert_non_null(err.what);
		assert_true(err.offset_bytes <= n);
		assert_true(s.ip == 42);
		free(cut);
	}
}

static void perfrec_size_must_be_the_header_s(void **state)
{
	uint8_t bytes[sizeof(kernel_sample)];
	struct perf_sample s;

	memcpy(bytes, kernel_sample, sizeof(bytes));
	le16_store(bytes + 6, sizeof(bytes) - 8);
	assert_int_equal(sample(bytes, sizeof(bytes), &kernel_attr, &s, NULL), -EBADMSG);
	le16_store(bytes + 6, 0xffff);
	assert_int_equal(sample(bytes, sizeof(bytes), &kernel_attr, &s, NULL), -EBADMSG);
}

/* A sample with a chosen count in front of a chosen number of words. */
struct counted_case {
	const char *what;
	uint64_t sample_type, branch_type, read_format, regs_mask;
	uint64_t first; /* the count, size or ABI */
	size_t words;   /* behind it */
	int ret;
};

static const struct counted_case counted_cases[] = {
	{ "chain fits", PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 3, 3, 0 },
	{ "chain of none", PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 0, 0, 0 },
	{ "chain one short", PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 4, 3, -EBADMSG },
	{ "chain count times 8 is 0", PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 1ULL << 61, 3, -EBADMSG },
	{ "chain count of ones", PERF_SAMPLE_CALLCHAIN, 0, 0, 0, UINT64_MAX, 3, -EBADMSG },
	{ "branches", PERF_SAMPLE_BRANCH_STACK, 0, 0, 0, 2, 6, 0 },
	{ "branches one short", PERF_SAMPLE_BRANCH_STACK, 0, 0, 0, 2, 5, -EBADMSG },
	{ "branches and index", PERF_SAMPLE_BRANCH_STACK, 1 << 17, 0, 0, 2, 7, 0 },
	{ "branches, index short", PERF_SAMPLE_BRANCH_STACK, 1 << 17, 0, 0, 2, 6, -EBADMSG },
	{ "no branches, no index", PERF_SAMPLE_BRANCH_STACK, 1 << 17, 0, 0, 0, 0, 0 },
	{ "branches and counters", PERF_SAMPLE_BRANCH_STACK, 1 << 19, 0, 0, 2, 8, 0 },
	{ "counters short", PERF_SAMPLE_BRANCH_STACK, 1 << 19, 0, 0, 2, 7, -EBADMSG },
	{ "index and counters", PERF_SAMPLE_BRANCH_STACK, 5 << 17, 0, 0, 2, 9, 0 },
	{ "branch count of ones", PERF_SAMPLE_BRANCH_STACK, 0, 0, 0, UINT64_MAX, 9, -EBADMSG },
	{ "registers", PERF_SAMPLE_REGS_USER, 0, 0, 7, 2, 3, 0 },
	{ "no registers", PERF_SAMPLE_REGS_USER, 0, 0, 7, 0, 0, 0 },
	{ "registers short", PERF_SAMPLE_REGS_USER, 0, 0, 7, 2, 2, -EBADMSG },
	{ "unknown ABI", PERF_SAMPLE_REGS_USER, 0, 0, 7, 3, 3, -EBADMSG },
	{ "interrupt registers", PERF_SAMPLE_REGS_INTR, 0, 0, 3, 1, 2, 0 },
	{ "interrupt registers short", PERF_SAMPLE_REGS_INTR, 0, 0, 3, 1, 1, -EBADMSG },
	{ "no stack", PERF_SAMPLE_STACK_USER, 0, 0, 0, 0, 0, 0 },
	{ "stack", PERF_SAMPLE_STACK_USER, 0, 0, 0, 16, 3, 0 },
	{ "stack without dynamic size", PERF_SAMPLE_STACK_USER, 0, 0, 0, 24, 3, -EBADMSG },
	{ "stack of ones", PERF_SAMPLE_STACK_USER, 0, 0, 0, UINT64_MAX, 3, -EBADMSG },
	{ "aux", PERF_SAMPLE_AUX, 0, 0, 0, 8, 1, 0 },
	{ "aux short", PERF_SAMPLE_AUX, 0, 0, 0, 9, 1, -EBADMSG },
	{ "read", PERF_SAMPLE_READ, 0, 0, 0, 0, 0, 0 },
	{ "read with all", PERF_SAMPLE_READ, 0, 0x17, 0, 0, 4, 0 },
	{ "read with all, short", PERF_SAMPLE_READ, 0, 0x17, 0, 0, 3, -EBADMSG },
	{ "read group", PERF_SAMPLE_READ, 0, 0x1f, 0, 2, 8, 0 },
	{ "read group short", PERF_SAMPLE_READ, 0, 0x1f, 0, 2, 7, -EBADMSG },
	{ "read group of ones", PERF_SAMPLE_READ, 0, 8, 0, UINT64_MAX, 7, -EBADMSG },
	{ "raw", PERF_SAMPLE_RAW, 0, 0, 0, 4, 0, 0 },
	{ "raw short", PERF_SAMPLE_RAW, 0, 0, 0, 5, 0, -EBADMSG },
	{ "raw of ones", PERF_SAMPLE_RAW, 0, 0, 0, UINT32_MAX, 9, -EBADMSG },
};

static void perfrec_counts_are_held_against_the_record(void **state)
{
	const struct counted_case *t;
	struct perf_sample s;
	struct rec r;
	size_t i, k;
	int ret;

	for (i = 0; i < sizeof(counted_cases) / sizeof(counted_cases[0]); i++) {
		struct perf_event_attr attr = { 0 };

		t = &counted_cases[i];
		attr.sample_type = t->sample_type;
		attr.branch_sample_type = t->branch_type;
		attr.read_format = t->read_format;
		attr.sample_regs_user = attr.sample_regs_intr = t->regs_mask;
		begin(&r, PERF_RECORD_SAMPLE, 0);
		put64(&r, t->first);
		for (k = 0; k < t->words; k++)
			put64(&r, 1);
		ret = sample(r.bytes, r.size_bytes, &attr, &s, NULL);
		if (ret != t->ret)
			fail_msg("%s: %d, expected %d", t->what, ret, t->ret);
		/* Exactly full: one more word must not be needed, one less must not do. */
		if (ret || !t->words)
			continue;
		le16_store(r.bytes + 6, (uint16_t)(r.size_bytes - 8));
		ret = sample(r.bytes, r.size_bytes - 8, &attr, &s, NULL);
		if (ret != -EBADMSG)
			fail_msg("%s, a word less: %d, expected %d", t->what, ret, -EBADMSG);
	}
}

static void perfrec_stack_copied_beyond_its_room_is_refused(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct perf_sample s;
	struct rec r;

	begin(&r, PERF_RECORD_SAMPLE, 0);
	put64(&r, 8);
	put64(&r, 0x1122);
	put64(&r, 9);
	assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
	le64_store(r.bytes + 24, 3);
	assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), 0);
	assert_int_equal(s.user_stack_bytes, 3);
	assert_int_equal(s.user_stack_room_bytes, 8);
}

/* Every bit at once, each field with a value of its own. */
static void perfrec_fields_come_in_kernel_order(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_MAX - 1 - PERF_SAMPLE_WEIGHT,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 1,
		.sample_regs_intr = 3,
	};
	static const uint64_t words[] = {
		1,
		2,
		3 | 4ULL << 32,
		5,
		6,
		7,
		8,
		9 | 77ULL << 32,
		10, /* IDENTIFIER .. PERIOD */
		11, /* READ */
		2,
		20,
		21,              /* CALLCHAIN */
		4 | 30ULL << 32, /* RAW */
		1,
		40,
		41,
		42,
		43, /* BRANCH_STACK */
		2,
		50, /* REGS_USER */
		8,
		60,
		8,                /* STACK_USER */
		70 | 71ULL << 32, /* WEIGHT_STRUCT */
		80,
		81, /* DATA_SRC, TRANSACTION */
		1,
		90,
		91, /* REGS_INTR */
		100,
		101,
		102,
		103, /* PHYS_ADDR, CGROUP, page sizes */
		8,
		110, /* AUX */
	};
	struct perf_sample s;
	struct rec r;
	size_t i;

	begin(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put64(&r, words[i]);
	assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), 0);
	assert_true(s.id == 7); /* ID, which repeats IDENTIFIER */
	assert_true(s.ip == 2 && s.pid == 3 && s.tid == 4 && s.time_ns == 5 && s.addr == 6);
	assert_true(s.stream_id == 8 && s.cpu == 9 && s.period == 10);
	assert_true(s.chain_count == 2 && le64_load(s.chain) == 20);
	assert_true(s.raw_bytes == 4 && le32_load(s.raw) == 30);
	assert_true(le64_load(s.user_regs) == 50);
	assert_true(s.user_stack_bytes == 8 && le64_load(s.user_stack) == 60);
	assert_true(s.weight == 70 && s.data_src == 80 && s.cgroup == 101);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 1);
	le16_store(r.bytes + 6, (uint16_t)(r.size_bytes - 8));
	assert_int_equal(sample(r.bytes, r.size_bytes - 8, &attr, &s, NULL), -EBADMSG);
}

static void perfrec_absent_fields_are_zero(void **state)
{
	struct perf_event_attr attr = { 0 };
	struct perf_sample s;
	struct rec r;

	begin(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	memset(&s, 0xff, sizeof(s));
	assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), 0);
	assert_true(!s.id && !s.ip && !s.pid && !s.chain && !s.raw && !s.user_stack && !s.weight);
	assert_int_equal(s.cpu, -1);
	assert_int_equal(s.cpumode, PERF_RECORD_MISC_USER);
}

/* A sample of type, with words that differ in each; PERF_SAMPLE_WEIGHT takes it the long way. */
static void make_sample(struct rec *r, uint64_t type, unsigned chain, unsigned raw)
{
	static const uint64_t words[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,
					  PERF_SAMPLE_TID,        PERF_SAMPLE_TIME,
					  PERF_SAMPLE_ADDR,       PERF_SAMPLE_ID,
					  PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,
					  PERF_SAMPLE_PERIOD };

	begin(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (type & words[i])
			put64(r, (i + 1) << 32 | (i + 101));
	if (type & PERF_SAMPLE_CALLCHAIN)
		put64(r, chain);
	for (unsigned i = 0; type & PERF_SAMPLE_CALLCHAIN && i < chain; i++)
		put64(r, 1000 + i);
	if (type & PERF_SAMPLE_RAW)
		put32(r, 4 + 8 * raw);
	for (unsigned i = 0; type & PERF_SAMPLE_RAW && i < 1 + 2 * raw; i++)
		put32(r, 2000 + i);
	if (type & PERF_SAMPLE_WEIGHT)
		put64(r, 0);
	if (type & PERF_SAMPLE_CGROUP)
		put64(r, 3000);
}

static void assert_same(const struct perf_sample *a, const struct perf_sample *b)
{
	assert_true(a->id == b->id && a->ip == b->ip && a->time_ns == b->time_ns);
	assert_true(a->addr == b->addr && a->stream_id == b->stream_id && a->period == b->period);
	assert_true(a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu);
	assert_true(a->cgroup == b->cgroup && a->cpumode == b->cpumode);
	assert_true(!a->chain == !b->chain && !a->raw == !b->raw);
	assert_true(a->chain_count == b->chain_count && a->raw_bytes == b->raw_bytes);
	assert_true(!a->chain || !memcmp(a->chain, b->chain, 8 * a->chain_count));
	assert_true(!a->raw || !memcmp(a->raw, b->raw, a->raw_bytes));
	assert_true(!a->weight && !a->data_src && !a->read && !a->user_regs && !a->user_stack);
}

static void perfrec_plain_samples_are_read_like_all_others(void **state)
{
	const uint64_t plain = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP;
	struct perf_event_attr attr = { 0 };
	struct perf_sample s, other;
	struct rec r, longer;

	srand(5);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t type = ((uint64_t)rand() << 8 ^ (uint64_t)rand()) & plain;
		unsigned chain = (unsigned)rand() % 4, raw = (unsigned)rand() % 3;

		make_sample(&r, type, chain, raw);
		make_sample(&longer, type | PERF_SAMPLE_WEIGHT, chain, raw);
		attr.sample_type = type | PERF_SAMPLE_WEIGHT;
		assert_int_equal(sample(longer.bytes, longer.size_bytes, &attr, &other, NULL), 0);
		attr.sample_type = type;
		memset(&s, 0xee, sizeof(s));
		assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), 0);
		assert_same(&s, &other);
		memset(&s, 0xee, sizeof(s));
		memset(&other, 0xee, sizeof(other));
		for (size_t cut = r.size_bytes - 1; cut >= 8; cut--) {
			le16_store(r.bytes + 6, (uint16_t)cut);
			assert_int_equal(sample(r.bytes, cut, &attr, &s, NULL), -EBADMSG);
			assert_memory_equal(&s, &other, sizeof(s));
		}
	}
}

static void perfrec_counts_of_plain_samples_are_held_against_the_record(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	static const uint64_t counts[] = { 3, 4, UINT32_MAX, 1ULL << 61, UINT64_MAX };
	struct perf_sample s;
	struct rec r;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		make_sample(&r, PERF_SAMPLE_CALLCHAIN, 2, 0);
		le64_store(r.bytes + 8, counts[i]);
		assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
		make_sample(&r, PERF_SAMPLE_RAW, 0, 1);
		le32_store(r.bytes + 8, (uint32_t)counts[i] | 16);
		attr.sample_type = PERF_SAMPLE_RAW;
		assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
		attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfrec_kernel_sample_has_all_fields),
		cmocka_unit_test(perfrec_ids_are_those_of_the_complete_sample),
		cmocka_unit_test(perfrec_ids_of_a_cut_sample_are_not_read),
		cmocka_unit_test(perfrec_every_cut_of_a_sample_is_refused),
		cmocka_unit_test(perfrec_size_must_be_the_header_s),
		cmocka_unit_test(perfrec_counts_are_held_against_the_record),
		cmocka_unit_test(perfrec_stack_copied_beyond_its_room_is_refused),
		cmocka_unit_test(perfrec_fields_come_in_kernel_order),
		cmocka_unit_test(perfrec_absent_fields_are_zero),
		cmocka_unit_test(perfrec_plain_samples_are_read_like_all_others),
		cmocka_unit_test(perfrec_counts_of_plain_samples_are_held_against_the_record),
	};

	return cmocka_run_group_tests_name("perfrec", tests, NULL, NULL);
}
