/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/privsep/io_timeout.h"

#define LONG_NS  60000000000ULL
#define SHORT_NS 1000000ULL

static atomic_uint dropped;
static atomic_uint worked;

struct job {
	struct aside_job base;
	int gate; /* waits until there is a byte; -1: does not wait */
};

static void work(struct aside_job *base)
{
	struct job *job = (struct job *)base;
	char byte;

	if (job->gate >= 0)
		(void)!read(job->gate, &byte, 1);
	atomic_fetch_add(&worked, 1);
}

static void drop(struct aside_job *base)
{
	free(base);
	atomic_fetch_add(&dropped, 1);
}

static struct aside_job *new_job(int gate)
{
	struct job *job = malloc(sizeof(*job));

	assert_non_null(job);
	*job = (struct job){ { work, drop }, gate };
	return &job->base;
}

static int setup(void **state)
{
	atomic_store(&dropped, 0);
	atomic_store(&worked, 0);
	return 0;
}

static void what_comes_back_is_the_callers(void **state)
{
	struct aside *a = NULL;

	assert_int_equal(aside_new(&a), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct aside_job *job = new_job(-1);

		assert_int_equal(aside_run(a, job, LONG_NS), 0);
		assert_int_equal(atomic_load(&worked), i + 1);
		free(job);
	}
	assert_int_equal(atomic_load(&dropped), 0);
	aside_free(a);
	aside_free(NULL);
	assert_int_equal(aside_new(&a), 0);
	aside_free(a); /* without a thread */
}

static void who_is_stuck_is_left_behind_and_cleans_up(void **state)
{
	struct aside *a = NULL;
	struct aside_job *job;
	int gate[2];

	assert_int_equal(pipe(gate), 0);
	assert_int_equal(aside_new(&a), 0);
	for (unsigned i = 0; i < ASIDE_STUCK_MAX; i++) {
		job = new_job(-1);
		assert_int_equal(aside_run(a, job, LONG_NS), 0); /* by another thread each time */
		free(job);
		assert_int_equal(aside_run(a, new_job(gate[0]), SHORT_NS), -ETIMEDOUT);
	}
	/* There are no more threads than that. */
	assert_int_equal(aside_run(a, new_job(-1), LONG_NS), -EBUSY);
	assert_int_equal(atomic_load(&worked), ASIDE_STUCK_MAX);
	assert_int_equal(atomic_load(&dropped), 1);
	/* One comes back after all, and things go on. */
	assert_int_equal(write(gate[1], "x", 1), 1);
	while (atomic_load(&dropped) < 2)
		usleep(1000);
	job = new_job(-1);
	while (aside_run(a, job, LONG_NS) == -EBUSY) {
		usleep(1000); /* it is about to end */
		job = new_job(-1);
	}
	free(job);
	/* The others outlive it. */
	aside_free(a);
	for (unsigned i = 0; i < ASIDE_STUCK_MAX; i++)
		assert_int_equal(write(gate[1], "x", 1), 1);
	while (atomic_load(&worked) < 2 * ASIDE_STUCK_MAX + 1)
		usleep(1000);
	close(gate[0]);
	close(gate[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_comes_back_is_the_callers, setup),
		cmocka_unit_test_setup(who_is_stuck_is_left_behind_and_cleans_up, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
