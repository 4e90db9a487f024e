/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/writer/recover.h"
#include "tests/fuzz/resum.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* Three flushes of names, samples and an object; finished or as a kill leaves it. */
static struct bytes make(bool finished)
{
	struct bytes b;

	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "a note", 6), 0);
	for (uint32_t flush = 0; flush < 3; flush++) {
		maker_comm(&maker, 10 + flush, "name", 2000 + 100 * flush);
		for (uint32_t i = 0; i < 5; i++)
			maker_sample(&maker, 10 + flush, 2000 + 100 * flush + i, i % 2);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	if (finished)
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

struct result {
	int error; /* of capture_from_bytes() or recovery_plan() */
	struct recover_report report;
	struct bytes file; /* after applying; owned */
};

/* Recovers a file that holds these bytes; in place even when it is is_complete. */
static struct result recover(const uint8_t *data, size_t size_bytes)
{
	struct result res = { 0 };
	struct capture *c = NULL;
	struct recovery *r = NULL;
	struct maker file = { .fd = memfd_create("recover", MFD_CLOEXEC) };

	assert_int_equal(pwrite(file.fd, data, size_bytes, 0), (ssize_t)size_bytes);
	res.error = capture_from_bytes(data, size_bytes, &c, NULL);
	if (!res.error)
		res.error = recovery_plan(c, file.fd, &r, NULL);
	if (!res.error) {
		recovery_get_report(r, &res.report);
		assert_int_equal(recovery_apply(r, file.fd), 0);
		res.file = maker_bytes(&file);
	}
	recovery_free(r);
	capture_close(c);
	close(file.fd);
	return res;
}

static enum ebx_state state_of(const struct bytes *b)
{
	struct ebx_super s;

	assert_true(b->size > EBX_SUPER_OFF + EBX_SUPER_BYTES);
	assert_int_equal(ebx_super_decode(b->data + EBX_SUPER_OFF, EBX_SUPER_BYTES, &s, NULL), 0);
	return s.state;
}

static void recover_sees_that_a_capture_is_complete(void **state)
{
	struct bytes is_complete = make(true);
	struct result res = recover(is_complete.data, is_complete.size);

	assert_int_equal(res.error, 0);
	assert_true(res.report.is_complete);
	assert_int_equal(res.report.lost_bytes, 0);
	/* Done all the same, it changes nothing but the state. */
	assert_int_equal(res.file.size, is_complete.size);
	assert_memory_equal(res.file.data + EBX_HEAD_BYTES, is_complete.data + EBX_HEAD_BYTES,
			    is_complete.size - EBX_HEAD_BYTES);
	free(res.file.data);
	free(is_complete.data);
}

static void recover_of_a_killed_recorder_gives_what_finishing_gives(void **state)
{
	struct bytes live = make(false), is_complete = make(true);
	struct result res = recover(live.data, live.size);

	assert_int_equal(res.error, 0);
	assert_false(res.report.is_complete);
	assert_int_equal(res.report.lost_bytes, 0);
	assert_int_equal(res.report.sample_count, 15);
	assert_int_equal(res.report.first_ns, 2000);
	assert_int_equal(res.report.last_ns, 2204);
	assert_int_equal(state_of(&res.file), EBX_RECOVERED);
	assert_int_equal(res.file.size, is_complete.size);
	assert_memory_equal(res.file.data + EBX_HEAD_BYTES, is_complete.data + EBX_HEAD_BYTES,
			    is_complete.size - EBX_HEAD_BYTES);
	free(res.file.data);
	free(is_complete.data);
	free(live.data);
}

/* The result must be is_complete, undamaged, and stay as it is when recovered again. */
static void check_complete(const struct bytes *b)
{
	struct reading r = read_bytes(b->data, b->size);
	struct result again = recover(b->data, b->size);

	assert_int_equal(r.open_error, 0);
	assert_int_equal(r.iter_damage, 0);
	assert_int_equal(r.damage.bad_blocks, 0);
	assert_int_equal(r.damage.bad_sections, 0);
	assert_false(r.damage.cut);
	assert_false(r.damage.unfinished);
	assert_int_equal(again.error, 0);
	assert_true(again.report.is_complete);
	assert_int_equal(again.file.size, b->size);
	assert_memory_equal(again.file.data, b->data, b->size);
	free(again.file.data);
}

static void recover_after_any_cut_keeps_what_is_before_it(bool finished)
{
	struct bytes full = make(finished);
	struct reading all = read_bytes(full.data, full.size), part = { 0 };
	uint64_t before = 0;

	for (size_t size = EBX_HEAD_BYTES; size <= full.size; size++) {
		struct result res = recover(full.data, size);

		assert_int_equal(res.error, 0);
		check_complete(&res.file);
		part = read_bytes(res.file.data, res.file.size);
		assert_true(part.records >= before);
		assert_true(part.records <= all.records);
		assert_int_equal(res.report.valid_bytes <= size, true);
		before = part.records;
		free(res.file.data);
	}
	assert_int_equal(before, all.records);
	assert_int_equal(part.crc, all.crc);
	free(full.data);
}

static void recover_after_any_cut_of_a_finished_capture(void **state)
{
	recover_after_any_cut_keeps_what_is_before_it(true);
}

static void recover_after_any_cut_of_an_unfinished_capture(void **state)
{
	recover_after_any_cut_keeps_what_is_before_it(false);
}

static void recover_refuses_a_cut_inside_the_head(void **state)
{
	struct bytes full = make(true);

	for (size_t size = 0; size < EBX_HEAD_BYTES; size++) {
		struct result res = recover(full.data, size);

		assert_int_not_equal(res.error, 0);
	}
	free(full.data);
}

/* Any one byte: at most the block it is in is gone. */
static void recover_of_a_broken_byte_costs_one_block_at_most(void **state)
{
	struct bytes full = make(true);
	struct reading all = read_bytes(full.data, full.size), left;

	for (size_t off = EBX_HEAD_BYTES; off < full.size; off++) {
		struct result res;

		full.data[off] ^= 0x55;
		res = recover(full.data, full.size);
		full.data[off] ^= 0x55;
		assert_int_equal(res.error, 0);
		check_complete(&res.file);
		left = read_bytes(res.file.data, res.file.size);
		assert_true(left.records + 5 >= all.records);
		free(res.file.data);
	}
	free(full.data);
}

/* Bytes of the head have a checksum, or follow from what has, or are seen to be broken. */
static void recover_of_a_broken_head_mends_it_or_reports_it(void **state)
{
	struct bytes full = make(true);
	struct reading all = read_bytes(full.data, full.size), now;
	unsigned mended = 0, refused = 0;

	for (size_t off = 0; off < EBX_SUPER_OFF + EBX_SUPER_BYTES; off++) {
		struct result res;

		full.data[off] ^= 0x55;
		res = recover(full.data, full.size);
		full.data[off] ^= 0x55;
		if (res.error) {
			refused++;
			continue;
		}
		now = read_bytes(res.file.data, res.file.size);
		mended += now.records == all.records && !now.damage.bad_sections;
		free(res.file.data);
	}
	/* Magic and header size, and the superblock: without them it is no capture of ours. */
	assert_int_equal(refused, 16 + EBX_SUPER_BYTES);
	/* All of the rest but the place of the attrs, 16 bytes. */
	assert_true(mended >= EBX_SUPER_OFF - 16 - 16);
	free(full.data);
}

/* More feature bits make a larger table: here it covers the sections that the head must hold. */
static void recover_refuses_a_table_that_covers_its_sections(void **state)
{
	struct bytes live = make(false);
	struct result res;

	le64_store(live.data + EBX_SUPER_OFF + 56, 0xffffffff);
	resum_capture(live.data, live.size);
	res = recover(live.data, live.size);
	assert_int_equal(res.error, -EBADMSG);
	free(live.data);
}

static void recover_refuses_a_table_without_features(void **state)
{
	struct bytes live = make(false);
	struct result res;

	memset(live.data + EBX_SUPER_OFF + 48, 0, 32);
	resum_capture(live.data, live.size);
	res = recover(live.data, live.size);
	assert_int_equal(res.error, -EBADMSG);
	free(live.data);
}

static void recover_puts_the_build_ids_of_mappings_together(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3, [19] = 9 };
	struct capture_bytes section;
	struct capture *c = NULL;
	struct result res;
	struct bytes live;
	size_t size;

	maker_begin(&maker, false);
	size = rec_mmap2(maker.rec, 5, "/bin/five", 10);
	le16_store(maker.rec + 4, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	memset(maker.rec + 40, 0, 24);
	maker.rec[40] = 20;
	memcpy(maker.rec + 44, id, 20);
	for (int i = 0; i < 2; i++)
		assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, maker.rec, size, 10, -1),
				 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	live = maker_bytes(&maker);
	maker_end(&maker);
	res = recover(live.data, live.size);
	assert_int_equal(res.error, 0);
	assert_int_equal(capture_from_bytes(res.file.data, res.file.size, &c, NULL), 0);
	section = capture_feature(c, PERFFILE_BUILD_ID);
	assert_int_equal(section.size_bytes, 100);
	assert_memory_equal(section.data + 12, id, 20);
	assert_string_equal((const char *)section.data + 36, "/bin/five");
	capture_close(c);
	check_complete(&res.file);
	free(res.file.data);
	free(live.data);
}

static void recover_refuses_files_that_are_not_ours(void **state)
{
	struct result res;
	struct bytes plain;

	maker_begin(&maker, true);
	maker_sample(&maker, 1, 2000, 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	plain = maker_bytes(&maker);
	maker_end(&maker);
	res = recover(plain.data, plain.size);
	assert_int_equal(res.error, -ENOTSUP);
	free(plain.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recover_sees_that_a_capture_is_complete),
		cmocka_unit_test(recover_of_a_killed_recorder_gives_what_finishing_gives),
		cmocka_unit_test(recover_after_any_cut_of_a_finished_capture),
		cmocka_unit_test(recover_after_any_cut_of_an_unfinished_capture),
		cmocka_unit_test(recover_refuses_a_cut_inside_the_head),
		cmocka_unit_test(recover_of_a_broken_byte_costs_one_block_at_most),
		cmocka_unit_test(recover_of_a_broken_head_mends_it_or_reports_it),
		cmocka_unit_test(recover_refuses_a_table_that_covers_its_sections),
		cmocka_unit_test(recover_refuses_a_table_without_features),
		cmocka_unit_test(recover_puts_the_build_ids_of_mappings_together),
		cmocka_unit_test(recover_refuses_files_that_are_not_ours),
	};

	return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
