/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* callgraph, with keytab, stackpath and pick: all read stacks of functions */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/profile/callgraph.h"
#include "analyze/report/key/categories.h"
#include "analyze/report/profile/flat_profile.h"
#include "analyze/report/name_filter.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/report/profile/stack_path.h"

enum { MAIN, FIB, LEAF, SYS, FUNCTIONS };

struct fixture {
	struct string_table *names;
	struct stack_table stacks;
	struct function functions[FUNCTIONS];
	struct function_table naming;
	struct group groups[2];
};

static uint32_t text(struct fixture *f, const char *s)
{
	uint32_t id = 0;

	assert_int_equal(string_table_add(f->names, s, strlen(s), &id), 0);
	return id;
}

/* One stack of frames, outermost first, ended by -1; kernel frames come last. */
static void add(struct fixture *f, uint32_t group, uint64_t count, const int *frames)
{
	struct stack_table_key key = { .group = group,
				       .user = STACK_TABLE_USER_ROOT,
				       .kernel = STACK_TABLE_KERNEL_ROOT };

	for (; *frames >= 0; frames++) {
		uint32_t *node = f->functions[*frames].is_kernel ? &key.kernel : &key.user;

		assert_int_equal(stack_table_child(&f->stacks, *node, (uint32_t)*frames, node), 0);
	}
	assert_int_equal(stack_table_count(&f->stacks, &key, count, 10 * count), 0);
}
#define ADD(f, group, count, ...) add(f, group, count, (const int[]){ __VA_ARGS__, -1 })

/* sh, in a container: 4 main, 3 main;fib;fib;leaf, 2 main;fib;sys.  ls: 1 sys. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(string_table_new(&f->names), 0);
	assert_int_equal(stack_table_init(&f->stacks, NULL), 0);
	f->functions[MAIN] = (struct function){ .name = text(f, "main"),
						.dso = text(f, "/bin/sh") };
	f->functions[FIB] = (struct function){ .name = text(f, "fib"),
					       .dso = text(f, "/usr/lib/libfib.so") };
	f->functions[LEAF] = (struct function){ .name = text(f, "leaf"),
						.dso = text(f, "/usr/lib/libfib.so") };
	f->functions[SYS] = (struct function){ .name = text(f, "sys_read"),
					       .dso = text(f, "[kernel.kallsyms]"),
					       .is_kernel = true };
	f->naming.functions = f->functions;
	f->naming.function_count = FUNCTIONS;
	f->groups[0] = (struct group){ .comm = text(f, "sh"), .pid = 7, .tid = 7 };
	f->groups[0].cgroup = text(
		f, "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	f->groups[1] = (struct group){ .comm = STACK_COUNTER_TID_GROUP | 12, .pid = 12, .tid = 12 };
	f->groups[1].cgroup = text(f, "/user.slice");
	ADD(f, 0, 4, MAIN);
	ADD(f, 0, 3, MAIN, FIB, FIB, LEAF);
	ADD(f, 0, 2, MAIN, FIB, SYS);
	ADD(f, 1, 1, SYS);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	stack_table_done(&f->stacks);
	string_table_free(f->names);
	free(f);
	return 0;
}

static void make_tab(struct fixture *f, const char *sort, bool hide, struct sort_keys *keys,
		     struct row_keys *tab)
{
	struct row_keys_source source = {
		.naming = &f->naming,
		.names = f->names,
		.groups = f->groups,
		.group_count = 2,
		.hide_system = hide,
	};
	const char *bad;
	size_t bad_bytes;

	*keys = (struct sort_keys){ 0 };
	assert_int_equal(sort_keys_parse(keys, sort, &bad, &bad_bytes), 0);
	assert_int_equal(row_keys_make(keys, &source, tab), 0);
}

struct shape {
	enum callgraph_shape shape;
	int wanted; /* function; -1: none */
	bool fold, hide;
	unsigned max_depth;
	double min_percent;
	bool no_self, json;
};

