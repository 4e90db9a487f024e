/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on perf's pipes, and on anything of perf's that is cut, broken or hostile. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/reader/capture.h"
#include "tests/lib/gen/perffiles.h"

/* ---- pipes ---- */

static void a_pipe_has_its_head_in_records(void **state)
{
	const struct capture_attr *a;
	struct capture *c = NULL;
	struct perf p;
	size_t count;

	make_pipe(&p);
	check(&p, CAPTURE_PIPE);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	a = capture_attrs(c, &count);
	assert_int_equal(count, 2);
	assert_string_equal(a[0].name, "");
	assert_string_equal(a[1].name, "cycles");
	assert_ptr_equal(capture_attr_by_id(c, 2), &a[0]);
	assert_ptr_equal(capture_attr_by_id(c, 11), &a[1]);
	assert_string_equal(capture_feature_string(c, PERFFILE_HOSTNAME), "machine");
	assert_int_equal(capture_feature(c, PERFFILE_TRACING_DATA).size_bytes, 40);
	assert_memory_equal(capture_feature(c, PERFFILE_TRACING_DATA).data, "\x17\x08\x44tracing",
			    10);
	capture_close(c);
	done(&p);
}

static void a_pipe_may_be_compressed(void **state)
{
	struct buf raw = { 0 };
	struct perf p;

	begin_pipe(&p);
	add_pipe_head(&p);
	kernel_records(&p, &raw, 500);
	add_stream(&p, &raw, 30000, 60000, PERFFILE_RECORD_COMPRESSED);
	kernel_records(&p, &p.file, 5);
	check(&p, CAPTURE_PIPE);
	buf_done(&raw);
	done(&p);
}

static void broken_head_records_of_a_pipe_are_damage(void **state)
{
	uint8_t attr[16] = { 0 };
	struct reading r;
	struct perf p;

	begin_pipe(&p);
	le32_store(attr + 4, 5000); /* larger than its record */
	add_expected(&p, PERFFILE_RECORD_HEADER_ATTR, attr, sizeof(attr));
	add_expected(&p, PERFFILE_RECORD_HEADER_FEATURE, NULL, 0);
	add_expected(&p, PERFFILE_RECORD_EVENT_UPDATE, attr, 8);
	kernel_records(&p, &p.file, 3);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.damage.bad_sections, 3);
	assert_int_equal(r.records, p.count);
	done(&p);
}

static void standard_input_may_be_a_pipe(void **state)
{
	int fds[2], saved = dup(STDIN_FILENO);
	struct capture *c = NULL;
	struct reading r;
	struct perf p;

	make_pipe(&p);
	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, (int)p.file.size_bytes + 4096) > 0);
	assert_int_equal(write(fds[1], p.file.data, p.file.size_bytes), (ssize_t)p.file.size_bytes);
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	assert_int_equal(capture_open("-", &c, NULL), 0);
	dup2(saved, STDIN_FILENO);
	r = read_capture(c);
	assert_int_equal(r.records, p.count);
	assert_int_equal(capture_file_bytes(c), p.file.size_bytes);
	capture_close(c);
	close(fds[0]);
	close(saved);
	done(&p);
}

/* ---- cut and broken, all of them ---- */

static void make_any(struct perf *p, unsigned kind)
{
	struct buf raw = { 0 };

	if (kind == 2) {
		make_pipe(p);
		return;
	}
	begin_file(p);
	kernel_records(p, &raw, 15);
	if (kind)
		add_stream(p, &raw, 1500, 60000, PERFFILE_RECORD_COMPRESSED);
	else
		add(&p->file, raw.data, raw.size_bytes);
	end_file(p);
	buf_done(&raw);
}

static void a_file_cut_anywhere_gives_what_is_before_the_cut(void **state)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t before = 0;
		struct perf p;

		make_any(&p, kind);
		for (size_t size = 0; size < p.file.size_bytes; size++) {
			uint8_t *copy = malloc(size + 1);
			struct reading r;

			memcpy(copy, p.file.data, size);
			r = read_bytes(copy, size);
			free(copy);
			if (size < (kind == 2 ? 16 : 104)) {
				assert_int_equal(r.open_error, -ENODATA);
				continue;
			}
			assert_int_equal(r.open_error, 0);
			assert_true(r.records >= before);
			before = r.records;
			if (kind != 2)
				assert_true(r.damage.cut);
		}
		assert_true(before >= p.count - 10);
		done(&p);
	}
}

static void no_flipped_bit_is_more_than_the_reader_can_bear(void **state)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		struct perf p;

		make_any(&p, kind);
		for (size_t bit = 0; bit < p.file.size_bytes * 8; bit += kind ? 1 : 3) {
			struct reading r;

			p.file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			r = read_bytes(p.file.data, p.file.size_bytes);
			p.file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_true(r.records < 100000);
		}
		done(&p);
	}
}

static void a_hostile_head_allocates_no_more_than_the_file(void **state)
{
	struct reading r;
	struct perf p;

	/* Ids and features that all name the entire file. */
	begin_file(&p);
	kernel_records(&p, &p.file, 100);
	end_file(&p);
	memset(p.file.data + 72, 0xff, 32);
	for (unsigned i = 0; i < 256; i++) {
		add_u64(&p.file, 0);
		add_u64(&p.file, 50000);
	}
	le64_store(p.file.data + 120 + ATTR_BYTES, 0);
	le64_store(p.file.data + 120 + ATTR_BYTES + 8, p.file.size_bytes);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.records, 100);
	assert_true(r.damage.bad_sections >= 250);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_has_its_head_in_records),
		cmocka_unit_test(a_pipe_may_be_compressed),
		cmocka_unit_test(broken_head_records_of_a_pipe_are_damage),
		cmocka_unit_test(standard_input_may_be_a_pipe),
		cmocka_unit_test(a_file_cut_anywhere_gives_what_is_before_the_cut),
		cmocka_unit_test(no_flipped_bit_is_more_than_the_reader_can_bear),
		cmocka_unit_test(a_hostile_head_allocates_no_more_than_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
