/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/reader/capture.h"
#include "format/writer/writer.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* ---- what is refused ---- */

static void options_that_break_a_rule_are_refused(void **state)
{
	static const uint64_t id = 1;
	struct writer_attr attr = { .ids = &id, .id_count = 1 }, no_id = { 0 };
	struct writer_feature ours = { .bit = PERFFILE_COMPRESSED },
			      high = { .bit = PERFFILE_FEATURE_BITS }, zero = { .bit = 0 };
	struct writer_feature twice[2] = { { .bit = 3 }, { .bit = 3 } };
	const struct {
		const char *what;
		struct writer_opts opts;
	} bad[] = {
		{ "no attr", { .level = 1 } },
		{ "attr without id", { .attrs = &no_id, .attr_count = 1, .level = 1 } },
		{ "level 0", { .attrs = &attr, .attr_count = 1 } },
		{ "level 20", { .attrs = &attr, .attr_count = 1, .level = 20 } },
		{ "the writer's own bit", { &attr, 1, &ours, 1, .level = 1 } },
		{ "a bit that is none", { &attr, 1, &high, 1, .level = 1 } },
		{ "bit 0", { &attr, 1, &zero, 1, .level = 1 } },
		{ "a bit twice", { &attr, 1, twice, 2, .level = 1 } },
	};
	int fd = memfd_create("capture", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct writer *w = NULL;

		print_message("    %s\n", bad[i].what);
		assert_int_equal(writer_new(fd, &bad[i].opts, &w), -EINVAL);
		assert_null(w);
	}
	close(fd);
}

static void incomplete_records_are_refused(void **state)
{
	uint8_t *r = maker.rec;
	size_t size;

	maker_begin(&maker, false);
	size = rec_comm(r, 1, 1, "x", 1);
	assert_int_equal(writer_record(maker.w, 0, r, size, 1, -1), -EINVAL);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_END, r, size, 1, -1), -EINVAL);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, r, size - 8, 1, -1), -EINVAL);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, r, 0, 1, -1), -EINVAL);
	le16_store(r + 6, 12);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, r, 12, 1, -1), -EINVAL);
	le16_store(r + 6, (uint16_t)size);
	le32_store(r, PERFFILE_RECORD_COMPRESSED);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, r, size, 1, -1), -EINVAL);
	/* None of this spoilt the writer. */
	maker_comm(&maker, 1, "x", 1);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), -EINVAL);
	assert_int_equal(writer_flush(maker.w, false), -EINVAL);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "x", 1), -EINVAL);
	maker_end(&maker);
}

/* ---- what a flush leaves ---- */

static void the_file_is_complete_after_every_flush(void **state)
{
	struct bytes b;

	maker_begin(&maker, false);
	for (uint64_t i = 0; i < 5; i++) {
		struct reading r;

		b = maker_bytes(&maker);
		r = read_bytes(b.data, b.size);
		free(b.data);
		assert_false(reading_is_damaged(&r));
		assert_true(r.damage.unfinished);
		assert_int_equal(r.records, 2 * i);
		maker_sample(&maker, 7, 2000 + i, 0);
		maker_comm(&maker, 7, "seven", 1999 + i);
		/* Not flushed yet: not in the file. */
		assert_int_not_equal(writer_pending_bytes(maker.w), 0);
		assert_int_equal(writer_flush(maker.w, true), 0);
		assert_int_equal(writer_pending_bytes(maker.w), 0);
	}
	maker_end(&maker);
}

static void a_flush_of_nothing_writes_nothing(void **state)
{
	struct bytes before, after;

	maker_begin(&maker, false);
	before = maker_bytes(&maker);
	assert_int_equal(writer_flush(maker.w, true), 0);
	after = maker_bytes(&maker);
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, after.size);
	free(before.data);
	free(after.data);
	maker_end(&maker);
}

