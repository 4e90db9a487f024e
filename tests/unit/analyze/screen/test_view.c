/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "tests/unit/analyze/screen/seconds.h"

#include "analyze/screen/view.h"

/* Two programs: 10 samples of a, in which rec calls itself, and 6 of b; a waits for 3 ms and 1 ms. */
static void make_history(struct history *h)
{
	struct history_second *s;

	assert_int_equal(history_init(h, 100, 1 << 20), 0);
	s = begin_second(h, 7);
	put_stack(h, s, "a", 1, "main rec rec leaf", 4, 0);
	put_stack(h, s, "a", 1, "main rec", 3, 0);
	put_stack(h, s, "a", 2, "main leaf k_read", 3, 0);
	put_stack(h, s, "b", 3, "main other", 6, 0);
	put_stack(h, s, "a", 1, "main rec k_wait [futex]", 1, 3000);
	put_stack(h, s, "a", 1, "main k_read [pipe]", 1, 1000);
	put_stack(h, s, "b", 3, "main other", 1, 500);
	assert_int_equal(history_close_second(h, s), 0);
}

static struct view view_of(struct history *h, const struct view_query *q)
{
	struct stack_table stacks;
	struct view v;

	assert_int_equal(history_select(h, 0, h->count, q->measure, &stacks), 0);
	assert_int_equal(view_make(h, &stacks, q, &v), 0);
	stack_table_done(&stacks);
	return v;
}

/* "NAME SELF/TOTAL" of each row, with a blank a level in front. */
static const char *printed(const struct history *h, const struct view *v, char out[1000])
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < v->count; i++)
		used += (size_t)snprintf(out + used, 1000 - used, "%*s%s %d/%d\n",
					 (int)v->rows[i].depth, "", view_text(h, v->rows[i].label),
					 (int)v->rows[i].self, (int)v->rows[i].total);
	return out;
}

static void assert_view(const struct view_query *q, const char *want)
{
	struct history h;
	struct view v;
	char got[1000];

	make_history(&h);
	v = view_of(&h, q);
	assert_string_equal(printed(&h, &v, got), want);
	view_done(&v);
	history_done(&h);
}

static void table_has_each_function_once_and_recursion_counts_once(void **state)
{
	(void)state;
	assert_view(&(struct view_query){ .form = VIEW_TABLE },
		    "other 6/6\nleaf 4/7\nrec 3/7\nk_read 3/3\nmain 0/16\n");
}

static void groups_are_rows_by_what_they_are_counted_by(void **state)
{
	(void)state;
	assert_view(&(struct view_query){ .form = VIEW_TABLE, .groups = true }, "a 10/10\nb 6/6\n");
	assert_view(&(struct view_query){ .form = VIEW_TABLE,
					  .groups = true,
					  .by = HISTORY_BY_PROCESS },
		    "a 1 7/7\nb 3 6/6\na 2 3/3\n");
	assert_view(
		&(struct view_query){ .form = VIEW_TABLE, .groups = true, .by = HISTORY_BY_UNIT },
		"cron.service 16/16\n");
}

static void tree_has_callees_below_their_callers_the_most_costly_first(void **state)
{
	(void)state;
	assert_view(&(struct view_query){ .form = VIEW_TREE },
		    "main 0/16\n rec 3/7\n  rec 0/4\n   leaf 4/4\n other 6/6\n leaf 0/3\n"
		    "  k_read 3/3\n");
}

static void waits_are_those_that_end_in_a_reason(void **state)
{
	(void)state;
	assert_view(&(struct view_query){ .form = VIEW_TABLE, .measure = HISTORY_OFFCPU },
		    "[futex] 3000/3000\n[pipe] 1000/1000\nmain 0/4000\nk_wait 0/3000\nrec 0/3000\n"
		    "k_read 0/1000\n");
	assert_view(
		&(struct view_query){ .form = VIEW_TABLE, .measure = HISTORY_WALL, .groups = true },
		"a 4000/4000\nb 500/500\n");
}

