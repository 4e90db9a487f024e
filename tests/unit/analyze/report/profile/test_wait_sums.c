/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/profile/wait_sums.h"

enum { FUTEX, NANOSLEEP, POLL, REASONS };
enum { APP, DAEMON, RECORDER, COMMS };

struct fixture {
	struct string_table *names;
	struct stack_table stacks;
	struct function functions[REASONS];
	struct function_table naming;
	struct group groups[COMMS];
};

static uint32_t text(struct fixture *f, const char *s)
{
	uint32_t id = 0;

	assert_int_equal(string_table_add(f->names, s, strlen(s), &id), 0);
	return id;
}

static void setup(struct fixture *f)
{
	static const char *const reasons[] = { "[futex]", "[nanosleep]", "[poll]" };
	static const char *const comms[] = { "app", "daemon", "ebprec-record" };

	*f = (struct fixture){ .naming.function_count = REASONS };
	assert_int_equal(string_table_new(&f->names), 0);
	assert_int_equal(stack_table_init(&f->stacks, NULL), 0);
	f->naming.functions = f->functions;
	for (size_t i = 0; i < REASONS; i++)
		f->functions[i].name = text(f, reasons[i]);
	for (size_t i = 0; i < COMMS; i++)
		f->groups[i].comm = text(f, comms[i]);
}

static void teardown(struct fixture *f)
{
	stack_table_done(&f->stacks);
	string_table_free(f->names);
}

static void add(struct fixture *f, uint32_t comm, uint32_t reason, uint64_t ns, uint64_t us)
{
	struct stack_table_key key = { .group = comm,
				       .user = STACK_TABLE_USER_ROOT,
				       .kernel = STACK_TABLE_KERNEL_ROOT };

	assert_int_equal(stack_table_child(&f->stacks, key.user, reason, &key.user), 0);
	assert_int_equal(stack_table_count(&f->stacks, &key, ns, us), 0);
}

static size_t make(struct fixture *f, struct wait_sum **list)
{
	const struct row_keys_source source = {
		.naming = &f->naming, .names = f->names, .groups = f->groups, .group_count = COMMS
	};
	size_t count;

	assert_int_equal(wait_sums_make(&f->stacks, &source, list, &count), 0);
	return count;
}

static void assert_sum(const struct fixture *f, const struct wait_sum *got, uint32_t comm,
		       uint32_t reason, uint64_t ns, uint64_t us)
{
	assert_int_equal(got->comm, f->groups[comm].comm);
	assert_int_equal(got->reason, f->functions[reason].name);
	assert_int_equal(got->ns, ns);
	assert_int_equal(got->would_run_us, us);
}

static void what_would_have_run_most_is_first_and_the_recorder_last(void **state)
{
	struct wait_sum *list;
	struct fixture f;

	(void)state;
	setup(&f);
	add(&f, RECORDER, POLL, 9000, 9);
	add(&f, DAEMON, NANOSLEEP, 8000, 0);
	add(&f, DAEMON, FUTEX, 9000, 0);
	add(&f, APP, FUTEX, 2000, 2);
	add(&f, APP, NANOSLEEP, 3000, 1);
	assert_int_equal(make(&f, &list), 5);
	assert_sum(&f, &list[0], APP, FUTEX, 2000, 2);
	assert_sum(&f, &list[1], APP, NANOSLEEP, 3000, 1);
	assert_sum(&f, &list[2], DAEMON, FUTEX, 9000, 0);
	assert_sum(&f, &list[3], DAEMON, NANOSLEEP, 8000, 0);
	assert_sum(&f, &list[4], RECORDER, POLL, 9000, 9);
	assert_true(list[4].is_recorder);
	free(list);
	teardown(&f);
}

/* Stacks of one reason are one row, whatever is below; a reason of two names is two. */
static void waits_of_one_name_and_reason_are_one_sum(void **state)
{
	struct wait_sum *list;
	struct fixture f;
	struct stack_table_key deep = { .group = APP, .kernel = STACK_TABLE_KERNEL_ROOT };

	(void)state;
	setup(&f);
	add(&f, APP, FUTEX, 2000, 2);
	add(&f, DAEMON, FUTEX, 500, 0);
	assert_int_equal(stack_table_child(&f.stacks, STACK_TABLE_USER_ROOT, POLL, &deep.user), 0);
	assert_int_equal(stack_table_child(&f.stacks, deep.user, FUTEX, &deep.user), 0);
	assert_int_equal(stack_table_count(&f.stacks, &deep, 1000, 1), 0);
	assert_int_equal(make(&f, &list), 2);
	assert_sum(&f, &list[0], APP, FUTEX, 3000, 3);
	assert_sum(&f, &list[1], DAEMON, FUTEX, 500, 0);
	free(list);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_would_have_run_most_is_first_and_the_recorder_last),
		cmocka_unit_test(waits_of_one_name_and_reason_are_one_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
