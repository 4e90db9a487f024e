/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* stays - a process that goes where a test wants it, and stays there until it is ended */
#ifndef EBPREC_TESTS_STAYS_H
#define EBPREC_TESTS_STAYS_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static inline void stays_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* settle(arg) runs in the new process.  0: it could not, as without root; nothing is left of it. */
static inline pid_t stays_in(bool (*settle)(int arg), int arg)
{
	int ready[2];
	char may = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		may = settle(arg);
		(void)!write(ready[1], &may, 1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &may, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (may)
		return pid;
	stays_end(pid);
	return 0;
}

#endif