static void check(struct fixture *f, struct shape how, const char *want)
{
	struct callgraph_query query = { .shape = how.shape, .fold_recursion = how.fold };
	struct callgraph_style style = {
		.weight = "samples",
		.max_depth = how.max_depth,
		.min_percent = how.min_percent,
		.no_self = how.no_self,
		.json = how.json,
	};
	struct callgraph g;
	struct sort_keys keys;
	struct row_keys tab;
	bool *wanted;
	char *got = NULL;
	size_t size;
	FILE *to;

	make_tab(f, "symbol", how.hide, &keys, &tab);
	wanted = calloc(tab.count, sizeof(*wanted));
	assert_non_null(wanted);
	if (how.wanted >= 0)
		wanted[tab.by_function[how.wanted]] = true;
	query.keys = &tab;
	query.wanted = wanted;
	assert_int_equal(callgraph_build(&f->stacks, &query, &g), 0);
	to = open_memstream(&got, &size);
	assert_int_equal(callgraph_write(&g, &tab, f->names, &style, to), 0);
	fclose(to);
	assert_string_equal(got, want);
	free(got);
	free(wanted);
	callgraph_done(&g);
	row_keys_done(&tab);
}

static void top_down_has_callees_below_callers(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_TOP_DOWN, .wanted = -1 },
	      "#  total     self  samples  function\n"
	      "  90.00%   40.00%        9  [.] main\n"
	      "  50.00%    0.00%        5    [.] fib\n"
	      "  30.00%    0.00%        3      [.] fib\n"
	      "  30.00%   30.00%        3        [.] leaf\n"
	      "  20.00%   20.00%        2      [k] sys_read\n"
	      "  10.00%   10.00%        1  [k] sys_read\n");
}

static void bottom_up_has_callers_below_callees(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_BOTTOM_UP, .wanted = -1, .no_self = true },
	      "#  total  samples  function\n"
	      "  40.00%        4  [.] main\n"
	      "  30.00%        3  [.] leaf\n"
	      "  30.00%        3    [.] fib\n"
	      "  30.00%        3      [.] fib\n"
	      "  30.00%        3        [.] main\n"
	      "  30.00%        3  [k] sys_read\n"
	      "  20.00%        2    [.] fib\n"
	      "  20.00%        2      [.] main\n");
}

static void around_a_function_only_its_stacks_count_each_once(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_CALLEES, .wanted = FIB },
	      "#  total     self  samples  function\n"
	      "  50.00%    0.00%        5  [.] fib\n"
	      "  30.00%    0.00%        3    [.] fib\n"
	      "  30.00%   30.00%        3      [.] leaf\n"
	      "  20.00%   20.00%        2    [k] sys_read\n");
	check(*state, (struct shape){ CALLGRAPH_CALLERS, .wanted = FIB, .no_self = true },
	      "#  total  samples  function\n"
	      "  50.00%        5  [.] fib\n"
	      "  50.00%        5    [.] main\n");
}

static void recursion_is_folded_only_when_asked(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_CALLEES, .wanted = FIB, .fold = true },
	      "#  total     self  samples  function\n"
	      "  50.00%    0.00%        5  [.] fib\n"
	      "  30.00%   30.00%        3    [.] leaf\n"
	      "  20.00%   20.00%        2    [k] sys_read\n");
}

static void small_and_deep_nodes_are_left_out(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_TOP_DOWN, .wanted = -1, .min_percent = 25 },
	      "#  total     self  samples  function\n"
	      "  90.00%   40.00%        9  [.] main\n"
	      "  50.00%    0.00%        5    [.] fib\n"
	      "  30.00%    0.00%        3      [.] fib\n"
	      "  30.00%   30.00%        3        [.] leaf\n"
	      "  20.00%    0.00%        2      (1 more)\n"
	      "  10.00%    0.00%        1  (1 more)\n");
	check(*state, (struct shape){ CALLGRAPH_TOP_DOWN, .wanted = -1, .max_depth = 2 },
	      "#  total     self  samples  function\n"
	      "  90.00%   40.00%        9  [.] main\n"
	      "  50.00%    0.00%        5    [.] fib\n"
	      "  10.00%   10.00%        1  [k] sys_read\n");
}

