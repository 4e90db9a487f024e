/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/reader/directory.h"

#define START     4096
#define ITEMS_MAX 16

static const struct directory_item examples[] = {
	{ .type = DIRECTORY_PRIVATE,
	  .off_bytes = START,
	  .file_bytes = 80,
	  .part = { .kind = EBX_META,
		    .flags = 2,
		    .seq = 0,
		    .object = 1,
		    .raw_bytes = 9,
		    .payload_bytes = 9 } },
	{ .type = DIRECTORY_BLOCK,
	  .off_bytes = START + 80,
	  .file_bytes = 65528,
	  .block = { .stream = 1,
		     .seq = 1,
		     .t_min_ns = 5000,
		     .t_max_ns = 9000,
		     .raw_bytes = EBX_RAW_MAX,
		     .record_count = 100,
		     .sample_count = 3,
		     .lost_count = UINT32_MAX,
		     .cpu_mask = UINT64_MAX } },
	/* Times and numbers may go back; there may be gaps between records. */
	{ .type = DIRECTORY_BLOCK,
	  .off_bytes = START + 70000,
	  .file_bytes = 96,
	  .block = { .stream = 255,
		     .seq = 0,
		     .t_min_ns = 0,
		     .t_max_ns = UINT64_MAX,
		     .raw_bytes = 8,
		     .record_count = 1 } },
	{ .type = DIRECTORY_PLAIN,
	  .off_bytes = START + 70096,
	  .file_bytes = 65528,
	  .plain = { 9 } },
	{ .type = DIRECTORY_PRIVATE,
	  .off_bytes = START + (1ULL << 40),
	  .file_bytes = 65528,
	  .part = { .kind = UINT16_MAX,
		    .flags = UINT16_MAX,
		    .seq = UINT64_MAX,
		    .part = UINT32_MAX,
		    .object = UINT64_MAX,
		    .raw_bytes = 262144,
		    .payload_bytes = 65480 } },
};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))
#define END      (START + (1ULL << 40) + 65528)

struct got {
	struct directory_item items[ITEMS_MAX];
	size_t count;
	int answer; /* what on_item returns */
};

static int on_item(void *ctx, const struct directory_item *item)
{
	struct got *g = ctx;

	assert_true(g->count < ITEMS_MAX);
	g->items[g->count++] = *item;
	return g->answer;
}

static void encode(uint8_t **out, size_t *size)
{
	struct directory_encoder e = { .state.end_bytes = START };

	for (size_t i = 0; i < EXAMPLES; i++)
		assert_int_equal(directory_encoder_add(&e, &examples[i]), 0);
	assert_int_equal(directory_encoder_finish(&e, -1, out, size), 0);
	directory_encoder_done(&e);
}

/* Packs raw bytes as a directory is packed. */
static size_t pack(const void *raw, size_t size, uint8_t *out, size_t room)
{
	size_t n = ZSTD_compress(out, room, raw, size, 1);

	assert_false(ZSTD_isError(n));
	return n;
}

static void items_come_back_in_order(void **state)
{
	struct got g = { 0 };
	uint8_t *data = NULL;
	size_t size = 0;

	encode(&data, &size);
	assert_int_equal(directory_decode(data, size, START, END, on_item, &g, NULL), 0);
	assert_int_equal(g.count, EXAMPLES);
	for (size_t i = 0; i < EXAMPLES; i++) {
		assert_int_equal(g.items[i].type, examples[i].type);
		assert_int_equal(g.items[i].off_bytes, examples[i].off_bytes);
		assert_int_equal(g.items[i].file_bytes, examples[i].file_bytes);
		if (examples[i].type == DIRECTORY_BLOCK)
			assert_memory_equal(&g.items[i].block, &examples[i].block,
					    sizeof(struct ebx_block));
		else if (examples[i].type == DIRECTORY_PRIVATE)
			assert_memory_equal(&g.items[i].part, &examples[i].part,
					    sizeof(struct ebx_private));
		else
			assert_int_equal(g.items[i].plain.type, 9);
	}
	free(data);
}

static void what_was_spilled_is_part_of_it(void **state)
{
	for (size_t at = 0; at <= EXAMPLES; at++) {
		struct directory_encoder e = { .state.end_bytes = START };
		uint8_t *complete = NULL, *data = NULL;
		size_t complete_size = 0, size = 0;
		FILE *f = tmpfile();

		assert_non_null(f);
		encode(&complete, &complete_size);
		for (size_t i = 0; i < EXAMPLES; i++) {
			if (i == at || i == at / 2)
				assert_int_equal(directory_encoder_spill(&e, fileno(f)), 0);
			assert_int_equal(directory_encoder_add(&e, &examples[i]), 0);
		}
		assert_int_equal(directory_encoder_finish(&e, fileno(f), &data, &size), 0);
		assert_int_equal(size, complete_size);
		assert_memory_equal(data, complete, size);
		directory_encoder_done(&e);
		fclose(f);
		free(complete);
		free(data);
	}
}

static void a_spill_that_fails_changes_nothing(void **state)
{
	struct directory_encoder e = { .state.end_bytes = START };
	int full = open("/dev/full", O_RDWR | O_CLOEXEC);
	uint8_t *complete = NULL, *data = NULL;
	size_t complete_size = 0, size = 0;

	assert_true(full >= 0);
	encode(&complete, &complete_size);
	for (size_t i = 0; i < EXAMPLES; i++)
		assert_int_equal(directory_encoder_add(&e, &examples[i]), 0);
	assert_int_equal(directory_encoder_spill(&e, full), -ENOSPC);
	assert_int_equal(directory_encoder_finish(&e, -1, &data, &size), 0);
	assert_int_equal(size, complete_size);
	assert_memory_equal(data, complete, size);
	/* Bytes that are gone from the file are counted. */
	e.spilled_bytes = 1;
	free(data);
	data = NULL;
	close(full);
	full = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(directory_encoder_finish(&e, full, &data, &size), -EIO);
	assert_null(data);
	close(full);
	directory_encoder_done(&e);
	free(complete);
}

