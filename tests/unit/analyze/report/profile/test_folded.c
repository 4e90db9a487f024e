/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/report/profile/folded.h"

struct fixture {
	struct string_table *names;
	struct stack_table stacks;
};

static struct fixture setup(void)
{
	struct fixture f;

	assert_int_equal(string_table_new(&f.names), 0);
	assert_int_equal(stack_table_init(&f.stacks, NULL), 0);
	return f;
}

static void teardown(struct fixture *f)
{
	stack_table_done(&f->stacks);
	string_table_free(f->names);
}

static uint32_t name(struct fixture *f, const char *text, size_t size_bytes)
{
	uint32_t id = 0;

	assert_int_equal(string_table_add(f->names, text, size_bytes, &id), 0);
	return id;
}

static uint32_t path(struct fixture *f, uint32_t node, const char *frames)
{
	while (*frames) {
		size_t n = strcspn(frames, ";");

		assert_int_equal(stack_table_child(&f->stacks, node, name(f, frames, n), &node), 0);
		frames += n + (frames[n] == ';');
	}
	return node;
}

/* Frames as text, outermost first, separated by ';'. */
static void add(struct fixture *f, const char *group, const char *user, const char *kernel,
		uint64_t count)
{
	struct stack_table_key key = {
		.group = name(f, group, strlen(group)),
		.user = path(f, STACK_TABLE_USER_ROOT, user),
		.kernel = path(f, STACK_TABLE_KERNEL_ROOT, kernel),
	};

	assert_int_equal(stack_table_count(&f->stacks, &key, count, count * 10), 0);
}

static int same_label(void *ctx, uint32_t group, uint32_t *label)
{
	*label = group;
	return 0;
}

static int no_label(void *ctx, uint32_t group, uint32_t *label)
{
	return -ENOMEM;
}

static char *fold_by(struct fixture *f, enum calltree_weight weight, unsigned thread_count)
{
	struct calltree_labels labels = { .group = same_label };
	struct calltree tree;
	size_t size = 0;
	char *text = NULL;
	FILE *to;

	assert_int_equal(calltree_build(&f->stacks, &labels, weight, &tree), 0);
	to = open_memstream(&text, &size);
	assert_non_null(to);
	assert_int_equal(folded_write(&tree, f->names, thread_count, to), 0);
	fclose(to);
	calltree_done(&tree);
	return text;
}

static char *fold(struct fixture *f, enum calltree_weight weight)
{
	return fold_by(f, weight, 0);
}

static void check(struct fixture *f, const char *want)
{
	char *got = fold(f, CALLTREE_SAMPLES);

	assert_string_equal(got, want);
	free(got);
}

static void nothing_gives_no_line(void **state)
{
	struct fixture f = setup();

	check(&f, "");
	teardown(&f);
}

static void kernel_frames_follow_user_frames(void **state)
{
	struct fixture f = setup();

	add(&f, "sh", "_start;main", "entry;sys_read", 3);
	add(&f, "kthread", "", "entry;work", 1);
	check(&f, "kthread;entry;work 1\nsh;_start;main;entry;sys_read 3\n");
	teardown(&f);
}

static void equal_lines_are_one(void **state)
{
	struct fixture f = setup();

	add(&f, "sh", "a;b", "", 3);
	add(&f, "sh", "a", "b", 4); /* another stack, but the same line */
	check(&f, "sh;a;b 7\n");
	teardown(&f);
}

static void stack_that_ends_inside_another_has_its_line(void **state)
{
	struct fixture f = setup();

	add(&f, "sh", "a;b;c", "", 1);
	add(&f, "sh", "a;b", "", 2);
	add(&f, "sh", "a", "", 3);
	check(&f, "sh;a 3\nsh;a;b 2\nsh;a;b;c 1\n");
	teardown(&f);
}

static void recursion_stays(void **state)
{
	struct fixture f = setup();

	add(&f, "sh", "f;f;f", "", 1);
	check(&f, "sh;f;f;f 1\n");
	teardown(&f);
}

static void period_is_another_weight(void **state)
{
	struct fixture f = setup();
	char *got;

	add(&f, "sh", "a", "", 3);
	got = fold(&f, CALLTREE_PERIOD);
	assert_string_equal(got, "sh;a 30\n");
	free(got);
	teardown(&f);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_order(char *text)
{
	static char *lines[20000], *sorted[20000];
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(n < 20000);
		lines[n] = sorted[n] = line;
		n++;
	}
	qsort(sorted, n, sizeof(*sorted), by_bytes);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(lines[i], sorted[i]);
	assert_true(n > 0);
}

/* Labels that sort around ';' and ' ' and digits: where a label is the beginning of another. */
static void order_is_that_of_the_bytes(void **state)
{
	static const char *const labels[] = {
		"f",      "f.part.0", "f 1", "f 12",     "f!",  "f:",
		"f<int>", "f1",       "fo",  "\xc3\xa4", "f  ", "[f]"
	};
	struct fixture f = setup();
	char stack[256];
	char *got;

	srand(3);
	for (unsigned i = 0; i < 5000; i++) {
		stack[0] = '\0';
		for (unsigned d = 0, depth = 1 + (unsigned)rand() % 4; d < depth; d++) {
			if (d)
				strcat(stack, ";");
			strcat(stack, labels[(unsigned)rand() % 12]);
		}
		add(&f, labels[(unsigned)rand() % 12], stack, "", 1 + (unsigned)rand() % 15);
	}
	got = fold(&f, CALLTREE_SAMPLES);
	check_order(got);
	free(got);
	teardown(&f);
}