static void hidden_frames_cost_their_caller(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_TOP_DOWN, .wanted = -1, .hide = true },
	      "#  total     self  samples  function\n"
	      "  90.00%   90.00%        9  [.] main\n"
	      "  10.00%   10.00%        1  [.] [system]\n");
}

static void json_is_a_list_of_nodes(void **state)
{
	check(*state, (struct shape){ CALLGRAPH_CALLERS, .wanted = FIB, .json = true },
	      "{\"schema\": 1,\n \"weight\": \"samples\",\n \"sum\": 10,\n \"nodes\": [\n"
	      "  {\"id\": 1, \"parent\": 0, \"total\": 5, \"self\": 0, \"symbol\": \"fib\", "
	      "\"kernel\": false},\n"
	      "  {\"id\": 2, \"parent\": 1, \"total\": 5, \"self\": 5, \"symbol\": \"main\", "
	      "\"kernel\": false}\n ]\n}\n");
}

/* ---- keys ---- */

static void check_flat(struct fixture *f, const char *sort, struct flat_style style,
		       const char *want)
{
	struct sort_keys keys;
	struct row_keys tab;
	struct flat flat;
	char *got = NULL;
	size_t size;
	FILE *to;

	make_tab(f, sort, false, &keys, &tab);
	assert_int_equal(
		flat_make(&f->stacks, CALLTREE_SAMPLES, &tab, &keys, f->names, false, &flat), 0);
	to = open_memstream(&got, &size);
	flat_write(&flat, &tab, &keys, f->names, &style, to);
	fclose(to);
	assert_string_equal(got, want);
	free(got);
	flat_done(&flat);
	row_keys_done(&tab);
}

static void keys_of_samples_and_of_frames_mix(void **state)
{
	struct flat_style text_style = { .weight = "samples" };
	struct flat_style csv = { .weight = "samples", .no_children = true, .form = FLAT_CSV };
	struct flat_style json = { .weight = "samples", .form = FLAT_JSON };

	check_flat(*state, "pid,symbol", text_style,
		   "#   self    total  samples  pid  function\n"
		   "  40.00%   90.00%        4    7  [.] main\n"
		   "  30.00%   30.00%        3    7  [.] leaf\n"
		   "  20.00%   20.00%        2    7  [k] sys_read\n"
		   "  10.00%   10.00%        1   12  [k] sys_read\n"
		   "   0.00%   50.00%        0    7  [.] fib\n");
	check_flat(*state, "container", text_style,
		   "#   self    total  samples  container\n"
		   "  90.00%   90.00%        9  0123456789ab\n"
		   "  10.00%   10.00%        1  [host]\n");
	check_flat(*state, "comm,dso", csv,
		   "self,comm,dso\r\n4,sh,sh\r\n3,sh,libfib.so\r\n2,sh,[kernel.kallsyms]\r\n"
		   "1,:12,[kernel.kallsyms]\r\n");
	check_flat(*state, "tid", json,
		   "{\"schema\": 1,\n \"weight\": \"samples\",\n \"sum\": 10,\n \"rows\": [\n"
		   "  {\"self\": 9, \"total\": 9, \"tid\": 7},\n"
		   "  {\"self\": 1, \"total\": 1, \"tid\": 12}\n ]\n}\n");
}

static void a_hostile_name_stays_one_field(void **state)
{
	struct flat_style csv = { .weight = "samples", .no_children = true, .form = FLAT_CSV };
	struct fixture *f = *state;

	f->groups[0].comm = text(f, "a,\"b\"\n\033[31m");
	check_flat(f, "comm", csv, "self,comm\r\n9,\"a,\"\"b\"\"\\x0a\\x1b[31m\"\r\n1,:12\r\n");
}

