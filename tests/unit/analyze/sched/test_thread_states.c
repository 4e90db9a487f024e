/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Each test plays a series of events and checks what the threads must have done. */
#include "analyze/sched/thread_states.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct story {
	struct thread_states *t;
	uint32_t events;
	uint64_t ns[64][THREAD_STATES_COUNT]; /* by thread */
	uint64_t complete[64][THREAD_STATES_COUNT];
	uint64_t last_end_ns[64];
	uint32_t wake[64]; /* the last one reported */
};

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct story *s = ctx;

	assert_true(i->thread < 64);
	assert_true(i->to_ns >= i->from_ns);
	/* Intervals of a thread touch each other. */
	if (s->last_end_ns[i->thread])
		assert_int_equal(i->from_ns, s->last_end_ns[i->thread]);
	s->last_end_ns[i->thread] = i->to_ns;
	s->ns[i->thread][i->state] += i->to_ns - i->from_ns;
	s->complete[i->thread][i->state] += i->is_complete;
	if (i->wake != SCHED_EVENT_NONE)
		s->wake[i->thread] = i->wake;
	return 0;
}

static void open_story(struct story *s, uint64_t start_ns, uint64_t end_ns, bool lossy)
{
	struct thread_states_opts opts = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.lossy = lossy,
		.interval = on_interval,
		.ctx = s,
	};

	*s = (struct story){ 0 };
	assert_int_equal(thread_states_new(&opts, &s->t), 0);
}

static void add(struct story *s, const struct sched_event *e)
{
	assert_int_equal(thread_states_add(s->t, e, s->events++), 0);
}

static void switches(struct story *s, uint64_t time_ns, uint16_t cpu, uint32_t tid, uint16_t state,
		     uint32_t next_tid)
{
	add(s, &(struct sched_event){ .time_ns = time_ns,
				      .kind = SCHED_EVENT_SWITCH,
				      .cpu = cpu,
				      .pid = tid,
				      .tid = tid,
				      .state = state,
				      .next_tid = next_tid,
				      .comm = SCHED_EVENT_NONE,
				      .next_comm = SCHED_EVENT_NONE });
}

static void happens(struct story *s, uint64_t time_ns, enum sched_event_kind kind, uint32_t tid)
{
	add(s, &(struct sched_event){ .time_ns = time_ns,
				      .kind = (uint8_t)kind,
				      .pid = UINT32_MAX,
				      .tid = tid,
				      .comm = SCHED_EVENT_NONE,
				      .next_comm = SCHED_EVENT_NONE });
}

/* Ends the story and holds every thread to the rule: the states add up to the life. */
static void end(struct story *s)
{
	const struct thread_states_thread *threads;
	uint64_t sum;
	size_t count;

	assert_int_equal(thread_states_finish(s->t), 0);
	threads = thread_states_threads(s->t, &count);
	for (size_t i = 0; i < count; i++) {
		sum = 0;
		for (int k = 0; k < THREAD_STATES_COUNT; k++)
			sum += s->ns[i][k];
		if (sum != threads[i].end_ns - threads[i].start_ns)
			fail_msg("thread %u: %llu ns of %llu", threads[i].tid,
				 (unsigned long long)sum,
				 (unsigned long long)(threads[i].end_ns - threads[i].start_ns));
	}
}

/* A thread's times, in the order of enum thread_states_state: run wait sleep block stop unknown. */
static void did(struct story *s, uint32_t tid, const char *want)
{
	const struct thread_states_thread *threads;
	char got[256];
	size_t count, i;

	threads = thread_states_threads(s->t, &count);
	for (i = 0; i < count && threads[i].tid != tid; i++)
		;
	if (i == count)
		fail_msg("thread %u is unknown", tid);
	snprintf(got, sizeof(got), "%llu %llu %llu %llu %llu %llu",
		 (unsigned long long)s->ns[i][THREAD_STATES_RUN],
		 (unsigned long long)s->ns[i][THREAD_STATES_WAIT],
		 (unsigned long long)s->ns[i][THREAD_STATES_SLEEP],
		 (unsigned long long)s->ns[i][THREAD_STATES_BLOCK],
		 (unsigned long long)s->ns[i][THREAD_STATES_STOP],
		 (unsigned long long)s->ns[i][THREAD_STATES_UNKNOWN]);
	if (strcmp(got, want))
		fail_msg("thread %u: '%s', not '%s'", tid, got, want);
}

