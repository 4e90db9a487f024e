/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/unwind/unwind.h"

/*
 * The stack is WORDS words at BASE; word i holds 0x400000 + i unless a case sets it.  So a return
 * address read from the wrong place shows which word it was.
 */
enum { BASE = 0x10000, WORDS = 128, MAX_SET = 8, N_GPRS = 17 };

#define WORD(i)       (BASE + 8 * (i))
#define RA(i)         (0x400000 + (i))
#define RAX86(fp, ra) ((fp) | (ra) << UNWIND_RA_SHIFT)

struct step {
	const char *name;
	struct unwind_rule rule;
	enum unwind_why why;
	struct {
		uint32_t word;
		uint64_t value;
	} set[MAX_SET];
	uint64_t sp, fp; /* before */
	uint32_t flags;
	uint64_t lr;
	uint64_t want_pc, want_sp, want_fp;
	uint32_t want_flags;
};

enum { PC = 0x401237, FP = WORD(40), CALLER = UNWIND_F_CALLER, LOST = UNWIND_F_FP_LOST };

/* clang-format off */
static const struct step good_x86[] = {
	{ "sp + off", { .cfa = UNWIND_CFA_SP, .cfa_off = 16 }, .sp = WORD(2), .fp = FP,
	  .want_pc = RA(3), .want_sp = WORD(4), .want_fp = FP, .want_flags = CALLER },
	{ "fp + off with fp saved", { .cfa = UNWIND_CFA_FP, .cfa_off = 16, .fp_ra = UNWIND_FP_CFA,
	  .fp_words = -2 }, .sp = WORD(2), .fp = FP, .want_pc = RA(41), .want_sp = WORD(42),
	  .want_fp = RA(40), .want_flags = CALLER },
	{ "fp saved deeper", { .cfa = UNWIND_CFA_SP, .cfa_off = 48, .fp_ra = UNWIND_FP_CFA,
	  .fp_words = -4 }, .sp = WORD(0), .fp = FP, .want_pc = RA(5), .want_sp = WORD(6),
	  .want_fp = RA(2), .want_flags = CALLER },
	{ "a saved fp is found again", { .cfa = UNWIND_CFA_SP, .cfa_off = 48,
	  .fp_ra = UNWIND_FP_CFA, .fp_words = -4 }, .flags = CALLER | LOST, .sp = WORD(0),
	  .want_pc = RA(5), .want_sp = WORD(6), .want_fp = RA(2), .want_flags = CALLER },
	{ "fp lost here", { .cfa = UNWIND_CFA_SP, .cfa_off = 8, .fp_ra = UNWIND_FP_LOST },
	  .sp = WORD(0), .fp = FP, .want_pc = RA(0), .want_sp = WORD(1), .want_fp = FP,
	  .want_flags = CALLER | LOST },
	{ "a lost fp stays lost", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, .flags = CALLER | LOST,
	  .sp = WORD(0), .fp = FP, .want_pc = RA(0), .want_sp = WORD(1), .want_fp = FP,
	  .want_flags = CALLER | LOST },
	{ "fp saved where the stack ends is lost", { .cfa = UNWIND_CFA_SP, .cfa_off = 8,
	  .fp_ra = UNWIND_FP_CFA, .fp_words = 1000 }, .sp = WORD(0), .fp = FP, .want_pc = RA(0),
	  .want_sp = WORD(1), .want_fp = 0, .want_flags = CALLER | LOST },
	{ "fp saved at fp", { .cfa = UNWIND_CFA_DEREF_FP, .cfa_off = -8 * 256,
	  .fp_ra = UNWIND_FP_FP }, .set = { { 39, WORD(60) } }, .sp = WORD(2), .fp = FP,
	  .want_pc = RA(59), .want_sp = WORD(60), .want_fp = RA(40), .want_flags = CALLER },
	{ "*(sp + 16) + 8, fp at sp", { .cfa = UNWIND_CFA_DEREF_SP, .cfa_off = 16 * 256 + 1,
	  .fp_ra = UNWIND_FP_SP, .fp_words = 5 }, .set = { { 4, WORD(60) } }, .sp = WORD(2),
	  .fp = FP, .want_pc = RA(60), .want_sp = WORD(61), .want_fp = RA(7), .want_flags = CALLER },
	{ "PLT before its push", { .cfa = UNWIND_CFA_PLT, .cfa_off = 11 }, .sp = WORD(2), .fp = FP,
	  .want_pc = RA(2), .want_sp = WORD(3), .want_fp = FP, .want_flags = CALLER },
	{ "PLT behind its push", { .cfa = UNWIND_CFA_PLT, .cfa_off = 7 }, .sp = WORD(2), .fp = FP,
	  .want_pc = RA(3), .want_sp = WORD(4), .want_fp = FP, .want_flags = CALLER },
	{ "a register of the leaf", { .cfa = UNWIND_CFA_REG | 10, .cfa_off = 8 },
	  .flags = UNWIND_F_LEAF, .sp = WORD(2), .fp = FP, .want_pc = RA(50), .want_sp = WORD(51),
	  .want_fp = FP, .want_flags = CALLER },
	{ "return address in a register of the leaf", { .cfa = UNWIND_CFA_SP, .fp_ra = RAX86(0, 6) },
	  .flags = UNWIND_F_LEAF, .sp = WORD(2), .fp = FP, .want_pc = 0x405555, .want_sp = WORD(2),
	  .want_fp = FP, .want_flags = CALLER },
	{ "out of a signal", { .cfa = UNWIND_CFA_SIGNAL }, .flags = CALLER | LOST, .sp = WORD(2),
	  .set = { { 2 + 21, 0x407777 }, { 2 + 20, WORD(90) }, { 2 + 15, WORD(95) } },
	  .want_pc = 0x407777, .want_sp = WORD(90), .want_fp = WORD(95),
	  .want_flags = UNWIND_F_SIGFRAME },
	{ "out of a signal on another stack, downwards", { .cfa = UNWIND_CFA_SIGNAL }, .sp = WORD(20),
	  .set = { { 20 + 21, 0x407777 }, { 20 + 20, WORD(1) } }, .want_pc = 0x407777,
	  .want_sp = WORD(1), .want_fp = RA(35), .want_flags = UNWIND_F_SIGFRAME },
};
/* clang-format on */