static void an_unknown_key_is_named(void **state)
{
	static const struct {
		const char *text, *bad;
	} cases[] = { { "", "" }, { "comm,", "" }, { "comm,commm,pid", "commm" }, { "x", "x" } };
	const char *bad;
	size_t bad_bytes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sort_keys keys = { 0 };

		assert_int_equal(sort_keys_parse(&keys, cases[i].text, &bad, &bad_bytes), -EINVAL);
		assert_int_equal(bad_bytes, strlen(cases[i].bad));
		assert_memory_equal(bad, cases[i].bad, bad_bytes);
	}
}

static void help_lists_each_key_in_the_order_of_the_table(void **state)
{
	const char *names[SORT_KEY_COUNT];
	const char *at = SORT_KEY_NAMES;

	(void)state;
	sort_keys_names(names);
	for (size_t i = 0; i < SORT_KEY_COUNT; i++, at += strspn(at, ", ")) {
		assert_int_equal(strcspn(at, ","), strlen(names[i]));
		assert_memory_equal(at, names[i], strlen(names[i]));
		at += strlen(names[i]);
	}
	assert_string_equal(at, "");
}

static void containers_are_known_by_their_cgroup(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const struct {
		const char *before, *after, *want;
	} cases[] = {
		{ "/docker/", "", "0123456789ab" },
		{ "/system.slice/docker-", ".scope", "0123456789ab" },
		{ "/machine.slice/libpod-", ".scope/container", "0123456789ab" },
		{ "/kubepods/burstable/pod1/cri-containerd-", ".scope", "0123456789ab" },
		{ "/x", "0", "" }, /* too long for an id */
	};
	char path[200], got[CONTAINER_NAMES_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s", cases[i].before, id, cases[i].after);
		container_names_text(NULL, path, got);
		assert_string_equal(got, cases[i].want);
	}
	container_names_text(NULL, "/user.slice/session-1.scope", got);
	assert_string_equal(got, "");
	container_names_text(NULL, "", got);
	assert_string_equal(got, "");
}

/* ---- pick ---- */

/* The stacks that are left when rule number i is of what[i] with text texts[i]. */
static uint64_t left(struct fixture *f, size_t count, const enum name_filter_what *what,
		     const char *const *texts)
{
	struct stack_table copy = f->stacks;
	struct name_filter pick = { 0 };
	char error[64];
	uint64_t sum = 0;

	copy.entries = calloc(copy.entry_count, sizeof(*copy.entries));
	assert_non_null(copy.entries);
	memcpy(copy.entries, f->stacks.entries, copy.entry_count * sizeof(*copy.entries));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(name_filter_add(&pick, what[i], texts[i], error, sizeof(error)),
				 0);
	assert_int_equal(name_filter_run(&pick, &copy, &f->naming, f->names, NULL, f->groups, 2),
			 0);
	for (size_t i = 0; i < copy.entry_count; i++)
		sum += copy.entries[i].sample_count;
	free(copy.entries);
	name_filter_done(&pick);
	return sum;
}

