/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* naming, and what it stands on: labels, build-id sections, addresses in kallsyms */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/input/build_ids.h"
#include "analyze/names/kallsyms.h"
#include "analyze/names/function_table.h"
#include "format/perf/build_id_feature.h"

static void label_cannot_break_a_line(void **state)
{
	static const char *const cases[][3] = {
		{ "main", "", "main" },
		{ "main", "_[k]", "main_[k]" },
		{ "a;b", "", "a:b" },
		{ "a\nb\tc\x7f", "", "a\\x0ab\\x09c\\x7f" },
		{ "f<int, char> const", "", "f<int, char> const" },
		{ "\xc3\xa4", "", "\xc3\xa4" },
		{ "", "", "" },
	};
	struct string_table *names;
	uint32_t id;

	assert_int_equal(string_table_new(&names), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(function_table_label(names, cases[i][0], cases[i][1], &id), 0);
		assert_string_equal(string_table_text(names, id), cases[i][2]);
	}
	string_table_free(names);
}

static void label_may_be_of_any_length(void **state)
{
	enum { BYTES = 100000 };
	char *text = malloc(BYTES + 1);
	struct string_table *names;
	uint32_t id;

	assert_non_null(text);
	memset(text, '\n', BYTES);
	text[BYTES] = '\0';
	assert_int_equal(string_table_new(&names), 0);
	assert_int_equal(function_table_label(names, text, "_[k]", &id), 0);
	assert_int_equal(string_table_bytes(names, id), 4 * BYTES + 4);
	string_table_free(names);
	free(text);
}

/* ---- build-ids ---- */

struct seen {
	unsigned count;
	struct buildid last;
	char path[64];
};

static int see(void *ctx, const struct buildid *id, const char *path)
{
	struct seen *s = ctx;

	s->count++;
	s->last = *id;
	strncpy(s->path, path, sizeof(s->path) - 1);
	return s->count == 100 ? 7 : 0;
}

static struct build_id_list *two_ids(void)
{
	struct buildid kernel = { .bytes = { 1, 2, 3 }, .size_bytes = 20 };
	struct buildid short_id = { .bytes = { 9 }, .size_bytes = 8 };
	struct build_id_list *l;

	assert_int_equal(build_id_list_new(&l), 0);
	assert_int_equal(build_id_list_add(l, &kernel, "[kernel.kallsyms]", true), 0);
	assert_int_equal(build_id_list_add(l, &short_id, "/bin/x", false), 0);
	return l;
}

static void build_ids_are_read_as_written(void **state)
{
	struct build_id_list *l = two_ids();
	struct capture_bytes section;
	struct seen s = { 0 };

	section.data = build_id_list_section(l, &section.size_bytes);
	assert_int_equal(build_ids_walk(section, see, &s), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.last.size_bytes, 8);
	assert_string_equal(s.path, "/bin/x");
	assert_int_equal(kallsyms_kernel_id(section).size_bytes, 20);
	assert_int_equal(kallsyms_kernel_id(section).bytes[2], 3);
	build_id_list_free(l);
}

/* Cut anywhere: complete entries are read, the rest is not touched. */
static void cut_build_ids_end_early(void **state)
{
	struct build_id_list *l = two_ids();
	struct capture_bytes section;
	size_t total_bytes, first_bytes;
	const uint8_t *data = build_id_list_section(l, &total_bytes);
	uint8_t *cut;

	first_bytes = data[6] | (size_t)data[7] << 8;
	for (size_t n = 0; n < total_bytes; n++) {
		struct seen s = { 0 };

		cut = malloc(n ? n : 1); /* so that a read beyond is seen */
		assert_non_null(cut);
		memcpy(cut, data, n);
		section = (struct capture_bytes){ cut, n };
		assert_int_equal(build_ids_walk(section, see, &s), 0);
		assert_int_equal(s.count, n >= first_bytes);
		free(cut);
	}
	build_id_list_free(l);
}

static void broken_build_ids_give_nothing(void **state)
{
	uint8_t entry[100];
	struct capture_bytes section = { entry, sizeof(entry) };
	struct seen s = { 0 };

	memset(entry, 0, sizeof(entry));
	assert_int_equal(build_ids_walk(section, see, &s), 0); /* size 0: no way on */
	entry[6] = 35;                                         /* shorter than its head */
	assert_int_equal(build_ids_walk(section, see, &s), 0);
	memset(entry, 'x', sizeof(entry));
	entry[6] = 100;
	entry[7] = 0;
	assert_int_equal(build_ids_walk(section, see, &s), 0); /* a path without an end */
	assert_int_equal(build_ids_walk((struct capture_bytes){ 0 }, see, &s), 0);
	assert_int_equal(s.count, 0);
	entry[99] = '\0';
	assert_int_equal(build_ids_walk(section, see, &s), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.last.size_bytes, 20); /* 'x' bytes of size: as in old files */
}

static void callback_can_end_the_walk(void **state)
{
	struct build_id_list *l = two_ids();
	struct capture_bytes section;
	struct seen s = { .count = 99 };

	section.data = build_id_list_section(l, &section.size_bytes);
	assert_int_equal(build_ids_walk(section, see, &s), 7);
	assert_int_equal(s.count, 100);
	build_id_list_free(l);
}

/* ---- kallsyms ---- */

static void symbol_is_found_by_its_complete_name(void **state)
{
	static const char text[] = "ffffffff81000000 T _text_start\n"
				   "ffffffff81000010 T _tex\n"
				   "ffffffff81000020 T _text\n"
				   "ffffffffc0000000 t _text2\t[mod]\n";

	assert_true(kallsyms_address(text, "_text") == 0xffffffff81000020);
	assert_true(kallsyms_address(text, "_text_start") == 0xffffffff81000000);
	assert_true(kallsyms_address("1f T a", "a") == 0x1f); /* no line end */
}

static void what_is_no_kallsyms_has_no_address(void **state)
{
	static const char *const texts[] = {
		"",         "\n\n\n",      "_text",   " _text",
		"12 _text", "12 T_text\n", "12 T \n", "12  _text x\n"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_true(kallsyms_address(texts[i], "_text") == 0);
	assert_true(kallsyms_address("0000000000000000 T _text\n", "_text") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(label_cannot_break_a_line),
		cmocka_unit_test(label_may_be_of_any_length),
		cmocka_unit_test(build_ids_are_read_as_written),
		cmocka_unit_test(cut_build_ids_end_early),
		cmocka_unit_test(broken_build_ids_give_nothing),
		cmocka_unit_test(callback_can_end_the_walk),
		cmocka_unit_test(symbol_is_found_by_its_complete_name),
		cmocka_unit_test(what_is_no_kallsyms_has_no_address),
	};

	return cmocka_run_group_tests_name("naming", tests, NULL, NULL);
}
