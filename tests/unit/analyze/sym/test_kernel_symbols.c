/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* kernsyms: texts of /proc/kallsyms, right and wrong */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/kernel_symbols.h"

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000040 t do_one\n"
			   "ffffffff81000080 W weak_one\n"
			   "ffffffff810000c0 D data_between\n"
			   "ffffffff81000100 T last_of_text\n"
			   "ffffffff81002000 T _etext\n"
			   "ffffffff82000000 R __start_rodata\n"
			   "ffffffff83000000 T _sinittext\n"
			   "ffffffff83000000 B __init_begin\n"
			   "ffffffff83000100 t init_one\n"
			   "ffffffff83000200 T _einittext\n"
			   "ffffffffc0010000 t mod_two\t[beta]\n" /* modules are not sorted */
			   "ffffffffc0001000 t mod_one\t[alpha]\n"
			   "ffffffffc0001010 d mod_data\t[alpha]\n"
			   "ffffffffc0001123 t mod_last\t[alpha]\n"
			   "ffffffffc0012000 t bpf_prog_1_x\t[bpf]\n";

static struct kernel_symbols *kernsyms_of(const char *s)
{
	struct kernel_symbols *k;
	size_t n = strlen(s);
	char *exact = malloc(n ? n : 1); /* without a NUL, so that reading on is seen */
	int err;

	memcpy(exact, s, n);
	err = kernel_symbols_new(exact, n, &k);
	free(exact);
	assert_int_equal(err, 0);
	return k;
}

static void check(const struct kernel_symbols *k, uint64_t addr, const char *name,
		  const char *module)
{
	const struct kernel_symbol *s = kernel_symbols_find(k, addr);

	if (!s != !name || (s && (strcmp(s->name, name) != 0 || strcmp(s->module, module) != 0)))
		fail_msg("%#lx: %s %s, expected %s", (unsigned long)addr, s ? s->name : "nothing",
			 s ? s->module : "", name ? name : "nothing");
}

static void kernsyms_text_symbols_name_their_ranges(void **state)
{
	struct kernel_symbols *k = kernsyms_of(text);

	check(k, 0xffffffff81000000, "_text", "[kernel.kallsyms]"); /* the last alias, as perf */
	check(k, 0xffffffff8100003f, "_text", "[kernel.kallsyms]");
	check(k, 0xffffffff81000040, "do_one", "[kernel.kallsyms]");
	check(k, 0xffffffff81000080, "weak_one", "[kernel.kallsyms]");
	check(k, 0xffffffff81000100, "last_of_text", "[kernel.kallsyms]");
	check(k, 0xffffffff81001fff, "last_of_text", "[kernel.kallsyms]");
	check(k, 0xffffffff83000000, "_sinittext", "[kernel.kallsyms]"); /* not the data there */
	check(k, 0xffffffff830001ff, "init_one", "[kernel.kallsyms]");
	kernel_symbols_free(k);
}

static void kernsyms_gaps_stay_gaps(void **state)
{
	struct kernel_symbols *k = kernsyms_of(text);

	check(k, 0, NULL, NULL);
	check(k, 0xffffffff80ffffff, NULL, NULL);
	check(k, 0xffffffff810000c0, NULL, NULL); /* data */
	check(k, 0xffffffff81002000, NULL, NULL); /* behind the text */
	check(k, 0xffffffff82000001, NULL, NULL);
	check(k, 0xffffffff83000200, NULL, NULL);
	check(k, 0xffffffffbfffffff, NULL, NULL);
	check(k, UINT64_MAX, NULL, NULL);
	kernel_symbols_free(k);
}

static void kernsyms_modules_are_named_and_do_not_run_into_each_other(void **state)
{
	struct kernel_symbols *k = kernsyms_of(text);

	check(k, 0xffffffffc0001000, "mod_one", "[alpha]");
	check(k, 0xffffffffc0001010, NULL, NULL);
	check(k, 0xffffffffc0001123, "mod_last", "[alpha]");
	check(k, 0xffffffffc0002fff, "mod_last",
	      "[alpha]"); /* to the end of the next page, as perf */
	check(k, 0xffffffffc0003000, NULL, NULL);
	check(k, 0xffffffffc0010000, "mod_two", "[beta]");
	check(k, 0xffffffffc0011fff, NULL, NULL);
	check(k, 0xffffffffc0012fff, "bpf_prog_1_x", "[bpf]");
	check(k, 0xffffffffc0013000, NULL, NULL);
	kernel_symbols_free(k);
}

