/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* codegaps: the rules of this program's own code that its compiler made no rules for */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/unwind/table/module_table.h"
#include "tests/lib/table_of_file.h"

#if defined(__x86_64__)

extern const char gap_symbol[], gap_called[], gap_twice[], gap_pointed[], gap_restore[],
	gap_alone[], gap_covered[];

/*
 * Functions without .cfi: one with a symbol, one that is called, one that is called twice and not aligned, one that only a
 * register points to, what returns from a signal, one that no source names; and one that has rules.
 */
__asm__(".pushsection .text.gaps,\"ax\",@progbits\n"
	".balign 16\n"
	".globl gap_symbol\n.type gap_symbol,@function\n"
	"gap_symbol: push %rbx\n sub $32,%rsp\n call gap_called_local\n call gap_twice_local\n"
	" call gap_twice_local\n lea gap_pointed_local(%rip),%rax\n add $32,%rsp\n pop %rbx\n ret\n"
	".balign 16\n"
	".globl gap_called\n"
	"gap_called: gap_called_local: push %rbp\n mov %rsp,%rbp\n nop\n pop %rbp\n ret\n"
	".balign 16\n nop\n"
	".globl gap_twice\n"
	"gap_twice: gap_twice_local: sub $8,%rsp\n nop\n add $8,%rsp\n ret\n"
	".globl gap_pointed\n"
	"gap_pointed: gap_pointed_local: sub $24,%rsp\n nop\n add $24,%rsp\n ret\n"
	".balign 16\n"
	".globl gap_restore\n"
	"gap_restore: mov $15,%rax\n syscall\n"
	".balign 16\n"
	".globl gap_alone\n"
	"gap_alone: push %rbx\n pop %rbx\n ret\n"
	".fill 2048,1,0xcc\n"
	".globl gap_covered\n.type gap_covered,@function\n"
	"gap_covered: .cfi_startproc\n .cfi_def_cfa_offset 4096\n push %rbx\n pop %rbx\n ret\n"
	".cfi_endproc\n"
	".fill 2048,1,0xcc\n"
	".popsection\n");

struct env {
	struct rule_table *set;
	struct module_table *t;
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	assert_int_equal(rule_table_new(&e->set), 0);
	assert_int_equal(table_of_file("/proc/self/exe", e->set, &e->t, NULL), 0);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	module_table_free(e->t);
	rule_table_free(e->set);
	free(e);
	return 0;
}

extern const char __ehdr_start[];

static const struct unwind_rule *at(const struct env *e, const char *code)
{
	return module_table_find(e->t, (uint64_t)(code - __ehdr_start));
}

static void assert_sp(const struct env *e, const char *code, int off)
{
	assert_int_equal(at(e, code)->cfa, UNWIND_CFA_SP);
	assert_int_equal(at(e, code)->cfa_off, off);
}

static void functions_are_found_by_each_source_that_names_them(void **state)
{
	const struct env *e = *state;

	assert_sp(e, gap_symbol, 8);
	assert_sp(e, gap_symbol + 1, 16);
	assert_sp(e, gap_symbol + 5, 48);
	assert_sp(e, gap_called, 8);
	assert_int_equal(at(e, gap_called + 4)->cfa, UNWIND_CFA_FP);
	assert_int_equal(at(e, gap_called + 4)->cfa_off, 16);
	assert_int_equal(at(e, gap_called + 4)->fp_ra, UNWIND_FP_CFA);
	assert_int_equal(at(e, gap_called + 4)->fp_words, -2);
	assert_sp(e, gap_twice + 4, 16);
	assert_sp(e, gap_pointed + 4, 32);
}

static void signals_return_by_their_bytes(void **state)
{
	const struct env *e = *state;

	for (int i = -1; i < 9; i++)
		assert_int_equal(at(e, gap_restore + i)->cfa, UNWIND_CFA_SIGNAL);
	assert_int_equal(at(e, gap_restore + 9)->cfa, UNWIND_CFA_END);
}

static void code_without_a_source_has_no_rule(void **state)
{
	const struct env *e = *state;

	assert_int_equal(at(e, gap_alone)->cfa, UNWIND_CFA_END);
	assert_int_equal(at(e, gap_alone + 100)->cfa, UNWIND_CFA_END);
	assert_int_equal(at(e, gap_covered + 100)->cfa, UNWIND_CFA_END);
}

/* Also where its instructions differ. */
static void rules_of_the_file_count(void **state)
{
	const struct env *e = *state;

	assert_sp(e, gap_covered, 4096);
	assert_sp(e, gap_covered + 1, 4096);
}

#endif

int main(void)
{
#if defined(__x86_64__)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_are_found_by_each_source_that_names_them,
						setup, teardown),
		cmocka_unit_test_setup_teardown(signals_return_by_their_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(code_without_a_source_has_no_rule, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_of_the_file_count, setup, teardown),
	};

	return cmocka_run_group_tests_name("codegaps", tests, NULL, NULL);
#else
	puts("1..0 # SKIP these functions are written for x86-64");
	return 0;
#endif
}
