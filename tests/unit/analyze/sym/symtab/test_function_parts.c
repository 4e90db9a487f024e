/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <unistd.h>
#include "analyze/sym/symtab/function_ranges.h"
#include "tests/unit/fixture.h"

/* tests/lib/fixtures/parts.S has a function or a part at each 0x100 bytes. */
static uint64_t function_in(const char *name, const struct symtab_wanted *wanted, uint64_t vaddr)
{
	struct function_ranges *ranges;
	char path[FIXTURE_PATH];
	struct elf_file *elf;
	uint64_t start = 0;
	int fd;

	fixture_path(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip(); /* not built on this machine */
	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(function_ranges_new(elf, wanted, &ranges), 0);
	elf_file_close(elf);
	close(fd);
	assert_true(function_ranges_find(ranges, vaddr, &start));
	function_ranges_free(ranges);
	return start;
}

static uint64_t function_at(const struct symtab_wanted *wanted, uint64_t vaddr)
{
	return function_in("parts", wanted, vaddr);
}

static void part_that_a_function_jumps_to_is_of_that_function(void **state)
{
	assert_int_equal(function_at(NULL, 0x401000), 0x401000);
	assert_int_equal(function_at(NULL, 0x401100), 0x401000);
	assert_int_equal(function_at(NULL, 0x401101), 0x401000);
}

static void part_that_jumps_back_into_a_function_is_of_that_function(void **state)
{
	assert_int_equal(function_at(NULL, 0x401c00), 0x401c00);
	assert_int_equal(function_at(NULL, 0x401d00), 0x401c00);
}

static void part_of_two_functions_is_its_own(void **state)
{
	assert_int_equal(function_at(NULL, 0x401400), 0x401400);
}

static void part_with_another_frame_than_at_the_jump_is_its_own(void **state)
{
	assert_int_equal(function_at(NULL, 0x401600), 0x401600);
}

static void function_that_is_jumped_to_is_its_own(void **state)
{
	assert_int_equal(function_at(NULL, 0x401800), 0x401800);
}

static void part_without_a_jump_to_it_is_its_own(void **state)
{
	assert_int_equal(function_at(NULL, 0x401900), 0x401900);
}

static void jump_inside_of_another_instruction_is_none(void **state)
{
	assert_int_equal(function_at(NULL, 0x401b00), 0x401b00);
}

/* Whether it alone is asked for, which is then found by .eh_frame_hdr if there is one, or all addresses are. */
static void check_part(uint64_t vaddr, uint64_t function)
{
	const struct symtab_wanted wanted = { &vaddr, 1 };

	assert_int_equal(function_at(NULL, vaddr), function);
	assert_int_equal(function_at(&wanted, vaddr), function);
	assert_int_equal(function_in("parts.no-hdr", &wanted, vaddr), function);
}

static void stubs_that_a_function_jumps_to_are_their_own(void **state)
{
	check_part(0x600000, 0x600000);
}

static void each_part_has_the_function_that_it_has_without_a_header(void **state)
{
	static const uint64_t vaddrs[][2] = {
		{ 0x401000, 0x401000 }, { 0x401101, 0x401000 }, { 0x401400, 0x401400 },
		{ 0x401600, 0x401600 }, { 0x401800, 0x401800 }, { 0x401900, 0x401900 },
		{ 0x401b00, 0x401b00 }, { 0x401d00, 0x401c00 }, { 0x401e00, 0x401e00 },
	};

	for (size_t i = 0; i < sizeof(vaddrs) / sizeof(vaddrs[0]); i++)
		check_part(vaddrs[i][0], vaddrs[i][1]);
}

static void part_of_a_function_far_away_is_of_that_function(void **state)
{
	for (uint64_t i = 0; i < 64; i++)
		check_part(0x402000 + i * 0x100, 0x442000 + i * 0x100);
}

static void jump_that_two_chunks_have_a_piece_of_is_found(void **state)
{
	check_part(0x406000, 0x480ffb);
	check_part(0x406100, 0x4c0ffb);
}

static void jump_from_the_last_part_to_behind_it_is_found(void **state)
{
	check_part(0x4c2000, 0x4c2100);
}

static void wanted_addresses_have_the_functions_that_they_have_without_them(void **state)
{
	static const uint64_t vaddrs[] = { UINT64_MAX, 0x401d00, 0x401102, 0x401d00, 0 };
	const struct symtab_wanted wanted = { vaddrs, 5 };

	assert_int_equal(function_at(&wanted, 0x401102), 0x401000);
	assert_int_equal(function_at(&wanted, 0x401d00), 0x401c00);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_that_a_function_jumps_to_is_of_that_function),
		cmocka_unit_test(part_that_jumps_back_into_a_function_is_of_that_function),
		cmocka_unit_test(part_of_two_functions_is_its_own),
		cmocka_unit_test(part_with_another_frame_than_at_the_jump_is_its_own),
		cmocka_unit_test(function_that_is_jumped_to_is_its_own),
		cmocka_unit_test(part_without_a_jump_to_it_is_its_own),
		cmocka_unit_test(jump_inside_of_another_instruction_is_none),
		cmocka_unit_test(part_of_a_function_far_away_is_of_that_function),
		cmocka_unit_test(jump_that_two_chunks_have_a_piece_of_is_found),
		cmocka_unit_test(jump_from_the_last_part_to_behind_it_is_found),
		cmocka_unit_test(stubs_that_a_function_jumps_to_are_their_own),
		cmocka_unit_test(each_part_has_the_function_that_it_has_without_a_header),
		cmocka_unit_test(wanted_addresses_have_the_functions_that_they_have_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