static void side_blocks_come_before_the_samples_of_a_flush(void **state)
{
	const struct capture_block *f;
	struct capture *c = NULL;
	struct bytes b;
	size_t count;

	maker_begin(&maker, false);
	maker_sample(&maker, 7, 2000, 3);
	maker_comm(&maker, 7, "seven", 1999);
	assert_int_equal(writer_flush(maker.w, false), 0);
	maker_sample(&maker, 7, 3000, 65);
	maker_sample(&maker, 7, 2500, 1);
	writer_lost(maker.w, EBX_STREAM_CPU, 23);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	f = capture_blocks(c, &count);
	assert_int_equal(count, 3);
	assert_int_equal(f[0].stream, EBX_STREAM_SIDE);
	assert_int_equal(f[1].stream, EBX_STREAM_CPU);
	assert_int_equal(f[1].cpu_mask, 1 << 3);
	assert_int_equal(f[2].cpu_mask, 1 << 1); /* 65 and 1 share a bit */
	assert_int_equal(f[2].t_min_ns, 2500);
	assert_int_equal(f[2].t_max_ns, 3000);
	assert_int_equal(f[2].lost_count, 23);
	assert_int_equal(f[1].lost_count, 0);
	assert_int_equal(f[2].sample_count, 2);
	capture_close(c);
	free(b.data);
	maker_end(&maker);
}

static void records_without_a_time_do_not_move_the_start(void **state)
{
	const struct capture_block *f;
	struct capture *c = NULL;
	struct bytes b;
	size_t count;

	maker_begin(&maker, false);
	maker_comm(&maker, 7, "a", 0);
	assert_int_equal(writer_flush(maker.w, false), 0);
	maker_comm(&maker, 7, "b", 0);
	maker_comm(&maker, 7, "c", 77);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	f = capture_blocks(c, &count);
	assert_int_equal(f[0].t_min_ns, 0);
	assert_int_equal(f[0].t_max_ns, 0);
	assert_int_equal(f[1].t_min_ns, 77);
	assert_int_equal(f[1].t_max_ns, 77);
	capture_close(c);
	free(b.data);
	maker_end(&maker);
}

/* ---- sizes ---- */

static void what_does_not_compress_is_halved_until_it_fits(void **state)
{
	const struct capture_block *f;
	struct capture *c = NULL;
	struct reading r;
	struct bytes b;
	size_t count;

	maker_begin(&maker, false);
	for (int i = 0; i < 200; i++)
		maker_noisy_sample(&maker, 5004, 1000 + (uint64_t)i);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	f = capture_blocks(c, &count);
	assert_true(count >= 200 * 5004 / 65528);
	assert_true(count < 40);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(f[i].stream, EBX_STREAM_CPU);
		assert_true(f[i].file_bytes <= PERFFILE_RECORD_MAX);
		if (i)
			assert_true(f[i].t_min_ns == f[i - 1].t_max_ns + 1);
	}
	r = read_capture(c);
	assert_int_equal(r.samples, 200);
	assert_false(reading_is_damaged(&r));
	capture_close(c);
	free(b.data);
	maker_end(&maker);
}

static void the_largest_record_goes_in_whatever_it_holds(void **state)
{
	struct reading ebx = { 0 }, plain = { 0 };
	struct bytes b;

	for (int p = 0; p < 2; p++) {
		maker_begin(&maker, p);
		maker_sample(&maker, 1, 1000, 0);
		maker_noisy_sample(&maker, PERFFILE_RECORD_MAX - 68, 1001);
		maker_sample(&maker, 1, 1002, 0);
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
		b = maker_bytes(&maker);
		*(p ? &plain : &ebx) = read_bytes(b.data, b.size);
		free(b.data);
		maker_end(&maker);
	}
	assert_false(reading_is_damaged(&ebx));
	assert_int_equal(ebx.samples, 3);
	assert_int_equal(ebx.blocks, 3);
	assert_int_equal(ebx.crc, plain.crc);
}

