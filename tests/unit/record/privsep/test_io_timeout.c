/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/os/clock.h"
#include "record/privsep/io_timeout.h"

#define LONG_NS  60000000000ULL
#define SHORT_NS 1000000ULL
#define MANY     100u

static struct io_timeout *io;
static int gate[2]; /* a job that waits gets a byte from it */
static atomic_uint worked, dropped, at_once, at_once_most;
static unsigned done_count, given_up_count;

struct job {
	struct io_job base;
	bool waits, waits_dropped;
};

static void work(struct io_job *base)
{
	struct job *job = (struct job *)base;
	unsigned now = atomic_fetch_add(&at_once, 1) + 1;
	char byte;

	if (now > atomic_load(&at_once_most))
		atomic_store(&at_once_most, now);
	if (job->waits)
		(void)!read(gate[0], &byte, 1);
	atomic_fetch_sub(&at_once, 1);
	atomic_fetch_add(&worked, 1);
}

static void done(struct io_job *base)
{
	done_count++;
	free(base);
}

static void given_up(struct io_job *base)
{
	given_up_count++;
}

static void drop(struct io_job *base)
{
	char byte;

	if (((struct job *)base)->waits_dropped)
		(void)!read(gate[0], &byte, 1);
	free(base);
	atomic_fetch_add(&dropped, 1);
}

static struct io_job *new_job(bool waits, uint64_t key, uint32_t user)
{
	struct job *job = malloc(sizeof(*job));

	assert_non_null(job);
	*job = (struct job){ .base = { .work = work,
				       .done = done,
				       .given_up = given_up,
				       .drop = drop,
				       .key = key,
				       .user = user },
			     .waits = waits };
	return &job->base;
}

/* -EBUSY: it is freed. */
static int run(bool waits, uint64_t key, uint32_t user, bool wait, uint64_t max_ns)
{
	struct io_job *job = new_job(waits, key, user);
	int err = io_timeout_run(io, job, wait, max_ns);

	if (err == -EBUSY)
		free(job);
	return err;
}

static uint32_t hanging(void)
{
	struct io_timeout_stats stats;

	io_timeout_get_stats(io, &stats);
	return stats.hanging_count;
}

static void release_one(void)
{
	assert_int_equal(write(gate[1], "x", 1), 1);
}

static int setup(void **state)
{
	worked = dropped = at_once = at_once_most = 0;
	done_count = given_up_count = 0;
	assert_int_equal(pipe(gate), 0);
	return io_timeout_new(LONG_NS, &io);
}

static int teardown(void **state)
{
	io_timeout_free(io);
	close(gate[0]);
	close(gate[1]);
	return 0;
}

/* Until it is done or given up. */
static void pass_until(const unsigned *count, unsigned want)
{
	while (*count < want) {
		io_timeout_wait(io, 10 * SHORT_NS);
		io_timeout_pass(io);
	}
}

static void a_job_that_is_waited_for_is_done_at_once(void **state)
{
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(run(false, 0, 0, true, LONG_NS), 0);
		assert_int_equal(done_count, i + 1);
	}
	assert_int_equal(atomic_load(&worked), 1000);
	assert_int_equal(io_timeout_pending(io), 0);
	assert_int_equal(atomic_load(&dropped), 0);
	io_timeout_free(NULL);
}

static void a_job_without_a_waiter_is_done_by_a_pass(void **state)
{
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(run(false, 0, 0, false, LONG_NS), -EINPROGRESS);
	assert_int_equal(io_timeout_pending(io), MANY);
	pass_until(&done_count, MANY);
	assert_int_equal(io_timeout_pending(io), 0);
}

static void a_job_that_takes_too_long_is_given_up_and_freed_when_it_returns(void **state)
{
	assert_int_equal(run(true, 0, 0, false, SHORT_NS), -EINPROGRESS);
	pass_until(&given_up_count, 1);
	assert_int_equal(io_timeout_pending(io), 0);
	assert_int_equal(hanging(), 1);
	assert_int_equal(run(false, 0, 0, true, LONG_NS), 0); /* others go on */
	assert_int_equal(atomic_load(&dropped), 0);
	release_one();
	while (!atomic_load(&dropped))
		usleep(1000);
	while (hanging())
		usleep(1000);
	assert_int_equal(done_count, 1);
}