/* clang-format off */
static const struct step bad_x86[] = {
	{ "outermost", { .cfa = UNWIND_CFA_RA_UNDEF }, UNWIND_COMPLETE, .sp = WORD(2) },
	{ "no table", { .cfa = UNWIND_CFA_END }, UNWIND_NO_CFI, .sp = WORD(2) },
	{ "unsupported", { .cfa = UNWIND_CFA_UNSUP }, UNWIND_UNSUPPORTED, .sp = WORD(2) },
	{ "no such rule", { .cfa = 40 }, UNWIND_UNSUPPORTED, .sp = WORD(2) },
	{ "return address 0", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, UNWIND_ZERO_PC,
	  .set = { { 2, 0 } }, .sp = WORD(2) },
	{ "return address 0 beside a frame pointer", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 },
	  UNWIND_BAD_PC, .set = { { 2, 0 } }, .sp = WORD(2), .fp = FP },
	{ "return address 0 beside a saved one", { .cfa = UNWIND_CFA_SP, .cfa_off = 16,
	  .fp_ra = UNWIND_FP_CFA, .fp_words = -2 }, UNWIND_BAD_PC, .set = { { 3, 0 } },
	  .sp = WORD(2) },
	{ "return address 0 and a frame pointer that was lost", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 },
	  UNWIND_ZERO_PC, .flags = CALLER | LOST, .set = { { 2, 0 } }, .sp = WORD(2), .fp = FP },
	{ "return address too low", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, UNWIND_BAD_PC,
	  .set = { { 2, 0xfff } }, .sp = WORD(2) },
	{ "return address in the kernel", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, UNWIND_BAD_PC,
	  .set = { { 2, 0xffffffff81000000 } }, .sp = WORD(2) },
	{ "stack ends", { .cfa = UNWIND_CFA_SP, .cfa_off = 16 }, UNWIND_READ_FAULT,
	  .sp = WORD(WORDS - 1) },
	{ "half a word left", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, UNWIND_READ_FAULT,
	  .sp = WORD(WORDS) - 4 },
	{ "stack begins higher", { .cfa = UNWIND_CFA_SP, .cfa_off = 8 }, UNWIND_READ_FAULT,
	  .sp = BASE - 8 },
	{ "sp wraps around", { .cfa = UNWIND_CFA_SP, .cfa_off = 16 }, UNWIND_READ_FAULT,
	  .sp = UINT64_MAX - 7 },
	{ "frame of no size", { .cfa = UNWIND_CFA_SP }, UNWIND_SP_NOT_UP, .sp = WORD(2) },
	{ "frame of negative size", { .cfa = UNWIND_CFA_SP, .cfa_off = -8 }, UNWIND_SP_NOT_UP,
	  .sp = WORD(4) },
	{ "fp points below sp", { .cfa = UNWIND_CFA_FP, .cfa_off = 16 }, UNWIND_SP_NOT_UP,
	  .sp = WORD(50), .fp = FP },
	{ "fp needed and lost", { .cfa = UNWIND_CFA_FP, .cfa_off = 16 }, UNWIND_FP_UNKNOWN,
	  .flags = CALLER | LOST, .sp = WORD(2), .fp = FP },
	{ "fp needed for *(fp) and lost", { .cfa = UNWIND_CFA_DEREF_FP }, UNWIND_FP_UNKNOWN,
	  .flags = CALLER | LOST, .sp = WORD(2), .fp = FP },
	{ "*(sp) not readable", { .cfa = UNWIND_CFA_DEREF_SP, .cfa_off = -64 * 256 },
	  UNWIND_READ_FAULT, .sp = WORD(2) },
	{ "register of no leaf", { .cfa = UNWIND_CFA_REG | 10, .cfa_off = 8 }, UNWIND_REG_UNKNOWN,
	  .flags = CALLER, .sp = WORD(2) },
	{ "register of no number", { .cfa = UNWIND_CFA_REG | 30, .cfa_off = 8 }, UNWIND_REG_UNKNOWN,
	  .flags = UNWIND_F_LEAF, .sp = WORD(2) },
	{ "return address in a register of no leaf",
	  { .cfa = UNWIND_CFA_SP, .cfa_off = 8, .fp_ra = RAX86(0, 6) }, UNWIND_REG_UNKNOWN,
	  .flags = CALLER, .sp = WORD(2) },
	{ "signal frame cut", { .cfa = UNWIND_CFA_SIGNAL }, UNWIND_READ_FAULT, .sp = WORD(WORDS - 9) },
	{ "interrupted at address 0", { .cfa = UNWIND_CFA_SIGNAL }, UNWIND_BAD_PC,
	  .set = { { 2 + 21, 0 } }, .sp = WORD(2) },
};
/* clang-format on */

