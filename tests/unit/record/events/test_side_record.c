/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/side_record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "record/events/event_attrs.h"

/* Reads back by perf's layout; also checks the tail. */
static struct perfrec_side decode(const struct side_record *r, size_t bytes)
{
	struct perf_event_attr attr;
	struct parse_err err = { 0 };
	struct perfrec_side out;
	int code;

	event_attrs_side_kernel(&attr);
	assert_int_equal(bytes % 8, 0);
	assert_int_equal(le16_load(r->bytes + 6), bytes);
	code = perfrec_side(r->bytes, bytes, &attr, &out, &err);
	if (code && code != -ENOTSUP)
		fail_msg("at %llu: %s", (unsigned long long)err.offset_bytes, err.what);
	assert_int_equal(out.id.id, r->id);
	assert_int_equal(out.id.time_ns, r->time_ns);
	return out;
}

static void siderec_mmap2_has_the_build_id_or_the_inode(void **state)
{
	struct side_record r = { .id = 5, .time_ns = 6 };
	struct mapping m = { .pid = 1,
			     .tid = 2,
			     .start = 0x1000,
			     .size_bytes = 0x2000,
			     .file_off_bytes = 0x3000,
			     .id.dev_major = 8,
			     .id.dev_minor = 1,
			     .id.inode = 99,
			     .prot = 5,
			     .flags = 2,
			     .path = "/usr/bin/ünïcode" };
	struct perfrec_side s = decode(&r, side_record_mmap2(&r, &m));

	assert_int_equal(s.type, PERF_RECORD_MMAP2);
	assert_true(s.mmap.pid == 1 && s.mmap.tid == 2 && s.mmap.start == 0x1000 &&
		    s.mmap.size_bytes == 0x2000 && s.mmap.file_off_bytes == 0x3000);
	assert_true(s.mmap.id.dev_major == 8 && s.mmap.id.dev_minor == 1 && s.mmap.id.inode == 99);
	assert_true(s.mmap.prot == 5 && s.mmap.flags == 2 && s.mmap.id.build_id.size_bytes == 0);
	assert_string_equal(s.mmap.path, m.path);
	m.id.build_id.size_bytes = 20;
	memcpy(m.id.build_id.bytes, "01234567890123456789", 20);
	s = decode(&r, side_record_mmap2(&r, &m));
	assert_int_equal(s.mmap.id.build_id.size_bytes, 20);
	assert_memory_equal(s.mmap.id.build_id.bytes, m.id.build_id.bytes, 20);
	assert_int_equal(s.mmap.id.inode, 0);
}

static void siderec_of_the_kernel_has_the_kernels_mode(void **state)
{
	struct side_record r = { 0 };
	const struct mapping m = { .pid = UINT32_MAX, .path = "[kernel.kallsyms]_text" };
	struct perfrec_side s = decode(&r, side_record_mmap2(&r, &m));

	assert_int_equal(s.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(s.mmap.pid, UINT32_MAX);
}

static void siderec_cuts_what_no_record_holds(void **state)
{
	static char path[SIDE_RECORD_PATH_MAX + 100];
	struct side_record r = { .id = 1, .time_ns = 2 };
	struct mapping m = { .path = path };
	struct perfrec_side s;
	size_t length;

	for (length = 0; length < 9; length++) { /* every padding */
		memset(path, 'x', length);
		path[length] = '\0';
		s = decode(&r, side_record_mmap2(&r, &m));
		assert_string_equal(s.mmap.path, path);
	}
	memset(path, 'x', sizeof(path) - 1);
	s = decode(&r, side_record_mmap2(&r, &m));
	assert_int_equal(strlen(s.mmap.path), SIDE_RECORD_PATH_MAX - 1);
}

static void siderec_tasks_and_names(void **state)
{
	struct side_record r = { .id = 3 };
	struct perfrec_side s = decode(&r, side_record_fork(&r, 10, 11, 12, 13, 14));

	assert_int_equal(s.type, PERF_RECORD_FORK);
	assert_true(s.task.pid == 10 && s.task.tid == 11 && s.task.ppid == 12 &&
		    s.task.ptid == 13 && s.task.time_ns == 14);
	s = decode(&r, side_record_comm(&r, 10, 11, "kworker/u8:0-ext4-rsv-conversion"));
	assert_int_equal(s.type, PERF_RECORD_COMM);
	assert_false(s.comm.exec);
	assert_string_equal(s.comm.comm, "kworker/u8:0-ext4-rsv-conversion");
}

static void siderec_the_rest(void **state)
{
	static const uint8_t tag[8] = "tagtagt";
	struct side_record_namespace ns[SIDE_RECORD_NAMESPACES] = { { 1, 2 } };
	struct side_record r = { .id = 3, .time_ns = 4 };
	struct perfrec_side s;
	size_t size_bytes;

	s = decode(&r, side_record_lost(&r, 77, 1000));
	assert_true(s.type == PERF_RECORD_LOST && s.lost.id == 77 && s.lost.count == 1000);
	s = decode(&r, side_record_cgroup(&r, 42, "/a/b"));
	assert_true(s.type == PERF_RECORD_CGROUP && s.cgroup.id == 42);
	assert_string_equal(s.cgroup.path, "/a/b");
	s = decode(&r, side_record_ksymbol(&r, 0xffffffffc0000000, 300, "bpf_prog_1_x"));
	assert_true(s.type == PERF_RECORD_KSYMBOL && s.ksymbol.addr == 0xffffffffc0000000 &&
		    s.ksymbol.size_bytes == 300 && !s.ksymbol.unregister);
	assert_string_equal(s.ksymbol.name, "bpf_prog_1_x");
	size_bytes = side_record_namespaces(&r, 1, 2, ns, 77);
	s = decode(&r, size_bytes);
	assert_int_equal(s.type, PERF_RECORD_NAMESPACES);
	assert_int_equal(le64_load(r.bytes + 16), SIDE_RECORD_NAMESPACES);
	assert_int_equal(le32_load(r.bytes + size_bytes - SIDE_RECORD_SPARE_OFF), 77);
	assert_int_equal(le64_load(r.bytes + size_bytes - 8), 3); /* the id behind it */
	assert_int_equal(decode(&r, side_record_bpf_event(&r, 9, tag)).type, PERF_RECORD_BPF_EVENT);
	assert_int_equal(le32_load(r.bytes + 12), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siderec_mmap2_has_the_build_id_or_the_inode),
		cmocka_unit_test(siderec_of_the_kernel_has_the_kernels_mode),
		cmocka_unit_test(siderec_cuts_what_no_record_holds),
		cmocka_unit_test(siderec_tasks_and_names),
		cmocka_unit_test(siderec_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
