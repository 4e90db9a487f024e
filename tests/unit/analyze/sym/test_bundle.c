/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* bundle: names that travel, there and back, complete and broken */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/bundle_merge.h"
#include "format/base/cursor.h"

static const struct bundle_head head = {
	.file = { .path = "/usr/bin/app",
		  .id.build_id = { "\x01\x02\x03", 3 },
		  .id.inode = 7,
		  .id.dev_major = 8,
		  .id.dev_minor = 1 },
	.symbols = "/usr/lib/debug/app.debug",
	.trust = NAME_BY_BUILD_ID,
};

static uint8_t *example(size_t *size_bytes)
{
	struct bundle_place places[] = {
		{ 0x2000, "_ZN2ns4workEv", true, NAME_FOUND, 0, 0 },
		{ 0x1000, "main", false, NAME_FOUND, 0, 0 },
		{ 0x2000, NULL, false, NAME_BETWEEN, 0, 0 },
		{ UINT64_MAX, "main", true, NAME_FOUND, 0, 0 },
	};
	uint8_t *data;

	assert_int_equal(bundle_encode(&head, places, 4, NULL, &data, size_bytes), 0);
	return data;
}

static void bundle_comes_back(void **state)
{
	struct bundle_place p;
	struct bundle *b;
	size_t size_bytes;

	uint8_t *data = example(&size_bytes);

	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_int_equal(bundle_count(b), 4);
	assert_string_equal(bundle_head(b)->file.path, head.file.path);
	assert_string_equal(bundle_head(b)->symbols, head.symbols);
	assert_int_equal(bundle_head(b)->trust, head.trust);
	assert_true(bundle_head(b)->file.id.inode == 7);
	assert_int_equal(bundle_head(b)->file.id.build_id.size_bytes, 3);
	assert_true(bundle_find(b, 0x1000, false, &p));
	assert_string_equal(p.name, "main");
	assert_true(bundle_find(b, 0x2000, false, &p));
	assert_null(p.name);
	assert_int_equal(p.reason, NAME_BETWEEN);
	assert_false(bundle_has_lines(b));
	assert_true(bundle_find(b, 0x2000, true, &p));
	assert_string_equal(p.name, "_ZN2ns4workEv");
	assert_true(bundle_find(b, UINT64_MAX, true, &p));
	assert_false(bundle_find(b, 0x1000, true, &p));
	assert_false(bundle_find(b, 0x1001, false, &p));
	assert_false(bundle_find(b, 0, false, &p));
	bundle_free(b);
	bundle_free(NULL);
}

static void bundle_of_nothing(void **state)
{
	struct bundle_head bare = { .file.path = "",
				    .file.id.inode_generation = 0x123456789,
				    .symbols = "" };
	struct bundle_place p;
	struct bundle *b;
	size_t size_bytes;
	uint8_t *data;

	assert_int_equal(bundle_encode(&bare, NULL, 0, NULL, &data, &size_bytes), 0);
	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_int_equal(bundle_count(b), 0);
	assert_false(bundle_find(b, 0, false, &p));
	assert_true(bundle_head(b)->file.id.inode_generation == 0x123456789);
	assert_false(bundle_head(b)->file.any_generation);
	bundle_free(b);
	/* As written before generations were. */
	assert_int_equal(bundle_encode(&bare, NULL, 0, NULL, &data, &size_bytes), 0);
	data[20] = 0;
	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_true(bundle_head(b)->file.any_generation);
	bundle_free(b);
}

static int decode_copy(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	struct bundle *b;
	int err;

	memcpy(copy, data, size_bytes);
	err = bundle_decode(copy, size_bytes, &b);
	if (err)
		free(copy);
	else
		bundle_free(b);
	return err;
}

