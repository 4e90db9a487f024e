/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on our own captures with bits flipped and pieces gone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/crc32c.h"
#include "format/reader/capture.h"
#include "format/reader/directory.h"
#include "tests/unit/finished.h"

/*
 * No flipped bit gives a wrong record without a word: either nothing changed, or the reader reports
 * that something is wrong.
 */
static void no_flipped_bit_gives_wrong_records_in_silence(void **state)
{
	struct bytes b = make(2);
	struct reading complete = read_bytes(b.data, b.size);
	unsigned noticed = 0, tried = 0;

	for (size_t byte = 0; byte < b.size; byte++) {
		/* The superblock's magic is that of our files; most of the head is padding. */
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
				assert_int_equal(r.sum, complete.sum);
			else if (!r.open_error)
				assert_true(r.records <= complete.records);
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
		/* The superblock's magic is that of our files; 4 bytes bring COMPRESSED to 24. */
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

static void a_broken_block_costs_only_itself(void **state)
{
	struct bytes b = make(3);
	size_t block = find_record(&b, PERFFILE_RECORD_COMPRESSED, 3); /* samples of flush 1 */
	const struct {
		const char *what;
		size_t off;
		bool by_walk; /* the walk sees it, not only the decompression */
	} places[] = {
		{ "record type", 0, true },     { "record size", 6, false },
		{ "skippable magic", 8, true }, { "skippable size", 12, true },
		{ "block header", 40, true },   { "data", 120, false },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (int scan = 0; scan < 2; scan++) {
			struct reading r;

			print_message("    %s, %s\n", places[i].what, scan ? "walk" : "directory");
			b.data[block + places[i].off] ^= 0x20;
			b.data[b.size - 1] ^= (uint8_t)scan;
			r = read_bytes(b.data, b.size);
			b.data[b.size - 1] ^= (uint8_t)scan;
			b.data[block + places[i].off] ^= 0x20;
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
	assert_int_equal(r.damage.bad_blocks, 1);
	assert_int_equal(r.damage.bad_bytes, to - from);
	assert_int_equal(r.damage.missing_seq, 4);
	assert_int_equal(r.samples, 40);
	assert_false(r.damage.cut);
	free(b.data);
}

static void the_superblock_can_be_lost(void **state)
{
	struct bytes b = make(3);
	struct reading complete = read_bytes(b.data, b.size), r;

	/* Its checksum is wrong: still ours, by the file header and a walk. */
	b.data[EBX_SUPER_OFF + 200] ^= 1;
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.bad_sections, 1);
	assert_int_equal(r.sum, complete.sum);
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
	assert_int_equal(r.damage.bad_blocks, 0);
	free(b.data);
}

static void unknown_records_and_streams_are_counted_and_skipped(void **state)
{
	struct bytes b = make(3);
	size_t round = find_record(&b, PERFFILE_RECORD_FINISHED_ROUND, 0);
	size_t block = find_record(&b, PERFFILE_RECORD_COMPRESSED, 0);
	struct reading r;

	le32_store(b.data + round, 500);
	b.data[block + 16 + 4] = 77; /* its stream */
	le32_store(b.data + block + 16 + 68, crc32c(0, b.data + block + 16, 68));
	b.data[b.size - 1] ^= 1; /* without the directory */
	r = read_bytes(b.data, b.size);
	assert_int_equal(r.damage.unknown_records, 1);
	assert_int_equal(r.damage.unknown_blocks, 1);
	assert_int_equal(r.damage.bad_blocks, 0);
	assert_int_equal(r.records, 32);
	free(b.data);
}

/* 80 MiB of zeros, in a file of some kilobytes; beside it a note. */
static void objects_beyond_the_limit_are_not_unpacked(void **state)
{
	const size_t zero_bytes = 80 << 20;
	uint8_t *zeros = calloc(zero_bytes, 1), *data = NULL;
	const struct capture_object *o;
	size_t count, size_bytes;
	struct capture *c;
	struct bytes b;

	assert_non_null(zeros);
	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "a note", 6), 0);
	assert_int_equal(writer_object(maker.w, EBX_FILE, 2, zeros, zero_bytes), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	assert_true(b.size < 100000);
	c = open_bytes(&b);
	o = capture_objects(c, &count);
	assert_int_equal(count, 2);
	assert_int_equal(capture_unpacked_bytes(c), zero_bytes + 6);
	assert_in_range(capture_unpack_limit(c), CAPTURE_UNPACK_FREE_BYTES,
			CAPTURE_UNPACK_FREE_BYTES + CAPTURE_UNPACK_RATIO * b.size);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(capture_object_read(c, &o[i], &data, &size_bytes), -EOVERFLOW);
	assert_null(data);
	capture_set_unpack_limit(c, zero_bytes + 6);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(capture_object_read(c, &o[i], &data, &size_bytes), 0);
		assert_int_equal(size_bytes, o[i].raw_bytes);
		free(data);
		data = NULL;
	}
	capture_close(c);
	free(b.data);
	free(zeros);
}

/* ---- a directory that lies ---- */

static int add_without_size(void *ctx, const struct directory_item *item)
{
	struct directory_item lie = *item;

	if (lie.type == DIRECTORY_PRIVATE && lie.part.kind == EBX_FILE)
		lie.part.raw_bytes = 0;
	return directory_encoder_add(ctx, &lie);
}

/* The same file, but for the sizes in the directory of the parts of embedded files. */
static struct bytes with_lying_directory(const struct bytes *b)
{
	struct directory_encoder e = { .state.end_bytes = data_start(b) };
	struct ebx_trailer t = { 0 };
	struct ebx_super super;
	struct bytes lie;
	size_t size_bytes;
	uint8_t *dir;

	assert_int_equal(ebx_super_decode(b->data + EBX_SUPER_OFF, EBX_SUPER_BYTES, &super, NULL),
			 0);
	assert_int_equal(directory_decode(b->data + super.dir_off_bytes, super.dir_size_bytes,
					  data_start(b), data_end(b), add_without_size, &e, NULL),
			 0);
	assert_int_equal(directory_encoder_finish(&e, -1, &dir, &size_bytes), 0);
	directory_encoder_done(&e);
	super.dir_size_bytes = t.dir_size_bytes = size_bytes;
	t.dir_off_bytes = super.dir_off_bytes;
	t.crc32c = crc32c(0, dir, size_bytes);
	lie.size = super.dir_off_bytes + size_bytes + EBX_TRAILER_BYTES;
	lie.data = calloc(lie.size, 1);
	assert_non_null(lie.data);
	memcpy(lie.data, b->data, super.dir_off_bytes);
	ebx_super_encode(&super, lie.data + EBX_SUPER_OFF);
	memcpy(lie.data + super.dir_off_bytes, dir, size_bytes);
	ebx_trailer_encode(&t, lie.data + super.dir_off_bytes + size_bytes);
	free(dir);
	return lie;
}

/* Each part would still unpack to the size in its record, and the limit would see nothing of it. */
static void sizes_that_the_directory_hides_are_not_unpacked(void **state)
{
	const size_t zero_bytes = 80 << 20;
	uint8_t *zeros = calloc(zero_bytes, 1), *data = NULL;
	const struct capture_object *o;
	struct bytes b, lie;
	size_t count, size_bytes, found = 0;
	struct capture *c;

	assert_non_null(zeros);
	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "a note", 6), 0);
	assert_int_equal(writer_object(maker.w, EBX_FILE, 2, zeros, zero_bytes), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	lie = with_lying_directory(&b);
	c = open_bytes(&lie);
	o = capture_objects(c, &count);
	assert_int_equal(capture_unpacked_bytes(c), 6); /* the lie is believed so far */
	for (size_t i = 0; i < count; i++) {
		bool hidden = o[i].kind == EBX_FILE;

		found += hidden;
		assert_int_equal(capture_object_read(c, &o[i], &data, &size_bytes),
				 hidden ? -EBADMSG : 0);
		if (!hidden)
			free(data);
	}
	assert_int_equal(found, 1);
	capture_close(c);
	free(lie.data);
	free(b.data);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_flipped_bit_gives_wrong_records_in_silence),
		cmocka_unit_test(every_flipped_bit_in_the_head_is_noticed),
		cmocka_unit_test(every_flipped_bit_behind_the_data_is_noticed),
		cmocka_unit_test(captures_without_checksums_of_sections_are_taken),
		cmocka_unit_test(a_live_capture_may_have_a_new_header_and_an_old_checksum),
		cmocka_unit_test(a_broken_block_costs_only_itself),
		cmocka_unit_test(a_hole_is_stepped_over_and_measured),
		cmocka_unit_test(the_superblock_can_be_lost),
		cmocka_unit_test(the_superblock_is_believed_before_the_file_header),
		cmocka_unit_test(unknown_records_and_streams_are_counted_and_skipped),
		cmocka_unit_test(objects_beyond_the_limit_are_not_unpacked),
		cmocka_unit_test(sizes_that_the_directory_hides_are_not_unpacked),
	};

	return cmocka_run_group_tests_name("capture_broken", tests, NULL, NULL);
}
