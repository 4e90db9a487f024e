/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* flat_profile and stack_quality: both read stacks of functions */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/profile/flat_profile.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/report/quality/stack_quality.h"
#include "format/unwind/unwind.h"

struct fixture {
	struct string_table *names;
	struct stack_table stacks;
	struct function functions[32];
	struct function_table naming;
};

static struct fixture *setup(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(string_table_new(&f->names), 0);
	assert_int_equal(stack_table_init(&f->stacks, NULL), 0);
	f->naming.functions = f->functions;
	return f;
}

static void teardown(struct fixture *f)
{
	stack_table_done(&f->stacks);
	string_table_free(f->names);
	free(f);
}

static uint32_t text(struct fixture *f, const char *s)
{
	uint32_t id = 0;

	assert_int_equal(string_table_add(f->names, s, strlen(s), &id), 0);
	return id;
}

static uint32_t function(struct fixture *f, const char *name, const char *dso,
			 enum name_reason reason)
{
	struct function want = {
		.name = text(f, name),
		.dso = text(f, dso),
		.reason = (uint8_t)reason,
		.is_kernel = *dso == '[' && reason != NAME_NO_MAP,
	};
	uint32_t i;

	for (i = 0; i < f->naming.function_count; i++)
		if (f->functions[i].name == want.name && f->functions[i].dso == want.dso)
			return i;
	assert_true(i < 32);
	f->functions[f->naming.function_count++] = want;
	return i;
}

/* One stack of frames, outermost first, ended by -1; kernel frames come last. */
static void add_ended(struct fixture *f, uint64_t count, uint32_t end, const int *frames)
{
	struct stack_table_key key = { .user = STACK_TABLE_USER_ROOT,
				       .kernel = STACK_TABLE_KERNEL_ROOT,
				       .end = end };

	for (; *frames >= 0; frames++) {
		uint32_t *node = f->functions[*frames].is_kernel ? &key.kernel : &key.user;

		assert_int_equal(stack_table_child(&f->stacks, *node, (uint32_t)*frames, node), 0);
	}
	assert_int_equal(stack_table_count(&f->stacks, &key, count, 0), 0);
}

#define ADD(f, count, ...) \
	add_ended(f, count, STACK_COUNTER_END_UNKNOWN, (const int[]){ __VA_ARGS__, -1 })
#define ADD_ENDED(f, count, why, ...) \
	add_ended(f, count, (why) + 1, (const int[]){ __VA_ARGS__, -1 })

static char *flat_text(struct fixture *f, uint64_t min_cost)
{
	struct flat_style style = { .min_cost = min_cost, .weight = "samples" };
	struct row_keys_source source = { .naming = &f->naming, .names = f->names };
	struct sort_keys keys = { { KEY_DSO, KEY_SYMBOL }, 2 };
	struct row_keys tab;
	struct flat flat;
	char *out = NULL;
	size_t size;
	FILE *to;

	assert_int_equal(row_keys_make(&keys, &source, &tab), 0);
	assert_int_equal(
		flat_make(&f->stacks, CALLTREE_SAMPLES, &tab, &keys, f->names, false, &flat), 0);
	to = open_memstream(&out, &size);
	flat_write(&flat, &tab, &keys, f->names, &style, to);
	fclose(to);
	flat_done(&flat);
	row_keys_done(&tab);
	return out;
}

static void check_flat(struct fixture *f, uint64_t min_total, const char *want)
{
	char *got = flat_text(f, min_total);

	assert_string_equal(got, want);
	free(got);
}

static void self_is_of_leaves_and_total_of_all_on_the_stack(void **state)
{
	struct fixture *f = setup();
	int main_ = (int)function(f, "main", "/bin/prog", 0);
	int work = (int)function(f, "work", "/bin/prog", 0);
	int sys = (int)function(f, "sys_read", "[kernel.kallsyms]", 0);

	ADD(f, 6, main_, work);
	ADD(f, 3, main_, work, sys);
	ADD(f, 1, main_);
	check_flat(f, 1,
		   "#   self    total  samples  object             function\n"
		   "  60.00%   90.00%        6  prog               [.] work\n"
		   "  30.00%   30.00%        3  [kernel.kallsyms]  [k] sys_read\n"
		   "  10.00%  100.00%        1  prog               [.] main\n");
	teardown(f);
}

