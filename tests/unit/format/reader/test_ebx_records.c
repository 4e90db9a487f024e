/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/base/crc32c.h"
#include "format/reader/ebx_records.h"

static const struct ebx_super super_example = {
	.version = EBX_VERSION,
	.state = EBX_CLEAN,
	.uuid = "0123456789abcde",
	.data_off_bytes = 8192,
	.feature_bits = { 0x28203ffe, 1, 2, 3 },
	.clock_mono_ns = 0x1122334455667788,
	.clock_wall_ns = 0x99aabbccddeeff00,
	.dir_off_bytes = 0x123456789a,
	.dir_size_bytes = 0xabc,
	.table_crc32c = 0xdeadbeef,
	.static_off_bytes = 0x288,
	.static_crc32c = 0x01020304,
	.head_crc32c = 0xa0b0c0d0,
	.build_id_crc32c = 0x10203040,
};

static const struct ebx_block block_example = {
	.stream = EBX_STREAM_SCHED,
	.seq = 0x0102030405060708,
	.t_min_ns = 5000,
	.t_max_ns = UINT64_MAX,
	.raw_bytes = EBX_RAW_MAX,
	.record_count = 100,
	.sample_count = 99,
	.lost_count = 7,
	.prev_off_bytes = 0x8000,
	.cpu_mask = 0x8000000000000001,
	.crc32c = 0xcafebabe,
};

static const char payload[] = "{\"a\":1}";

/* A complete private record with the payload above. */
static void make_private(uint8_t rec[EBX_PRIVATE_MIN_BYTES])
{
	struct ebx_private p = {
		.kind = EBX_META,
		.flags = EBX_PRIVATE_LAST,
		.seq = 3,
		.part = 2,
		.object = 0x1234567890,
		.raw_bytes = sizeof(payload),
		.payload_bytes = sizeof(payload),
		.crc32c = crc32c(0, payload, sizeof(payload)),
	};

	memset(rec, 0, EBX_PRIVATE_MIN_BYTES);
	memcpy(rec + EBX_PRIVATE_HEADER_BYTES, payload, sizeof(payload));
	ebx_private_encode(&p, EBX_PRIVATE_MIN_BYTES, rec);
}

static void super_survives_the_round_trip(void **state)
{
	uint8_t bytes[EBX_SUPER_BYTES];
	struct ebx_super s;

	ebx_super_encode(&super_example, bytes);
	assert_int_equal(ebx_super_decode(bytes, sizeof(bytes), &s, NULL), 0);
	assert_int_equal(s.version, super_example.version);
	assert_int_equal(s.state, super_example.state);
	assert_memory_equal(s.uuid, super_example.uuid, 16);
	assert_int_equal(s.data_off_bytes, super_example.data_off_bytes);
	assert_memory_equal(s.feature_bits, super_example.feature_bits, 32);
	assert_int_equal(s.clock_mono_ns, super_example.clock_mono_ns);
	assert_int_equal(s.clock_wall_ns, super_example.clock_wall_ns);
	assert_int_equal(s.dir_off_bytes, super_example.dir_off_bytes);
	assert_int_equal(s.dir_size_bytes, super_example.dir_size_bytes);
	assert_int_equal(s.table_crc32c, super_example.table_crc32c);
	assert_int_equal(s.static_off_bytes, super_example.static_off_bytes);
	assert_int_equal(s.static_crc32c, super_example.static_crc32c);
	assert_int_equal(s.head_crc32c, super_example.head_crc32c);
	assert_int_equal(s.build_id_crc32c, super_example.build_id_crc32c);
}

static void block_survives_the_round_trip(void **state)
{
	uint8_t bytes[EBX_BLOCK_BYTES];
	struct ebx_block f;

	ebx_block_encode(&block_example, bytes);
	assert_int_equal(ebx_block_decode(bytes, sizeof(bytes), &f, NULL), 0);
	assert_int_equal(f.stream, block_example.stream);
	assert_int_equal(f.seq, block_example.seq);
	assert_int_equal(f.t_min_ns, block_example.t_min_ns);
	assert_int_equal(f.t_max_ns, block_example.t_max_ns);
	assert_int_equal(f.raw_bytes, block_example.raw_bytes);
	assert_int_equal(f.record_count, block_example.record_count);
	assert_int_equal(f.sample_count, block_example.sample_count);
	assert_int_equal(f.lost_count, block_example.lost_count);
	assert_int_equal(f.prev_off_bytes, block_example.prev_off_bytes);
	assert_int_equal(f.cpu_mask, block_example.cpu_mask);
	assert_int_equal(f.crc32c, block_example.crc32c);
}