static void order_of_adding_does_not_matter(void **state)
{
	static const char *const stacks[] = { "a;b", "a", "c;d;e", "a;b;c", "c", "b" };
	struct fixture f = setup(), g = setup();
	char *one, *two;

	for (unsigned i = 0; i < 6; i++) {
		add(&f, "x", stacks[i], "k", i + 1);
		add(&g, "x", stacks[5 - i], "k", 6 - i);
	}
	one = fold(&f, CALLTREE_SAMPLES);
	two = fold(&g, CALLTREE_SAMPLES);
	assert_string_equal(one, two);
	free(one);
	free(two);
	teardown(&f);
	teardown(&g);
}

static void very_deep_stack_is_one_line(void **state)
{
	enum { DEPTH = 60000 };
	struct fixture f = setup();
	uint32_t node = STACK_TABLE_USER_ROOT, label = name(&f, "r", 1);
	struct stack_table_key key = { .kernel = STACK_TABLE_KERNEL_ROOT };
	char *got;

	for (unsigned i = 0; i < DEPTH; i++)
		assert_int_equal(stack_table_child(&f.stacks, node, label, &node), 0);
	key.group = name(&f, "sh", 2);
	key.user = node;
	assert_int_equal(stack_table_count(&f.stacks, &key, 1, 1), 0);
	got = fold(&f, CALLTREE_SAMPLES);
	assert_int_equal(strlen(got), 2 + 2 * DEPTH + 3);
	free(got);
	teardown(&f);
}

static void failed_write_is_reported(void **state)
{
	struct calltree_labels labels = { .group = same_label };
	struct fixture f = setup();
	struct calltree tree;
	FILE *full = fopen("/dev/full", "w");
	char stack[64];

	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	for (unsigned i = 0; i < 10; i++) {
		snprintf(stack, sizeof(stack), "a;%u", i);
		add(&f, "sh", stack, "", 1);
	}
	assert_int_equal(calltree_build(&f.stacks, &labels, CALLTREE_SAMPLES, &tree), 0);
	assert_int_equal(folded_write(&tree, f.names, 0, full), -ENOSPC);
	fclose(full);
	calltree_done(&tree);
	teardown(&f);
}

/* More lines than four threads want. */
static void add_many(struct fixture *f)
{
	char stack[96];

	srand(1);
	for (unsigned i = 0; i < 60000; i++) {
		unsigned a = (unsigned)rand(), b = (unsigned)rand();

		snprintf(stack, sizeof(stack), "f%u;g%u;h%u;i%u", a % 7, a / 7 % 11, b % 31,
			 b / 31 % 61);
		stack[strlen(stack) - (i % 3 ? 0 : 3)] = '\0';
		add(f, i % 2 ? "sh" : "bash", stack, i % 5 ? "" : "k", 1 + i % 9);
	}
}

/* All lines in the order of their bytes, by another way. */
static void check_sorted(const char *text)
{
	char *copy = strdup(text), **lines = calloc(100000, sizeof(*lines)), *line, *rest;
	size_t count = 0, at = 0;

	assert_non_null(copy);
	assert_non_null(lines);
	for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		lines[count++] = line;
	assert_in_range(count, 35000, 99999);
	qsort(lines, count, sizeof(*lines), by_bytes);
	for (size_t i = 0; i < count; i++) {
		assert_memory_equal(text + at, lines[i], strlen(lines[i]));
		at += strlen(lines[i]) + 1;
	}
	assert_int_equal(strlen(text), at);
	free(lines);
	free(copy);
}

static void number_of_threads_changes_no_byte(void **state)
{
	struct fixture f = setup();
	char *one, *many;

	add_many(&f);
	one = fold_by(&f, CALLTREE_SAMPLES, 1);
	check_sorted(one);
	for (unsigned threads = 2; threads < 9; threads += 2) {
		many = fold_by(&f, CALLTREE_SAMPLES, threads);
		assert_string_equal(one, many);
		free(many);
	}
	free(one);
	teardown(&f);
}

static void failed_write_ends_all_threads(void **state)
{
	struct calltree_labels labels = { .group = same_label };
	FILE *full = fopen("/dev/full", "w");
	struct fixture f = setup();
	struct calltree tree;

	if (!full)
		skip();
	add_many(&f);
	assert_int_equal(calltree_build(&f.stacks, &labels, CALLTREE_SAMPLES, &tree), 0);
	assert_int_equal(folded_write(&tree, f.names, 4, full), -ENOSPC);
	fclose(full);
	calltree_done(&tree);
	teardown(&f);
}

static void failed_group_ends_the_building(void **state)
{
	struct calltree_labels labels = { .group = no_label };
	struct calltree tree = { .count = 77 };
	struct fixture f = setup();

	add(&f, "sh", "a", "", 1);
	assert_int_equal(calltree_build(&f.stacks, &labels, CALLTREE_SAMPLES, &tree), -ENOMEM);
	assert_int_equal(tree.count, 77);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_gives_no_line),
		cmocka_unit_test(kernel_frames_follow_user_frames),
		cmocka_unit_test(equal_lines_are_one),
		cmocka_unit_test(stack_that_ends_inside_another_has_its_line),
		cmocka_unit_test(recursion_stays),
		cmocka_unit_test(period_is_another_weight),
		cmocka_unit_test(order_is_that_of_the_bytes),
		cmocka_unit_test(order_of_adding_does_not_matter),
		cmocka_unit_test(very_deep_stack_is_one_line),
		cmocka_unit_test(failed_write_is_reported),
		cmocka_unit_test(number_of_threads_changes_no_byte),
		cmocka_unit_test(failed_write_ends_all_threads),
		cmocka_unit_test(failed_group_ends_the_building),
	};

	return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
