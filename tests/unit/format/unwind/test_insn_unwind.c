/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* codeflow, codeframe: the effects of instructions on a frame, and when they are not believed */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/unwind/insn_unwind.h"

#define VADDR 0x1000u

/* Ranges as text: "0:sp+8 1:sp+16,fp-2 ...", where each begins; nothing where there is no rule: "5:-". */
struct dump {
	char text[600];
	uint64_t end_pc;
};

static void put(struct dump *d, const char *words)
{
	assert_true(strlen(d->text) + strlen(words) + 2 < sizeof(d->text));
	strcat(strcat(d->text, *d->text ? " " : ""), words);
}

static void put_gap(struct dump *d, uint64_t pc)
{
	char words[40];

	if (d->end_pc == pc)
		return;
	snprintf(words, sizeof(words), "%u:-", (unsigned)(d->end_pc - VADDR));
	put(d, words);
}

static int see(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	struct dump *d = ctx;
	char words[80], fp[20] = "";

	put_gap(d, pc);
	if (rule->fp_ra == UNWIND_FP_CFA)
		snprintf(fp, sizeof(fp), ",fp%d", rule->fp_words);
	else if (rule->fp_ra == UNWIND_FP_LOST)
		strcpy(fp, ",lost");
	if (rule->cfa == UNWIND_CFA_RA_UNDEF)
		snprintf(words, sizeof(words), "%u:end", (unsigned)(pc - VADDR));
	else
		snprintf(words, sizeof(words), "%u:%s+%d%s", (unsigned)(pc - VADDR),
			 rule->cfa == UNWIND_CFA_SP ? "sp" : "bp", rule->cfa_off, fp);
	put(d, words);
	d->end_pc = end_pc;
	return 0;
}

static const char *flow(const uint8_t *bytes, size_t size, const uint64_t *starts, size_t count)
{
	const struct insn_unwind_code code = { bytes, size, VADDR };
	static struct dump d;

	d = (struct dump){ .end_pc = VADDR };
	assert_int_equal(insn_unwind_rows(&code, starts, count, see, &d, NULL), 0);
	put_gap(&d, VADDR + size);
	return d.text;
}

/* One function, from the first byte on. */
#define FLOW(...)                                                                        \
	flow((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), \
	     (const uint64_t[]){ VADDR }, 1)

#define PUSH_RBX     0x53
#define POP_RBX      0x5b
#define PUSH_RBP     0x55
#define POP_RBP      0x5d
#define RBP_FROM_RSP 0x48, 0x89, 0xe5
#define SUB_RSP(n)   0x48, 0x83, 0xec, n
#define ADD_RSP(n)   0x48, 0x83, 0xc4, n
#define AND_RSP(n)   0x48, 0x83, 0xe4, n
#define LEAVE        0xc9
#define RET          0xc3
#define NOP          0x90
#define JMP(n)       0xeb, n
#define JE(n)        0x74, n
#define CALL(n)      0xe8, n, 0, 0, 0
#define HLT          0xf4
#define JMP_RAX      0xff, 0xe0

static void pushes_and_numbers_move_the_stack(void **state)
{
	assert_string_equal(FLOW(PUSH_RBX, SUB_RSP(0x20), NOP, ADD_RSP(0x20), POP_RBX, RET),
			    "0:sp+8 1:sp+16 5:sp+48 10:sp+16 11:sp+8");
	assert_string_equal(FLOW(0x48, 0x8d, 0x64, 0x24, 0xf0, 0x48, 0x8d, 0x64, 0x24, 0x10, RET),
			    "0:sp+8 5:sp+24 10:sp+8"); /* lea -16(%rsp),%rsp and back */
	assert_string_equal(FLOW(0x9c, 0x9d, RET), "0:sp+8 1:sp+16 2:sp+8"); /* pushfq, popfq */
}

static void frame_pointer_is_a_way_to_the_frame(void **state)
{
	assert_string_equal(FLOW(PUSH_RBP, RBP_FROM_RSP, SUB_RSP(0x10), NOP, LEAVE, RET),
			    "0:sp+8 1:sp+16,fp-2 4:bp+16,fp-2 10:sp+8");
	/* As long as there is one it counts: behind and $-16,%rsp nothing else knows. */
	assert_string_equal(FLOW(PUSH_RBP, RBP_FROM_RSP, AND_RSP(0xf0), NOP, LEAVE, RET),
			    "0:sp+8 1:sp+16,fp-2 4:bp+16,fp-2 10:sp+8");
	/* mov %rbp,%rsp; pop %rbp */
	assert_string_equal(
		FLOW(PUSH_RBP, RBP_FROM_RSP, AND_RSP(0xf0), 0x48, 0x89, 0xec, POP_RBP, RET),
		"0:sp+8 1:sp+16,fp-2 4:bp+16,fp-2 12:sp+8");
	/* lea -8(%rbp),%rsp with something pushed in between */
	assert_string_equal(FLOW(PUSH_RBP, RBP_FROM_RSP, PUSH_RBX, AND_RSP(0xf0), 0x48, 0x8d, 0x65,
				 0xf8, POP_RBX, POP_RBP, RET),
			    "0:sp+8 1:sp+16,fp-2 4:bp+16,fp-2 15:sp+8");
}

