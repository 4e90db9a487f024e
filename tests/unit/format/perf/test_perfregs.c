/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/perf/perfregs.h"

#include <asm/perf_regs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/base/cursor.h"

/* A sample whose registers have the values 100, 101, ... in the order of the mask's bits. */
static struct perf_sample sample_of(uint8_t bytes[64 * 8])
{
	for (unsigned i = 0; i < 64; i++)
		le64_store(bytes + 8 * i, 100 + i);
	return (struct perf_sample){ .user_regs_abi = PERF_SAMPLE_REGS_ABI_64, .user_regs = bytes };
}

#if defined(__x86_64__)
static void perfregs_x86_go_to_their_dwarf_numbers(void **state)
{
	static const struct {
		unsigned perf, dwarf;
	} same[] = {
		{ PERF_REG_X86_AX, 0 },   { PERF_REG_X86_DX, 1 },   { PERF_REG_X86_CX, 2 },
		{ PERF_REG_X86_BX, 3 },   { PERF_REG_X86_SI, 4 },   { PERF_REG_X86_DI, 5 },
		{ PERF_REG_X86_BP, 6 },   { PERF_REG_X86_SP, 7 },   { PERF_REG_X86_R8, 8 },
		{ PERF_REG_X86_R9, 9 },   { PERF_REG_X86_R10, 10 }, { PERF_REG_X86_R11, 11 },
		{ PERF_REG_X86_R12, 12 }, { PERF_REG_X86_R13, 13 }, { PERF_REG_X86_R14, 14 },
		{ PERF_REG_X86_R15, 15 }, { PERF_REG_X86_IP, 16 },
	};
	uint8_t bytes[64 * 8];
	struct perf_sample s = sample_of(bytes);
	__u64 gprs[PERFREGS_MAX] = { 0 };
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		all |= 1ULL << same[i].perf;
	assert_int_equal(all, PERFREGS_X86_MASK);
	assert_true(perfregs_load(UNWIND_X86_64, &s, PERFREGS_X86_MASK, gprs));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		/* The n-th that is there: as many bits of the mask are below it. */
		uint64_t below = PERFREGS_X86_MASK & ((1ULL << same[i].perf) - 1);

		assert_int_equal(gprs[same[i].dwarf], 100 + (unsigned)__builtin_popcountll(below));
	}
}
#endif

static void perfregs_without_pc_or_sp_are_none(void **state)
{
	uint8_t bytes[64 * 8];
	struct perf_sample s = sample_of(bytes), none = { 0 };
	__u64 gprs[PERFREGS_MAX] = { 0 };

	assert_true(perfregs_load(UNWIND_X86_64, &s, 1 << 7 | 1 << 8, gprs));
	assert_int_equal(gprs[UNWIND_X86_SP], 100);
	assert_int_equal(gprs[UNWIND_X86_RA], 101);
	assert_false(perfregs_load(UNWIND_X86_64, &s, 1 << 7, gprs));
	assert_false(perfregs_load(UNWIND_X86_64, &s, 1 << 8, gprs));
	assert_false(perfregs_load(UNWIND_X86_64, &s, 0, gprs));
	assert_false(perfregs_load(UNWIND_X86_64, &none, PERFREGS_X86_MASK, gprs));
	assert_true(perfregs_load(UNWIND_AARCH64, &s, 1ULL << 31 | 1ULL << 32, gprs));
	assert_int_equal(gprs[UNWIND_ARM_PC], 101);
}

/* Every bit set: what has no place is stepped over. */
static void perfregs_of_the_future_are_stepped_over(void **state)
{
	uint8_t bytes[64 * 8];
	struct perf_sample s = sample_of(bytes);
	__u64 gprs[PERFREGS_MAX] = { 0 };

	assert_true(perfregs_load(UNWIND_X86_64, &s, UINT64_MAX, gprs));
	assert_int_equal(gprs[15], 100 + 23); /* r15 is perf's 23 */
	assert_true(perfregs_load(UNWIND_AARCH64, &s, UINT64_MAX, gprs));
	assert_int_equal(gprs[30], 130);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(perfregs_x86_go_to_their_dwarf_numbers),
#endif
		cmocka_unit_test(perfregs_without_pc_or_sp_are_none),
		cmocka_unit_test(perfregs_of_the_future_are_stepped_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
