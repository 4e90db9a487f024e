/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sandbox_policy - puts a command that reads captures into the sandbox that its options allow
 *
 * It may read what the user named, the system's libraries, and the sources of names of the kernel
 * and of containers; programs and libraries are opened for it, as ELF files alone, by a process
 * that is started here (file_opener.h), below --symfs or wherever they are; where --annotate asks
 * for source code, files that bear a name of such, too.  It may write in the folder of its output
 * alone, and reach the network only when a debuginfod server was named, or sending is what it does.  A command is confined when
 * its options are known (usage_parse()), before it opens anything; a pager runs by then.  A refusal
 * ends the command: no user shall believe in a sandbox that is not there.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_SANDBOX_POLICY_H
#define EBPREC_ANALYZE_CMD_COMMON_SANDBOX_POLICY_H

#include "analyze/cmd/common/usage.h"

#define SANDBOX_POLICY_VARIABLE "EBPREC_SANDBOX" /* "0": no sandbox; --no-sandbox sets it */

/*
 * opts: the parsed options; words: those that are no options, with a NULL at their end.  false: it
 * could not be entered, and the error was printed.
 */
bool confine(const struct usage *u, void *opts, char *const *words);

#endif
