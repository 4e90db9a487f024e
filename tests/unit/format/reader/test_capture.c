/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on our own captures: complete, cut, alive. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/reader/capture.h"
#include "tests/unit/finished.h"

/* ---- complete ---- */

static void a_finished_capture_reads_back_completely(void **state)
{
	struct bytes b = make(3);
	struct reading r = read_bytes(b.data, b.size);

	assert_false(reading_is_damaged(&r));
	assert_false(r.damage.unfinished);
	assert_null(r.damage.first.what);
	assert_int_equal(r.records, 33);
	assert_int_equal(r.samples, 30);
	assert_int_equal(r.blocks, 6);
	assert_int_equal(r.objects, 1);
	free(b.data);
}

static void head_attrs_features_and_clock_are_there(void **state)
{
	const struct capture_attr *attrs;
	uint64_t sample_ns, wall_ns;
	struct bytes b = make(1);
	struct capture *c = open_bytes(&b);
	size_t count;

	attrs = capture_attrs(c, &count);
	assert_int_equal(count, REC_ATTRS);
	assert_int_equal(attrs[0].attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(attrs[0].attr.size, 128);
	assert_int_equal(attrs[1].id_count, 1);
	assert_int_equal(attrs[1].ids[0], REC_SIDE_ID);
	assert_string_equal(attrs[0].name, "");
	assert_ptr_equal(capture_attr_by_id(c, REC_RAW_ID), &attrs[2]);
	assert_null(capture_attr_by_id(c, 0));
	assert_null(capture_attr_by_id(c, REC_RAW_ID + 1));
	assert_string_equal(capture_feature_string(c, PERFFILE_HOSTNAME), "machine");
	assert_null(capture_feature_string(c, PERFFILE_ARCH));
	assert_null(capture_feature(c, 9999).data);
	assert_true(capture_clock(c, &sample_ns, &wall_ns));
	assert_int_equal(sample_ns, 1000);
	assert_int_equal(wall_ns, 5000);
	assert_string_equal((const char *)capture_super(c)->uuid, "unit-test");
	assert_int_equal(capture_file_bytes(c), b.size);
	assert_true(capture_is_divisible(c));
	capture_close(c);
	free(b.data);
}

static void blocks_can_be_chosen_by_stream_and_by_number(void **state)
{
	struct bytes b = make(3);
	struct capture *c = open_bytes(&b);
	const struct {
		uint32_t mask;
		size_t first, count;
		unsigned records;
	} cases[] = {
		{ UINT32_MAX, 0, SIZE_MAX, 33 },
		{ 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, 3 },
		{ 1u << EBX_STREAM_CPU, 0, 3, 10 },
		{ UINT32_MAX, 4, 1, 1 },
		{ UINT32_MAX, 5, SIZE_MAX, 10 },
		{ UINT32_MAX, 6, 1, 0 },
		{ UINT32_MAX, 1000, SIZE_MAX, 0 },
		{ 0, 0, SIZE_MAX, 0 },
		{ UINT32_MAX, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_iter *it = NULL;
		struct record rec;
		unsigned n = 0;

		assert_int_equal(
			record_iter_new(c, cases[i].mask, cases[i].first, cases[i].count, &it), 0);
		while (record_iter_next(it, &rec) > 0)
			n++;
		assert_int_equal(n, cases[i].records);
		assert_int_equal(record_iter_next(it, &rec), 0);
		record_iter_free(it);
	}
	capture_close(c);
	free(b.data);
}

static void the_directory_has_what_the_scan_finds(void **state)
{
	const struct capture_object *oa, *ob;
	const struct capture_block *fa, *fb;
	struct bytes b = make(20);
	struct capture *with = open_bytes(&b), *without;
	size_t count, count2;

	b.data[b.size - 20] ^= 1;
	without = open_bytes(&b);
	assert_int_equal(capture_damage(with)->bad_sections, 0);
	assert_int_equal(capture_damage(without)->bad_sections, 1);
	fa = capture_blocks(with, &count);
	fb = capture_blocks(without, &count2);
	assert_int_equal(count, 40);
	assert_int_equal(count, count2);
	assert_memory_equal(fa, fb, count * sizeof(*fa));
	oa = capture_objects(with, &count);
	ob = capture_objects(without, &count2);
	assert_int_equal(count, count2);
	assert_memory_equal(oa, ob, count * sizeof(*oa));
	capture_close(with);
	capture_close(without);
	free(b.data);
}

static void every_block_checks_out(void **state)
{
	struct bytes b = make(3);
	struct capture *c = open_bytes(&b);
	const struct capture_block *blocks;
	struct record_iter *it;
	struct record rec;
	size_t count;

	blocks = capture_blocks(c, &count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(record_iter_new(c, UINT32_MAX, i, 1, &it), 0);
		for (uint32_t k = 0; k < blocks[i].record_count; k++)
			assert_int_equal(record_iter_next(it, &rec), 1);
		assert_int_equal(record_iter_next(it, &rec), 0);
		assert_int_equal(record_iter_damage(it), 0);
		record_iter_free(it);
	}
	capture_close(c);
	free(b.data);
}

/* ---- refused ---- */

static void what_is_no_capture_is_refused_with_a_word(void **state)
{
	static const uint8_t zeros[200];
	static const char old[] = "PERFFILE                ", big[] = "2ELIFREP                ";
	static const char malformed[] = "PERFILE2\x58\0\0\0\0\0\0\0        ";
	const struct {
		const void *data;
		size_t size;
		int error;
	} bad[] = {
		{ zeros, 0, -ENODATA },
		{ zeros, 15, -ENODATA },
		{ zeros, 200, -EBADMSG },
		{ "#!/bin/sh\nexit 0\n", 17, -EBADMSG },
		{ old, sizeof(old), -ENOTSUP },
		{ big, sizeof(big), -ENOTSUP },
		{ malformed, sizeof(malformed), -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct reading r = read_bytes(bad[i].data, bad[i].size);

		assert_int_equal(r.open_error, bad[i].error);
		assert_non_null(r.why.what);
	}
}

static void a_file_that_is_not_there_is_the_errno_of_open(void **state)
{
	struct capture *c = NULL;

	assert_int_equal(capture_open("/nonexistent/x", &c, NULL), -ENOENT);
	assert_int_equal(capture_open("/", &c, NULL), -EISDIR);
	assert_null(c);
}

/* ---- cut ---- */

static void a_capture_cut_anywhere_gives_all_that_is_before_the_cut(void **state)
{
	struct bytes b = make(3);
	struct reading complete = read_bytes(b.data, b.size);
	uint64_t before = 0;

	for (size_t size = 0; size < b.size; size++) {
		uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees one byte too far */
		struct reading r;

		memcpy(copy, b.data, size);
		r = read_bytes(copy, size);
		free(copy);
		if (size < PERFFILE_HEADER_BYTES) {
			assert_int_equal(r.open_error, -ENODATA);
			continue;
		}
		assert_int_equal(r.open_error, 0);
		assert_true(reading_is_damaged(&r));
		assert_true(r.records >= before);
		before = r.records;
		if (size >= data_end(&b))
			assert_int_equal(r.sum, complete.sum);
		else
			assert_true(r.damage.cut);
		assert_true(r.damage.cut_off_bytes <= size || size < data_start(&b));
	}
	assert_int_equal(before, 33);
	free(b.data);
}

static void what_lies_behind_a_finished_capture_is_ignored(void **state)
{
	struct bytes b = make(2);
	struct reading complete = read_bytes(b.data, b.size), r;

	b.data = realloc(b.data, b.size + 5000);
	memset(b.data + b.size, 0xa5, 5000);
	r = read_bytes(b.data, b.size + 5000);
	assert_false(reading_is_damaged(&r));
	assert_int_equal(r.sum, complete.sum);
	free(b.data);
}

/* ---- alive ---- */

static void a_flush_whose_second_write_never_came_is_found(void **state)
{
	struct bytes b;
	struct reading r;
	uint64_t old_size;

	maker_begin(&maker, false);
	maker_sample(&maker, 1, 1000, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	b = maker_bytes(&maker);
	old_size = le64_load(b.data + 48);
	free(b.data);
	maker_sample(&maker, 1, 1001, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	b = maker_bytes(&maker);
	le64_store(b.data + 48, old_size);
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.records, 2);
	assert_true(r.damage.unfinished);
	assert_false(reading_is_damaged(&r));
	/* The same with a bit of its data wrong: it is not taken. */
	b.data[le64_load(b.data + 40) + old_size + 150] ^= 1;
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.records, 1);
	assert_int_equal(r.iter_damage, 0);
	free(b.data);
	maker_end(&maker);
}

static void a_file_that_shrinks_while_it_is_read_is_damage_and_no_crash(void **state)
{
	struct capture *c = NULL;
	struct reading r;
	char path[64];

	maker_begin(&maker, false);
	for (int i = 0; i < 4; i++) {
		maker_sample(&maker, 1, 1000, 0);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", maker.fd);
	assert_int_equal(capture_open(path, &c, NULL), 0);
	assert_int_equal(ftruncate(maker.fd, 4200), 0);
	r = read_capture(c);
	assert_true(r.iter_damage >= 3);
	assert_true(r.records <= 1);
	capture_close(c);
	maker_end(&maker);
}

/* ---- objects ---- */

static void an_object_without_its_end_is_not_complete(void **state)
{
	static uint8_t noise[200000];
	const struct capture_object *o;
	struct capture *c;
	struct bytes b;
	uint8_t *data = NULL;
	size_t size, count, off;

	maker_begin(&maker, false);
	maker_noise(&maker, noise, sizeof(noise));
	assert_int_equal(writer_object(maker.w, EBX_FILE, 9, noise, sizeof(noise)), 0);
	assert_int_equal(writer_flush(maker.w, false), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	/* Cut after its second part. */
	off = find_record(&b, PERFFILE_RECORD_PRIVATE, 2);
	b.size = off;
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_int_equal(count, 1);
	assert_false(o->is_complete);
	assert_int_equal(o->part_count, 2);
	assert_int_equal(capture_object_read(c, o, &data, &size), -ENODATA);
	assert_null(data);
	capture_close(c);
	free(b.data);
}

static void an_object_with_a_broken_part_is_not_read(void **state)
{
	static uint8_t noise[200000];
	const struct capture_object *o;
	struct capture *c;
	struct bytes b;
	uint8_t *data = NULL;
	size_t size, count, off;

	maker_begin(&maker, false);
	maker_noise(&maker, noise, sizeof(noise));
	assert_int_equal(writer_object(maker.w, EBX_FILE, 9, noise, sizeof(noise)), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	off = find_record(&b, PERFFILE_RECORD_PRIVATE, 1);
	b.data[off + 5000] ^= 1;
	/* By the directory: found broken when it is read. */
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_true(o->is_complete);
	assert_int_equal(capture_object_read(c, o, &data, &size), -EBADMSG);
	capture_close(c);
	/* By the walk: the part is not there. */
	b.data[b.size - 1] ^= 1;
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_int_equal(count, 1);
	assert_false(o->is_complete);
	assert_int_equal(capture_object_read(c, o, &data, &size), -ENODATA);
	assert_null(data);
	capture_close(c);
	free(b.data);
}

static void an_object_written_again_is_another_object(void **state)
{
	const struct capture_object *o;
	struct capture *c;
	struct bytes b;
	size_t count;

	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 5, "old", 3), 0);
	assert_int_equal(writer_object(maker.w, EBX_META, 1, "{}", 2), 0);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 5, "newer", 5), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_int_equal(count, 3);
	assert_int_equal(o[0].kind, EBX_META);
	assert_int_equal(o[1].raw_bytes, 3);
	assert_int_equal(o[2].raw_bytes, 5);
	capture_close(c);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finished_capture_reads_back_completely),
		cmocka_unit_test(head_attrs_features_and_clock_are_there),
		cmocka_unit_test(blocks_can_be_chosen_by_stream_and_by_number),
		cmocka_unit_test(the_directory_has_what_the_scan_finds),
		cmocka_unit_test(every_block_checks_out),
		cmocka_unit_test(what_is_no_capture_is_refused_with_a_word),
		cmocka_unit_test(a_file_that_is_not_there_is_the_errno_of_open),
		cmocka_unit_test(a_capture_cut_anywhere_gives_all_that_is_before_the_cut),
		cmocka_unit_test(what_lies_behind_a_finished_capture_is_ignored),
		cmocka_unit_test(a_flush_whose_second_write_never_came_is_found),
		cmocka_unit_test(a_file_that_shrinks_while_it_is_read_is_damage_and_no_crash),
		cmocka_unit_test(an_object_without_its_end_is_not_complete),
		cmocka_unit_test(an_object_with_a_broken_part_is_not_read),
		cmocka_unit_test(an_object_written_again_is_another_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
