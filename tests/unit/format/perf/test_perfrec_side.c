/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* perfrec: side-band records, complete and broken */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "tests/unit/recbytes.h"

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

/* The fields that the recorder asked for. */
static const struct perf_event_attr kernel_attr = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
	.build_id = 1,
};

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
	assert_int_equal(s.mmap.id.build_id.size_bytes, 20);
	assert_int_equal(s.mmap.id.build_id.bytes[0], 0x15);
	assert_int_equal(s.mmap.id.build_id.bytes[19], 0x98);
	assert_true(!s.mmap.id.inode && !s.mmap.id.dev_major);
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
	assert_int_equal(s.mmap.id.build_id.size_bytes, 8);
	assert_int_equal(s.mmap.id.build_id.bytes[8], 0);
	memset(bytes + 0x2c, 0, 20);
	assert_int_equal(perfrec_side(bytes, sizeof(bytes), &kernel_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.id.build_id.size_bytes, 0); /* an id of zeroes is none */
}

/* MMAP2 of /bin/x at 0x1000, of 0x2000 bytes, from 0x3000 of inode 12345 on 254:minor. */
static void put_mmap2(struct rec *r, uint16_t misc, uint32_t minor)
{
	begin(r, PERF_RECORD_MMAP2, misc);
	put32(r, 7);
	put32(r, 8);
	put64(r, 0x1000);
	put64(r, 0x2000);
	put64(r, 0x3000);
	put32(r, 254);
	put32(r, minor);
	put64(r, 12345);
	put64(r, 6);
	put32(r, PROT_EXEC);
	put32(r, MAP_SHARED);
	put(r, "/bin/x\0", 8);
	put_tail(r);
}

/* Seen on Linux 6.18 beside a recorder that asked for build-ids: the bit is set, the inode is there. */
static void perfrec_build_id_bit_of_another_event_is_not_believed(void **state)
{
	struct perf_event_attr asked = side_attr;
	struct perfrec_side s;
	struct rec r;

	put_mmap2(&r, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, 0);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.mmap.id.dev_major == 254 && s.mmap.id.inode == 12345 &&
		    !s.mmap.id.build_id.size_bytes);
	r.bytes[40] = 20; /* put in later, with the length that ids have */
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_int_equal(s.mmap.id.build_id.size_bytes, 20);
	asked.build_id = 1;
	r.bytes[40] = 8;
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &asked, &s, NULL), 0);
	assert_int_equal(s.mmap.id.build_id.size_bytes, 8);
	assert_int_equal(s.mmap.id.inode, 0);
}

static void perfrec_mmap2_without_build_id_has_the_inode(void **state)
{
	struct perfrec_side s;
	struct rec r;

	put_mmap2(&r, PERF_RECORD_MISC_USER, 1);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), 0);
	assert_true(s.mmap.pid == 7 && s.mmap.tid == 8 && s.mmap.id.dev_major == 254);
	assert_true(s.mmap.id.dev_minor == 1 && s.mmap.id.inode == 12345 &&
		    s.mmap.id.inode_generation == 6 && !s.mmap.id.build_id.size_bytes);
	assert_string_equal(s.mmap.path, "/bin/x");
	check_tail(&s.id);
	memset(r.bytes + 72, 'x', 8); /* a path that runs into the sample id */
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &side_attr, &s, NULL), -EBADMSG);
}

static void perfrec_mmap_is_executable_unless_misc_has_the_data_bit(void **state)
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

static void deferred_callchains_are_read_and_bounded(void **state)
{
	const struct perf_event_attr attr = { .sample_id_all = 0 };
	struct perfrec_side s;
	struct rec r;

	begin(&r, PERFREC_LATER, PERF_RECORD_MISC_USER);
	put64(&r, 0x300000002);
	put64(&r, 2);
	put64(&r, 0x401000);
	put64(&r, 0x402000);
	assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &attr, &s, NULL), 0);
	assert_true(s.later.cookie == 0x300000002 && s.later.count == 2);
	assert_int_equal(le64_load(s.later.frames + 8), 0x402000);
	for (uint64_t count = 3; count; count <<= 7) {
		le64_store(r.bytes + 16, count);
		assert_int_equal(perfrec_side(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
	}
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

/* The smallest complete record of each type; eight bytes less must be refused. */
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
	assert_int_equal(perfrec_sample(r.bytes, r.size_bytes, &attr, &s, NULL), -EBADMSG);
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

static void perfrec_time_is_the_tails(void **state)
{
	uint8_t comm[48] = { PERF_RECORD_COMM, 0, 0, 0, 0, 0, sizeof(comm) };
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
	};

	le64_store(comm + 24, 7); /* pid, tid */
	le64_store(comm + 32, 4711);
	assert_true(perfrec_time(comm, sizeof(comm), &attr) == 4711);
	assert_true(perfrec_time(comm, 24, &attr) == 0);
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	assert_true(perfrec_time(comm, sizeof(comm), &attr) == 4711);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	assert_true(perfrec_time(comm, sizeof(comm), &attr) == 0);
	attr.sample_type |= PERF_SAMPLE_TIME;
	attr.sample_id_all = 0;
	assert_true(perfrec_time(comm, sizeof(comm), &attr) == 0);
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
	assert_int_equal(perfrec_time(stretched_ksymbol, 128, &identifier_attr), 0x448b034cf06);
}

static void perfrec_true_size_leaves_other_records_alone(void **state)
{
	uint8_t rec[128];

	/* Not stretched. */
	assert_int_equal(perfrec_true_size(stretched_ksymbol, 96, 32), 96);
	assert_int_equal(perfrec_true_size(stretched_bpf_event, 56, 32), 56);
	/* Another type. */
	assert_int_equal(perfrec_true_size(kernel_mmap2, sizeof(kernel_mmap2), 0),
			 sizeof(kernel_mmap2));
	/* Too broken for any answer: no end of the name, cut inside the body, shorter than a header. */
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
		cmocka_unit_test(perfrec_kernel_mmap2_has_its_build_id),
		cmocka_unit_test(perfrec_every_cut_of_an_mmap2_is_refused),
		cmocka_unit_test(perfrec_build_id_length_is_checked),
		cmocka_unit_test(perfrec_build_id_bit_of_another_event_is_not_believed),
		cmocka_unit_test(perfrec_mmap2_without_build_id_has_the_inode),
		cmocka_unit_test(perfrec_mmap_is_executable_unless_misc_has_the_data_bit),
		cmocka_unit_test(perfrec_comm_knows_exec),
		cmocka_unit_test(deferred_callchains_are_read_and_bounded),
		cmocka_unit_test(perfrec_task_lost_ksymbol_cgroup),
		cmocka_unit_test(perfrec_reads_the_first_tail_of_a_stretched_record),
		cmocka_unit_test(perfrec_true_size_leaves_other_records_alone),
		cmocka_unit_test(perfrec_short_side_records_are_refused),
		cmocka_unit_test(perfrec_unknown_types_still_have_an_id),
		cmocka_unit_test(perfrec_samples_and_side_records_are_not_mixed_up),
		cmocka_unit_test(perfrec_identifier_is_first_or_last),
		cmocka_unit_test(perfrec_time_is_the_tails),
	};

	return cmocka_run_group_tests_name("perfrec_side", tests, NULL, NULL);
}