static void thread_runs_sleeps_wakes_and_waits(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	switches(&s, 110, 0, 7, SCHED_EVENT_SLEEP, 0);
	happens(&s, 130, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 135, 0, 0, 0, 7);
	switches(&s, 145, 0, 7, SCHED_EVENT_DISK, 0);
	happens(&s, 165, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 166, 0, 0, 0, 7);
	switches(&s, 170, 0, 7, SCHED_EVENT_STOPPED, 0);
	switches(&s, 200, 0, 0, 0, 9);
	end(&s);
	did(&s, 7, "24 6 20 20 30 0");
	assert_int_equal(s.complete[0][THREAD_STATES_WAIT], 2);
	assert_int_equal(s.wake[0], 5);
	assert_int_equal(thread_states_gaps(s.t), 0);
	thread_states_free(s.t);
}

static void preempted_thread_waits_for_a_cpu(void **state)
{
	static const uint16_t states[] = { SCHED_EVENT_RUNNABLE, SCHED_EVENT_PREEMPTED,
					   SCHED_EVENT_PREEMPTED | SCHED_EVENT_SLEEP };
	struct story s;

	for (size_t i = 0; i < 3; i++) {
		open_story(&s, 100, 200, false);
		switches(&s, 100, 0, 0, 0, 7);
		switches(&s, 150, 0, 7, states[i], 8);
		switches(&s, 170, 0, 8, SCHED_EVENT_SLEEP, 7);
		switches(&s, 200, 0, 7, SCHED_EVENT_SLEEP, 0);
		end(&s);
		did(&s, 7, "80 20 0 0 0 0");
		thread_states_free(s.t);
	}
}

static void recording_starts_in_the_middle_of_each_state(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 1, 0, 0, 5); /* 5 came without a wakeup: it was runnable */
	switches(&s, 120, 0, 7, SCHED_EVENT_SLEEP, 0); /* 7 ran all the time */
	happens(&s, 130, SCHED_EVENT_WAKEUP, 9);       /* 9 slept */
	switches(&s, 140, 0, 0, 0, 9);
	switches(&s, 200, 0, 9, SCHED_EVENT_SLEEP, 6); /* 6 waited since the beginning */
	end(&s);
	did(&s, 5, "100 0 0 0 0 0");
	did(&s, 7, "20 0 80 0 0 0");
	did(&s, 9, "60 10 30 0 0 0");
	did(&s, 6, "0 100 0 0 0 0");
	/* None of these is a latency: the beginning was not seen. */
	assert_int_equal(s.complete[3][THREAD_STATES_WAIT], 0);
	thread_states_free(s.t);
}

static void woken_before_the_first_switch_is_runnable(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	happens(&s, 90, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 100, 0, 0, 0, 8);
	switches(&s, 160, 0, 8, SCHED_EVENT_SLEEP, 7);
	switches(&s, 200, 0, 7, SCHED_EVENT_SLEEP, 0);
	end(&s);
	did(&s, 7, "40 60 0 0 0 0");
	thread_states_free(s.t);
}

static void migrated_thread_stays_what_it_is(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	switches(&s, 110, 0, 7, SCHED_EVENT_PREEMPTED, 8);
	happens(&s, 115, SCHED_EVENT_MIGRATE, 7);
	switches(&s, 130, 1, 0, 0, 7);
	switches(&s, 180, 1, 7, SCHED_EVENT_SLEEP, 0);
	switches(&s, 200, 0, 8, SCHED_EVENT_SLEEP, 0);
	end(&s);
	did(&s, 7, "60 20 20 0 0 0");
	did(&s, 8, "90 10 0 0 0 0"); /* never woken: it waited from the start */
	assert_int_equal(thread_states_gaps(s.t), 0);
	thread_states_free(s.t);
}

