/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on what perf writes: files, -z, COMPRESSED2. */
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

#define SAMPLES 2000

/* ---- plain files ---- */

static void a_plain_file_is_cut_into_blocks_at_records(void **state)
{
	const struct capture_block *f;
	struct capture *c = NULL;
	uint64_t records = 0;
	struct perf p;
	size_t count;

	begin_file(&p);
	kernel_records(&p, &p.file, SAMPLES);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	assert_true(capture_is_divisible(c));
	f = capture_blocks(c, &count);
	assert_true(count > 5);
	for (size_t i = 0; i < count; i++) {
		struct record_iter *it = NULL;
		struct record rec;
		unsigned n = 0;

		assert_true(f[i].file_bytes <= EBX_RAW_MAX);
		assert_int_equal(f[i].stream, CAPTURE_STREAM_MIXED);
		assert_int_equal(record_iter_new(c, 0, i, 1, &it), 0);
		while (record_iter_next(it, &rec) > 0)
			n++;
		assert_int_equal(n, f[i].record_count);
		assert_int_equal(record_iter_damage(it), 0);
		records += n;
		record_iter_free(it);
	}
	assert_int_equal(records, SAMPLES);
	capture_close(c);
	done(&p);
}

static void with_one_attr_any_id_is_its_id(void **state)
{
	const struct capture_attr *a;
	struct capture *c = NULL;
	struct perf p;
	size_t count;

	begin_file(&p);
	kernel_records(&p, &p.file, 1);
	end_file(&p);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	a = capture_attrs(c, &count);
	assert_int_equal(count, 1);
	assert_int_equal(a->id_count, 2);
	assert_int_equal(a->ids[1], 12);
	assert_ptr_equal(capture_attr_by_id(c, 0), a);
	capture_close(c);
	done(&p);
}

static void records_at_unaligned_places_are_handed_out_aligned(void **state)
{
	const uint8_t unaligned[13] = { 1, 2, 3 };
	struct perf p;

	begin_file(&p);
	for (unsigned i = 0; i < 40; i++) {
		/* perf's HEADER_FEATURE need not be a multiple of 8. */
		add_expected(&p, PERFFILE_RECORD_EVENT_UPDATE + 1, unaligned,
			     i % sizeof(unaligned));
		kernel_records(&p, &p.file, 3);
	}
	end_file(&p);
	check(&p, CAPTURE_PERF);
	done(&p);
}

static void auxtrace_and_its_bytes_are_skipped(void **state)
{
	static const uint8_t blob[5000] = { 0xff, 0xff, 0xff, 0xff };
	uint8_t body[40] = { 0 };
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 10);
	le64_store(body, sizeof(blob));
	add_record(&p, PERFFILE_RECORD_AUXTRACE, body, sizeof(body));
	add(&p.file, blob, sizeof(blob));
	kernel_records(&p, &p.file, 10);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	done(&p);
}

static void perf_that_was_killed_left_data_without_a_size(void **state)
{
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 100);
	le64_store(p.file.data + 72, 0xffffffff); /* feature bits, but no table */
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_true(r.damage.cut);
	assert_int_equal(r.records, 100);
	assert_int_equal(r.damage.bad_sections, 0);
	/* Bytes that are no record end it. */
	add_u64(&p.file, 0xffffffffffffffff);
	kernel_records(&p, &p.file, 100);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.records, 100);
	done(&p);
}

static void unknown_types_are_counted(void **state)
{
	const uint8_t body[16] = { 0 };
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 5);
	add_record(&p, 40, body, sizeof(body));
	add_record(&p, 1000, body, sizeof(body));
	kernel_records(&p, &p.file, 5);
	end_file(&p);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.damage.unknown_records, 2);
	assert_false(r.damage.cut);
	assert_int_equal(r.records, 12);
	done(&p);
}

/* ---- compressed files ---- */

