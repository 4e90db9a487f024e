/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/kernel_maps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void kernmaps_reads_modules(void **state)
{
	const char *text = "ext4 1032192 2 - Live 0xffffffffc0400000\n"
			   "broken\n"
			   "nf_nat 61440 3 xt_nat,nft_nat, Live 0xffffffffc0b3c000 (OE)\n"
			   "hidden 4096 0 - Live 0x0000000000000000";
	struct kernel_module m;

	assert_int_equal(kernel_module_next(&text, &m), 1);
	assert_string_equal(m.name, "ext4");
	assert_true(m.size_bytes == 1032192 && m.addr == 0xffffffffc0400000);
	assert_int_equal(kernel_module_next(&text, &m), -EBADMSG);
	assert_int_equal(kernel_module_next(&text, &m), 1);
	assert_string_equal(m.name, "nf_nat");
	assert_int_equal(m.addr, 0xffffffffc0b3c000);
	assert_int_equal(kernel_module_next(&text, &m), 1);
	assert_int_equal(m.addr, 0);
	assert_int_equal(kernel_module_next(&text, &m), 0);
}

static void kernmaps_refuses_lines_that_are_no_modules(void **state)
{
	static const char *const cases[] = {
		"\n",
		"ext4\n",
		"ext4 1032192 2 - Live\n",
		"ext4 1032192 2 - Live ffffffffc0400000\n",
		"ext4 1032192 2 - Live 0xfffx\n",
		"ext4 many 2 - Live 0xffffffffc0400000\n",
		"ext4 0 2 - Live 0xffffffffc0400000\n",
		"a_name_that_is_longer_than_any_module_of_any_kernel_may_ever_have_in_it 1 2 - Live 0x1\n",
	};
	struct kernel_module m;
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text = cases[i];
		if (kernel_module_next(&text, &m) != -EBADMSG)
			fail_msg("taken: '%s'", cases[i]);
		assert_int_equal(kernel_module_next(&text, &m), 0);
	}
}

static void kernmaps_finds_a_modules_file(void **state)
{
	static const char dep[] = "kernel/fs/ext4/ext4.ko.xz: kernel/lib/crc16.ko.xz\n"
				  "kernel/net/nf-nat.ko:\n"
				  "no colon\n"
				  "extra/ext4x.ko:\n"
				  "top.ko:\n"
				  "kernel/lib/crc16.ko.xz:";
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "ext4", "kernel/fs/ext4/ext4.ko.xz" },
		{ "nf_nat", "kernel/net/nf-nat.ko" },
		{ "crc16", "kernel/lib/crc16.ko.xz" },
		{ "top", "top.ko" },
		{ "ext", NULL },
		{ "ext4.ko", NULL },
		{ "", NULL },
	};
	char out[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (kernel_module_file(dep, cases[i].name, out, sizeof(out)) !=
		    (cases[i].want != NULL))
			fail_msg("'%s'", cases[i].name);
		if (cases[i].want)
			assert_string_equal(out, cases[i].want);
	}
	assert_false(kernel_module_file(dep, "ext4", out, 10));
	assert_false(kernel_module_file("", "ext4", out, sizeof(out)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernmaps_reads_modules),
		cmocka_unit_test(kernmaps_refuses_lines_that_are_no_modules),
		cmocka_unit_test(kernmaps_finds_a_modules_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
