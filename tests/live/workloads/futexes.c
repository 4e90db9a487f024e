/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* futexes - waits at a futex in known numbers; prints "PID ADDRESS WAITS TIMEOUTS NOT_WAITED" */
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 43, LATE = 19 };

static void wait_for(uint32_t *futex, uint32_t value, long ns)
{
	struct timespec most = { .tv_nsec = ns };

	syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
}

static void wait_long(uint32_t *futex)
{
	wait_for(futex, 0, 150000000);
}

int main(void)
{
	const struct timespec nap = { .tv_nsec = 400000000 };
	uint32_t futex = 0;
	int i;

	for (i = 0; i < SHORT; i++)
		wait_for(&futex, 0, 100000);
	for (i = 0; i < LATE; i++)
		wait_for(&futex, 1, 100000); /* the value is another: it returns at once */
	nanosleep(&nap, NULL);               /* our code is known by then */
	wait_long(&futex);
	printf("%d 0x%lx %d %d %d\n", (int)getpid(), (unsigned long)(uintptr_t)&futex, SHORT + 1,
	       SHORT + 1, LATE);
	return 0;
}