static void recursion_counts_once_for_total(void **state)
{
	struct fixture *f = setup();
	int fib = (int)function(f, "fib", "/bin/prog", 0), leaf = (int)function(f, "leaf", "/l", 0);

	ADD(f, 5, fib, fib, fib);
	ADD(f, 5, fib, leaf, fib, leaf);
	check_flat(f, 1,
		   "#   self    total  samples  object  function\n"
		   "  50.00%  100.00%        5  prog    [.] fib\n"
		   "  50.00%   50.00%        5  l       [.] leaf\n");
	teardown(f);
}

static void equal_cost_is_ordered_by_name(void **state)
{
	struct fixture *f = setup();
	int b = (int)function(f, "b", "/x", 0), a2 = (int)function(f, "a", "/y", 0);
	int a1 = (int)function(f, "a", "/x", 0);

	ADD(f, 1, b);
	ADD(f, 1, a2);
	ADD(f, 1, a1);
	check_flat(f, 1,
		   "#   self    total  samples  object  function\n"
		   "  33.33%   33.33%        1  x       [.] a\n"
		   "  33.33%   33.33%        1  y       [.] a\n"
		   "  33.33%   33.33%        1  x       [.] b\n");
	teardown(f);
}

static void small_ones_are_counted_but_not_listed(void **state)
{
	struct fixture *f = setup();
	int a = (int)function(f, "a", "/x", 0), b = (int)function(f, "b", "/x", 0);

	function(f, "never", "/x", 0);
	ADD(f, 99, a);
	ADD(f, 1, b);
	check_flat(f, 2,
		   "#   self    total  samples  object  function\n"
		   "  99.00%   99.00%       99  x       [.] a\n"
		   "# 1 more, each below --min-percent\n");
	teardown(f);
}

static void names_cannot_write_on_the_terminal(void **state)
{
	struct fixture *f = setup();
	int a = (int)function(f, "a\033[2J\n", "/x\r", 0);

	ADD(f, 1, a);
	check_flat(f, 1,
		   "#   self    total  samples  object  function\n"
		   " 100.00%  100.00%        1  x\\x0d   [.] a\\x1b[2J\\x0a\n");
	teardown(f);
}

static void nothing_gives_only_the_heading(void **state)
{
	struct fixture *f = setup();

	function(f, "a", "/x", 0);
	check_flat(f, 1, "#   self    total  samples  object  function\n");
	teardown(f);
}

/* ---- stack quality ---- */

static void stack_is_complete_when_it_begins_where_programs_begin(void **state)
{
	static const struct {
		const char *root;
		bool complete;
	} cases[] = {
		{ "_start", true },
		{ "__libc_start_call_main", true },
		{ "__libc_start_main@@GLIBC_2.34", true },
		{ "clone3", true },
		{ "start_thread", true },
		{ "runtime.goexit.abi0", true },
		{ "main", false },
		{ "_start_me", false },
		{ "my_start", false },
		{ "cloned", false },
		{ "", false },
		{ ".abi0", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = setup();
		int root = (int)function(f, cases[i].root, "/bin/x", 0);
		int work = (int)function(f, "work", "/bin/x", 0);
		struct stack_quality v;

		ADD(f, 4, root, work);
		assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
		assert_int_equal(v.user_stacks, 4);
		assert_int_equal(v.complete_stacks, cases[i].complete ? 4 : 0);
		assert_int_equal(v.break_count, !cases[i].complete);
		stack_quality_done(&v);
		teardown(f);
	}
}

static void root_name_in_the_middle_completes_nothing(void **state)
{
	struct fixture *f = setup();
	int work = (int)function(f, "work", "/bin/x", 0),
	    start = (int)function(f, "_start", "/x", 0);
	struct stack_quality v;

	ADD(f, 1, work, start);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.complete_stacks, 0);
	stack_quality_done(&v);
	teardown(f);
}