static void register_of_frames_may_hold_anything(void **state)
{
	/* push %rbp; xor %ebp,%ebp; pop %rbp: it stays on the stack */
	assert_string_equal(FLOW(PUSH_RBP, 0x31, 0xed, POP_RBP, RET), "0:sp+8 1:sp+16,fp-2 4:sp+8");
	/* Overwritten and never stored, it is lost to the caller. */
	assert_string_equal(FLOW(0x31, 0xed, NOP, RET), "0:sp+8 2:sp+8,lost");
	/* mov %rbp,-8(%rsp); mov $1,%ebp; mov -8(%rsp),%rbp */
	assert_string_equal(FLOW(0x48, 0x89, 0x6c, 0x24, 0xf8, 0xbd, 1, 0, 0, 0, 0x48, 0x8b, 0x6c,
				 0x24, 0xf8, RET),
			    "0:sp+8 5:sp+8,fp-2 15:sp+8");
	/* A value that another function left there is not the caller's. */
	assert_string_equal(FLOW(0x48, 0x8b, 0x6c, 0x24, 0xf8, RET), "0:sp+8 5:sp+8,lost");
}

static void jumps_are_followed(void **state)
{
	assert_string_equal(FLOW(PUSH_RBX, JE(2), POP_RBX, RET, NOP, POP_RBX, RET),
			    "0:sp+8 1:sp+16 4:sp+8 5:sp+16 7:sp+8");
	/* Over code that is never reached. */
	assert_string_equal(FLOW(JMP(2), 0xcc, 0xcc, RET), "0:sp+8 2:- 4:sp+8");
	/* A loop. */
	assert_string_equal(FLOW(PUSH_RBX, NOP, JE(0xfd), POP_RBX, RET), "0:sp+8 1:sp+16 5:sp+8");
	/* A switch: its cases mostly follow.  With nothing on the stack it is a call. */
	assert_string_equal(FLOW(PUSH_RBX, JMP_RAX, POP_RBX, RET), "0:sp+8 1:sp+16 4:sp+8");
	assert_string_equal(FLOW(JMP_RAX, PUSH_RBX, RET), "0:sp+8 2:-");
}

/* A function that is entered by a jump, with arguments on the stack, begins anew; code that jumps there has none. */
static void a_stack_that_is_handed_over_is_not_the_jumpers(void **state)
{
	assert_string_equal(
		FLOW(PUSH_RBX, PUSH_RBX, JMP(1), HLT, PUSH_RBP, RBP_FROM_RSP, NOP, LEAVE, RET),
		"0:- 5:sp+8 6:sp+16,fp-2 9:bp+16,fp-2 11:sp+8");
	/* With an empty stack it is a jump like others. */
	assert_string_equal(FLOW(JMP(1), HLT, PUSH_RBP, RBP_FROM_RSP, NOP, LEAVE, RET),
			    "0:sp+8 2:- 3:sp+8 4:sp+16,fp-2 7:bp+16,fp-2 9:sp+8");
	/* And to anything else, too. */
	assert_string_equal(FLOW(PUSH_RBX, JMP(1), HLT, PUSH_RBP, NOP, POP_RBP, POP_RBX, RET),
			    "0:sp+8 1:sp+16 3:- 4:sp+16 5:sp+24,fp-3 7:sp+16 8:sp+8");
}

static void what_does_not_add_up_is_not_believed(void **state)
{
	assert_string_equal(FLOW(PUSH_RBX, RET), "0:-");        /* returns to what it pushed */
	assert_string_equal(FLOW(JE(1), PUSH_RBX, RET), "0:-"); /* two frames at one place */
	assert_string_equal(FLOW(NOP, 0x06, RET), "0:-");       /* no instruction of 64 bits */
	assert_string_equal(FLOW(NOP, 0x48), "0:-");            /* half of one */
}

/*
 * The caller's rbp is no address to a function of C.  Haskell's code has its own stack there, and jumps to
 * addresses from there.
 */
static void code_that_knows_the_callers_registers_has_no_rules(void **state)
{
	assert_string_equal(FLOW(NOP, 0xff, 0x65, 0), "0:-");                 /* jmp *(%rbp) */
	assert_string_equal(FLOW(0x48, 0x8b, 0x45, 8, JMP_RAX), "0:-");       /* mov 8(%rbp),%rax */
	assert_string_equal(FLOW(0x48, 0x8d, 0x44, 0x2d, 0, JMP_RAX), "0:-"); /* as an index */
	assert_string_equal(FLOW(0x48, 0x8b, 0x45, 8, RET), "0:sp+8");        /* written by hand */
	assert_string_equal(FLOW(0x48, 0x8b, 0x03, 0xff, 0x20), "0:sp+8");    /* through rbx */
	assert_string_equal(FLOW(0xbd, 1, 0, 0, 0, 0x48, 0x8b, 0x45, 8, JMP_RAX),
			    "0:sp+8 5:sp+8,lost"); /* its own */
	assert_string_equal(FLOW(PUSH_RBP, 0x48, 0x8b, 0x45, 8, POP_RBP, JMP_RAX),
			    "0:sp+8 1:sp+16,fp-2 6:sp+8");
}