static void jobs_of_one_key_run_one_after_the_other(void **state)
{
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(run(false, 7, 0, false, LONG_NS), -EINPROGRESS);
	pass_until(&done_count, MANY);
	assert_int_equal(atomic_load(&at_once_most), 1);
}

static void nothing_is_begun_for_a_key_that_hangs(void **state)
{
	assert_int_equal(run(true, 7, 0, false, SHORT_NS), -EINPROGRESS);
	assert_int_equal(run(false, 7, 0, false, LONG_NS), -EINPROGRESS); /* behind it */
	pass_until(&given_up_count, 2);
	assert_int_equal(atomic_load(&worked), 0);
	assert_int_equal(atomic_load(&dropped), 1); /* the second */
	assert_int_equal(run(false, 7, 0, true, LONG_NS), -EBUSY);
	assert_int_equal(run(false, 8, 0, true, LONG_NS), 0);
	release_one();
	while (run(false, 7, 0, true, LONG_NS) == -EBUSY)
		usleep(1000);
	assert_int_equal(done_count, 2);
}

static void a_user_hangs_so_many_threads_and_others_are_served(void **state)
{
	struct io_timeout_stats stats;

	for (uint64_t i = 0; i < IO_HANGING_PER_USER; i++)
		assert_int_equal(run(true, 100 + i, 1000, false, SHORT_NS), -EINPROGRESS);
	pass_until(&given_up_count, IO_HANGING_PER_USER);
	assert_int_equal(run(false, 99, 1000, true, LONG_NS), -EBUSY);
	assert_int_equal(run(false, 99, 1001, true, LONG_NS), 0);
	io_timeout_get_stats(io, &stats);
	assert_int_equal(stats.given_up_count, IO_HANGING_PER_USER);
	assert_int_equal(stats.refused_count, 1);
	for (unsigned i = 0; i < IO_HANGING_PER_USER; i++)
		release_one();
	while (hanging())
		usleep(1000);
}

static void a_group_hangs_so_many_threads_and_others_are_served(void **state)
{
	struct io_job *job;

	for (uint64_t i = 0; i < IO_HANGING_PER_GROUP; i++) {
		job = new_job(true, 100 + i, 0);
		job->group = 5;
		assert_int_equal(io_timeout_run(io, job, false, SHORT_NS), -EINPROGRESS);
		pass_until(&given_up_count, (unsigned)i + 1);
	}
	job = new_job(false, 99, 0);
	job->group = 5;
	assert_int_equal(io_timeout_run(io, job, true, LONG_NS), -EBUSY);
	job->group = 6;
	assert_int_equal(io_timeout_run(io, job, true, LONG_NS), 0);
	for (unsigned i = 0; i < IO_HANGING_PER_GROUP; i++)
		release_one();
	while (hanging())
		usleep(1000);
	job = new_job(false, 99, 0);
	job->group = 5;
	assert_int_equal(io_timeout_run(io, job, true, LONG_NS), 0);
}

static void there_are_no_more_threads_than_the_limit(void **state)
{
	struct io_timeout_stats stats;

	for (uint64_t i = 0; i < 2 * IO_THREADS_MAX; i++)
		assert_int_equal(run(true, 100 + i, 0, false, SHORT_NS), -EINPROGRESS);
	pass_until(&given_up_count, 2 * IO_THREADS_MAX);
	io_timeout_get_stats(io, &stats);
	assert_int_equal(stats.thread_count, IO_THREADS_MAX);
	assert_int_equal(stats.hanging_count, IO_THREADS_MAX);
	assert_int_equal(stats.given_up_count, IO_THREADS_MAX);
	for (unsigned i = 0; i < IO_THREADS_MAX; i++)
		release_one();
	while (hanging())
		usleep(1000);
	assert_int_equal(run(false, 0, 0, true, LONG_NS), 0);
}

static void waits_in_vain_are_short_and_few(void **state)
{
	uint64_t begin_ns;

	io_timeout_free(io);
	assert_int_equal(io_timeout_new(5 * SHORT_NS, &io), 0);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(run(true, 100, 0, true, LONG_NS), -EINPROGRESS);
	/* Ten of 5 ms, and 90 that would make it half a second. */
	assert_in_range(clock_ns(CLOCK_MONOTONIC) - begin_ns, 45 * SHORT_NS, 300 * SHORT_NS);
	io_timeout_finish(io, SHORT_NS);
	assert_int_equal(given_up_count, MANY);
	assert_int_equal(io_timeout_pending(io), 0);
	release_one();
	while (hanging())
		usleep(1000);
}