static void objects_of_any_size_come_back(void **state)
{
	static const size_t sizes[] = { 0,      1,      31,     32,     33,
					65479,  65480,  65481,  65536,  131071,
					262143, 262144, 262145, 300000, 1000000 };
	static uint8_t noise[1000000], same[1000000];

	maker_begin(&maker, false);
	maker_noise(&maker, noise, sizeof(noise));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(writer_object(maker.w, EBX_FILE, i, noise, sizes[i]), 0);
		assert_int_equal(writer_object(maker.w, EBX_SYMTAB, i, same, sizes[i]), 0);
	}
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	for (int scan = 0; scan < 2; scan++) {
		const struct capture_object *o;
		struct capture *c = NULL;
		struct bytes b = maker_bytes(&maker);
		size_t count;

		if (scan) /* without the directory */
			b.data[b.size - 1] ^= 1;
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		assert_int_equal(capture_damage(c)->bad_sections, scan);
		o = capture_objects(c, &count);
		assert_int_equal(count, 2 * sizeof(sizes) / sizeof(sizes[0]));
		for (size_t i = 0; i < count; i++) {
			uint8_t *data = NULL;
			size_t size = 1;

			assert_true(o[i].is_complete);
			assert_int_equal(capture_object_read(c, &o[i], &data, &size), 0);
			assert_int_equal(size, sizes[o[i].object]);
			assert_int_equal(o[i].raw_bytes, size);
			assert_memory_equal(data, o[i].kind == EBX_FILE ? noise : same, size);
			free(data);
		}
		capture_close(c);
		free(b.data);
	}
	maker_end(&maker);
}

static void the_same_input_gives_the_same_bytes(void **state)
{
	struct bytes b[2];

	for (int i = 0; i < 2; i++) {
		maker_begin(&maker, false);
		for (uint64_t t = 0; t < 5000; t++)
			maker_sample(&maker, (uint32_t)(t % 7), 1000 + t, t & 1);
		maker_comm(&maker, 1, "one", 5);
		assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "note", 4), 0);
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
		b[i] = maker_bytes(&maker);
		maker_end(&maker);
	}
	assert_int_equal(b[0].size, b[1].size);
	assert_memory_equal(b[0].data, b[1].data, b[0].size);
	free(b[0].data);
	free(b[1].data);
}

/* ---- finish ---- */

static void finish_adds_build_ids_times_and_the_clean_mark(void **state)
{
	const uint8_t ids[36] = { 1, 2, 3 };
	const struct writer_feature build_id = { PERFFILE_BUILD_ID, ids, sizeof(ids) };
	const struct writer_feature other = { PERFFILE_HOSTNAME, ids, sizeof(ids) };

	for (int plain = 0; plain < 2; plain++) {
		struct capture_bytes f;
		struct capture *c = NULL;
		struct bytes b;

		maker_begin(&maker, plain);
		maker_sample(&maker, 1, 5555, 0);
		maker_sample(&maker, 1, 4444, 0);
		assert_int_equal(writer_finish(maker.w, &other, 1), -EINVAL);
		assert_int_equal(writer_finish(maker.w, &build_id, 1), 0);
		b = maker_bytes(&maker);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		f = capture_feature(c, PERFFILE_BUILD_ID);
		assert_int_equal(f.size_bytes, sizeof(ids));
		assert_memory_equal(f.data, ids, sizeof(ids));
		f = capture_feature(c, PERFFILE_SAMPLE_TIME);
		assert_int_equal(f.size_bytes, 16);
		assert_int_equal(le64_load(f.data), 4444);
		assert_int_equal(le64_load(f.data + 8), 5555);
		assert_string_equal(capture_feature_string(c, PERFFILE_HOSTNAME), "machine");
		assert_int_equal(capture_get_kind(c), plain ? CAPTURE_PERF : CAPTURE_EBX);
		if (!plain)
			assert_int_equal(capture_super(c)->state, EBX_CLEAN);
		assert_int_equal(capture_damage(c)->unfinished, 0);
		capture_close(c);
		free(b.data);
		maker_end(&maker);
	}
}

static void statistics_add_up(void **state)
{
	struct writer_stats s;
	struct bytes b;
	size_t size;

	maker_begin(&maker, false);
	for (uint64_t t = 0; t < 10; t++)
		maker_sample(&maker, 1, 1000 + t, 0);
	size = 10 * le16_load(maker.rec + 6);
	maker_comm(&maker, 1, "x", 1);
	size += le16_load(maker.rec + 6);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	writer_get_stats(maker.w, &s);
	b = maker_bytes(&maker);
	assert_int_equal(s.file_bytes, b.size);
	assert_int_equal(s.raw_bytes, size);
	free(b.data);
	maker_end(&maker);
}

/* ---- batches ---- */

static int count_record(void *arg, const uint8_t *record, size_t size_bytes)
{
	(*(size_t *)arg)++;
	return 0;
}