static void bundle_refuses_what_is_broken(void **state)
{
	static const struct {
		size_t off;
		uint8_t value;
		int err;
	} breaks[] = {
		{ 0, 5, -ENOTSUP }, /* version */
		{ 0, 2, -EBADMSG }, /* would have larger places */
		{ 2, NAME_TRUSTS, -EBADMSG },
		{ 3, 21, -EBADMSG },
		{ 4, 5, -EBADMSG }, /* more places */
		{ 7, 255, -EBADMSG },
		{ 8, 1, -EBADMSG },       /* fewer texts */
		{ 64 + 7, 1, -EBADMSG },  /* not in order */
		{ 64 + 11, 1, -EBADMSG }, /* a name behind the texts */
		{ 64 + 12, NAME_REASONS, -EBADMSG },
		{ 64 + 12, 1, -EBADMSG }, /* both name and reason */
	};
	size_t i, size_bytes;
	uint8_t *data = example(&size_bytes), was;

	for (i = 0; i < size_bytes; i++)
		assert_int_equal(decode_copy(data, i), -EBADMSG);
	for (i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		was = data[breaks[i].off];
		data[breaks[i].off] = breaks[i].value;
		if (decode_copy(data, size_bytes) != breaks[i].err)
			fail_msg("byte %zu = %u is taken", breaks[i].off, breaks[i].value);
		data[breaks[i].off] = was;
	}
	data[size_bytes - 1] = 'x'; /* the last text has no end */
	assert_int_equal(decode_copy(data, size_bytes), -EBADMSG);
	free(data);
}

/* Frames of two places, one shared; a place without any. */
static uint8_t *example_with_lines(size_t *size_bytes)
{
	static const struct source_frame list[] = {
		{ "_ZN2ns4stepEv", "/src/a.h", 12, 3 },
		{ "main", "/src/a.c", 40, 0 },
		{ NULL, NULL, 0, 0 },
	};
	struct bundle_place places[] = {
		{ 0x2000, "main", true, NAME_FOUND, 2, 0 },
		{ 0x1000, "main", false, NAME_FOUND, 2, 1 },
		{ 0x1800, NULL, false, NAME_BETWEEN, 0, 3 },
	};
	const struct bundle_frames frames = { list, 3 };
	uint8_t *data;

	assert_int_equal(bundle_encode(&head, places, 3, &frames, &data, size_bytes), 0);
	return data;
}

static void bundle_has_frames_of_source_code(void **state)
{
	struct source_frame f;
	struct bundle_place p;
	struct bundle *b;
	size_t size_bytes;
	uint8_t *data = example_with_lines(&size_bytes);

	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_true(bundle_has_lines(b));
	assert_int_equal(bundle_frame_count(b), 3);
	assert_true(bundle_find(b, 0x2000, true, &p));
	assert_int_equal(p.frame_count, 2);
	f = bundle_frame(b, p.first_frame);
	assert_string_equal(f.function, "_ZN2ns4stepEv");
	assert_string_equal(f.file, "/src/a.h");
	assert_int_equal(f.line, 12);
	assert_int_equal(f.column, 3);
	f = bundle_frame(b, p.first_frame + 1);
	assert_string_equal(f.function, "main");
	assert_int_equal(f.line, 40);
	assert_true(bundle_find(b, 0x1000, false, &p));
	f = bundle_frame(b, p.first_frame + 1);
	assert_null(f.function);
	assert_null(f.file);
	assert_true(bundle_find(b, 0x1800, false, &p));
	assert_int_equal(p.frame_count, 0);
	bundle_free(b);
}

static void bundle_refuses_frames_that_are_not_there(void **state)
{
	/* Behind the head: three places of 24 bytes, three frames of 16. */
	static const size_t offs[] = {
		52,                 /* more frames than there are */
		64 + 15,            /* of the first place, too many */
		64 + 17,            /* from behind the last on */
		64 + 3 * 24 + 2,    /* a function behind the texts */
		64 + 3 * 24 + 4 + 2 /* a file there */
	};
	size_t size_bytes;
	uint8_t *data = example_with_lines(&size_bytes), was;

	for (size_t i = 0; i < size_bytes; i++)
		assert_int_equal(decode_copy(data, i), -EBADMSG);
	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		was = data[offs[i]];
		data[offs[i]] = 77;
		if (decode_copy(data, size_bytes) != -EBADMSG)
			fail_msg("byte %zu = 77 is taken", offs[i]);
		data[offs[i]] = was;
	}
	assert_int_equal(decode_copy(data, size_bytes), 0);
	free(data);
}

/* ---- one table for a file ---- */

static struct bundle *decoded(uint8_t *data, size_t size_bytes)
{
	struct bundle *b;

	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	return b;
}

static void check_frame(const struct bundle *b, uint64_t offset, bool is_return, unsigned i,
			const char *file, uint32_t line)
{
	struct bundle_place p;
	struct source_frame f;

	assert_true(bundle_find(b, offset, is_return, &p));
	assert_true(i < p.frame_count);
	f = bundle_frame(b, p.first_frame + i);
	assert_int_equal(f.line, line);
	assert_string_equal(f.file, file);
}