/* Each pass would allow ten more waits in vain, of a minute each. */
static void a_limit_for_all_waits_holds_over_passes_until_it_is_lifted(void **state)
{
	io_timeout_free(io);
	assert_int_equal(io_timeout_new(LONG_NS, &io), 0);
	assert_false(io_timeout_limit_waits(io, 20 * SHORT_NS));
	for (uint64_t i = 0; i < MANY; i++) {
		assert_int_equal(run(true, 100, 0, true, LONG_NS), -EINPROGRESS);
		io_timeout_pass(io);
	}
	assert_int_equal(run(false, 0, 0, true, LONG_NS), -EINPROGRESS);
	assert_true(io_timeout_limit_waits(io, UINT64_MAX));
	assert_int_equal(run(false, 0, 0, true, LONG_NS), 0);
	assert_false(io_timeout_limit_waits(io, UINT64_MAX));
	pass_until(&done_count, 2);
	io_timeout_finish(io, SHORT_NS);
	assert_int_equal(given_up_count, MANY);
	release_one();
	while (hanging())
		usleep(1000);
}

static void hand_back(struct io_job *base)
{
	done_count++;
	io_timeout_drop(io, base);
}

/* Its file's server does not answer when it is closed. */
static void a_job_that_hangs_when_it_is_dropped_is_nobodys_wait(void **state)
{
	struct io_job *job = new_job(false, 1, 7);
	struct io_timeout_stats stats;

	job->done = hand_back;
	((struct job *)job)->waits_dropped = true;
	assert_int_equal(io_timeout_run(io, job, true, LONG_NS), 0);
	assert_int_equal(io_timeout_pending(io), 0);
	/* As long as it may be about to end it delays no other job, also none of its key. */
	assert_int_equal(run(false, 1, 7, true, LONG_NS), 0);
	while (!hanging())
		io_timeout_pass(io);
	io_timeout_get_stats(io, &stats);
	assert_int_equal(stats.given_up_count, 1);
	assert_int_equal(run(false, 1, 7, true, LONG_NS), -EBUSY);
	assert_int_equal(run(false, 2, 7, true, LONG_NS), 0);
	io_timeout_finish(io, LONG_NS); /* nothing is pending */
	assert_int_equal(atomic_load(&dropped), 0);
	release_one();
	while (!atomic_load(&dropped) || hanging())
		sched_yield();
	assert_int_equal(run(false, 1, 7, true, LONG_NS), 0);
	assert_int_equal(given_up_count, 0);
}

static void what_is_left_outlives_its_owner(void **state)
{
	assert_int_equal(run(true, 0, 0, false, LONG_NS), -EINPROGRESS);
	while (!atomic_load(&at_once))
		usleep(1000);
	assert_int_equal(run(true, 0, 0, false, SHORT_NS), -EINPROGRESS);
	pass_until(&given_up_count, 1);
	io_timeout_free(io);
	io = NULL;
	release_one();
	release_one();
	while (atomic_load(&dropped) < 2)
		usleep(1000);
	assert_int_equal(done_count, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_job_that_is_waited_for_is_done_at_once),
		CASE(a_job_without_a_waiter_is_done_by_a_pass),
		CASE(a_job_that_takes_too_long_is_given_up_and_freed_when_it_returns),
		CASE(jobs_of_one_key_run_one_after_the_other),
		CASE(nothing_is_begun_for_a_key_that_hangs),
		CASE(a_user_hangs_so_many_threads_and_others_are_served),
		CASE(a_group_hangs_so_many_threads_and_others_are_served),
		CASE(there_are_no_more_threads_than_the_limit),
		CASE(waits_in_vain_are_short_and_few),
		CASE(a_limit_for_all_waits_holds_over_passes_until_it_is_lifted),
		CASE(a_job_that_hangs_when_it_is_dropped_is_nobodys_wait),
		CASE(what_is_left_outlives_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