static void break_is_blamed_on_the_outermost_file(void **state)
{
	struct fixture *f = setup();
	int wild = (int)function(f, "[unknown]", "[unknown]", NAME_NO_MAP);
	int libc = (int)function(f, "read", "/lib/libc.so", 0);
	int prog = (int)function(f, "main", "/bin/x", 0);
	struct stack_quality v;

	ADD(f, 5, wild, wild, libc, prog);
	ADD(f, 7, prog, libc);
	ADD(f, 1, wild);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.break_count, 3);
	assert_string_equal(string_table_text(f->names, v.breaks[0].dso), "/bin/x");
	assert_int_equal(v.breaks[0].count, 7);
	assert_string_equal(string_table_text(f->names, v.breaks[1].dso), "/lib/libc.so");
	assert_int_equal(v.breaks[1].count, 5);
	assert_string_equal(string_table_text(f->names, v.breaks[2].dso), "[unknown]");
	stack_quality_done(&v);
	teardown(f);
}

/* The walk knows better than names do. */
static void the_end_of_the_walk_decides(void **state)
{
	struct fixture *f = setup();
	int start = (int)function(f, "clone", "/bin/x", 0);
	int no_outermost = (int)function(f, "other_entry", "/bin/y", 0);
	struct stack_quality v;

	ADD_ENDED(f, 3, UNWIND_NO_CFI, start);
	ADD_ENDED(f, 4, UNWIND_COMPLETE, no_outermost);
	ADD_ENDED(f, 2, UNWIND_READ_FAULT, no_outermost);
	ADD_ENDED(f, 1, 4711, no_outermost); /* an end of the future: by the name */
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.user_stacks, 10);
	assert_int_equal(v.complete_stacks, 4);
	assert_int_equal(v.break_count, 3);
	assert_string_equal(string_table_text(f->names, v.breaks[0].dso), "/bin/x");
	assert_int_equal(v.breaks[0].reason, UNWIND_NO_CFI + 1);
	assert_int_equal(v.breaks[1].reason, UNWIND_READ_FAULT + 1);
	assert_int_equal(v.breaks[2].reason, STACK_COUNTER_END_UNKNOWN);
	stack_quality_done(&v);
	teardown(f);
}

static void go_changes_stacks_where_its_runtime_does(void **state)
{
	struct fixture *f = setup();
	int change = (int)function(f, "runtime.systemstack.abi0", "/bin/go", 0);
	int other = (int)function(f, "runtime.gcDrain", "/bin/go", 0);
	struct stack_quality v;

	ADD_ENDED(f, 3, UNWIND_NO_CFI, change, other);
	ADD_ENDED(f, 2, UNWIND_NO_CFI, other, change);
	ADD_ENDED(f, 1, UNWIND_READ_FAULT, change);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.complete_stacks, 0);
	assert_int_equal(v.break_count, 3);
	assert_int_equal(v.breaks[0].count, 3);
	assert_string_equal(stack_quality_end_text(v.breaks[0].reason),
			    "Go goes on upon another stack here");
	assert_non_null(
		strstr(stack_quality_end_remedy(v.breaks[0].reason, "/bin/go"), "goroutine"));
	assert_int_equal(v.breaks[1].reason, UNWIND_NO_CFI + 1);
	assert_int_equal(v.breaks[2].reason, UNWIND_READ_FAULT + 1);
	stack_quality_done(&v);
	teardown(f);
}

static void code_made_at_run_time_has_a_remedy_of_its_own(void **state)
{
	const uint8_t end = UNWIND_NO_CFI + 1;

	assert_non_null(strstr(stack_quality_end_remedy(end, "//anon"), "made at run time"));
	assert_non_null(
		strstr(stack_quality_end_remedy(end, "/tmp/perf-12.map"), "made at run time"));
	assert_null(strstr(stack_quality_end_remedy(end, "/tmp/perf-12"), "made at run time"));
	assert_null(strstr(stack_quality_end_remedy(end, "/srv/perf-12.map"), "made at run time"));
}

/* musl's have no unwind table, and nothing but _start is left out. */
static void a_walk_that_stops_in_musls_start_is_complete(void **state)
{
	static const char *const names[] = { "libc_start_main_stage2", "_start_c", "_start",
					     "__libc_start_main" };
	static const char *const others[] = { "libc_start_main_stage", "main", "clone" };
	struct fixture *f = setup();
	struct stack_quality v;

	for (size_t i = 0; i < 4; i++)
		ADD_ENDED(f, 2, UNWIND_NO_CFI, (int)function(f, names[i], "/bin/x", 0));
	ADD_ENDED(f, 1, UNWIND_READ_FAULT, (int)function(f, names[0], "/bin/x", 0));
	for (size_t i = 0; i < 3; i++)
		ADD_ENDED(f, 1, UNWIND_NO_CFI, (int)function(f, others[i], "/bin/x", 0));
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.user_stacks, 12);
	assert_int_equal(v.complete_stacks, 8);
	stack_quality_done(&v);
	teardown(f);
}