/* clang-format off */
static const struct step good_arm[] = {
	{ "leaf", { .cfa = UNWIND_CFA_SP }, .flags = UNWIND_F_LEAF, .sp = WORD(2), .fp = FP,
	  .lr = 0x405678, .want_pc = 0x405678, .want_sp = WORD(2), .want_fp = FP,
	  .want_flags = CALLER },
	{ "signature is cut", { .cfa = UNWIND_CFA_SP }, .flags = UNWIND_F_LEAF, .sp = WORD(2),
	  .fp = FP, .lr = 0x7a23000000405678, .want_pc = 0x405678, .want_sp = WORD(2),
	  .want_fp = FP, .want_flags = CALLER },
	{ "frame record", { .cfa = UNWIND_CFA_FP, .cfa_off = 32,
	  .fp_ra = RAX86(UNWIND_FP_CFA, 17), .fp_words = -4 }, .flags = CALLER, .sp = WORD(2),
	  .fp = FP, .want_pc = RA(41), .want_sp = WORD(44), .want_fp = RA(40), .want_flags = CALLER },
	{ "link register alone", { .cfa = UNWIND_CFA_SP, .cfa_off = 16,
	  .fp_ra = RAX86(UNWIND_FP_SAME, 16), .fp_words = -2 }, .flags = CALLER, .sp = WORD(2),
	  .fp = FP, .want_pc = RA(2), .want_sp = WORD(4), .want_fp = FP, .want_flags = CALLER },
	{ "link register below fp", { .cfa = UNWIND_CFA_SP, .cfa_off = 32,
	  .fp_ra = RAX86(UNWIND_FP_CFA, 13), .fp_words = -1 }, .flags = CALLER, .sp = WORD(2),
	  .fp = FP, .want_pc = RA(2), .want_sp = WORD(6), .want_fp = RA(5), .want_flags = CALLER },
	{ "out of a signal", { .cfa = UNWIND_CFA_SIGNAL }, .flags = CALLER, .sp = WORD(2),
	  .set = { { 2 + 39 + 32, 0x407777 }, { 2 + 39 + 31, WORD(90) }, { 2 + 39 + 29, WORD(95) } },
	  .want_pc = 0x407777, .want_sp = WORD(90), .want_fp = WORD(95),
	  .want_flags = UNWIND_F_SIGFRAME },
};
/* clang-format on */