static void an_empty_directory_is_one(void **state)
{
	struct directory_encoder e = { .state.end_bytes = START };
	struct got g = { 0 };
	uint8_t *data = NULL;
	size_t size = 0;

	assert_int_equal(directory_encoder_finish(&e, -1, &data, &size), 0);
	assert_int_equal(directory_decode(data, size, START, START, on_item, &g, NULL), 0);
	assert_int_equal(g.count, 0);
	free(data);
}

static void the_callers_error_ends_the_decoding(void **state)
{
	struct got g = { .answer = -ENOMEM };
	uint8_t *data = NULL;
	size_t size = 0;

	encode(&data, &size);
	assert_int_equal(directory_decode(data, size, START, END, on_item, &g, NULL), -ENOMEM);
	assert_int_equal(g.count, 1);
	free(data);
}

static void items_outside_of_the_data_are_refused(void **state)
{
	const uint64_t ends[] = { START, START + 79, START + 80 + 65520, END - 1 };
	uint8_t *data = NULL;
	size_t size = 0;

	encode(&data, &size);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct parse_err err = { 0 };
		struct got g = { 0 };

		assert_int_equal(directory_decode(data, size, START, ends[i], on_item, &g, &err),
				 -EBADMSG);
		assert_true(g.count < EXAMPLES);
		assert_non_null(err.what);
	}
	free(data);
}

static void bytes_that_are_no_directory_are_refused(void **state)
{
	static const char *const bad[] = {
		"",                                                /* nothing at all */
		"EBXITEMS\1\0\0\0\0\0\0",                          /* cut inside the count */
		"EBXITEMZ\0\0\0\0\0\0\0\0",                        /* magic */
		"EBXITEMS\1\0\0\0\0\0\0\0",                        /* an item that is not there */
		"EBXITEMS\377\377\377\377\377\377\377\377\2\0\14", /* too many items */
		"EBXITEMS\1\0\0\0\0\0\0\0\7\0\14\1",               /* a type that is none */
		"EBXITEMS\1\0\0\0\0\0\0\0\1\0\0\11",               /* a record of 0 bytes */
		"EBXITEMS\1\0\0\0\0\0\0\0\1\0\14\377",             /* a number without an end */
		"EBXITEMS\1\0\0\0\0\0\0\0\1\0\14\377\377\377\377\377\377\377\377\377\177",
		"EBXITEMS\1\0\0\0\0\0\0\0\1\377\377\377\377\377\377\377\377\377\1\14\11",
	};
	static const size_t sizes[] = { 0, 15, 16, 16, 19, 20, 20, 20, 29, 29 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t stored[200];
		size_t n = pack(bad[i], sizes[i], stored, sizeof(stored));
		struct parse_err err = { 0 };
		struct got g = { 0 };

		print_message("    %zu\n", i);
		assert_int_equal(directory_decode(stored, n, START, END, on_item, &g, &err),
				 -EBADMSG);
		assert_non_null(err.what);
		assert_int_equal(g.count, 0);
	}
}

/* A few bytes with a size of gigabytes. */
static void a_directory_larger_than_its_data_allows_is_refused(void **state)
{
	const size_t size = 8 << 20;
	uint8_t *raw = calloc(1, size), *stored = malloc(ZSTD_compressBound(size));
	struct got g = { 0 };
	size_t n;

	memcpy(raw, "EBXITEMS", 8);
	n = pack(raw, size, stored, ZSTD_compressBound(size));
	assert_int_equal(directory_decode(stored, n, START, START + 8000, on_item, &g, NULL),
			 -EBADMSG);
	assert_int_equal(directory_decode(stored, n, START, START + (16 << 20), on_item, &g, NULL),
			 0);
	free(raw);
	free(stored);
}

static void every_cut_and_flip_is_survived(void **state)
{
	uint8_t *data = NULL;
	size_t size = 0;

	encode(&data, &size);
	for (size_t n = 0; n < size; n++) {
		struct got g = { 0 };

		assert_int_equal(directory_decode(data, n, START, END, on_item, &g, NULL),
				 -EBADMSG);
	}
	for (size_t bit = 0; bit < size * 8; bit++) {
		struct got g = { 0 };

		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		(void)directory_decode(data, size, START, END, on_item, &g, NULL);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		for (size_t i = 0; i < g.count; i++)
			assert_true(g.items[i].off_bytes >= START &&
				    g.items[i].off_bytes + g.items[i].file_bytes <= END);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_back_in_order),
		cmocka_unit_test(what_was_spilled_is_part_of_it),
		cmocka_unit_test(a_spill_that_fails_changes_nothing),
		cmocka_unit_test(an_empty_directory_is_one),
		cmocka_unit_test(the_callers_error_ends_the_decoding),
		cmocka_unit_test(items_outside_of_the_data_are_refused),
		cmocka_unit_test(bytes_that_are_no_directory_are_refused),
		cmocka_unit_test(a_directory_larger_than_its_data_allows_is_refused),
		cmocka_unit_test(every_cut_and_flip_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