static void kernel_stacks_need_no_user_part(void **state)
{
	struct fixture *f = setup();
	int idle = (int)function(f, "cpu_idle", "[kernel.kallsyms]", 0);
	struct stack_quality v;

	ADD(f, 9, idle);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.samples, 9);
	assert_int_equal(v.user_stacks, 0);
	assert_int_equal(v.break_count, 0);
	stack_quality_done(&v);
	teardown(f);
}

static void unnamed_frames_are_summed_by_file_and_reason(void **state)
{
	struct fixture *f = setup();
	int a = (int)function(f, "[x]", "/lib/x", NAME_STRIPPED);
	int b = (int)function(f, "[x] ", "/lib/x", NAME_BETWEEN);
	int c = (int)function(f, "[unknown]", "[unknown]", NAME_NO_MAP);
	int good = (int)function(f, "good", "/lib/x", 0);
	struct stack_quality v;

	ADD(f, 10, good, a, a);
	ADD(f, 3, c, b);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.frames, 36);
	assert_int_equal(v.unnamed_frames, 26);
	assert_int_equal(v.unnamed_count, 3);
	assert_int_equal(v.unnamed[0].count, 20);
	assert_int_equal(v.unnamed[0].reason, NAME_STRIPPED);
	assert_int_equal(v.unnamed[1].count, 3);
	assert_int_equal(v.unnamed[2].count, 3);
	stack_quality_done(&v);
	teardown(f);
}

static void samples_that_end_without_a_name_come_before_frames_without_one(void **state)
{
	struct fixture *f = setup();
	int a = (int)function(f, "[x]", "/lib/x", NAME_STRIPPED);
	int anon = (int)function(f, "[anon]", "//anon", NAME_ANONYMOUS);
	int good = (int)function(f, "good", "/lib/x", 0);
	struct stack_quality v;

	ADD(f, 10, a, a, good);
	ADD(f, 3, good, anon);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.unnamed_samples, 3);
	assert_int_equal(v.unnamed_frames, 23);
	assert_int_equal(v.unnamed_count, 2);
	assert_int_equal(v.unnamed[0].reason, NAME_ANONYMOUS);
	assert_int_equal(v.unnamed[0].samples, 3);
	assert_int_equal(v.unnamed[1].samples, 0);
	assert_int_equal(v.unnamed[1].count, 20);
	stack_quality_done(&v);
	teardown(f);
}

/* The compilers that unnamed code is charged to, where these frames call it and others are in the group. */
static uint16_t compilers_of(const char *caller, const char *other, uint16_t mapped)
{
	struct fixture *f = setup();
	int anon = (int)function(f, "[anon]", "//anon", NAME_ANONYMOUS);
	int below = (int)function(f, "caller", caller, 0);
	int beside = (int)function(f, "other", other, 0);
	struct stack_quality v;
	uint16_t set;

	ADD(f, 1, below, anon);
	ADD(f, 1, beside);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, mapped, &v), 0);
	assert_int_equal(v.unnamed_count, 1);
	set = v.unnamed[0].compilers;
	stack_quality_done(&v);
	teardown(f);
	return set;
}

static void code_made_at_run_time_is_of_the_compiler_nearest_to_it(void **state)
{
	const uint16_t node = runtimes_of_file("/usr/bin/node");
	const uint16_t java = runtimes_of_file("/usr/lib/jvm/lib/server/libjvm.so (deleted)");

	assert_int_not_equal(node, 0);
	assert_int_not_equal(runtimes_of_file("/opt/libjvm.so"), 0);
	assert_int_equal(java, runtimes_of_file("/opt/libjvm.so"));
	assert_int_equal(runtimes_of_file("/usr/bin/nodeset"), 0);
	assert_int_not_equal(runtimes_of_file("/usr/sbin/php-fpm8.2"), 0);
	assert_int_equal(compilers_of("/usr/bin/node", "/opt/libjvm.so", java), node);
	assert_int_equal(compilers_of("/bin/x", "/opt/libjvm.so", node), java);
	assert_int_equal(compilers_of("/bin/x", "/bin/y", node | java), node | java);
}

