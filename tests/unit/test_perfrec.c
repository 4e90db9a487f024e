/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* perfrec: samples and side-band records, whole and broken */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "format/cursor.h"
#include "format/perfrec.h"

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

/* An MMAP2 with a build-id, as Linux 6.18 wrote it; tail {pid, tid, time}. */
static const uint8_t kernel_mmap2[104] = {
	0x0a, 0x00, 0x00, 0x00, 0x02, 0x40, 0x68, 0x00, 0xa7, 0x23, 0x00, 0x00, 0xa7, 0x23, 0x00,
	0x00, 0x00, 0xa0, 0x13, 0x04, 0xce, 0x55, 0x00, 0x00, 0x00, 0x60, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x15,
	0xdf, 0xff, 0x32, 0x39, 0xaa, 0x7c, 0x3b, 0x16, 0xa7, 0x1e, 0x6b, 0x2e, 0x3b, 0x6e, 0x40,
	0x09, 0xda, 0xb9, 0x98, 0x05, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x2f, 0x75, 0x73,
	0x72, 0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x6c, 0x73, 0x00, 0x00, 0x00, 0x00, 0x00, 0xa7, 0x23,
	0x00, 0x00, 0xa7, 0x23, 0x00, 0x00, 0x06, 0x3e, 0x93, 0x0a, 0x0e, 0x01, 0x00, 0x00,
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

/* A record under construction. */
struct rec {
	uint8_t bytes[4096];
	size_t size_bytes;
};

static void put(struct rec *r, const void *data, size_t size_bytes)
{
	assert_true(size_bytes <= sizeof(r->bytes) - r->size_bytes);
	memcpy(r->bytes + r->size_bytes, data, size_bytes);
	r->size_bytes += size_bytes;
	le16_store(r->bytes + 6, (uint16_t)r->size_bytes);
}

static void put32(struct rec *r, uint32_t v)
{
	put(r, &v, sizeof(v));
}

static void put64(struct rec *r, uint64_t v)
{
	put(r, &v, sizeof(v));
}

static void begin(struct rec *r, uint32_t type, uint16_t misc)
{
	memset(r, 0, sizeof(*r));
	put32(r, type);
	put32(r, misc);
}

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

/* ---- side-band ---- */

static const struct perf_event_attr side_attr = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN,
	.sample_id_all = 1,
};

static void put_tail(struct rec *r)
{
	put32(r, 100);
	put32(r, 101);
	put64(r, 5000);
	put32(r, 3);
	put32(r, 0);
	put64(r, 9);
}

static void check_tail(const struct perfrec_id *id)
{
	assert_int_equal(id->pid, 100);
	assert_int_equal(id->tid, 101);
	assert_true(id->time_ns == 5000);
	assert_int_equal(id->cpu, 3);
	assert_true(id->id == 9);
}

