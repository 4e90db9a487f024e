/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/interpreter_frames.h"

/* A letter is a function: "P" and "Q" the program's, "E" and "C" the loop and its cold part, a and b the same file's. */
static const struct {
	char letter;
	const char *name, *dso;
} functions[] = {
	{ 'P', "py::main (a.py)", "[python]" },
	{ 'Q', "py::leaf (a.py)", "[python]" },
	{ 'E', "_PyEval_EvalFrameDefault", "/usr/bin/python3.11" },
	{ 'C', "_PyEval_EvalFrameDefault.cold", "/usr/bin/python3.11" },
	{ 'a', "PyObject_Call", "/usr/bin/python3.11" },
	{ 'b', "main", "/usr/bin/python3.11" },
	{ 'x', "callback", "/usr/lib/ext.so" },
	{ 'V', "_PyEval_EvalFrameDefault", "/opt/libpython3.12.so" },
	{ 'v', "PyObject_Call", "/opt/libpython3.12.so" },
};

#define COUNT (sizeof(functions) / sizeof(functions[0]))

static uint32_t number_of(char letter)
{
	uint32_t i;

	for (i = 0; i < COUNT && functions[i].letter != letter;)
		i++;
	assert_true(i < COUNT);
	return i;
}

static uint32_t add_text(struct string_table *names, const char *text)
{
	uint32_t id;

	assert_int_equal(string_table_add(names, text, strlen(text), &id), 0);
	return id;
}

/* stack: outermost first. */
static void add_stack(struct stack_table *s, uint32_t root, const char *stack, uint64_t samples)
{
	struct stack_table_key key = { .user = STACK_TABLE_USER_ROOT,
				       .kernel = STACK_TABLE_KERNEL_ROOT };
	uint32_t *node = root == STACK_TABLE_USER_ROOT ? &key.user : &key.kernel;

	for (; *stack; stack++)
		assert_int_equal(stack_table_child(s, *node, number_of(*stack), node), 0);
	assert_int_equal(stack_table_count(s, &key, samples, 10 * samples), 0);
}

static void read_stack(const struct stack_table *s, uint32_t node, char *out)
{
	size_t n = 0;
	char c;

	for (; node >= STACK_TABLE_FIRST_NODE; node = s->nodes[node].parent)
		out[n++] = functions[s->nodes[node].frame].letter;
	out[n] = '\0';
	for (size_t i = 0; i < n / 2; i++)
		c = out[i], out[i] = out[n - 1 - i], out[n - 1 - i] = c;
}

struct fixture {
	struct string_table *names;
	struct function list[COUNT];
	struct function_table table;
	struct stack_table stacks;
};

static void setup(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	assert_int_equal(string_table_new(&f->names), 0);
	assert_int_equal(stack_table_init(&f->stacks, NULL), 0);
	for (size_t i = 0; i < COUNT; i++)
		f->list[i] = (struct function){ .name = add_text(f->names, functions[i].name),
						.dso = add_text(f->names, functions[i].dso),
						.reason = NAME_FOUND };
	f->table.functions = f->list;
	f->table.function_count = COUNT;
}

static void teardown(struct fixture *f)
{
	stack_table_done(&f->stacks);
	string_table_free(f->names);
}

static void frames_between_the_programs_go_and_all_others_stay(void **state)
{
	static const struct {
		const char *what, *stack, *left;
	} cases[] = {
		{ "a loop goes, what called it stays", "baEP", "baP" },
		{ "calls between two functions go", "baEPaaEQ", "baPQ" },
		{ "what the innermost function called stays", "bEPaa", "bPaa" },
		{ "a loop that has no frame yet is its caller's", "bEPaE", "bPa" },
		{ "an extension stays, the interpreter around it goes", "bEPaxaEQ", "bPxQ" },
		{ "the part of the loop that lies elsewhere goes", "bCPaCQ", "bPQ" },
		{ "without a function of the program all stays", "baEaE", "baEaE" },
		{ "nothing to leave out", "bax", "bax" },
		{ "another file's functions stay where only this one's loop is", "bEPvEQ", "bPvQ" },
		{ "two interpreters on one stack", "bEPavVQaP", "bPQP" },
		{ "no frames", "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t root = 0; root < STACK_TABLE_FIRST_NODE; root++) {
			struct fixture f;
			char left[32];

			setup(&f);
			add_stack(&f.stacks, root, cases[i].stack, 7);
			assert_int_equal(interpreter_frames_drop(&f.stacks, &f.table, f.names), 0);
			assert_int_equal(f.stacks.entry_count, 1);
			read_stack(&f.stacks,
				   root ? f.stacks.entries[0].key.kernel
					: f.stacks.entries[0].key.user,
				   left);
			if (strcmp(left, cases[i].left) != 0)
				fail_msg("%s: %s, not %s", cases[i].what, left, cases[i].left);
			assert_int_equal(f.stacks.entries[0].sample_count, 7);
			assert_int_equal(f.stacks.entries[0].period_sum, 70);
			teardown(&f);
		}
}

static void stacks_that_are_equal_then_become_one(void **state)
{
	struct fixture f;

	setup(&f);
	add_stack(&f.stacks, STACK_TABLE_USER_ROOT, "bEPaEQ", 3);
	add_stack(&f.stacks, STACK_TABLE_USER_ROOT, "bEPaaEQ", 4);
	add_stack(&f.stacks, STACK_TABLE_USER_ROOT, "bEPaa", 5);
	assert_int_equal(interpreter_frames_drop(&f.stacks, &f.table, f.names), 0);
	assert_int_equal(f.stacks.entry_count, 2);
	assert_int_equal(f.stacks.entries[0].sample_count, 7);
	assert_int_equal(f.stacks.entries[0].period_sum, 70);
	assert_int_equal(f.stacks.entries[1].sample_count, 5);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_between_the_programs_go_and_all_others_stay),
		cmocka_unit_test(stacks_that_are_equal_then_become_one),
	};

	return cmocka_run_group_tests_name("interpreter_frames", tests, NULL, NULL);
}