static void forked_thread_lives_from_its_first_wakeup_to_its_end(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	happens(&s, 110, SCHED_EVENT_FORK, 20);
	happens(&s, 112, SCHED_EVENT_WAKEUP_NEW, 20);
	switches(&s, 120, 0, 7, SCHED_EVENT_SLEEP, 20);
	happens(&s, 130, SCHED_EVENT_EXIT, 20);
	happens(&s, 131, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 132, 0, 20, SCHED_EVENT_ZOMBIE, 7);
	/* The id is used again at once. */
	happens(&s, 140, SCHED_EVENT_FORK, 20);
	happens(&s, 141, SCHED_EVENT_WAKEUP_NEW, 20);
	switches(&s, 200, 0, 7, SCHED_EVENT_SLEEP, 20);
	end(&s);
	did(&s, 20, "12 8 0 0 0 0");
	assert_int_equal(s.ns[2][THREAD_STATES_WAIT], 59);
	did(&s, 7, "88 1 11 0 0 0");
	thread_states_free(s.t);
}

static void thread_that_never_ran_slept(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	assert_int_equal(thread_states_know(s.t, 33, 33, 1, 0), 0);
	switches(&s, 100, 0, 0, 0, 7);
	happens(&s, 150, SCHED_EVENT_FORK, 34); /* made, and not started any more */
	end(&s);
	did(&s, 33, "0 0 100 0 0 0");
	did(&s, 34, "0 0 0 0 0 0");
	thread_states_free(s.t);
}

/* The thread that execs runs again on another CPU before its leader, which woke it, has left. */
static void exec_meanwhile(bool comes_late)
{
	struct sched_event waits = { .time_ns = 200,
				     .kind = SCHED_EVENT_SWITCH,
				     .cpu = 1,
				     .pid = 7,
				     .tid = 8,
				     .state = SCHED_EVENT_SLEEP,
				     .comm = SCHED_EVENT_NONE,
				     .next_comm = SCHED_EVENT_NONE };
	struct sched_event leaves = { .time_ns = 320,
				      .kind = SCHED_EVENT_SWITCH,
				      .pid = 7,
				      .tid = 8,
				      .state = SCHED_EVENT_DEAD,
				      .comm = SCHED_EVENT_NONE,
				      .next_comm = SCHED_EVENT_NONE };
	const struct thread_states_thread *threads;
	struct story s;
	size_t count;

	open_story(&s, 0, 1000, false);
	assert_int_equal(thread_states_know(s.t, 7, 7, 1, 0), 0);
	assert_int_equal(thread_states_know(s.t, 7, 8, 1, 0), 0);
	switches(&s, 0, 0, 0, 0, 7);
	switches(&s, 0, 1, 0, 0, 8);
	add(&s, &waits);
	happens(&s, 300, SCHED_EVENT_WAKEUP, 8);
	if (!comes_late)
		switches(&s, 320, 1, 0, 0, 8);
	add(&s, &leaves); /* the leader, which is called 8 now */
	if (comes_late)
		switches(&s, 320, 1, 0, 0, 8);
	switches(&s, 500, 1, 7, SCHED_EVENT_SLEEP, 0);
	happens(&s, 900, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 910, 1, 0, 0, 7);
	switches(&s, 1000, 1, 7, SCHED_EVENT_DEAD, 0);
	end(&s);
	assert_int_equal(thread_states_gaps(s.t), 0);
	threads = thread_states_threads(s.t, &count);
	assert_int_equal(count, 2);
	assert_true(threads[0].tid == 7 && threads[0].ended);
	assert_true(threads[1].tid == 7 && threads[1].ended);
	assert_int_equal(s.ns[0][THREAD_STATES_RUN], 320);
	assert_int_equal(s.ns[1][THREAD_STATES_RUN], 200 + 180 + 90);
	assert_int_equal(s.ns[1][THREAD_STATES_SLEEP], 100 + 400);
	thread_states_free(s.t);
}

static void leader_may_leave_under_the_id_of_the_thread_that_execs(void **state)
{
	exec_meanwhile(false);
	exec_meanwhile(true);
}