/* clang-format off */
static const struct step bad_arm[] = {
	{ "link register of no leaf", { .cfa = UNWIND_CFA_SP, .cfa_off = 16 }, UNWIND_REG_UNKNOWN,
	  .flags = CALLER, .sp = WORD(2), .lr = 0x405678 },
	{ "link register 0", { .cfa = UNWIND_CFA_SP }, UNWIND_ZERO_PC, .flags = UNWIND_F_LEAF,
	  .sp = WORD(2) },
	{ "saved record with no frame", { .cfa = UNWIND_CFA_SP, .cfa_off = 0,
	  .fp_ra = RAX86(UNWIND_FP_CFA, 17), .fp_words = 2 }, UNWIND_SP_NOT_UP, .flags = CALLER,
	  .sp = WORD(2), .fp = FP },
	{ "record not readable", { .cfa = UNWIND_CFA_FP, .cfa_off = 32,
	  .fp_ra = RAX86(UNWIND_FP_CFA, 17), .fp_words = -4 }, UNWIND_READ_FAULT, .flags = CALLER,
	  .sp = WORD(2), .fp = WORD(WORDS - 1) },
};
/* clang-format on */

static void fill(const struct step *s, uint8_t *stack)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		le64_store(stack + 8 * i, RA(i));
	for (i = 0; i < MAX_SET && s->set[i].word; i++)
		le64_store(stack + 8 * s->set[i].word, s->set[i].value);
}

static void run_steps(enum unwind_arch arch, const struct step *steps, size_t n)
{
	__u64 gprs[N_GPRS] = { [5] = 0x405555, [10] = WORD(50) };
	uint8_t *stack = malloc(8 * WORDS);
	struct unwind_regs r, before;
	struct unwind_copy copy;
	enum unwind_why why;
	size_t i;

	assert_non_null(stack);
	unwind_copy_init(&copy, stack, 8 * WORDS, BASE, gprs, N_GPRS);
	for (i = 0; i < n; i++) {
		const struct step *s = &steps[i];

		fill(s, stack);
		unwind_regs_leaf(&r, PC, s->sp, s->fp, s->lr);
		r.flags = s->flags;
		before = r;
		why = unwind_step(arch, &s->rule, &r, &copy.mem);
		if (why != s->why)
			fail_msg("%s: got '%s', want '%s'", s->name, unwind_why_text(why),
				 unwind_why_text(s->why));
		if (why && memcmp(&r, &before, sizeof(r)) != 0)
			fail_msg("%s: failed, but changed the registers", s->name);
		if (!why && (r.pc != s->want_pc || r.sp != s->want_sp || r.flags != s->want_flags ||
			     (!(r.flags & LOST) && r.fp != s->want_fp)))
			fail_msg("%s: got pc %#llx sp %#llx fp %#llx flags %u", s->name, r.pc, r.sp,
				 r.fp, r.flags);
	}
	free(stack);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void x86_steps(void **state)
{
	run_steps(UNWIND_X86_64, good_x86, COUNT(good_x86));
}

static void x86_steps_that_end(void **state)
{
	run_steps(UNWIND_X86_64, bad_x86, COUNT(bad_x86));
}

static void aarch64_steps(void **state)
{
	run_steps(UNWIND_AARCH64, good_arm, COUNT(good_arm));
}

static void aarch64_steps_that_end(void **state)
{
	run_steps(UNWIND_AARCH64, bad_arm, COUNT(bad_arm));
}

/* Code without a table is looked at: it may be the return from a signal. */
static void signal_return_is_known_by_its_code(void **state)
{
	static const uint8_t x86[16] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t not_x86[16] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x06 };
	static const uint8_t arm[16] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	uint8_t image[8 * WORDS] = { 0 };
	struct unwind_copy copy;
	struct unwind_regs r;

	unwind_copy_init(&copy, image, sizeof(image), BASE, NULL, 0);
	le64_store(image + 168 + 64, 0x401000);
	memcpy(image, x86, 16);
	unwind_regs_leaf(&r, BASE, BASE + 64, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &end, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(r.pc, 0x401000);
	memcpy(image, not_x86, 16);
	unwind_regs_leaf(&r, BASE, BASE + 64, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &end, &r, &copy.mem), UNWIND_NO_CFI);
	assert_int_equal(unwind_step(UNWIND_AARCH64, &end, &r, &copy.mem), UNWIND_NO_CFI);
	memcpy(image, arm, 16);
	le64_store(image + 64 + 312 + 8 * 32, 0x402000);
	assert_int_equal(unwind_step(UNWIND_AARCH64, &end, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(r.pc, 0x402000);
}

/* Behind a signal frame the interrupted code's registers are in that frame. */
static void registers_behind_a_signal(void **state)
{
	const struct unwind_rule sig = { .cfa = UNWIND_CFA_SIGNAL };
	uint8_t image[8 * WORDS] = { 0 };
	struct unwind_copy copy;
	struct unwind_regs r;
	__u64 value;
	uint32_t i;

	/* by DWARF number, where sigcontext has them */
	static const uint8_t slot[16] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7 };

	for (i = 0; i < WORDS; i++)
		le64_store(image + 8 * i, 0x1000 + i);
	unwind_copy_init(&copy, image, sizeof(image), BASE, NULL, 0);
	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &sig, &r, &copy.mem), UNWIND_OK);
	for (i = 0; i < 16; i++) {
		assert_int_equal(unwind_gpr(UNWIND_X86_64, i, &r, &copy.mem, &value), 0);
		assert_int_equal(value, 0x1000 + 5 + slot[i]);
	}
}

