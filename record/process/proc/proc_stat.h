/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* proc_stat - the fields of /proc/PID/stat of a process or thread */
#ifndef EBPREC_RECORD_PROCESS_PROC_PROC_STAT_H
#define EBPREC_RECORD_PROCESS_PROC_PROC_STAT_H

#include <stdint.h>

struct proc_stat {     /* of /proc/PID/stat */
	char comm[64]; /* kernel threads may have more than 15 characters here */
	uint32_t ppid;
	uint64_t start_ticks; /* since boot */
};
/* Pure.  text is NUL-terminated.  -EBADMSG. */
int proc_stat_parse(const char *text, struct proc_stat *out);

#endif
