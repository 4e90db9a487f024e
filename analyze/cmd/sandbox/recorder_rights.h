/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recorder_rights - what a container leaves the recorder: its file's capabilities, the bounding set, a seccomp filter
 *
 * Two findings of `ebprec doctor`.  The analyzer looks, because the kernel may refuse to start the recorder
 * (capabilities(7), "Safety checking for capability-dumb binaries"; security/commoncap.c): of a file with the effective
 * bit each capability has to be in the bounding set.  The analyzer's own /proc/self/status holds what the recorder gets.
 */
#ifndef EBPREC_ANALYZE_CMD_SANDBOX_RECORDER_RIGHTS_H
#define EBPREC_ANALYZE_CMD_SANDBOX_RECORDER_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/contract/capability_sets.h"
#include "format/contract/finding.h"

/* The parts of a process that decide the rights of a program that it executes. */
struct process_rights {
	uint64_t bounding, ambient; /* a bit for each capability */
	bool is_root;               /* by its effective user */
	bool no_new_privs;
	bool filtered; /* by seccomp */
};

/* How a system call ended that the kernel itself refuses for its arguments. */
enum call_trial { CALL_ALLOWED, CALL_REFUSED, CALL_KILLED };

/* The text of /proc/PID/status.  -EBADMSG: a field is missing or is no number. */
int process_rights_parse(const char *status, struct process_rights *out);
/* Whether the recorder, the file at `path`, gets the capabilities of a recording, and what to change. */
void recorder_rights_report(const struct process_rights *p, const struct file_rights *file,
			    const char *path, struct finding *out);
/* Whether the runtime's filter lets the recorder's system calls through. */
void recorder_filter_report(const struct process_rights *p, enum call_trial bpf,
			    enum call_trial perf, struct finding *out);

#define RECORDER_RIGHTS_FINDINGS 2

/* Both of this process and of the recorder at `path`. */
void recorder_rights_look(const char *path, struct finding out[RECORDER_RIGHTS_FINDINGS]);

#endif