static void filter_leaves_the_stacks_on_which_a_name_matches(void **state)
{
	regex_t regex;

	(void)state;
	assert_int_equal(regcomp(&regex, "^LEAF$", REG_EXTENDED | REG_NOSUB | REG_ICASE), 0);
	assert_view(&(struct view_query){ .form = VIEW_TABLE, .filter = &regex },
		    "leaf 4/7\nk_read 3/3\nmain 0/7\nrec 0/4\n");
	regfree(&regex);
}

static void steps_leave_what_is_below_them(void **state)
{
	struct history h;
	struct view_step steps[2] = { 0 };
	struct view_query q = { .form = VIEW_TABLE, .groups = true, .steps = steps };
	struct view v;
	char got[1000];

	(void)state;
	make_history(&h);
	steps[0] = (struct view_step){ text_of(&h, "a") | VIEW_GROUP, true };
	q.step_count = 1;
	v = view_of(&h, &q);
	assert_string_equal(printed(&h, &v, got), "leaf 4/7\nrec 3/7\nk_read 3/3\nmain 0/10\n");
	assert_int_equal(v.all, 16);
	assert_int_equal(v.left, 10);
	view_done(&v);
	/* From the outermost rec on; what ends there is left, too. */
	steps[1] = (struct view_step){ frame_of(&h, "rec"), false };
	q.step_count = 2;
	v = view_of(&h, &q);
	assert_string_equal(printed(&h, &v, got), "leaf 4/4\nrec 0/4\n");
	assert_int_equal(v.left, 7);
	view_done(&v);
	history_done(&h);
}

static void direct_steps_are_the_path_of_a_node(void **state)
{
	struct history h;
	struct view_query q = { .form = VIEW_TREE };
	struct view_step steps[8];
	struct view v;
	char got[1000];

	(void)state;
	make_history(&h);
	v = view_of(&h, &q);
	assert_string_equal(view_text(&h, v.rows[5].label), "leaf");
	q.step_count = view_steps(&v, v.rows[5].node, steps, 8);
	assert_int_equal(q.step_count, 2);
	view_done(&v);
	q.steps = steps;
	v = view_of(&h, &q);
	assert_string_equal(printed(&h, &v, got), "k_read 3/3\n"); /* not the leaf below rec */
	view_done(&v);
	history_done(&h);
}

static void boxes_of_an_icicle_lie_below_their_caller_without_overlap(void **state)
{
	struct history h;
	struct view_query q = { .form = VIEW_ICICLE };
	struct view v;

	(void)state;
	make_history(&h);
	v = view_of(&h, &q);
	assert_string_equal(view_text(&h, v.rows[1].label), "leaf"); /* by name */
	assert_int_equal(v.rows[1].at, 0);
	assert_string_equal(view_text(&h, v.rows[3].label), "other");
	assert_int_equal(v.rows[3].at, 3);
	assert_string_equal(view_text(&h, v.rows[4].label), "rec");
	assert_int_equal(v.rows[4].at, 9);
	assert_int_equal(v.rows[5].at, 9);
	view_done(&v);
	history_done(&h);
}

static void small_rows_of_a_tree_are_left_out(void **state)
{
	(void)state;
	assert_view(&(struct view_query){ .form = VIEW_TREE, .least_of = 3 },
		    "main 0/16\n rec 3/7\n other 6/6\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_each_function_once_and_recursion_counts_once),
		cmocka_unit_test(groups_are_rows_by_what_they_are_counted_by),
		cmocka_unit_test(tree_has_callees_below_their_callers_the_most_costly_first),
		cmocka_unit_test(waits_are_those_that_end_in_a_reason),
		cmocka_unit_test(filter_leaves_the_stacks_on_which_a_name_matches),
		cmocka_unit_test(steps_leave_what_is_below_them),
		cmocka_unit_test(direct_steps_are_the_path_of_a_node),
		cmocka_unit_test(boxes_of_an_icicle_lie_below_their_caller_without_overlap),
		cmocka_unit_test(small_rows_of_a_tree_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