static void private_survives_the_round_trip(void **state)
{
	uint8_t rec[EBX_PRIVATE_MIN_BYTES];
	struct ebx_private p;

	make_private(rec);
	assert_int_equal(le32_load(rec), 65);
	assert_int_equal(le16_load(rec + 6), sizeof(rec));
	assert_int_equal(ebx_private_decode(rec, sizeof(rec), &p, NULL), 0);
	assert_int_equal(p.kind, EBX_META);
	assert_int_equal(p.flags, EBX_PRIVATE_LAST);
	assert_int_equal(p.seq, 3);
	assert_int_equal(p.part, 2);
	assert_int_equal(p.object, 0x1234567890);
	assert_int_equal(p.raw_bytes, sizeof(payload));
	assert_int_equal(p.payload_bytes, sizeof(payload));
	assert_int_equal(p.crc32c, crc32c(0, payload, sizeof(payload)));
}

static void trailer_survives_the_round_trip(void **state)
{
	const struct ebx_trailer t = { .dir_off_bytes = 1ULL << 40,
				       .dir_size_bytes = 99,
				       .crc32c = 5 };
	uint8_t bytes[EBX_TRAILER_BYTES];
	struct ebx_trailer back;

	ebx_trailer_encode(&t, bytes);
	assert_int_equal(ebx_trailer_decode(bytes, sizeof(bytes), &back, NULL), 0);
	assert_int_equal(back.dir_off_bytes, t.dir_off_bytes);
	assert_int_equal(back.dir_size_bytes, t.dir_size_bytes);
	assert_int_equal(back.crc32c, t.crc32c);
}

/* ---- broken bytes ---- */

typedef int (*decode_fn)(const uint8_t *data, size_t size, struct parse_err *err);

static int try_super(const uint8_t *data, size_t size, struct parse_err *err)
{
	struct ebx_super out, before;
	int ret;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	ret = ebx_super_decode(data, size, &out, err);
	if (ret)
		assert_memory_equal(&out, &before, sizeof(out));
	return ret;
}

static int try_block(const uint8_t *data, size_t size, struct parse_err *err)
{
	struct ebx_block out, before;
	int ret;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	ret = ebx_block_decode(data, size, &out, err);
	if (ret)
		assert_memory_equal(&out, &before, sizeof(out));
	return ret;
}

static int try_private(const uint8_t *data, size_t size, struct parse_err *err)
{
	struct ebx_private out, before;
	int ret;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	ret = ebx_private_decode(data, size, &out, err);
	if (ret)
		assert_memory_equal(&out, &before, sizeof(out));
	return ret;
}

static int try_trailer(const uint8_t *data, size_t size, struct parse_err *err)
{
	struct ebx_trailer out, before;
	int ret;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	ret = ebx_trailer_decode(data, size, &out, err);
	if (ret)
		assert_memory_equal(&out, &before, sizeof(out));
	return ret;
}

/* Each bit matters: no flipped one goes unseen, but in what is padding. */
static void check_flips(decode_fn decode, uint8_t *bytes, size_t size, size_t covered)
{
	for (size_t bit = 0; bit < covered * 8; bit++) {
		struct parse_err err = { 0 };

		bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		assert_int_not_equal(decode(bytes, size, &err), 0);
		assert_non_null(err.what);
		bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	}
	assert_int_equal(decode(bytes, size, NULL), 0);
}

static void check_cuts(decode_fn decode, const uint8_t *bytes, size_t covered)
{
	for (size_t size = 0; size < covered; size++) {
		struct parse_err err = { 0 };

		assert_int_equal(decode(bytes, size, &err), -ENODATA);
		assert_non_null(err.what);
	}
}

static void every_flipped_bit_is_noticed(void **state)
{
	uint8_t super[EBX_SUPER_BYTES], block[EBX_BLOCK_BYTES], rec[EBX_PRIVATE_MIN_BYTES],
		trailer[EBX_TRAILER_BYTES];

	ebx_super_encode(&super_example, super);
	check_flips(try_super, super, sizeof(super), sizeof(super));
	ebx_block_encode(&block_example, block);
	check_flips(try_block, block, sizeof(block), sizeof(block));
	make_private(rec);
	check_flips(try_private, rec, sizeof(rec), EBX_PRIVATE_HEADER_BYTES + sizeof(payload));
	ebx_trailer_encode(&(struct ebx_trailer){ .dir_off_bytes = 1 }, trailer);
	check_flips(try_trailer, trailer, sizeof(trailer), sizeof(trailer));
}

