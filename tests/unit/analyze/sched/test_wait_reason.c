/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/wait_reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* functions: innermost first, separated by blanks. */
static const char *reason(enum call_abi abi, enum wait_kind kind, int syscall,
			  const char *functions)
{
	char copy[256], *save = NULL;
	struct wait_reasons w;

	wait_reason_begin(&w, kind);
	strcpy(copy, functions);
	for (char *f = strtok_r(copy, " ", &save); f; f = strtok_r(NULL, " ", &save))
		wait_reason_function(&w, f);
	return wait_reason_text(wait_reason_end(&w, abi, (uint16_t)(syscall + 1)));
}

static void reason_follows_from_stack_then_call_then_state(void **state)
{
	static const struct {
		enum wait_kind kind;
		int syscall; /* -1: none */
		const char *functions, *want;
	} cases[] = {
		{ WAIT_SLEEP, 202, "__schedule schedule futex_do_wait __futex_wait", "futex" },
		{ WAIT_SLEEP, 202, "", "futex" },
		{ WAIT_SLEEP, 232, "__schedule schedule ep_poll do_epoll_wait", "epoll" },
		{ WAIT_SLEEP, 7, "schedule poll_schedule_timeout.constprop.0 do_sys_poll", "poll" },
		{ WAIT_SLEEP, 270, "schedule poll_schedule_timeout do_select", "select" },
		{ WAIT_SLEEP, 230, "schedule do_nanosleep hrtimer_nanosleep", "nanosleep" },
		{ WAIT_SLEEP, 0, "schedule anon_pipe_read vfs_read ksys_read", "pipe" },
		{ WAIT_SLEEP, 0, "schedule pipe_read vfs_read ksys_read", "pipe" },
		{ WAIT_SLEEP, 0, "schedule_timeout sk_wait_data tcp_recvmsg", "socket" },
		{ WAIT_SLEEP, 0, "schedule n_tty_read tty_read", "tty" },
		{ WAIT_SLEEP, 0, "", "read" },
		{ WAIT_SLEEP, 1, "", "write" },
		{ WAIT_SLEEP, 61, "schedule do_wait kernel_wait4", "child" },
		{ WAIT_SLEEP, 0, "schedule do_wait_intr_irq timerfd_read_iter vfs_read", "timer" },
		{ WAIT_BLOCK, 1, "schedule_timeout do_wait_for_common ext4_sync_file", "file" },
		{ WAIT_SLEEP, 73, "schedule locks_lock_inode_wait __do_sys_flock", "lock" },
		{ WAIT_ON_CPU, 0, "read_tsc", "on CPU" },
		{ WAIT_BEFORE, -1, "", "since before the recording" },
		{ WAIT_BLOCK, -1, "io_schedule folio_wait_bit_common filemap_fault", "page fault" },
		{ WAIT_BLOCK, 0, "io_schedule folio_wait_bit_common filemap_read", "block I/O" },
		{ WAIT_BLOCK, 74, "io_schedule bit_wait_io jbd2_log_wait_commit", "block I/O" },
		{ WAIT_BLOCK, -1, "schedule rwsem_down_read_slowpath down_read exc_page_fault",
		  "lock" },
		{ WAIT_BLOCK, 39, "schedule", "uninterruptible" },
		{ WAIT_SLEEP, -1, "schedule worker_thread kthread ret_from_fork", "kernel thread" },
		{ WAIT_SLEEP, 39, "schedule", "other" },
		{ WAIT_STOP, 0, "schedule ptrace_stop", "stopped" },
		{ WAIT_STOP, 0, "", "stopped" },
		/* The function it was in is no reason for leaving the CPU. */
		{ WAIT_PREEMPTED, 202, "schedule futex_wait", "preempted" },
		{ WAIT_RUN_QUEUE, 202, "schedule futex_wait", "run queue" },
		/* The innermost function with a reason decides. */
		{ WAIT_BLOCK, 1, "schedule __mutex_lock ext4_file_write_iter", "lock" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = reason(CALL_ABI_X86_64, cases[i].kind, cases[i].syscall,
					 cases[i].functions);

		if (strcmp(got, cases[i].want))
			fail_msg("%d '%s': '%s', not '%s'", cases[i].syscall, cases[i].functions,
				 got, cases[i].want);
	}
	/* The same calls have other numbers elsewhere. */
	assert_string_equal(reason(CALL_ABI_AARCH64, WAIT_SLEEP, 98, ""), "futex");
	assert_string_equal(reason(CALL_ABI_AARCH64, WAIT_SLEEP, 63, ""), "read");
	assert_string_equal(reason(CALL_ABI_AARCH64, WAIT_SLEEP, 202, ""), "socket");
	assert_string_equal(reason(CALL_ABI_AARCH64, WAIT_SLEEP, 0, ""), "other");
}

static void every_reason_has_a_name_of_its_own(void **state)
{
	for (int a = 0; a < WAIT_REASON_COUNT; a++) {
		assert_non_null(wait_reason_text((enum wait_reason)a));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(wait_reason_text((enum wait_reason)a),
						wait_reason_text((enum wait_reason)b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reason_follows_from_stack_then_call_then_state),
		cmocka_unit_test(every_reason_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
