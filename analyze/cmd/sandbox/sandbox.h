/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sandbox - what a process may still do while it reads files of strangers
 *
 * Captures and ELF files come from any user.  Should one of them take over the process that reads
 * it, landlock leaves it the files and folders that were named, and seccomp the system calls that
 * reading files in threads takes, by a list of them: no programs, no network, no other processes,
 * no memory that becomes code.  A call that is not on the list fails with ENOSYS, as on an older
 * kernel.  For good: there is no way out, and threads are inside, too.  To be entered before
 * threads are started; what is open, or was started before (a pager), stays as it is.
 *
 * Landlock is in Linux from 5.13 on, unless it is switched off at boot; what it can restrict has grown
 * since.  Where the kernel has none, seccomp is in force alone: nothing is executed, nothing sent, and
 * no file opened for writing where there is nothing to be written; but all may be read that the user
 * may read.  A refusal, as by a container, is an error.
 */
#ifndef EBPREC_ANALYZE_CMD_SANDBOX_SANDBOX_H
#define EBPREC_ANALYZE_CMD_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

struct sandbox_opts {
	/* Files, or folders with all that is below; what is not there is passed over. */
	const char *const *read;
	size_t read_count;
	/* Folders of which, and of those below, the names of files may be read, and nothing else. */
	const char *const *list;
	size_t list_count;
	/* Folders in which, and below which, files may be made, replaced and removed, but neither read nor written to. */
	const char *const *write;
	size_t write_count;
	bool writes_there; /* files that are there may be opened for writing, where files may be made */
	bool network;      /* sockets may be made, libraries loaded; and the same */
	bool accepts;      /* connections to a socket that listens already */
	bool opens_in_roots; /* openat2() may be called */
	bool terminal;       /* the modes of terminals may be set */
};

struct sandbox_result {
	bool has_landlock;
	const char *refused; /* the part that could not be entered; static */
};

/* Negative errno: it could not be entered completely, and must not be relied on. */
int sandbox_enter(const struct sandbox_opts *opts, struct sandbox_result *out);

#endif