static void a_rule_and_its_negation_add_up_to_all(void **state)
{
	static const struct {
		enum name_filter_what what;
		const char *text, *negated;
		uint64_t want;
	} cases[] = {
		{ NAME_FILTER_SYMBOL, "^sys_", "!^sys_", 3 },
		{ NAME_FILTER_SYMBOL, "nothing", "!nothing", 0 },
		{ NAME_FILTER_DSO, "libfib", "!libfib", 3 },
		{ NAME_FILTER_DSO, "kernel|sh$", "!kernel|sh$", 7 },
		{ NAME_FILTER_PARENT, "^fib$", "!^fib$", 5 },
		{ NAME_FILTER_PARENT, "main", "!main", 5 },
		{ NAME_FILTER_PARENT, "leaf", "!leaf", 0 },
		{ NAME_FILTER_CGROUP, "docker", "!docker", 9 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(left(*state, 1, &cases[i].what, &cases[i].text), cases[i].want);
		assert_int_equal(left(*state, 1, &cases[i].what, &cases[i].negated),
				 10 - cases[i].want);
	}
}

static void rules_of_one_kind_add_up_and_kinds_cut(void **state)
{
	enum name_filter_what same[] = { NAME_FILTER_SYMBOL, NAME_FILTER_SYMBOL };
	enum name_filter_what mixed[] = { NAME_FILTER_SYMBOL, NAME_FILTER_PARENT };
	const char *both[] = { "leaf", "main" }, *cut[] = { "sys", "fib" };
	const char *except[] = { "a", "!leaf" };

	assert_int_equal(left(*state, 2, same, both), 7);
	assert_int_equal(left(*state, 2, mixed, cut), 2);
	assert_int_equal(left(*state, 2, same, except), 7); /* main, sys_read */
}

static void a_broken_expression_is_refused(void **state)
{
	struct name_filter pick = { 0 };
	char error[64] = "";

	assert_int_equal(name_filter_add(&pick, NAME_FILTER_DSO, "a(", error, sizeof(error)),
			 -EINVAL);
	assert_string_not_equal(error, "");
	assert_int_equal(pick.count, 0);
	for (int i = 0; i < NAME_FILTER_MAX; i++)
		assert_int_equal(name_filter_add(&pick, NAME_FILTER_DSO, "a", error, sizeof(error)),
				 0);
	assert_int_equal(name_filter_add(&pick, NAME_FILTER_DSO, "a", error, sizeof(error)),
			 -E2BIG);
	name_filter_done(&pick);
}

/* ---- categories ---- */

static const char *category(struct fixture *f, const char *rules, int function)
{
	struct categories *c;
	uint32_t *by_function;
	const char *got;

	assert_int_equal(categories_new(rules, &c, NULL), 0);
	assert_int_equal(categories_run(c, &f->naming, f->names, &by_function), 0);
	got = string_table_text(f->names, by_function[function]);
	free(by_function);
	categories_free(c);
	return got;
}

static void the_first_rule_decides_and_users_come_first(void **state)
{
	static const char rules[] = "# mine\n\n  libfib.so  l*f  leaves\r\n"
				    "libfib.so * fibs\n* sys_* calls";

	assert_string_equal(category(*state, NULL, SYS), "kernel");
	assert_string_equal(category(*state, NULL, FIB), "");
	assert_string_equal(category(*state, rules, LEAF), "leaves");
	assert_string_equal(category(*state, rules, FIB), "fibs");
	assert_string_equal(category(*state, rules, SYS), "calls");
	assert_string_equal(category(*state, rules, MAIN), "");
}

static void broken_rules_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *rules;
		uint64_t line;
	} cases[] = { { "a b", 1 }, { "a b c\na\n", 2 }, { "#\n\na b c d", 3 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct categories *c = NULL;
		struct parse_err err = { 0 };

		assert_int_equal(categories_new(cases[i].rules, &c, &err), -EBADMSG);
		assert_int_equal(err.offset_bytes, cases[i].line);
		assert_non_null(err.what);
		assert_null(c);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(top_down_has_callees_below_callers),
		TEST(bottom_up_has_callers_below_callees),
		TEST(around_a_function_only_its_stacks_count_each_once),
		TEST(recursion_is_folded_only_when_asked),
		TEST(small_and_deep_nodes_are_left_out),
		TEST(hidden_frames_cost_their_caller),
		TEST(json_is_a_list_of_nodes),
		TEST(keys_of_samples_and_of_frames_mix),
		TEST(a_hostile_name_stays_one_field),
		TEST(an_unknown_key_is_named),
		TEST(help_lists_each_key_in_the_order_of_the_table),
		TEST(containers_are_known_by_their_cgroup),
		TEST(a_rule_and_its_negation_add_up_to_all),
		TEST(rules_of_one_kind_add_up_and_kinds_cut),
		TEST(a_broken_expression_is_refused),
		TEST(the_first_rule_decides_and_users_come_first),
		TEST(broken_rules_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
