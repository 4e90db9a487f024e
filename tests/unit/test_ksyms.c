/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/ksyms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char table[] = "ffffffff81000000 T _text\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000100 t first\n"
			    "ffffffff81000200 D not_code\n"
			    "ffffffff81000300 W second\n"
			    "ffffffff81000300 T second_alias\n"
			    "ffffffff81000400 T third\n"
			    "ffffffff81001000 T _etext\n"
			    "ffffffffc0200000 t of_module\t[ext4]\n"
			    "ffffffffc0100000 t bpf_prog_0123_main\t[bpf]\n";

static struct ksyms *load(const char *text)
{
	struct ksyms *k = NULL;

	assert_int_equal(ksyms_from_text(strdup(text), &k), 0);
	return k;
}

/* The lines taken after touching these addresses (0 ends them). */
static char *taken(struct ksyms *k, const uint64_t *addr)
{
	struct outbuf out = { 0 };

	for (; *addr; addr++)
		ksyms_touch(k, *addr);
	ksyms_take(k, &out);
	outbuf_add(&out, "", 1);
	return (char *)out.data;
}

static void ksyms_keeps_what_was_hit_with_its_aliases_and_its_end(void **state)
{
	static const struct {
		uint64_t addr;
		const char *want;
	} cases[] = {
		{ 0xffffffff81000150, "ffffffff81000100 t first\n"
				      "ffffffff81000300 W second\n" },
		{ 0xffffffff81000300, "ffffffff81000300 W second\n"
				      "ffffffff81000300 T second_alias\n"
				      "ffffffff81000400 T third\n" },
		{ 0xffffffff81000fff, "ffffffff81000400 T third\n"
				      "ffffffff81001000 T _etext\n" },
		{ 0xffffffffc0100010, "ffffffffc0100000 t bpf_prog_0123_main\t[bpf]\n"
				      "ffffffffc0200000 t of_module\t[ext4]\n" },
		{ 0xffffffffffffffff, "ffffffffc0200000 t of_module\t[ext4]\n" },
		{ 0x1000, "ffffffff81000000 T _text\n" },
	};
	struct ksyms *k;
	char *got;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k = load(table);
		got = taken(k, (const uint64_t[]){ cases[i].addr, 0 });
		assert_string_equal(got, cases[i].want);
		free(got);
		ksyms_free(k);
	}
}

static void ksyms_gives_each_line_once(void **state)
{
	struct ksyms *k = load(table);
	char *first = taken(k, (const uint64_t[]){ 0xffffffff81000150, 0xffffffff81000151, 0 });
	char *again = taken(k, (const uint64_t[]){ 0xffffffff81000150, 0xffffffff81000160, 0 });
	char *more = taken(k, (const uint64_t[]){ 0xffffffff81000310, 0 });

	assert_string_equal(first, "ffffffff81000100 t first\nffffffff81000300 W second\n");
	assert_string_equal(again, "");
	assert_string_equal(more, "ffffffff81000300 T second_alias\nffffffff81000400 T third\n");
	free(first);
	free(again);
	free(more);
	ksyms_free(k);
}

static void ksyms_finds_names_and_addresses(void **state)
{
	struct ksyms *k = load(table);
	struct ksym s;
	uint64_t addr;

	assert_true(ksyms_find(k, "_etext", &addr));
	assert_int_equal(addr, 0xffffffff81001000);
	assert_false(ksyms_find(k, "_etex", &addr));
	assert_false(ksyms_find(k, "of_module", &addr));
	assert_true(ksyms_at(k, 0xffffffffc0100000, "bpf", &s));
	assert_int_equal(s.name_bytes, strlen("bpf_prog_0123_main"));
	assert_false(ksyms_at(k, 0xffffffffc0100001, "bpf", &s));
	assert_false(ksyms_at(k, 0xffffffffc0200000, "bpf", &s));
	assert_true(ksyms_at(k, 0xffffffffc0200000, NULL, &s));
	ksyms_free(k);
}

static void ksyms_steps_over_lines_that_are_none(void **state)
{
	struct ksyms *k = load("\n"
			       "xyz\n"
			       "1000\n"
			       "1000 T\n"
			       "1000 T \n"
			       "10000000000000000 T too_large\n"
			       "1000  T blank\n"
			       "2000 T good\n"
			       "3000 T cut");
	char *got = taken(k, (const uint64_t[]){ 0x1800, 0x2800, 0 });

	assert_string_equal(got, "2000 T good\n3000 T cut");
	free(got);
	ksyms_free(k);
}

static void ksyms_refuses_hidden_and_empty_tables(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "", -ENODATA },
		{ "hello\n", -ENODATA },
		{ "ffffffff81000200 D only_data\n", -ENODATA },
		{ "0000000000000000 T _text\n0000000000000000 T schedule\n", -EACCES },
	};
	struct ksyms *k = NULL;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ksyms_from_text(strdup(cases[i].text), &k), cases[i].err);
		assert_null(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ksyms_keeps_what_was_hit_with_its_aliases_and_its_end),
		cmocka_unit_test(ksyms_gives_each_line_once),
		cmocka_unit_test(ksyms_finds_names_and_addresses),
		cmocka_unit_test(ksyms_steps_over_lines_that_are_none),
		cmocka_unit_test(ksyms_refuses_hidden_and_empty_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
