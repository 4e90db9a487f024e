/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ehbytes.h"

struct program {
	const char *name;
	enum unwind_arch arch;
	struct bytes ins;
	const char *rows;
};

#define BROKEN_AT(pc) "1000 " START ";" pc " unsupported;1040 end"

/* clang-format off */
static const struct program good_programs[] = {
	{ "nothing", UNWIND_X86_64, BYTES(0), "1000 " START ";1040 end" },
	{ "push rbp; mov rsp, rbp; leave", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x20, 0x0c, 7, 8, 0xc6),
	  "1000 " START ";1001 cfa=sp+16 fp=[cfa-16] ra=[cfa-8];1004 cfa=fp+16 fp=[cfa-16] "
	  "ra=[cfa-8];1024 " START ";1040 end" },
	{ "registers of no interest make no rows", UNWIND_X86_64, BYTES(0x41, 0x83, 3, 0x41, 0x8c, 4),
	  "1000 " START ";1040 end" },
	{ "advances of all sizes", UNWIND_X86_64,
	  BYTES(0x02, 1, 0x0e, 16, 0x03, 2, 0, 0x0e, 24, 0x04, 3, 0, 0, 0, 0x0e, 32, 0x1d, 4, 0, 0, 0,
		0, 0, 0, 0, 0x0e, 40),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1003 cfa=sp+24 fp=same ra=[cfa-8];1006 "
	  "cfa=sp+32 fp=same ra=[cfa-8];100a cfa=sp+40 fp=same ra=[cfa-8];1040 end" },
	{ "remember and restore hold the CFA", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 16, 0x41, 0x0a, 0x0e, 32, 0x41, 0x0b),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1002 cfa=sp+32 fp=same "
	  "ra=[cfa-8];1003 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "restore goes back to the CIE", UNWIND_X86_64,
	  BYTES(0x07, 6, 0x41, 0x06, 6),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1001 " START ";1040 end" },
	{ "args_size is skipped", UNWIND_X86_64, BYTES(0x41, 0x2e, 0x80, 1, 0x0e, 16),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "PLT", UNWIND_X86_64,
	  BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	  "1000 cfa=plt(10) fp=same ra=[cfa-8];1040 end" },
	{ "realigned frame", UNWIND_X86_64, BYTES(0x0f, 3, 0x76, 0x58, 6, 0x10, 6, 2, 0x76, 0),
	  "1000 cfa=[fp-40]+0 fp=[fp+0] ra=[cfa-8];1040 end" },
	{ "dereference and add", UNWIND_X86_64, BYTES(0x0f, 6, 0x77, 0xd8, 1, 6, 0x23, 8),
	  "1000 cfa=[sp+216]+8 fp=same ra=[cfa-8];1040 end" },
	{ "dereference and add a literal", UNWIND_X86_64, BYTES(0x0f, 5, 0x77, 16, 6, 0x38, 0x22),
	  "1000 cfa=[sp+16]+8 fp=same ra=[cfa-8];1040 end" },
	{ "another register", UNWIND_X86_64, BYTES(0x0c, 10, 0), "1000 cfa=r10+0 fp=same ra=[cfa-8];1040 end" },
	{ "return address in a register", UNWIND_X86_64, BYTES(0x41, 0x0e, 0, 0x09, 16, 5),
	  "1000 " START ";1001 cfa=sp+0 fp=same ra=r5;1040 end" },
	{ "outermost", UNWIND_X86_64, BYTES(0x07, 16), "1000 outermost;1040 end" },
	{ "signed offsets", UNWIND_X86_64, BYTES(0x12, 7, 0x7e, 0x11, 6, 2, 0x41, 0x13, 0x7d),
	  "1000 cfa=sp+16 fp=[cfa-16] ra=[cfa-8];1001 cfa=sp+24 fp=[cfa-16] ra=[cfa-8];1040 end" },
	{ "negative_offset_extended", UNWIND_X86_64, BYTES(0x2f, 6, 2),
	  "1000 cfa=sp+8 fp=[cfa+16] ra=[cfa-8];1040 end" },
	{ "set_loc", UNWIND_X86_64, BYTES(0x01, 0xe8, 0x8f, 0xff, 0xff, 0x0e, 16),
	  "1000 " START ";1010 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "advance beyond the end", UNWIND_X86_64, BYTES(0x02, 0x40, 0x0e, 16), "1000 " START ";1040 end" },
	{ "aarch64 frame record", UNWIND_AARCH64,
	  BYTES(0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0xde, 0xdd, 0x0e, 0),
	  "1000 cfa=sp+0 fp=same ra=lr;1004 cfa=sp+32 fp=[cfa-32] ra=[cfa-24];1014 cfa=sp+0 fp=same "
	  "ra=lr;1040 end" },
	{ "aarch64 link register alone", UNWIND_AARCH64, BYTES(0x0e, 16, 0x9e, 2),
	  "1000 cfa=sp+16 fp=same ra=[cfa-16];1040 end" },
	{ "aarch64 link register below fp", UNWIND_AARCH64, BYTES(0x0e, 32, 0x9d, 1, 0x9e, 4),
	  "1000 cfa=sp+32 fp=[cfa-8] ra=[cfa-32];1040 end" },
	{ "aarch64 link register out of reach costs fp", UNWIND_AARCH64,
	  BYTES(0x0e, 0x80, 2, 0x9d, 0x20, 0x9e, 1),
	  "1000 cfa=sp+256 fp=lost ra=[cfa-8];1040 end" },
};
/* clang-format on */