static void thread_that_execs_takes_over_the_leaders_id(void **state)
{
	struct story s;
	struct sched_event out = { .time_ns = 150,
				   .kind = SCHED_EVENT_SWITCH,
				   .pid = 10,
				   .tid = 12,
				   .state = SCHED_EVENT_DISK,
				   .comm = SCHED_EVENT_NONE,
				   .next_comm = SCHED_EVENT_NONE };

	open_story(&s, 100, 200, false);
	assert_int_equal(thread_states_know(s.t, 10, 12, 1, 0), 0);
	switches(&s, 100, 0, 10, SCHED_EVENT_SLEEP, 12);
	add(&s, &out); /* waits for the others to end */
	happens(&s, 155, SCHED_EVENT_WAKEUP, 10);
	switches(&s, 155, 0, 0, 0, 10);
	switches(&s, 160, 0, 10, SCHED_EVENT_ZOMBIE, 0);
	happens(&s, 160, SCHED_EVENT_WAKEUP, 12);
	switches(&s, 165, 0, 0, 0, 12); /* comes as 12, and is 10 when it leaves */
	switches(&s, 190, 0, 10, SCHED_EVENT_SLEEP, 0);
	happens(&s, 200, SCHED_EVENT_WAKEUP, 10);
	end(&s);
	assert_int_equal(thread_states_gaps(s.t), 0);
	assert_int_equal(s.ns[0][THREAD_STATES_RUN], 75); /* the thread that was 12 */
	assert_int_equal(s.ns[0][THREAD_STATES_WAIT], 5);
	assert_int_equal(s.ns[0][THREAD_STATES_BLOCK], 10);
	assert_int_equal(s.ns[0][THREAD_STATES_SLEEP], 10);
	thread_states_free(s.t);
}

static void what_lost_events_leave_open_is_unknown(void **state)
{
	struct story s;

	open_story(&s, 100, 200, true);
	switches(&s, 100, 0, 0, 0, 7);
	/* 7 left and 8 came, unseen. */
	switches(&s, 150, 0, 8, SCHED_EVENT_SLEEP, 0);
	happens(&s, 160, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 170, 0, 0, 0, 7);
	switches(&s, 180, 0, 7, SCHED_EVENT_SLEEP, 0);
	/* It comes without a wakeup, because that was lost. */
	switches(&s, 195, 0, 0, 0, 7);
	switches(&s, 200, 0, 7, SCHED_EVENT_SLEEP, 0);
	end(&s);
	did(&s, 7, "15 10 0 0 0 75");
	did(&s, 8, "0 0 50 0 0 50");
	assert_true(thread_states_gaps(s.t) >= 3);
	thread_states_free(s.t);
}

static void one_thread_on_two_cpus_is_a_contradiction(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	switches(&s, 150, 1, 0, 0, 7);
	switches(&s, 200, 1, 7, SCHED_EVENT_SLEEP, 0);
	end(&s);
	did(&s, 7, "50 0 0 0 0 50");
	assert_int_equal(thread_states_gaps(s.t), 1);
	thread_states_free(s.t);
}

static void signal_before_sleep_needs_no_wakeup(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	switches(&s, 150, 0, 7, SCHED_EVENT_SLEEP, 8);
	switches(&s, 160, 0, 8, SCHED_EVENT_SLEEP, 7);
	switches(&s, 200, 0, 7, SCHED_EVENT_SLEEP, 0);
	end(&s);
	did(&s, 7, "90 0 10 0 0 0");
	thread_states_free(s.t);
}

static void wakeup_of_a_running_thread_changes_nothing(void **state)
{
	struct story s;

	open_story(&s, 100, 200, false);
	switches(&s, 100, 0, 0, 0, 7);
	happens(&s, 120, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 150, 0, 7, SCHED_EVENT_PREEMPTED, 8);
	happens(&s, 160, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 200, 0, 8, SCHED_EVENT_SLEEP, 7);
	end(&s);
	did(&s, 7, "50 50 0 0 0 0");
	thread_states_free(s.t);
}