static void perfrec_kernel_mmap2_has_its_build_id(void **state)
{
	struct perfrec_side s;

	assert_int_equal(perfrec_side(kernel_mmap2, sizeof(kernel_mmap2), &kernel_attr, &s, NULL),
			 0);
	assert_int_equal(s.type, PERF_RECORD_MMAP2);
	assert_true(s.mmap.start == 0x55ce0413a000 && s.mmap.size_bytes == 0x16000);
	assert_true(s.mmap.file_off_bytes == 0x4000);
	assert_int_equal(s.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(s.mmap.flags, MAP_PRIVATE);
	assert_int_equal(s.mmap.build_id_bytes, 20);
	assert_int_equal(s.mmap.build_id[0], 0x15);
	assert_int_equal(s.mmap.build_id[19], 0x98);
	assert_true(!s.mmap.inode && !s.mmap.dev_major);
	assert_string_equal(s.mmap.path, "/usr/bin/ls");
	assert_true(s.id.time_ns == 1159818591750 && s.id.pid == 9127 && s.id.cpu == -1);
}

static void perfrec_every_cut_of_an_mmap2_is_refused(void **state)
{
	struct perfrec_side s = { .type = 42 };
	uint8_t *cut;
	size_t n;

	/* 0x60: cut in the tail, the last bytes of the path make up for it, but no NUL is left. */
	for (n = 0; n < 0x60; n++) {
		cut = malloc(n + 1);
		memcpy(cut, kernel_mmap2, n);
		if (n >= 8)
			le16_store(cut + 6, (uint16_t)n);
		assert_int_equal(perfrec_side(cut, n, &kernel_attr, &s, NULL), -EBADMSG);
		assert_int_equal(s.type, 42);
		free(cut);
	}
}

static void perfrec_build_id_length_is_checked(void **state)
{
	uint8_t bytes[sizeof(kernel_mmap2)];
	struct perfrec_side s;

	memcpy(bytes, kernel_mmap2, sizeof(bytes));
	bytes[0x28] = 21;
	assert_int_equal(perfrec_side(bytes, sizeof(bytes), &kernel_attr, &s, NULL), -EBADMSG);
	bytes[0x28] = 8;
	assert_int_equal(perfrec_side(bytes, sizeof(bytes), &kernel_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.build_id_bytes, 8);
	assert_int_equal(s.mmap.build_id[8], 0);
	memset(bytes + 0x2c, 0, 20);
	assert_int_equal(perfrec_side(bytes, sizeof(bytes), &kernel_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.build_id_bytes, 0); /* an id of zeroes is none */
}

/* Seen on Linux 6.18 beside a recorder that asked for build-ids: the bit is set, the inode is there. */
static void perfrec_build_id_bit_of_another_event_is_not_believed(void **state)
{
	struct perf_event_attr asked = side_attr;
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	put32(&r, 7);
	put32(&r, 8);
	put64(&r, 0x1000);
	put64(&r, 0x2000);
	put64(&r, 0x3000);
	put32(&r, 254);
	put32(&r, 0);
	put64(&r, 12345);
	put64(&r, 6);
	put32(&r, PROT_EXEC);
	put32(&r, MAP_SHARED);
	put(&r, "/bin/x\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.mmap.dev_major == 254 && s.mmap.inode == 12345 && !s.mmap.build_id_bytes);
	r.bytes[40] = 20; /* put in later, with the length that ids have */
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.build_id_bytes, 20);
	asked.build_id = 1;
	r.bytes[40] = 8;
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &asked, &s, NULL), 0);
	assert_int_equal(s.mmap.build_id_bytes, 8);
	assert_int_equal(s.mmap.inode, 0);
}

static void perfrec_mmap2_without_build_id_has_the_inode(void **state)
{
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	put32(&r, 7);
	put32(&r, 8);
	put64(&r, 0x1000);
	put64(&r, 0x2000);
	put64(&r, 0x3000);
	put32(&r, 254);
	put32(&r, 1);
	put64(&r, 12345);
	put64(&r, 6);
	put32(&r, PROT_EXEC);
	put32(&r, MAP_SHARED);
	put(&r, "/bin/x\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.mmap.pid == 7 && s.mmap.tid == 8 && s.mmap.dev_major == 254);
	assert_true(s.mmap.dev_minor == 1 && s.mmap.inode == 12345 &&
		    s.mmap.inode_generation == 6 && !s.mmap.build_id_bytes);
	assert_string_equal(s.mmap.path, "/bin/x");
	check_tail(&s.id);
	memset(r.bytes + 72, 'x', 8); /* a path that runs into the sample id */
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), -EBADMSG);
}

static void perfrec_mmap_is_executable_unless_misc_says_data(void **state)
{
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_MMAP, 0);
	put64(&r, 7);
	put64(&r, 0x1000);
	put64(&r, 0x2000);
	put64(&r, 0x3000);
	put(&r, "[vdso]\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.prot, PROT_EXEC);
	assert_string_equal(s.mmap.path, "[vdso]");
	le16_store(r.bytes + 4, PERF_RECORD_MISC_MMAP_DATA);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.prot, 0);
}

static void perfrec_comm_knows_exec(void **state)
{
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&r, 7);
	put32(&r, 8);
	put(&r, "true\0\0\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.comm.exec && s.comm.pid == 7 && s.comm.tid == 8);
	assert_string_equal(s.comm.comm, "true");
	check_tail(&s.id);
	le16_store(r.bytes + 4, 0);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_false(s.comm.exec);
	memset(r.bytes + 16, 'x', 8);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), -EBADMSG);
}

static void perfrec_task_lost_ksymbol_cgroup(void **state)
{
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_FORK, 0);
	put64(&r, 1 | 2ULL << 32);
	put64(&r, 3 | 4ULL << 32);
	put64(&r, 55);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.task.pid == 1 && s.task.ppid == 2 && s.task.tid == 3 && s.task.ptid == 4 &&
		    s.task.time_ns == 55);
	check_tail(&s.id);

	begin(&r, PERF_RECORD_LOST, 0);
	put64(&r, 11);
	put64(&r, 12);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.lost.id == 11 && s.lost.count == 12);

	begin(&r, PERF_RECORD_LOST_SAMPLES, 0);
	put64(&r, 13);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.lost.id == 0 && s.lost.count == 13);

	begin(&r, PERF_RECORD_KSYMBOL, 0);
	put64(&r, 0xffffffffc0001000);
	put64(&r, 64 | 1ULL << 32 | 1ULL << 48);
	put(&r, "bpf_x\0\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.ksymbol.addr == 0xffffffffc0001000 && s.ksymbol.size_bytes == 64);
	assert_true(s.ksymbol.type == PERF_RECORD_KSYMBOL_TYPE_BPF && s.ksymbol.unregister);
	assert_string_equal(s.ksymbol.name, "bpf_x");

	begin(&r, PERF_RECORD_CGROUP, 0);
	put64(&r, 47);
	put(&r, "/a/b\0\0\0", 8);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.cgroup.id == 47);
	assert_string_equal(s.cgroup.path, "/a/b");
}

