/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording/realtime.h"
#include "record/events/perf_ring.h"
#include "record/events/sideband.h"

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* The kernel lets us, by a right or a limit that is there already. */
static bool could(void)
{
	const struct sched_param lowest = { .sched_priority = 1 }, none = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_RR, &lowest) &&
	       !sched_setscheduler(0, SCHED_OTHER, &none);
}

/* 0, or which step went wrong. */
static int steps(void)
{
	struct realtime h = { 0 };
	int nice, status;
	pid_t pid;
	bool may;

	may = could();
	realtime_init(&h);
	if (may && !h.allowed)
		return 5;
	nice = getpriority(PRIO_PROCESS, 0);
	may = h.allowed;
	realtime_set(&h, false);
	if (policy() != SCHED_OTHER || h.count)
		return 1;
	realtime_set(&h, true);
	realtime_set(&h, true);
	may &= h.allowed; /* a cgroup may have no time for real-time threads */
	if (policy() != (may ? SCHED_RR : SCHED_OTHER) || h.count != may || h.now != may)
		return 2;
	pid = fork();
	if (!pid)
		_exit(policy() != SCHED_OTHER); /* not what it starts */
	if (waitpid(pid, &status, 0) != pid || status)
		return 3;
	realtime_set(&h, false);
	if (policy() != SCHED_OTHER || h.now || getpriority(PRIO_PROCESS, 0) != nice)
		return 4;
	return 0;
}

static int in_a_child(bool without_rights)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (without_rights && !geteuid() && (setgid(65534) || setuid(65534)))
			_exit(77);
		_exit(steps());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void hurries_where_it_may_and_is_as_before_afterwards(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(false), 0);
}

static void without_the_right_to_real_time_priority_recording_goes_on(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(true), 0);
}

static void real_time_priority_is_due_when_a_ring_fills_fast(void **state)
{
	static const struct {
		struct realtime_fill fill;
		bool due;
	} cases[] = {
		{ { 0, 2 << 20, 0, 2 << 20 }, false },
		{ { (2 << 20) - 8, 2 << 20, (256 << 10) - 8, 2 << 20 }, false },
		{ { 2 << 20, 2 << 20, 0, 2 << 20 }, true },
		{ { 8 << 20, 2 << 20, 0, 2 << 20 }, true },
		{ { 0, 2 << 20, 256 << 10, 2 << 20 }, true },
		{ { 0, 2 << 20, (2 << 20) - 8, 2 << 20 }, true }, /* nearly full */
		{ { 0, 2 << 20, 8 << 10, 64 << 10 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (realtime_is_due(&cases[i].fill) != cases[i].due)
			fail_msg("%zu: %s", i, cases[i].due ? "no priority" : "a priority");
	}
}

static bool side_is_due(const struct sideband *s)
{
	const struct realtime_fill f = { .wake_bytes = 1,
					 .side_bytes = sideband_fill_bytes(s),
					 .side_ring_bytes = sideband_ring_bytes(s) };

	return realtime_is_due(&f);
}

/* Real rings, of this process alone, which maps and unmaps a page of code. */
static void a_side_band_ring_that_fills_asks_for_real_time_priority(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct sideband_opts o = { .scope = { &self, 1 }, .ring_bytes = PERF_RING_MIN_BYTES };
	struct sideband *s = NULL;
	struct event_attrs attrs = { 0 };
	struct notes notes = { 0 };
	struct cpuset_list cpus;
	void *page;
	int i;

	(void)state;
	if (access(CPUSET_LIST_DIR, F_OK))
		skip(); /* a bare chroot has no /sys */
	assert_int_equal(cpuset_list_read(CPUSET_LIST_DIR, "online", &cpus), 0);
	o.cpus = &cpus;
	if (sideband_open(&o, &attrs, &notes, &s))
		print_message("# no rings here: %s\n", notes.failure);
	for (i = 0; s && i < 1000000 && !side_is_due(s); i++) {
		page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(page, MAP_FAILED);
		munmap(page, 4096);
	}
	if (s) {
		assert_true(i > 10);
		assert_in_range(sideband_fill_bytes(s), PERF_RING_MIN_BYTES / 8,
				PERF_RING_MIN_BYTES / 4);
		assert_int_equal(sideband_drain(s), 0);
		assert_false(side_is_due(s));
	}
	sideband_close(s);
	event_attrs_done(&attrs);
	notes_done(&notes);
	cpuset_list_done(&cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hurries_where_it_may_and_is_as_before_afterwards),
		cmocka_unit_test(without_the_right_to_real_time_priority_recording_goes_on),
		cmocka_unit_test(real_time_priority_is_due_when_a_ring_fills_fast),
		cmocka_unit_test(a_side_band_ring_that_fills_asks_for_real_time_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
