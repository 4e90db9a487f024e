/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* opener_process - starts the process that opens programs and libraries for one in the sandbox (file_opener.h) */
#ifndef EBPREC_ANALYZE_CMD_SANDBOX_OPENER_PROCESS_H
#define EBPREC_ANALYZE_CMD_SANDBOX_OPENER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * roots: the files and folders that it may open files in; with_sources: source code, too.  Its socket, which is the caller's, and with which it ends; or
 * negative errno: it could not be started, or not enter its own sandbox.
 */
int opener_process_start(const char *const *roots, size_t root_count, bool with_sources);

#endif
