/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * common_options - what all commands that show something have in common: a pager, colour, drawing,
 * and, with all that read captures, the sandbox
 *
 * These options stand anywhere on the command line (before or behind the command, before "--"),
 * are taken out of it before the command reads it, and are listed below each command's own.  Their
 * values reach the commands by the environment (EBPREC_COLOR, EBPREC_UTF8, EBPREC_PAGER_IN_USE,
 * EBPREC_SANDBOX, EBPREC_UNPACK_LIMIT), so that no command hands it down and a script can set it
 * once.
 *
 * The pager is a process: common_options_begin() must come before threads and before rights are given up.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_COMMON_OPTIONS_H
#define EBPREC_ANALYZE_CMD_COMMON_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/text/options.h"

struct common_options {
	bool pager;
	const char *color; /* "auto", "always", "never" */
	bool utf8, utf8_given;
	bool sandbox;
	uint64_t unpack_limit; /* bytes; 0: not given */
	pid_t pager_pid;       /* 0: none */
};

/* The table, for help texts; of a command that shows nothing it is only what concerns reading. */
const struct option *common_options_table(bool shows);

/*
 * Takes the options of the table out of argv, which keeps its NULL at the end.  -EINVAL with *error
 * filled.
 */
int common_options_take(int *argc, char **argv, bool shows, struct common_options *out,
			struct option_error *error);

/*
 * Sets the environment; when paged and standard output is a terminal, starts the pager and puts it
 * in the place of standard output, and of standard error if that is a terminal, too.  The pager is
 * $EBPREC_PAGER, else $PAGER, else less; an empty one or "cat" is none.  A pager that cannot be
 * started is none.
 */
void common_options_begin(struct common_options *h, bool paged);
/* Waits until the reader has left the pager; nothing can be printed after it. */
void common_options_end(struct common_options *h);

#endif