/* clang-format off */
static const struct program malformed_programs[] = {
	{ "unknown instruction", UNWIND_X86_64, BYTES(0x41, 0x3e), BROKEN_AT("1001") },
	{ "vendor instruction of another machine", UNWIND_X86_64, BYTES(0x41, 0x2d), BROKEN_AT("1001") },
	{ "restore without remember", UNWIND_X86_64, BYTES(0x41, 0x0b), BROKEN_AT("1001") },
	{ "truncated operand", UNWIND_X86_64, BYTES(0x41, 0x0e), BROKEN_AT("1001") },
	{ "number without end", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0), BROKEN_AT("1001") },
	{ "truncated advance", UNWIND_X86_64, BYTES(0x41, 0x04, 1, 0), BROKEN_AT("1001") },
	{ "truncated expression", UNWIND_X86_64, BYTES(0x41, 0x0f, 9, 0x77), BROKEN_AT("1001") },
	{ "huge expression", UNWIND_X86_64,
	  BYTES(0x41, 0x10, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), BROKEN_AT("1001") },
	{ "set_loc backwards", UNWIND_X86_64, BYTES(0x41, 0x01, 0xbf, 0x8f, 0xff, 0xff), BROKEN_AT("1001") },
	{ "offset of a CFA that is an expression", UNWIND_X86_64,
	  BYTES(0x0f, 3, 0x76, 0x58, 6, 0x41, 0x0e, 8),
	  "1000 cfa=[fp-40]+0 fp=same ra=[cfa-8];1001 unsupported;1040 end" },
	{ "CFA by an unknown expression", UNWIND_X86_64, BYTES(0x41, 0x0f, 1, 0x96), BROKEN_AT("1001") },
	{ "empty CFA expression", UNWIND_X86_64, BYTES(0x41, 0x0f, 0), BROKEN_AT("1001") },
	{ "almost the PLT", UNWIND_X86_64,
	  BYTES(0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x25, 0x22), BROKEN_AT("1001") },
	{ "dereference and too much behind", UNWIND_X86_64,
	  BYTES(0x41, 0x0f, 6, 0x77, 8, 6, 0x23, 8, 6), BROKEN_AT("1001") },
	{ "dereference through rax", UNWIND_X86_64, BYTES(0x41, 0x0f, 3, 0x70, 8, 6), BROKEN_AT("1001") },
	{ "CFA in a vector register", UNWIND_X86_64, BYTES(0x41, 0x0c, 17, 8), BROKEN_AT("1001") },
	{ "CFA too far away", UNWIND_X86_64, BYTES(0x41, 0x0e, 0x80, 0x80, 0x80, 4), BROKEN_AT("1001") },
	{ "return address elsewhere", UNWIND_X86_64, BYTES(0x41, 0x90, 2), BROKEN_AT("1001") },
	{ "return address by expression", UNWIND_X86_64, BYTES(0x41, 0x10, 16, 2, 0x77, 8), BROKEN_AT("1001") },
	{ "stack pointer elsewhere", UNWIND_X86_64, BYTES(0x41, 0x09, 7, 0), BROKEN_AT("1001") },
	{ "frame pointer in a register is lost", UNWIND_X86_64, BYTES(0x09, 6, 9),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "frame pointer by value is lost", UNWIND_X86_64, BYTES(0x14, 6, 2),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "frame pointer too far away is lost", UNWIND_X86_64, BYTES(0x86, 0x81, 0x80, 4),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "aarch64 return address in x0", UNWIND_AARCH64, BYTES(0x09, 30, 0),
	  "1000 unsupported;1040 end" },
};
/* clang-format on */