static void reused_id_without_an_end_is_unknown_until_then(void **state)
{
	struct story s;

	open_story(&s, 100, 200, true);
	switches(&s, 100, 0, 0, 0, 7);
	switches(&s, 120, 0, 7, SCHED_EVENT_SLEEP, 0);
	happens(&s, 150, SCHED_EVENT_FORK, 7);
	happens(&s, 151, SCHED_EVENT_WAKEUP_NEW, 7);
	end(&s);
	did(&s, 7, "20 0 0 0 0 30");
	assert_int_equal(s.ns[1][THREAD_STATES_WAIT], 49);
	thread_states_free(s.t);
}

/* With any events, lives are covered without holes, and nothing crashes. */
static void any_order_of_events_adds_up(void **state)
{
	static const uint16_t states[] = { 0, 1, 2, 4, 0x10, 0x20, 0x40, 0x80, 0x100 };
	unsigned seed = 1;

	for (unsigned round = 0; round < 300; round++) {
		struct story s;
		uint64_t time_ns = 1000;

		open_story(&s, 1000, 3000, round % 2);
		for (unsigned i = 0; i < 60 && time_ns < 3000; i++) {
			unsigned r = (seed = seed * 1103515245 + 12345) >> 8;
			/* Now and then about where ids are that no Linux gives. */
			uint32_t above = round % 50 ? 0 : (1u << 22) - 3;
			uint32_t tid = r % 5, other = r / 5 % 5;

			tid += tid ? above : 0;
			other += other ? above : 0;

			time_ns += r / 100 % 40;
			if (time_ns > 3000)
				break;
			if (r / 25 % 2)
				switches(&s, time_ns, r / 50 % 2, tid, states[r / 1000 % 9], other);
			else
				happens(&s, time_ns, 1 + r / 50 % 5, tid);
		}
		end(&s);
		thread_states_free(s.t);
	}
}

/* Threads that are not recorded have only events that touch the others: these contradict nothing. */
static void timeline_unrecorded_threads_contradict_no_other(void **state)
{
	struct story s = { 0 };
	struct thread_states_opts opts = {
		.end_ns = 1000,
		.has_strangers = true,
		.interval = on_interval,
		.ctx = &s,
	};

	(void)state;
	assert_int_equal(thread_states_new(&opts, &s.t), 0);
	assert_int_equal(thread_states_know(s.t, 7, 7, 1, 0), 0);
	/* 9 comes twice and never leaves. */
	switches(&s, 0, 0, 7, 1, 9);
	happens(&s, 100, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 200, 0, 3, 1, 7);
	switches(&s, 300, 0, 7, 1, 9);
	assert_int_equal(thread_states_gaps(s.t), 0);
	/* 7 leaves, and never came. */
	happens(&s, 400, SCHED_EVENT_WAKEUP, 7);
	switches(&s, 500, 0, 7, 1, 9);
	assert_int_equal(thread_states_gaps(s.t), 1);
	end(&s);
	thread_states_free(s.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_runs_sleeps_wakes_and_waits),
		cmocka_unit_test(preempted_thread_waits_for_a_cpu),
		cmocka_unit_test(recording_starts_in_the_middle_of_each_state),
		cmocka_unit_test(woken_before_the_first_switch_is_runnable),
		cmocka_unit_test(migrated_thread_stays_what_it_is),
		cmocka_unit_test(forked_thread_lives_from_its_first_wakeup_to_its_end),
		cmocka_unit_test(thread_that_never_ran_slept),
		cmocka_unit_test(thread_that_execs_takes_over_the_leaders_id),
		cmocka_unit_test(leader_may_leave_under_the_id_of_the_thread_that_execs),
		cmocka_unit_test(what_lost_events_leave_open_is_unknown),
		cmocka_unit_test(one_thread_on_two_cpus_is_a_contradiction),
		cmocka_unit_test(signal_before_sleep_needs_no_wakeup),
		cmocka_unit_test(wakeup_of_a_running_thread_changes_nothing),
		cmocka_unit_test(reused_id_without_an_end_is_unknown_until_then),
		cmocka_unit_test(any_order_of_events_adds_up),
		cmocka_unit_test(timeline_unrecorded_threads_contradict_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