/* rbx as a base, two frames above the leaf. */
static void rbx_is_carried(void **state)
{
	const struct unwind_rule saved = { .cfa = UNWIND_CFA_SP, .cfa_off = 24, .bx = 2 };
	const struct unwind_rule same = { .cfa = UNWIND_CFA_SP,
					  .cfa_off = 8,
					  .bx = UNWIND_BX_SAME };
	const struct unwind_rule silent = { .cfa = UNWIND_CFA_SP, .cfa_off = 8 };
	const struct unwind_rule base = { .cfa = UNWIND_CFA_REG | UNWIND_X86_BX, .cfa_off = 16 };
	__u64 gprs[N_GPRS] = { [UNWIND_X86_BX] = WORD(30) };
	struct unwind_copy copy;
	uint8_t stack[8 * WORDS];
	struct unwind_regs r;
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		le64_store(stack + 8 * i, RA(i));
	le64_store(stack + 8, WORD(50));
	unwind_copy_init(&copy, stack, sizeof(stack), BASE, gprs, N_GPRS);

	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &saved, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(unwind_step(UNWIND_X86_64, &same, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(unwind_step(UNWIND_X86_64, &base, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(r.sp, WORD(52));
	assert_int_equal(r.pc, RA(51));

	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &same, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(unwind_step(UNWIND_X86_64, &base, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(r.sp, WORD(32));

	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &silent, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(unwind_step(UNWIND_X86_64, &base, &r, &copy.mem), UNWIND_REG_UNKNOWN);
}

/* Found by fuzzing: rbx is known above the leaf too, but only a leaf may have no frame. */
static void return_address_in_rbx_cannot_stand_still(void **state)
{
	const struct unwind_rule same = { .cfa = UNWIND_CFA_SP,
					  .cfa_off = 8,
					  .bx = UNWIND_BX_SAME };
	const struct unwind_rule still = { .cfa = UNWIND_CFA_SP,
					   .bx = UNWIND_BX_SAME,
					   .fp_ra = RAX86(0, UNWIND_X86_BX + 1) };
	__u64 gprs[N_GPRS] = { [UNWIND_X86_BX] = 0x405555 };
	struct unwind_copy copy;
	uint8_t stack[16];
	struct unwind_regs r;

	le64_store(stack, RA(0));
	unwind_copy_init(&copy, stack, sizeof(stack), BASE, gprs, N_GPRS);
	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_step(UNWIND_X86_64, &same, &r, &copy.mem), UNWIND_OK);
	assert_int_equal(unwind_step(UNWIND_X86_64, &still, &r, &copy.mem), UNWIND_SP_NOT_UP);
}

static void frame_pointer_step(void **state)
{
	static const struct {
		const char *name;
		uint64_t sp, fp;
		uint32_t flags;
		enum unwind_why why;
	} cases[] = {
		{ "a frame", WORD(2), WORD(10), CALLER, UNWIND_OK },
		{ "at sp", WORD(10), WORD(10), CALLER, UNWIND_OK },
		{ "below sp", WORD(10), WORD(9), CALLER, UNWIND_NOT_A_FRAME },
		{ "not aligned", WORD(2), WORD(10) + 4, CALLER, UNWIND_NOT_A_FRAME },
		{ "too far", WORD(2), WORD(2) + (1 << 20), CALLER, UNWIND_NOT_A_FRAME },
		{ "at the end", WORD(2), WORD(WORDS - 1), CALLER, UNWIND_READ_FAULT },
		{ "lost", WORD(2), WORD(10), CALLER | LOST, UNWIND_FP_UNKNOWN },
		{ "data, not code", WORD(2), WORD(20), CALLER, UNWIND_BAD_PC },
		{ "zero", WORD(2), WORD(22), CALLER, UNWIND_ZERO_PC },
		{ "zero in a chain that goes on", WORD(2), WORD(24), CALLER, UNWIND_BAD_PC },
	};
	static const struct step words = { .set = { { 21, 17 }, { 22, 0 }, { 23, 0 }, { 25, 0 } } };
	uint8_t stack[8 * WORDS];
	struct unwind_copy copy;
	struct unwind_regs r;
	enum unwind_why why;
	size_t i;

	fill(&words, stack);
	unwind_copy_init(&copy, stack, sizeof(stack), BASE, NULL, 0);
	for (i = 0; i < COUNT(cases); i++) {
		unwind_regs_leaf(&r, PC, cases[i].sp, cases[i].fp, 0);
		r.flags = cases[i].flags;
		why = unwind_step_fp(UNWIND_X86_64, &r, &copy.mem);
		if (why != cases[i].why)
			fail_msg("%s: %s", cases[i].name, unwind_why_text(why));
		if (!why)
			assert_int_equal(r.pc, RA((cases[i].fp - BASE) / 8 + 1));
	}
}

static void lookup_is_one_byte_earlier_for_callers(void **state)
{
	const struct unwind_rule sig = { .cfa = UNWIND_CFA_SIGNAL }, sp = { .cfa = UNWIND_CFA_SP };
	struct unwind_regs r;

	unwind_regs_leaf(&r, PC, BASE, 0, 0);
	assert_int_equal(unwind_lookup_pc(&r), PC);
	assert_false(unwind_pc_is_return(&r, &sp));
	r.flags = CALLER;
	assert_int_equal(unwind_lookup_pc(&r), PC - 1);
	assert_true(unwind_pc_is_return(&r, &sp));
	assert_false(unwind_pc_is_return(&r, &sig));
}

static void every_reason_has_words(void **state)
{
	int i;

	for (i = 0; i < UNWIND_WHY_COUNT; i++)
		assert_true(unwind_why_text(i) && *unwind_why_text(i));
	assert_string_equal(unwind_why_text(UNWIND_WHY_COUNT), "unknown reason");
	assert_string_equal(unwind_why_text((enum unwind_why) - 1), "unknown reason");
	assert_true(unwind_why_is_complete(UNWIND_COMPLETE));
	assert_false(unwind_why_is_complete(UNWIND_NO_CFI));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_steps),
		cmocka_unit_test(x86_steps_that_end),
		cmocka_unit_test(aarch64_steps),
		cmocka_unit_test(aarch64_steps_that_end),
		cmocka_unit_test(signal_return_is_known_by_its_code),
		cmocka_unit_test(registers_behind_a_signal),
		cmocka_unit_test(rbx_is_carried),
		cmocka_unit_test(return_address_in_rbx_cannot_stand_still),
		cmocka_unit_test(frame_pointer_step),
		cmocka_unit_test(lookup_is_one_byte_earlier_for_callers),
		cmocka_unit_test(every_reason_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