static void kernsyms_hidden_addresses_are_reported(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n"
				     "0000000000000000 T _stext\n"
				     "0000000000000000 t x\t[m]\n";
	struct kernel_symbols *k = NULL;

	assert_int_equal(kernel_symbols_new(hidden, strlen(hidden), &k), -EACCES);
	assert_null(k);
}

static void kernsyms_without_text_symbols_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"\n",
		"\n\n\n",
		"ffffffff81000000 D data\n",
		"not kallsyms at all\n",
		"ffffffff81000000\n",
		"ffffffff81000000 T\n",
		"ffffffff81000000 T \n",
		"ffffffff81000000T x\n",
		"ffffffff81000000 Tx\n",
		"fffffffff81000000 T x\n",
		" T x\n",
		"FFFFFFFF81000000 T x\n",
		"ffffffff81000000 T $x\n",
		"ffffffff81000000 T _etext\n",
		"ffffffff81000000 T \t[m]\n",
		"ffffffff81000000 T x\t\n",
	};
	struct kernel_symbols *k = NULL;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (kernel_symbols_new(cases[i], strlen(cases[i]), &k) != -ENOENT)
			fail_msg("\"%s\" was not refused", cases[i]);
	assert_null(k);
	assert_int_equal(kernel_symbols_new(NULL, 0, &k), -ENOENT);
}

static void kernsyms_broken_lines_are_passed_over(void **state)
{
	struct kernel_symbols *k = kernsyms_of("garbage\n"
					       "ffffffff81000000 T good\n"
					       "ffffffff8100\n"
					       "ffffffff81000100 T also_good"); /* no newline */

	check(k, 0xffffffff81000000, "good", "[kernel.kallsyms]");
	check(k, 0xffffffff81000100, "also_good", "[kernel.kallsyms]");
	kernel_symbols_free(k);
}

/* As many lines as a text of this size can have. */
static void kernsyms_shortest_lines_fit(void **state)
{
	char *lines = malloc(6 * 1000 + 1);
	struct kernel_symbols *k;
	size_t i;

	for (i = 0; i < 1000; i++)
		memcpy(lines + 6 * i, "1 t x\n", 6);
	lines[6000] = '\0';
	k = kernsyms_of(lines);
	check(k, 1, "x", "[kernel.kallsyms]");
	kernel_symbols_free(k);
	lines[5999] = '\0'; /* the last without its newline: one line more for its size */
	k = kernsyms_of(lines);
	kernel_symbols_free(k);
	free(lines);
}

static void kernsyms_at_the_end_of_the_address_space(void **state)
{
	struct kernel_symbols *k = kernsyms_of(
		"ffffffffffffffff t last\nfffffffffffff000 t page\n");

	check(k, 0xfffffffffffff000, "page", "[kernel.kallsyms]");
	check(k, 0xfffffffffffffffe, "page", "[kernel.kallsyms]");
	kernel_symbols_free(k);
}

static void kernsyms_have_one_name_between_two_bounds(void **state)
{
	struct kernel_symbols *k = kernsyms_of(text);
	uint64_t *bounds;
	size_t count, named = 0;

	assert_int_equal(kernel_symbols_bounds(k, &bounds, &count), 0);
	for (size_t i = 1; i < count; i++) {
		const struct kernel_symbol *first = kernel_symbols_find(k, bounds[i - 1]);

		assert_true(bounds[i - 1] < bounds[i]);
		assert_ptr_equal(kernel_symbols_find(k, bounds[i] - 1), first);
		assert_ptr_not_equal(kernel_symbols_find(k, bounds[i]), first);
		named += !!first;
	}
	assert_int_equal(named, 10);
	assert_int_equal(bounds[0], 0xffffffff81000000);
	free(bounds);
	kernel_symbols_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernsyms_text_symbols_name_their_ranges),
		cmocka_unit_test(kernsyms_gaps_stay_gaps),
		cmocka_unit_test(kernsyms_modules_are_named_and_do_not_run_into_each_other),
		cmocka_unit_test(kernsyms_hidden_addresses_are_reported),
		cmocka_unit_test(kernsyms_without_text_symbols_is_refused),
		cmocka_unit_test(kernsyms_broken_lines_are_passed_over),
		cmocka_unit_test(kernsyms_shortest_lines_fit),
		cmocka_unit_test(kernsyms_have_one_name_between_two_bounds),
		cmocka_unit_test(kernsyms_at_the_end_of_the_address_space),
	};

	return cmocka_run_group_tests_name("kernsyms", tests, NULL, NULL);
}
