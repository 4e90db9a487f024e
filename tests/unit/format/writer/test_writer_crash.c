/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* writer: what is left when it is killed inside a write, or the disk is full */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "format/reader/capture.h"
#include "format/writer/writer.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* After the write of [from, upto) of `after` on top of `before`, and nothing else. */
static struct bytes torn(const struct bytes *before, const struct bytes *after, size_t from,
			 size_t upto)
{
	struct bytes b = { .size = upto > before->size ? upto : before->size };

	b.data = malloc(b.size);
	assert_non_null(b.data);
	memcpy(b.data, before->data, before->size);
	memcpy(b.data + from, after->data + from, upto - from);
	return b;
}

static size_t data_end(const struct bytes *b)
{
	return le64_load(b->data + 40) + le64_load(b->data + 48);
}

static void a_crash_inside_a_flush_loses_only_that_flush(void **state)
{
	struct bytes before, after;
	size_t records_seen = 0;

	maker_begin(&maker, false);
	for (uint64_t t = 0; t < 50; t++)
		maker_sample(&maker, 1, 1000 + t, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	before = maker_bytes(&maker);
	for (uint64_t t = 50; t < 80; t++)
		maker_sample(&maker, 1, 1000 + t, 0);
	maker_comm(&maker, 1, "later", 1040);
	assert_int_equal(writer_flush(maker.w, true), 0);
	after = maker_bytes(&maker);
	for (size_t upto = data_end(&before); upto <= after.size; upto++) {
		struct bytes b = torn(&before, &after, data_end(&before), upto);
		struct reading r = read_bytes(b.data, b.size);

		assert_int_equal(r.open_error, 0);
		assert_int_equal(r.damage.bad_blocks, 0);
		assert_int_equal(r.damage.bad_sections, 0);
		assert_int_equal(r.iter_damage, 0);
		assert_true(r.records == 50 || r.records == 51 || r.records == 81);
		assert_true(r.records >= records_seen);
		records_seen = r.records;
		free(b.data);
	}
	assert_int_equal(records_seen, 81);
	free(before.data);
	free(after.data);
	maker_end(&maker);
}

static void a_crash_inside_finish_leaves_an_unfinished_capture(void **state)
{
	const uint8_t ids[36] = { 1, 2, 3 };
	const struct writer_feature build_id = { PERFFILE_BUILD_ID, ids, sizeof(ids) };
	struct bytes before, after;
	size_t from;

	maker_begin(&maker, false);
	maker_sample(&maker, 1, 1000, 0);
	assert_int_equal(writer_flush(maker.w, false), 0);
	before = maker_bytes(&maker);
	assert_int_equal(writer_finish(maker.w, &build_id, 1), 0);
	after = maker_bytes(&maker);
	/* The post area, then the entry in the table; the head has not come. */
	from = before.size;
	for (size_t upto = from; upto <= after.size; upto++) {
		struct bytes b = torn(&before, &after, from, upto);
		struct reading r = read_bytes(b.data, b.size);

		assert_false(reading_is_damaged(&r));
		assert_true(r.damage.unfinished);
		assert_int_equal(r.records, 1);
		memcpy(b.data + data_end(&before), after.data + data_end(&before),
		       before.size - data_end(&before));
		r = read_bytes(b.data, b.size);
		assert_false(reading_is_damaged(&r));
		assert_int_equal(r.records, 1);
		free(b.data);
	}
	free(before.data);
	free(after.data);
	maker_end(&maker);
}

/* Lets the file grow to limit bytes; 0 lifts the limit. */
static void limit_file(size_t limit)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = limit ? limit : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static void a_full_disk_leaves_what_was_flushed_and_is_reported(void **state)
{
	struct bytes before, after;
	struct writer_stats stats;
	struct reading r;

	maker_begin(&maker, false);
	maker_sample(&maker, 1, 1000, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	before = maker_bytes(&maker);
	for (int i = 0; i < 20; i++)
		maker_noisy_sample(&maker, 5004, 2000);
	limit_file(before.size + 30000);
	assert_int_equal(writer_flush(maker.w, true), -EFBIG);
	limit_file(0);
	/* There is room again, but the error stays. */
	assert_int_equal(writer_flush(maker.w, true), -EFBIG);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_CPU, maker.rec, 8, 0, 0), -EFBIG);
	assert_int_equal(writer_finish(maker.w, NULL, 0), -EFBIG);
	after = maker_bytes(&maker);
	assert_int_equal(after.size, before.size);
	r = read_bytes(after.data, after.size);
	assert_false(reading_is_damaged(&r));
	assert_int_equal(r.records, 1);
	/* perf needs the table behind the data again. */
	assert_memory_equal(after.data + data_end(&before), before.data + data_end(&before),
			    before.size - data_end(&before));
	writer_get_stats(maker.w, &stats);
	assert_int_equal(stats.file_bytes, before.size);
	free(before.data);
	free(after.data);
	maker_end(&maker);
}

static void a_disk_that_fills_while_finishing_leaves_an_unfinished_capture(void **state)
{
	static uint8_t ids[8000];
	const struct writer_feature build_id = { PERFFILE_BUILD_ID, ids, sizeof(ids) };
	struct bytes before, after;
	struct reading r;

	maker_begin(&maker, false);
	maker_sample(&maker, 1, 1000, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	before = maker_bytes(&maker);
	limit_file(before.size + 4000);
	assert_int_equal(writer_finish(maker.w, &build_id, 1), -EFBIG);
	limit_file(0);
	after = maker_bytes(&maker);
	assert_int_equal(after.size, before.size);
	assert_memory_equal(after.data, before.data, before.size);
	r = read_bytes(after.data, after.size);
	assert_false(reading_is_damaged(&r));
	assert_true(r.damage.unfinished);
	free(before.data);
	free(after.data);
	maker_end(&maker);
}

static void what_was_written_before_a_failure_can_be_finished(void **state)
{
	struct writer_stats s;
	struct reading r;
	struct bytes b;

	maker_begin(&maker, false);
	assert_int_equal(writer_give_up(maker.w), -EINVAL); /* nothing failed */
	for (uint64_t i = 0; i < 3; i++) {
		maker_sample(&maker, 7, 2000 + i, 0);
		maker_comm(&maker, 7, "seven", 1999 + i);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	writer_get_stats(maker.w, &s);
	limit_file(s.file_bytes + 8192);
	for (size_t i = 0; i < 4; i++)
		maker_noisy_sample(&maker, 9996, 9000);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "never seen", 10), 0);
	assert_int_equal(writer_flush(maker.w, true), -EFBIG);
	assert_int_equal(writer_flush(maker.w, true), -EFBIG);
	assert_int_equal(writer_give_up(maker.w), 0);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 2, "the end", 7), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	limit_file(0);
	b = maker_bytes(&maker);
	r = read_bytes(b.data, b.size);
	assert_false(reading_is_damaged(&r));
	assert_false(r.damage.unfinished);
	assert_int_equal(r.samples, 3);
	assert_null(memmem(b.data, b.size, "never", 5));
	free(b.data);
	maker_end(&maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_inside_a_flush_loses_only_that_flush),
		cmocka_unit_test(a_crash_inside_finish_leaves_an_unfinished_capture),
		cmocka_unit_test(a_full_disk_leaves_what_was_flushed_and_is_reported),
		cmocka_unit_test(a_disk_that_fills_while_finishing_leaves_an_unfinished_capture),
		cmocka_unit_test(what_was_written_before_a_failure_can_be_finished),
	};

	return cmocka_run_group_tests_name("writer_crash", tests, NULL, NULL);
}