/* Entries that only the second has, and the first's of those that both have. */
static void tables_of_a_file_become_one(void **state)
{
	static const struct source_frame list[] = { { "other", "/src/b.c", 7, 0 },
						    { "main", "/src/b.c", 9, 0 } };
	const struct bundle_frames frames = { list, 2 };
	struct bundle_place places[] = {
		{ 0x3000, "second", false, NAME_FOUND, 1, 1 },
		{ 0x1000, "other", false, NAME_FOUND, 1, 0 },
		{ 0x1000, "other", true, NAME_FOUND, 1, 0 },
	};
	struct bundle_head elsewhere = head;
	struct bundle_merge j = { 0 };
	struct bundle_place p;
	const struct bundle *b;
	size_t size_bytes;
	uint8_t *data = example_with_lines(&size_bytes);

	assert_int_equal(bundle_merge_add(&j, decoded(data, size_bytes), 100), 0);
	elsewhere.file.path = "/proc/7/root/usr/bin/app"; /* the build-id identifies the file */
	assert_int_equal(bundle_encode(&elsewhere, places, 3, &frames, &data, &size_bytes), 0);
	assert_int_equal(bundle_merge_add(&j, decoded(data, size_bytes), 30), 0);
	elsewhere.file.id.build_id.bytes[0]++;
	assert_int_equal(bundle_encode(&elsewhere, places, 3, NULL, &data, &size_bytes), 0);
	assert_int_equal(bundle_merge_add(&j, decoded(data, size_bytes), 8), 0);

	assert_int_equal(j.ids.count, 2);
	assert_int_equal(j.files[0].stored_bytes, 130);
	assert_int_equal(j.files[1].stored_bytes, 8);
	b = j.files[0].bundle;
	assert_string_equal(bundle_head(b)->file.path, head.file.path);
	assert_int_equal(bundle_count(b), 5);
	assert_int_equal(bundle_frame_count(b), 5);
	assert_true(bundle_find(b, 0x1000, false, &p));
	assert_string_equal(p.name, "main");
	check_frame(b, 0x1000, false, 0, "/src/a.c", 40);
	check_frame(b, 0x2000, true, 0, "/src/a.h", 12);
	check_frame(b, 0x1000, true, 0, "/src/b.c", 7);
	check_frame(b, 0x3000, false, 0, "/src/b.c", 9);
	assert_true(bundle_find(b, 0x1800, false, &p));
	assert_int_equal(p.frame_count, 0);
	assert_false(bundle_has_lines(j.files[1].bundle));
	bundle_merge_done(&j);
}

/* Lines stay when the other table has none; where nothing was found at first, the other has the source. */
static void a_table_without_lines_takes_none_away(void **state)
{
	struct bundle_head nothing = head;
	struct bundle_merge j = { 0 };
	struct bundle_place place = { 0x9000, NULL, false, NAME_FILE_GONE, 0, 0 };
	size_t size_bytes;
	uint8_t *data;

	nothing.symbols = "";
	nothing.trust = NAME_BY_NOTHING;
	assert_int_equal(bundle_encode(&nothing, &place, 1, NULL, &data, &size_bytes), 0);
	assert_int_equal(bundle_merge_add(&j, decoded(data, size_bytes), 0), 0);
	data = example_with_lines(&size_bytes);
	assert_int_equal(bundle_merge_add(&j, decoded(data, size_bytes), 0), 0);
	assert_int_equal(j.ids.count, 1);
	assert_int_equal(bundle_count(j.files[0].bundle), 4);
	assert_true(bundle_has_lines(j.files[0].bundle));
	check_frame(j.files[0].bundle, 0x2000, true, 1, "/src/a.c", 40);
	assert_string_equal(bundle_head(j.files[0].bundle)->symbols, head.symbols);
	assert_int_equal(bundle_head(j.files[0].bundle)->trust, head.trust);
	bundle_merge_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bundle_comes_back),
		cmocka_unit_test(bundle_of_nothing),
		cmocka_unit_test(bundle_refuses_what_is_broken),
		cmocka_unit_test(bundle_has_frames_of_source_code),
		cmocka_unit_test(bundle_refuses_frames_that_are_not_there),
		cmocka_unit_test(tables_of_a_file_become_one),
		cmocka_unit_test(a_table_without_lines_takes_none_away),
	};

	return cmocka_run_group_tests_name("bundle", tests, NULL, NULL);
}