/* The smallest whole record of each type; eight bytes less must be refused. */
static void perfrec_short_side_records_are_refused(void **state)
{
	static const struct {
		uint32_t type;
		size_t words;
	} cases[] = {
		{ PERF_RECORD_MMAP, 5 },    { PERF_RECORD_MMAP2, 9 },
		{ PERF_RECORD_COMM, 2 },    { PERF_RECORD_FORK, 3 },
		{ PERF_RECORD_EXIT, 3 },    { PERF_RECORD_LOST, 2 },
		{ PERF_RECORD_KSYMBOL, 3 }, { PERF_RECORD_LOST_SAMPLES, 1 },
		{ PERF_RECORD_CGROUP, 2 },  { PERF_RECORD_NAMESPACES, 0 },
	};
	struct perfrec_side s;
	struct rec r;
	size_t i, k;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&r, cases[i].type, 0);
		for (k = 0; k < cases[i].words; k++)
			put64(&r, 0);
		put_tail(&r);
		ret = perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL);
		assert_int_equal(ret, cases[i].type == PERF_RECORD_NAMESPACES ? -ENOTSUP : 0);
		le16_store(r.bytes + 6, (uint16_t)(r.size_bytes - 8));
		ret = perfrec_side(r.bytes, r.size_bytes - 8, &side_attr, &s, NULL);
		if (ret != -EBADMSG)
			fail_msg("type %u: %d, expected %d", cases[i].type, ret, -EBADMSG);
	}
}

static void perfrec_unknown_types_still_have_an_id(void **state)
{
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	put_tail(&r);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), -ENOTSUP);
	assert_int_equal(s.type, PERF_RECORD_SWITCH);
	assert_int_equal(s.misc, PERF_RECORD_MISC_SWITCH_OUT);
	check_tail(&s.id);

	begin(&r, 68, 0); /* FINISHED_ROUND: perf's own records have no tail */
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), -ENOTSUP);
	assert_int_equal(s.type, 68);
	assert_int_equal(s.id.cpu, -1);
}

static void perfrec_samples_and_side_records_are_not_mixed_up(void **state)
{
	struct perf_event_attr attr = { 0 };
	struct perfrec_side side;
	struct perf_sample s;
	struct rec r;

	begin(&r, PERF_RECORD_SAMPLE, 0);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &attr, &side, NULL), -EBADMSG);
	begin(&r, PERF_RECORD_COMM, 0);
	assert_int_equal(sample(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
}

static void perfrec_identifier_is_first_or_last(void **state)
{
	struct perf_event_attr attr = side_attr;
	struct rec r;

	begin(&r, PERF_RECORD_SAMPLE, 0);
	put64(&r, 4711);
	put64(&r, 1);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 4711);
	begin(&r, PERF_RECORD_EXIT, 0);
	put_tail(&r);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 9);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes - 8, &attr) == 0);
	begin(&r, PERF_RECORD_EXIT, 0);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 0);
	begin(&r, 68, 0);
	put64(&r, 4711);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 0);

	/* Without IDENTIFIER, at the place of ID. */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
	begin(&r, PERF_RECORD_SAMPLE, 0);
	put64(&r, 1);
	put64(&r, 2);
	put64(&r, 3);
	put64(&r, 4);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 3);
	le32_store(r.bytes, PERF_RECORD_EXIT);
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 3);
	attr.sample_type = PERF_SAMPLE_IP;
	assert_true(perfrec_identifier(r.bytes, r.size_bytes, &attr) == 0);
}