static void samples_that_lack_functions_of_the_program_are_counted_by_the_reason(void **state)
{
	struct fixture *f = setup();
	int eval = (int)function(f, "_PyEval_EvalFrameDefault", "/lib/libpython3.11.so", 0);
	int named = (int)function(f, "py::fib (x.py)", "/tmp/perf-1.map", 0);
	int other = (int)function(f, "main", "/bin/embeds", 0);
	const uint32_t end = 1 + UNWIND_COMPLETE;
	struct stack_quality v;

	add_ended(f, 1, end, (int[]){ other, eval, -1 });
	add_ended(f, 2, end | RUNTIME_NOT_WALKED << STACK_COUNTER_END_BITS,
		  (int[]){ other, eval, eval, -1 });
	add_ended(f, 4, end | RUNTIME_TOO_DEEP << STACK_COUNTER_END_BITS,
		  (int[]){ other, eval, named, named, -1 });
	add_ended(f, 8, end | RUNTIME_UNREADABLE << STACK_COUNTER_END_BITS, (int[]){ other, -1 });
	add_ended(f, 16, end | 15u << STACK_COUNTER_END_BITS, (int[]){ other, eval, -1 });
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.complete_stacks, 31);
	assert_int_equal(v.interpreted[0].named, 4);
	assert_int_equal(v.interpreted[0].samples, 1 + 2 + 8 + 16);
	assert_int_equal(v.interpreted[0].by_why[RUNTIME_NOT_WALKED], 2);
	assert_int_equal(v.interpreted[0].by_why[RUNTIME_TOO_DEEP], 4);
	assert_int_equal(v.interpreted[0].by_why[RUNTIME_UNREADABLE], 8);
	for (unsigned why = 1; why < RUNTIME_WHYS; why++)
		assert_non_null(stack_quality_runtime_text(why));
	stack_quality_done(&v);
	teardown(f);
}

/* The interpreter to which a reason is charged, of a stack with a function of this file, where another one is in the group. */
static unsigned charged_to(const char *file, const char *other)
{
	struct fixture *f = setup();
	int in = (int)function(f, "inner", file, 0), beside = (int)function(f, other, "/bin/x", 0);
	const uint32_t end = 1 + UNWIND_COMPLETE;
	struct stack_quality v;
	unsigned found = UINT32_MAX;

	add_ended(f, 1, end | RUNTIME_COMPILED << STACK_COUNTER_END_BITS, (int[]){ in, -1 });
	add_ended(f, 2, end, (int[]){ beside, -1 });
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	for (unsigned i = 0; i <= RUNTIMES_INTERPRETERS; i++)
		if (v.interpreted[i].by_why[RUNTIME_COMPILED] == 1)
			found = i;
	stack_quality_done(&v);
	teardown(f);
	return found;
}

static void
a_reason_without_a_loop_is_charged_to_the_interpreter_of_its_stack_or_group(void **state)
{
	static const struct {
		const char *file, *other, *language; /* NULL: of none */
	} rows[] = {
		{ "/usr/lib/libruby-3.1.so.3.1", "main", "Ruby" },
		{ "/usr/lib/libpython3.11.so.1.0", "rb_vm_exec", "Python" },
		{ "/usr/bin/php8.2", "_PyEval_EvalFrameDefault", "PHP" },
		{ "/usr/bin/perl", "Perl_runops_standard", "Perl" },
		{ "/bin/embeds", "rb::run (a.rb)", "Ruby" },
		{ "/bin/embeds", "main", NULL },
		{ "/opt/libluajit-5.1.so.2", "rb_vm_exec", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned got = charged_to(rows[i].file, rows[i].other);

		if (!rows[i].language)
			assert_int_equal(got, RUNTIMES_INTERPRETERS);
		else
			assert_string_equal(runtimes_interpreter(got)->language, rows[i].language);
	}
}

static void a_reason_is_charged_to_none_of_two_interpreters_in_a_group(void **state)
{
	struct fixture *f = setup();
	int eval = (int)function(f, "_PyEval_EvalFrameDefault", "/lib/x", 0);
	int loop = (int)function(f, "rb_vm_exec", "/lib/y", 0);
	int other = (int)function(f, "main", "/bin/embeds", 0);
	const uint32_t end = 1 + UNWIND_COMPLETE;
	struct stack_quality v;

	add_ended(f, 1, end, (int[]){ eval, -1 });
	add_ended(f, 2, end, (int[]){ loop, -1 });
	add_ended(f, 4, end | RUNTIME_UNREADABLE << STACK_COUNTER_END_BITS, (int[]){ other, -1 });
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.interpreted[RUNTIMES_INTERPRETERS].by_why[RUNTIME_UNREADABLE], 4);
	assert_int_equal(v.interpreted[RUNTIMES_INTERPRETERS].samples, 4);
	assert_int_equal(v.interpreted[0].samples, 1);
	stack_quality_done(&v);
	teardown(f);
}