static void batches_make_the_capture_that_would_have_been_written(void **state)
{
	static const uint8_t uuid[16] = "another";
	struct writer_batch *objects = NULL, *batch[3] = { NULL };
	struct maker direct, from, to;
	struct reading want, got;
	struct bytes b;
	size_t comms = 0;

	maker_begin(&direct, false);
	maker_begin(&from, false);
	assert_int_equal(writer_batch_new(&objects), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct maker *m[] = { &direct, &from };

		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(writer_object(m[k]->w, EBX_NOTE, i, "words", 5), 0);
			maker_sample(m[k], 7, 2000 + i, 0);
			maker_comm(m[k], 7, "seven", 1999 + i);
			writer_lost(m[k]->w, EBX_STREAM_CPU, i);
			/* Larger than a block: a plain record. */
			maker_noisy_sample(m[k], 65100 / 8 * 8 + 4, 2000 + i);
		}
		assert_int_equal(writer_flush(direct.w, true), 0);
		assert_int_equal(writer_take_objects(from.w, objects), 0);
		assert_int_equal(writer_take(from.w, &batch[i]), 0);
		assert_int_equal(writer_pending_bytes(from.w), 0);
		assert_int_equal(writer_batch_first_ns(batch[i]), 2000 + i);
		assert_int_equal(
			writer_batch_records(batch[i], EBX_STREAM_SIDE, count_record, &comms), 0);
	}
	assert_int_equal(comms, 3);
	to = from;
	to.fd = memfd_create("like", MFD_CLOEXEC);
	assert_int_equal(writer_like(to.fd, from.w, uuid, &to.w), 0);
	assert_int_equal(writer_put(to.w, objects), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(writer_put(to.w, batch[i]), 0);
		assert_int_equal(writer_flush(to.w, true), 0);
		writer_batch_free(batch[i]);
	}
	assert_int_equal(writer_finish(to.w, NULL, 0), 0);
	assert_int_equal(writer_finish(direct.w, NULL, 0), 0);
	b = maker_bytes(&direct);
	want = read_bytes(b.data, b.size);
	free(b.data);
	b = maker_bytes(&to);
	got = read_bytes(b.data, b.size);
	assert_false(reading_is_damaged(&got));
	assert_int_equal(got.records, want.records);
	assert_int_equal(got.samples, want.samples);
	assert_int_equal(got.sum, want.sum);
	assert_memory_equal(b.data + EBX_SUPER_OFF + 16, uuid, 16);
	free(b.data);
	writer_batch_free(objects);
	maker_end(&to);
	maker_end(&from);
	maker_end(&direct);
}

static void a_writer_without_a_file_does_not_write(void **state)
{
	const uint64_t id = 1;
	const struct writer_attr attr = { .ids = &id, .id_count = 1 };
	const struct writer_opts opts = { .attrs = &attr, .attr_count = 1, .level = 1 };
	struct writer_batch *batch = NULL;
	struct writer *w = NULL;

	assert_int_equal(writer_new(-1, &opts, &w), 0);
	assert_int_equal(writer_flush(w, true), -EINVAL);
	assert_int_equal(writer_finish(w, NULL, 0), -EINVAL);
	assert_int_equal(writer_take(w, &batch), 0);
	assert_int_equal(writer_batch_first_ns(batch), 0);
	writer_batch_free(batch);
	writer_batch_free(NULL);
	writer_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_break_a_rule_are_refused),
		cmocka_unit_test(incomplete_records_are_refused),
		cmocka_unit_test(the_file_is_complete_after_every_flush),
		cmocka_unit_test(a_flush_of_nothing_writes_nothing),
		cmocka_unit_test(side_blocks_come_before_the_samples_of_a_flush),
		cmocka_unit_test(records_without_a_time_do_not_move_the_start),
		cmocka_unit_test(what_does_not_compress_is_halved_until_it_fits),
		cmocka_unit_test(the_largest_record_goes_in_whatever_it_holds),
		cmocka_unit_test(objects_of_any_size_come_back),
		cmocka_unit_test(the_same_input_gives_the_same_bytes),
		cmocka_unit_test(finish_adds_build_ids_times_and_the_clean_mark),
		cmocka_unit_test(statistics_add_up),
		cmocka_unit_test(batches_make_the_capture_that_would_have_been_written),
		cmocka_unit_test(a_writer_without_a_file_does_not_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