static void every_cut_is_noticed(void **state)
{
	uint8_t super[EBX_SUPER_BYTES], block[EBX_BLOCK_BYTES], rec[EBX_PRIVATE_MIN_BYTES],
		trailer[EBX_TRAILER_BYTES];

	ebx_super_encode(&super_example, super);
	check_cuts(try_super, super, sizeof(super));
	ebx_block_encode(&block_example, block);
	check_cuts(try_block, block, sizeof(block));
	make_private(rec);
	check_cuts(try_private, rec, sizeof(rec));
	ebx_trailer_encode(&(struct ebx_trailer){ .dir_off_bytes = 1 }, trailer);
	check_cuts(try_trailer, trailer, sizeof(trailer));
}

static void block_with_impossible_counts_is_refused(void **state)
{
	const struct ebx_block bad[] = {
		{ .raw_bytes = EBX_RAW_MAX + 8 },
		{ .raw_bytes = 80, .record_count = 11 },
		{ .raw_bytes = 80, .record_count = 2, .sample_count = 3 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t bytes[EBX_BLOCK_BYTES];

		ebx_block_encode(&bad[i], bytes);
		assert_int_equal(try_block(bytes, sizeof(bytes), NULL), -EBADMSG);
	}
}

static void private_whose_payload_is_longer_than_the_record_is_refused(void **state)
{
	uint8_t rec[EBX_PRIVATE_MIN_BYTES] = { 0 };
	struct ebx_private p = { .kind = 1, .payload_bytes = 33, .raw_bytes = 33 };

	ebx_private_encode(&p, sizeof(rec), rec);
	assert_int_equal(try_private(rec, sizeof(rec), NULL), -EBADMSG);
}

static void a_type_65_record_of_another_program_is_refused(void **state)
{
	uint8_t rec[EBX_PRIVATE_MIN_BYTES] = { 65, 0, 0, 0, 0, 0, 80, 0, 'P', 'E', 'R', 'F' };

	assert_int_equal(try_private(rec, sizeof(rec), NULL), -EBADMSG);
}

static void versions_of_the_future_are_distinguished_from_broken_bytes(void **state)
{
	struct ebx_super s = super_example;
	uint8_t super[EBX_SUPER_BYTES], block[EBX_BLOCK_BYTES];

	s.version = EBX_VERSION + 1;
	ebx_super_encode(&s, super);
	assert_int_equal(try_super(super, sizeof(super), NULL), -ENOTSUP);
	ebx_block_encode(&block_example, block);
	block[5]++;
	le32_store(block + 68, crc32c(0, block, 68));
	assert_int_equal(try_block(block, sizeof(block), NULL), -ENOTSUP);
}

static void names_are_there_for_all_and_unknown_for_the_rest(void **state)
{
	for (unsigned i = 1; i < EBX_STREAM_END; i++)
		assert_string_not_equal(ebx_stream_name(i), "unknown");
	assert_string_equal(ebx_stream_name(0), "unknown");
	assert_string_equal(ebx_stream_name(EBX_STREAM_END), "unknown");
	for (unsigned i = EBX_META; i <= EBX_CONTEXTS; i++)
		assert_int_equal(!strcmp(ebx_kind_name(i), "unknown"),
				 i > EBX_SYMTAB && i < EBX_NOTE);
	assert_string_equal(ebx_kind_name(0), "unknown");
	assert_string_equal(ebx_kind_name(60000), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(super_survives_the_round_trip),
		cmocka_unit_test(block_survives_the_round_trip),
		cmocka_unit_test(private_survives_the_round_trip),
		cmocka_unit_test(trailer_survives_the_round_trip),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(block_with_impossible_counts_is_refused),
		cmocka_unit_test(private_whose_payload_is_longer_than_the_record_is_refused),
		cmocka_unit_test(a_type_65_record_of_another_program_is_refused),
		cmocka_unit_test(versions_of_the_future_are_distinguished_from_broken_bytes),
		cmocka_unit_test(names_are_there_for_all_and_unknown_for_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