static void unknown_stack_has_no_rule(void **state)
{
	assert_string_equal(FLOW(0x48, 0x89, 0xc4, NOP, RET), "0:sp+8 3:-"); /* mov %rax,%rsp */
	assert_string_equal(FLOW(0x5c, RET), "0:sp+8 1:-");                  /* pop %rsp */
	assert_string_equal(FLOW(AND_RSP(0xf0), RET), "0:sp+8 4:-");
}

/* As musl's __clone() does in a new thread: its stack has no caller. */
static void code_that_takes_its_return_address_is_outermost(void **state)
{
	assert_string_equal(FLOW(0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, HLT),
			    "0:sp+8 2:sp+8,lost 3:end");
}

static void other_functions_are_not_entered(void **state)
{
	const uint8_t bytes[] = { PUSH_RBX, CALL(4), 0xcc, 0xcc, 0xcc, 0xcc, HLT };
	const uint64_t starts[] = { VADDR, VADDR + 10 };
	const uint8_t tail[] = { PUSH_RBX, POP_RBX, JMP(0), PUSH_RBX, POP_RBX, RET };
	const uint64_t tail_starts[] = { VADDR, VADDR + 4 };

	/* The callee never returns, so the code behind is another function's. */
	assert_string_equal(flow(bytes, sizeof(bytes), starts, 2), "0:sp+8 1:sp+16 6:- 10:sp+8");
	assert_string_equal(flow(tail, sizeof(tail), tail_starts, 2),
			    "0:sp+8 1:sp+16 2:sp+8 5:sp+16 6:sp+8");
}

/* Nor is a function endless that goes on in the next one. */
static void function_may_go_on_in_the_next(void **state)
{
	const uint8_t bytes[] = { PUSH_RBX, CALL(2), POP_RBX, RET, NOP, RET };
	const uint64_t starts[] = { VADDR, VADDR + 8, VADDR + 9 };

	assert_string_equal(flow(bytes, sizeof(bytes), starts, 3), "0:sp+8 1:sp+16 7:sp+8");
}

static void what_is_called_or_pointed_to_is_a_function(void **state)
{
	/* call +1 over an int3; that one is reached in no other way. */
	assert_string_equal(FLOW(CALL(2), RET, 0xcc, PUSH_RBX, POP_RBX, RET),
			    "0:sp+8 6:- 7:sp+8 8:sp+16 9:sp+8");
	/* lea 2(%rip),%rax */
	assert_string_equal(FLOW(0x48, 0x8d, 0x05, 2, 0, 0, 0, RET, 0xcc, PUSH_RBX, POP_RBX, RET),
			    "0:sp+8 8:- 9:sp+8 10:sp+16 11:sp+8");
}

static int refuse(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	return 77;
}

static void ends_stay(void **state)
{
	const uint8_t bytes[] = { RET };
	const uint64_t outside[] = { 0, VADDR - 1, VADDR + 1, UINT64_MAX };
	const uint64_t start = VADDR;
	struct insn_unwind_code code = { bytes, sizeof(bytes), VADDR };
	struct insn_unwind_stats stats;

	assert_string_equal(flow(bytes, sizeof(bytes), outside, 4), "0:-");
	assert_string_equal(flow(bytes, 0, outside, 4), "");
	assert_int_equal(insn_unwind_rows(&code, &start, 1, refuse, NULL, &stats), 77);
	assert_int_equal(stats.functions, 1);
	assert_int_equal(stats.given_up, 0);
	code.size_bytes = INSN_UNWIND_MAX_BYTES + 1;
	assert_int_equal(insn_unwind_rows(&code, &start, 1, refuse, NULL, NULL), -EOVERFLOW);
	code = (struct insn_unwind_code){ bytes, sizeof(bytes), UINT64_MAX };
	assert_int_equal(insn_unwind_rows(&code, &start, 1, refuse, NULL, NULL), -EOVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_numbers_move_the_stack),
		cmocka_unit_test(frame_pointer_is_a_way_to_the_frame),
		cmocka_unit_test(register_of_frames_may_hold_anything),
		cmocka_unit_test(jumps_are_followed),
		cmocka_unit_test(a_stack_that_is_handed_over_is_not_the_jumpers),
		cmocka_unit_test(what_does_not_add_up_is_not_believed),
		cmocka_unit_test(code_that_knows_the_callers_registers_has_no_rules),
		cmocka_unit_test(unknown_stack_has_no_rule),
		cmocka_unit_test(code_that_takes_its_return_address_is_outermost),
		cmocka_unit_test(other_functions_are_not_entered),
		cmocka_unit_test(function_may_go_on_in_the_next),
		cmocka_unit_test(what_is_called_or_pointed_to_is_a_function),
		cmocka_unit_test(ends_stay),
	};

	return cmocka_run_group_tests_name("codeflow", tests, NULL, NULL);
}