static void streams_are_joined_however_they_were_cut(void **state)
{
	const struct {
		size_t piece, part;
		uint32_t type;
	} cases[] = {
		{ 100000, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 1000003, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 777, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 50000, 100, PERFFILE_RECORD_COMPRESSED },
		{ 5000, 1, PERFFILE_RECORD_COMPRESSED },
		{ 100003, 60000, PERFFILE_RECORD_COMPRESSED2 },
		{ 777, 333, PERFFILE_RECORD_COMPRESSED2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf raw = { 0 };
		struct perf p;

		begin_file(&p);
		kernel_records(&p, &raw, i == 4 ? 100 : SAMPLES);
		add_stream(&p, &raw, cases[i].piece, cases[i].part, cases[i].type);
		end_file(&p);
		check(&p, CAPTURE_PERF);
		buf_done(&raw);
		done(&p);
	}
}

static void plain_records_may_stand_inside_a_split_record(void **state)
{
	struct buf raw = { 0 }, first, second;
	uint8_t *out;
	struct perf p, inner = { 0 };
	size_t n;

	begin_file(&p);
	kernel_records(&inner, &raw, 100);
	out = malloc(ZSTD_compressBound(raw.size_bytes));
	/* Two blocks whose border is inside a record; a round between them. */
	first = (struct buf){ .data = raw.data, .size_bytes = raw.size_bytes / 2 + 3 };
	second = (struct buf){ .data = raw.data + first.size_bytes,
			       .size_bytes = raw.size_bytes - first.size_bytes };
	n = ZSTD_compress(out, ZSTD_compressBound(raw.size_bytes), first.data, first.size_bytes, 1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	add_record(&p, PERFFILE_RECORD_FINISHED_ROUND, NULL, 0);
	n = ZSTD_compress(out, ZSTD_compressBound(raw.size_bytes), second.data, second.size_bytes,
			  1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	end_file(&p);
	{
		struct reading r = read_bytes(p.file.data, p.file.size_bytes);

		assert_int_equal(r.records, 101);
		assert_false(reading_is_damaged(&r));
	}
	free(out);
	buf_done(&raw);
	done(&inner);
	done(&p);
}

static void two_zstd_frames_in_one_record_are_both_read(void **state)
{
	uint8_t body[65528], skip[16] = { 0x5b, 0x2a, 0x4d, 0x18, 8 };
	struct buf raw = { 0 };
	struct perf p;
	size_t n, half;

	begin_file(&p);
	kernel_records(&p, &raw, 40);
	half = raw.size_bytes / 2;
	memcpy(body, skip, sizeof(skip));
	n = sizeof(skip);
	n += ZSTD_compress(body + n, 30000, raw.data, half, 1);
	memcpy(body + n, skip, sizeof(skip));
	n += sizeof(skip);
	n += ZSTD_compress(body + n, 30000, raw.data + half, raw.size_bytes - half, 1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, body, n);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	buf_done(&raw);
	done(&p);
}

static void a_compressed_file_is_read_in_order_or_not_at_all(void **state)
{
	struct record_iter *it = NULL;
	struct capture *c = NULL;
	struct buf raw = { 0 };
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &raw, 500);
	add_stream(&p, &raw, 10000, 60000, PERFFILE_RECORD_COMPRESSED);
	end_file(&p);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	assert_false(capture_is_divisible(c));
	assert_int_equal(record_iter_new(c, UINT32_MAX, 1, SIZE_MAX, &it), -EINVAL);
	assert_int_equal(record_iter_new(c, UINT32_MAX, 0, 1, &it), -EINVAL);
	assert_null(it);
	capture_close(c);
	buf_done(&raw);
	done(&p);
}

static void a_broken_stream_gives_what_came_before(void **state)
{
	struct buf raw = { 0 };
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &raw, SAMPLES);
	add_stream(&p, &raw, 100000, 60000, PERFFILE_RECORD_COMPRESSED);
	end_file(&p);
	memset(p.file.data + p.file.size_bytes / 2, 0, 100);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.open_error, 0);
	assert_true(r.records > SAMPLES / 4);
	assert_true(r.records < SAMPLES);
	assert_true(reading_is_damaged(&r));
	buf_done(&raw);
	done(&p);
}

/* 60 KB that want to become gigabytes of records: given up at a limit, in little memory. */
static void a_decompression_bomb_is_given_up(void **state)
{
	const size_t bomb_bytes = 200 << 20;
	uint8_t *raw = calloc(1, bomb_bytes), *out = malloc(60000);
	struct reading r;
	struct perf p;
	size_t n;

	for (size_t i = 0; i < bomb_bytes; i += 8)
		rec_finish(raw + i, 8, PERFFILE_RECORD_FINISHED_ROUND, 0);
	n = ZSTD_compress(out, 60000, raw, bomb_bytes, 1);
	assert_false(ZSTD_isError(n));
	begin_file(&p);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	kernel_records(&p, &p.file, 1);
	end_file(&p);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.iter_damage, 1);
	assert_true(r.records > 1000000);
	assert_true(r.records < (65 << 20) / 8);
	free(raw);
	free(out);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_is_cut_into_blocks_at_records),
		cmocka_unit_test(with_one_attr_any_id_is_its_id),
		cmocka_unit_test(records_at_unaligned_places_are_handed_out_aligned),
		cmocka_unit_test(auxtrace_and_its_bytes_are_skipped),
		cmocka_unit_test(perf_that_was_killed_left_data_without_a_size),
		cmocka_unit_test(unknown_types_are_counted),
		cmocka_unit_test(streams_are_joined_however_they_were_cut),
		cmocka_unit_test(plain_records_may_stand_inside_a_split_record),
		cmocka_unit_test(two_zstd_frames_in_one_record_are_both_read),
		cmocka_unit_test(a_compressed_file_is_read_in_order_or_not_at_all),
		cmocka_unit_test(a_broken_stream_gives_what_came_before),
		cmocka_unit_test(a_decompression_bomb_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