static void run_programs(const struct program *p, size_t n)
{
	struct rows rows = { .n = 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		struct section s = { .n = 0 };

		put_cie(&s, p[i].arch);
		put_fde(&s, PC, SIZE, &p[i].ins);
		if (run(&s, p[i].arch, &rows, NULL, NULL) || strcmp(rows.text, p[i].rows) != 0)
			fail_msg("%s:\n got  %s\n want %s", p[i].name, rows.text, p[i].rows);
	}
}

static void programs_give_rows(void **state)
{
	run_programs(good_programs, sizeof(good_programs) / sizeof(good_programs[0]));
}

static void programs_broken_or_unknown_are_contained(void **state)
{
	run_programs(malformed_programs,
		     sizeof(malformed_programs) / sizeof(malformed_programs[0]));
}

static void remember_has_a_limit(void **state)
{
	struct section s = { .n = 0 };
	struct bytes ins = { .n = CFI_MAX_REMEMBER + 1 };
	struct eh_frame_stats stats;
	struct rows rows = { .n = 0 };

	memset(ins.data, 0x0a, ins.n);
	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &ins);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, NULL), 0);
	assert_string_equal(rows.text, "1000 unsupported;1040 end");
	assert_int_equal(stats.unsup_rows[CFI_UNSUP_BROKEN], 1);
}

static void the_taker_can_stop(void **state)
{
	struct section s = { .n = 0 };
	struct rows rows = { .stop_after = 2 };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &good_programs[1].ins);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, NULL, NULL), -ECANCELED);
	assert_int_equal(rows.n, 2);
}

static void rbx_is_returned_when_asked_for(void **state)
{
	static const struct bytes ins = BYTES(0x41, 0x0e, 16, 0x83, 2, 0x41, 0x0d, 3, 0x41, 0x07,
					      3);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct eh_frame_section section = { .data = s.data, .vaddr = VADDR, .track_bx = true };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &ins);
	section.size_bytes = s.n;
	assert_int_equal(eh_frame_rows(&section, take, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START " bx=same;1001 cfa=sp+16 fp=same ra=[cfa-8] "
				       "bx=[cfa-16];1002 cfa=r3+16 fp=same ra=[cfa-8] "
				       "bx=[cfa-16];1003 cfa=r3+16 fp=same ra=[cfa-8];1040 end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_give_rows),
		cmocka_unit_test(programs_broken_or_unknown_are_contained),
		cmocka_unit_test(remember_has_a_limit),
		cmocka_unit_test(the_taker_can_stop),
		cmocka_unit_test(rbx_is_returned_when_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