static void an_interpreter_is_reported_unless_its_functions_have_names(void **state)
{
	struct fixture *f = setup();
	int eval = (int)function(f, "_PyEval_EvalFrameDefault", "/lib/libpython3.11.so", 0);
	int cold = (int)function(f, "_PyEval_EvalFrameDefault.cold", "/lib/libpython3.11.so", 0);
	int like = (int)function(f, "_PyEval_EvalFrameDefaultX", "/lib/libpython3.11.so", 0);
	int named = (int)function(f, "py::fib:/x.py", "/tmp/perf-1.map", 0);
	struct stack_quality v;

	ADD(f, 1, eval, eval);
	ADD(f, 2, cold, like);
	ADD(f, 4, named, eval);
	ADD(f, 8, like);
	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.interpreted[0].samples, 3);
	assert_string_equal(string_table_text(f->names, v.interpreted[0].dso),
			    "/lib/libpython3.11.so");
	assert_int_equal(v.interpreted[1].samples, 0);
	stack_quality_done(&v);
	teardown(f);
}

static void nothing_gives_no_result(void **state)
{
	struct fixture *f = setup();
	struct stack_quality v;

	assert_int_equal(stack_quality_make(&f->stacks, &f->naming, f->names, 0, &v), 0);
	assert_int_equal(v.samples + v.frames + v.break_count + v.unnamed_count, 0);
	stack_quality_done(&v);
	teardown(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_is_of_leaves_and_total_of_all_on_the_stack),
		cmocka_unit_test(recursion_counts_once_for_total),
		cmocka_unit_test(equal_cost_is_ordered_by_name),
		cmocka_unit_test(small_ones_are_counted_but_not_listed),
		cmocka_unit_test(names_cannot_write_on_the_terminal),
		cmocka_unit_test(nothing_gives_only_the_heading),
		cmocka_unit_test(stack_is_complete_when_it_begins_where_programs_begin),
		cmocka_unit_test(root_name_in_the_middle_completes_nothing),
		cmocka_unit_test(break_is_blamed_on_the_outermost_file),
		cmocka_unit_test(the_end_of_the_walk_decides),
		cmocka_unit_test(go_changes_stacks_where_its_runtime_does),
		cmocka_unit_test(code_made_at_run_time_has_a_remedy_of_its_own),
		cmocka_unit_test(a_walk_that_stops_in_musls_start_is_complete),
		cmocka_unit_test(kernel_stacks_need_no_user_part),
		cmocka_unit_test(unnamed_frames_are_summed_by_file_and_reason),
		cmocka_unit_test(samples_that_end_without_a_name_come_before_frames_without_one),
		cmocka_unit_test(code_made_at_run_time_is_of_the_compiler_nearest_to_it),
		cmocka_unit_test(
			samples_that_lack_functions_of_the_program_are_counted_by_the_reason),
		cmocka_unit_test(
			a_reason_without_a_loop_is_charged_to_the_interpreter_of_its_stack_or_group),
		cmocka_unit_test(a_reason_is_charged_to_none_of_two_interpreters_in_a_group),
		cmocka_unit_test(an_interpreter_is_reported_unless_its_functions_have_names),
		cmocka_unit_test(nothing_gives_no_result),
	};

	return cmocka_run_group_tests_name("flat", tests, NULL, NULL);
}