/* As Linux 6.18 wrote them while two programs recorded: a second tail's worth of old bytes. */
static const uint8_t stretched_bpf_event[88] = {
	0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0x00, 0x02, 0x00, 0x00, 0x00, 0xfd, 0x01, 0x00,
	0x00, 0x62, 0xe1, 0x85, 0x22, 0xc8, 0x78, 0xd7, 0xb5, 0xce, 0x1c, 0x00, 0x00, 0xce, 0x1c,
	0x00, 0x00, 0x5c, 0xe4, 0x34, 0xb0, 0x48, 0x04, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0xe0, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4c, 0x1c, 0x00, 0x00,
	0x4c, 0x1c, 0x00, 0x00, 0xb4, 0x3a, 0x32, 0x6c, 0x48, 0x04, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x90, 0xd0, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const uint8_t stretched_ksymbol[128] = {
	0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x60, 0x5e, 0x02, 0xc0, 0xff, 0xff, 0xff,
	0xff, 0x0b, 0x02, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 'b',  'p',  'f',  '_',  'p',  'r',
	'o',  'g',  '_',  '3',  '7',  'b',  '6',  'c',  '6',  '9',  '5',  'c',  '6',  '2',  '5',
	'c',  '6',  '3',  '6',  '_',  'b',  'p',  'f',  '_',  'u',  's',  'd',  't',  '_',  'a',
	'r',  'g',  0x00, 0x00, 0xce, 0x1c, 0x00, 0x00, 0xce, 0x1c, 0x00, 0x00, 0x06, 0xcf, 0x34,
	0xb0, 0x48, 0x04, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90,
	0xd0, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

static const struct perf_event_attr identifier_attr = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_CPU,
	.sample_id_all = 1,
};

static void perfrec_reads_the_first_tail_of_a_stretched_record(void **state)
{
	struct perfrec_side s;

	assert_int_equal(perfrec_true_size(stretched_ksymbol, 128, 32), 96);
	assert_int_equal(perfrec_side(stretched_ksymbol, 128, &identifier_attr, &s, NULL), 0);
	assert_string_equal(s.ksymbol.name, "bpf_prog_37b6c695c625c636_bpf_usdt_arg");
	assert_int_equal(s.id.time_ns, 0x448b034cf06);
	assert_int_equal(s.id.id, 0x2e0);
	assert_int_equal(s.id.cpu, 1);
	assert_int_equal(perfrec_identifier(stretched_ksymbol, 128, &identifier_attr), 0x2e0);
	assert_int_equal(perfrec_true_size(stretched_bpf_event, 88, 32), 56);
	assert_int_equal(perfrec_side(stretched_bpf_event, 88, &identifier_attr, &s, NULL),
			 -ENOTSUP);
	assert_int_equal(s.id.time_ns, 0x448b034e45c);
	assert_int_equal(s.id.id, 0x2e0);
}

static void perfrec_true_size_leaves_other_records_alone(void **state)
{
	uint8_t rec[128];

	/* Not stretched. */
	assert_int_equal(perfrec_true_size(stretched_ksymbol, 96, 32), 96);
	assert_int_equal(perfrec_true_size(stretched_bpf_event, 56, 32), 56);
	/* Of another type. */
	assert_int_equal(perfrec_true_size(kernel_mmap2, sizeof(kernel_mmap2), 0),
			 sizeof(kernel_mmap2));
	/* Too broken to tell: no end of the name, cut inside the body, shorter than a header. */
	memcpy(rec, stretched_ksymbol, sizeof(rec));
	memset(rec + 24, 'x', sizeof(rec) - 24);
	assert_int_equal(perfrec_true_size(rec, sizeof(rec), 32), sizeof(rec));
	assert_int_equal(perfrec_true_size(stretched_bpf_event, 16, 32), 16);
	assert_int_equal(perfrec_true_size(stretched_bpf_event, 6, 32), 6);
	/* The name ends with the last, unpadded byte. */
	rec[124] = '\0';
	assert_int_equal(perfrec_true_size(rec, 125, 32), 125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfrec_kernel_sample_has_all_fields),
		cmocka_unit_test(perfrec_every_cut_of_a_sample_is_refused),
		cmocka_unit_test(perfrec_size_must_be_the_header_s),
		cmocka_unit_test(perfrec_counts_are_held_against_the_record),
		cmocka_unit_test(perfrec_stack_copied_beyond_its_room_is_refused),
		cmocka_unit_test(perfrec_fields_come_in_kernel_order),
		cmocka_unit_test(perfrec_absent_fields_are_zero),
		cmocka_unit_test(perfrec_kernel_mmap2_has_its_build_id),
		cmocka_unit_test(perfrec_every_cut_of_an_mmap2_is_refused),
		cmocka_unit_test(perfrec_build_id_length_is_checked),
		cmocka_unit_test(perfrec_build_id_bit_of_another_event_is_not_believed),
		cmocka_unit_test(perfrec_mmap2_without_build_id_has_the_inode),
		cmocka_unit_test(perfrec_mmap_is_executable_unless_misc_says_data),
		cmocka_unit_test(perfrec_comm_knows_exec),
		cmocka_unit_test(perfrec_task_lost_ksymbol_cgroup),
		cmocka_unit_test(perfrec_reads_the_first_tail_of_a_stretched_record),
		cmocka_unit_test(perfrec_true_size_leaves_other_records_alone),
		cmocka_unit_test(perfrec_short_side_records_are_refused),
		cmocka_unit_test(perfrec_unknown_types_still_have_an_id),
		cmocka_unit_test(perfrec_samples_and_side_records_are_not_mixed_up),
		cmocka_unit_test(perfrec_identifier_is_first_or_last),
	};

	return cmocka_run_group_tests_name("perfrec", tests, NULL, NULL);
}
