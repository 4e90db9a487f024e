/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* live_files - the private folder of a recording that is only shown, and what its processes cost */
#ifndef EBPREC_ANALYZE_CMD_LIVE_LIVE_FILES_H
#define EBPREC_ANALYZE_CMD_LIVE_LIVE_FILES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A new folder that only this user can read, below TMPDIR or /var/tmp; *out is owned.  It is locked as long as *lock is
 * open here or in a child.  Folders of commands that were killed, whose lock is free, are removed.  Negative errno.
 */
int live_files_make(char **out, int *lock);
/* Removes it with all files in it. */
void live_files_remove(const char *folder);
/* The CPU time that a process and all its descendants have had, and the memory that only they use. */
void live_files_cost(pid_t pid, uint64_t *cpu_ns, uint64_t *memory_bytes);

#endif
