/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sandbox - what a process may still do while it reads files of strangers
 *
 * Captures and ELF files come from anybody.  Should one of them take over the process that reads it,
 * landlock leaves it the folders that were named, and seccomp no programs, no network, no other
 * processes, and none of the system calls that a reader of files has no use for.  For good: there is
 * no way out, and threads and what they start are inside, too.  To be entered before threads are
 * started; what is open, or was started before (a pager), stays as it is.
 *
 * Landlock is in Linux from 5.13 on, unless it is switched off; what it can restrict has grown since.
 * Where it is missing, seccomp alone is in force: nothing is executed and nothing sent, but files
 * may be written as the user may.
 */
#ifndef EBPREC_ANALYZE_CMD_SANDBOX_H
#define EBPREC_ANALYZE_CMD_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum sandbox_part { SANDBOX_LANDLOCK = 1, SANDBOX_SECCOMP = 2 };

struct sandbox_opts {
	/* Files, or folders with all that is below; what is not there is passed over. */
	const char *const *read;
	size_t read_count;
	/* Folders in which, and below which, files may be made and replaced. */
	const char *const *write;
	size_t write_count;
	bool network; /* sockets may be made */
};

/* Which parts are in force now, or-ed; 0: none. */
unsigned sandbox_enter(const struct sandbox_opts *opts);

#endif
