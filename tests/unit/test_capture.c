/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on our own captures: whole, cut, broken, alive. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/capture.h"
#include "tests/gen/captures.h"

static struct maker maker;

/* A finished capture of flush_count flushes, an object, and 10 samples a flush. */
static struct bytes make(unsigned flush_count)
{
	struct bytes b;

	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "a note", 6), 0);
	for (unsigned i = 0; i < flush_count; i++) {
		maker_comm(&maker, i, "name", 1000 + 100 * i);
		for (unsigned k = 0; k < 10; k++)
			maker_sample(&maker, i, 1000 + 100 * i + k, k % 4);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static size_t data_start(const struct bytes *b)
{
	return le64_load(b->data + 40);
}

static size_t data_end(const struct bytes *b)
{
	return data_start(b) + le64_load(b->data + 48);
}

static struct capture *open_bytes(const struct bytes *b)
{
	struct capture *c = NULL;

	assert_int_equal(capture_from_bytes(b->data, b->size, &c, NULL), 0);
	return c;
}

/* The offset of record number n of a type in the data section. */
static size_t find_record(const struct bytes *b, uint32_t type, unsigned n)
{
	for (size_t off = data_start(b); off < data_end(b); off += le16_load(b->data + off + 6))
		if (le32_load(b->data + off) == type && !n--)
			return off;
	fail();
	return 0;
}

/* ---- whole ---- */

static void a_finished_capture_reads_back_whole(void **state)
{
	struct bytes b = make(3);
	struct reading r = read_bytes(b.data, b.size);

	assert_false(reading_is_damaged(&r));
	assert_false(r.damage.unfinished);
	assert_null(r.damage.first.what);
	assert_int_equal(r.records, 33);
	assert_int_equal(r.samples, 30);
	assert_int_equal(r.frames, 6);
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

static void frames_can_be_chosen_by_stream_and_by_number(void **state)
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

static void the_directory_says_what_the_walk_finds(void **state)
{
	const struct capture_object *oa, *ob;
	const struct capture_frame *fa, *fb;
	struct bytes b = make(20);
	struct capture *with = open_bytes(&b), *without;
	size_t count, count2;

	b.data[b.size - 20] ^= 1;
	without = open_bytes(&b);
	assert_int_equal(capture_damage(with)->bad_sections, 0);
	assert_int_equal(capture_damage(without)->bad_sections, 1);
	fa = capture_frames(with, &count);
	fb = capture_frames(without, &count2);
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

static void every_frame_checks_out(void **state)
{
	struct bytes b = make(3);
	struct capture *c = open_bytes(&b);
	size_t count;

	(void)capture_frames(c, &count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(capture_check_frame(c, i), 0);
	assert_int_equal(capture_check_frame(c, count), -ENOTSUP);
	capture_close(c);
	free(b.data);
}

/* ---- refused ---- */

static void what_is_no_capture_is_refused_with_a_word(void **state)
{
	static const uint8_t zeros[200];
	static const char old[] = "PERFFILE                ", big[] = "2ELIFREP                ";
	static const char odd[] = "PERFILE2\x58\0\0\0\0\0\0\0        ";
	const struct {
		const void *data;
		size_t size;
		int error;
	} bad[] = {
		{ zeros, 0, -ENODATA },         { zeros, 15, -ENODATA },
		{ zeros, 200, -EBADMSG },       { "#!/bin/sh\nexit 0\n", 17, -EBADMSG },
		{ old, sizeof(old), -ENOTSUP }, { big, sizeof(big), -ENOTSUP },
		{ odd, sizeof(odd), -EBADMSG },
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
	struct reading whole = read_bytes(b.data, b.size);
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
			assert_int_equal(r.sum, whole.sum);
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
	struct reading whole = read_bytes(b.data, b.size), r;

	b.data = realloc(b.data, b.size + 5000);
	memset(b.data + b.size, 0xa5, 5000);
	r = read_bytes(b.data, b.size + 5000);
	assert_false(reading_is_damaged(&r));
	assert_int_equal(r.sum, whole.sum);
	free(b.data);
}

/* ---- broken ---- */

/*
 * No flipped bit gives a wrong record without a word: either nothing changed, or the reader says
 * that something is wrong.
 */
static void no_flipped_bit_gives_wrong_records_in_silence(void **state)
{
	struct bytes b = make(2);
	struct reading whole = read_bytes(b.data, b.size);
	unsigned noticed = 0, tried = 0;

	for (size_t byte = 0; byte < b.size; byte++) {
		/* The superblock's magic tells whose file it is; most of the head is padding. */
		if (byte >= EBX_SUPER_OFF && byte < EBX_SUPER_OFF + 8)
			continue;
		if (byte >= 1024 && byte < data_start(&b) && byte % 64)
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			struct reading r;

			b.data[byte] ^= (uint8_t)(1u << bit);
			r = read_bytes(b.data, b.size);
			b.data[byte] ^= (uint8_t)(1u << bit);
			tried++;
			noticed += reading_is_damaged(&r);
			if (!reading_is_damaged(&r))
				assert_int_equal(r.sum, whole.sum);
			else if (!r.open_error)
				assert_true(r.records <= whole.records);
		}
	}
	print_message("    %u of %u flips noticed\n", noticed, tried);
	assert_true(noticed > tried / 3);
	free(b.data);
}

static struct reading flipped(const struct bytes *b, size_t byte, unsigned bit)
{
	struct reading r;

	b->data[byte] ^= (uint8_t)(1u << bit);
	r = read_bytes(b->data, b->size);
	b->data[byte] ^= (uint8_t)(1u << bit);
	return r;
}

static void every_flipped_bit_in_the_head_is_noticed(void **state)
{
	struct bytes b = make(1);
	size_t static_off = le64_load(b.data + EBX_SUPER_OFF + 120);

	assert_in_range(static_off, EBX_SUPER_OFF + EBX_SUPER_BYTES, data_start(&b));
	for (size_t byte = 0; byte < data_start(&b); byte++) {
		/* The superblock's magic tells whose file it is; 4 bytes bring COMPRESSED to 24. */
		if ((byte >= EBX_SUPER_OFF && byte < EBX_SUPER_OFF + 8) ||
		    (byte >= static_off - 4 && byte < static_off))
			continue;
		for (unsigned bit = 0; bit < 8; bit += byte < 1024 ? 1 : 7) {
			struct reading r = flipped(&b, byte, bit);

			if (!reading_is_damaged(&r))
				fail_msg("bit %u of byte %zu", bit, byte);
		}
	}
	free(b.data);
}

static void every_flipped_bit_behind_the_data_is_noticed(void **state)
{
	static const uint8_t ids[] = "thirteen byte";
	const struct writer_feature feature = { PERFFILE_BUILD_ID, ids, 13 };
	size_t table_bytes, ids_off;
	struct bytes b;

	maker_begin(&maker, false);
	maker_comm(&maker, 1, "name", 1000);
	assert_int_equal(writer_finish(maker.w, &feature, 1), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	table_bytes = 16 * (size_t)__builtin_popcountll(le64_load(b.data + 72));
	ids_off = data_end(&b) + table_bytes;
	for (size_t byte = data_end(&b); byte < b.size; byte++) {
		if (byte >= ids_off + 13 && byte < ids_off + 16)
			continue; /* padding */
		for (unsigned bit = 0; bit < 8; bit++) {
			struct reading r = flipped(&b, byte, bit);

			if (!reading_is_damaged(&r))
				fail_msg("bit %u of byte %zu behind the data", bit,
					 byte - data_end(&b));
		}
	}
	/* Wrong build-ids are not handed out. */
	b.data[ids_off + 5] ^= 1;
	struct capture *c = open_bytes(&b);

	assert_null(capture_feature(c, PERFFILE_BUILD_ID).data);
	assert_string_equal(capture_damage(c)->first.what, "checksum of the build-ids");
	capture_close(c);
	b.data[ids_off + 5] ^= 1;
	c = open_bytes(&b);
	assert_memory_equal(capture_feature(c, PERFFILE_BUILD_ID).data, ids, 13);
	assert_null(capture_damage(c)->first.what);
	capture_close(c);
	free(b.data);
}

/* The first captures had none. */
static void captures_without_checksums_of_sections_are_taken(void **state)
{
	struct bytes b = make(1);
	uint8_t *super = b.data + EBX_SUPER_OFF;
	size_t static_off = le64_load(super + 120);
	struct reading r;

	memset(super + 120, 0, 20);
	le32_store(super + 12, 0);
	le32_store(super + 12, crc32c(0, super, EBX_SUPER_BYTES));
	r = read_bytes(b.data, b.size);
	assert_false(reading_is_damaged(&r));
	b.data[static_off + 4] ^= 1; /* a letter of the host's name */
	r = read_bytes(b.data, b.size);
	assert_false(reading_is_damaged(&r));
	free(b.data);
}

/* While it is recorded, the reader may see the head half written. */
static void a_live_capture_may_have_a_new_header_and_an_old_checksum(void **state)
{
	struct reading r;
	struct bytes b;

	maker_begin(&maker, false);
	maker_sample(&maker, 1, 1000, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	b = maker_bytes(&maker);
	maker_sample(&maker, 1, 2000, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	maker_end(&maker);
	le64_store(b.data + 48, le64_load(b.data + 48) - 8); /* the end of the flush before */
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.bad_sections, 0);
	free(b.data);
}

static void a_broken_frame_costs_only_itself(void **state)
{
	struct bytes b = make(3);
	size_t frame = find_record(&b, PERFFILE_RECORD_COMPRESSED, 3); /* samples of flush 1 */
	const struct {
		const char *what;
		size_t off;
		bool by_walk; /* the walk sees it, not only the decompression */
	} places[] = {
		{ "record type", 0, true },     { "record size", 6, false },
		{ "skippable magic", 8, true }, { "skippable size", 12, true },
		{ "frame header", 40, true },   { "data", 120, false },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (int scan = 0; scan < 2; scan++) {
			struct reading r;

			print_message("    %s, %s\n", places[i].what, scan ? "walk" : "directory");
			b.data[frame + places[i].off] ^= 0x20;
			b.data[b.size - 1] ^= (uint8_t)scan;
			r = read_bytes(b.data, b.size);
			b.data[b.size - 1] ^= (uint8_t)scan;
			b.data[frame + places[i].off] ^= 0x20;
			assert_true(reading_is_damaged(&r));
			assert_int_equal(r.samples, 20);
			assert_int_equal(r.records, 23);
			assert_int_equal(r.damage.bad_sections, scan);
			if (scan && places[i].by_walk)
				assert_int_equal(r.damage.missing_seq, 1);
			else
				assert_int_equal(r.iter_damage, 1);
		}
	free(b.data);
}

static void a_hole_is_stepped_over_and_measured(void **state)
{
	struct bytes b = make(6);
	size_t from = find_record(&b, PERFFILE_RECORD_COMPRESSED, 2),
	       to = find_record(&b, PERFFILE_RECORD_COMPRESSED, 6);
	struct reading r;

	memset(b.data + from, 0, to - from);
	b.data[b.size - 1] ^= 1; /* without the directory */
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.bad_frames, 1);
	assert_int_equal(r.damage.bad_bytes, to - from);
	assert_int_equal(r.damage.missing_seq, 4);
	assert_int_equal(r.samples, 40);
	assert_false(r.damage.cut);
	free(b.data);
}

static void the_superblock_can_be_lost(void **state)
{
	struct bytes b = make(3);
	struct reading whole = read_bytes(b.data, b.size), r;

	/* Its checksum is wrong: still ours, by the file header and a walk. */
	b.data[EBX_SUPER_OFF + 200] ^= 1;
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.bad_sections, 1);
	assert_int_equal(r.sum, whole.sum);
	/* It is not there at all: a perf.data file like others; the private parts are lost. */
	memset(b.data + EBX_SUPER_OFF, 0, EBX_SUPER_BYTES);
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.open_error, 0);
	assert_int_equal(r.samples, 30);
	assert_int_equal(r.objects, 0);
	free(b.data);
}

static void the_superblock_is_believed_before_the_file_header(void **state)
{
	struct bytes b = make(2);
	struct reading r;

	b.data[40] ^= 8;      /* data offset */
	b.data[72] ^= 1 << 3; /* HOSTNAME bit */
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.records, 22);
	assert_int_equal(r.damage.bad_frames, 0);
	free(b.data);
}

static void unknown_records_and_streams_are_counted_and_skipped(void **state)
{
	struct bytes b = make(3);
	size_t round = find_record(&b, PERFFILE_RECORD_FINISHED_ROUND, 0);
	size_t frame = find_record(&b, PERFFILE_RECORD_COMPRESSED, 0);
	struct reading r;

	le32_store(b.data + round, 500);
	b.data[frame + 16 + 4] = 77; /* its stream */
	le32_store(b.data + frame + 16 + 68, crc32c(0, b.data + frame + 16, 68));
	b.data[b.size - 1] ^= 1; /* without the directory */
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.unknown_records, 1);
	assert_int_equal(r.damage.unknown_frames, 1);
	assert_int_equal(r.damage.bad_frames, 0);
	assert_int_equal(r.records, 32);
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

static void an_object_without_its_end_is_not_whole(void **state)
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
	assert_false(o->whole);
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
	assert_true(o->whole);
	assert_int_equal(capture_object_read(c, o, &data, &size), -EBADMSG);
	capture_close(c);
	/* By the walk: the part is not there. */
	b.data[b.size - 1] ^= 1;
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_int_equal(count, 1);
	assert_false(o->whole);
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
		cmocka_unit_test(a_finished_capture_reads_back_whole),
		cmocka_unit_test(head_attrs_features_and_clock_are_there),
		cmocka_unit_test(frames_can_be_chosen_by_stream_and_by_number),
		cmocka_unit_test(the_directory_says_what_the_walk_finds),
		cmocka_unit_test(every_frame_checks_out),
		cmocka_unit_test(what_is_no_capture_is_refused_with_a_word),
		cmocka_unit_test(a_file_that_is_not_there_is_the_errno_of_open),
		cmocka_unit_test(a_capture_cut_anywhere_gives_all_that_is_before_the_cut),
		cmocka_unit_test(what_lies_behind_a_finished_capture_is_ignored),
		cmocka_unit_test(no_flipped_bit_gives_wrong_records_in_silence),
		cmocka_unit_test(every_flipped_bit_in_the_head_is_noticed),
		cmocka_unit_test(every_flipped_bit_behind_the_data_is_noticed),
		cmocka_unit_test(captures_without_checksums_of_sections_are_taken),
		cmocka_unit_test(a_live_capture_may_have_a_new_header_and_an_old_checksum),
		cmocka_unit_test(a_broken_frame_costs_only_itself),
		cmocka_unit_test(a_hole_is_stepped_over_and_measured),
		cmocka_unit_test(the_superblock_can_be_lost),
		cmocka_unit_test(the_superblock_is_believed_before_the_file_header),
		cmocka_unit_test(unknown_records_and_streams_are_counted_and_skipped),
		cmocka_unit_test(a_flush_whose_second_write_never_came_is_found),
		cmocka_unit_test(a_file_that_shrinks_while_it_is_read_is_damage_and_no_crash),
		cmocka_unit_test(an_object_without_its_end_is_not_whole),
		cmocka_unit_test(an_object_with_a_broken_part_is_not_read),
		cmocka_unit_test(an_object_written_again_is_another_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
