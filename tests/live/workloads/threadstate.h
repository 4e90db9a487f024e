/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* threadstate - the state of a thread of this process in /proc: 'S' (it waits), 'D', 'R' ... */
#ifndef EBPREC_TESTS_LIVE_THREADSTATE_H
#define EBPREC_TESTS_LIVE_THREADSTATE_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* '?': there is no such thread. */
static inline char threadstate_of(pid_t tid)
{
	char path[64], line[256] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	at = strrchr(line, ')');
	return at && at[1] ? at[2] : '?';
}

#endif
