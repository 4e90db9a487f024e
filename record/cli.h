/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cli - what `ebprec record` was asked to do */
#ifndef EBPREC_RECORD_CLI_H
#define EBPREC_RECORD_CLI_H

#include <stdio.h>

#include "format/text/options.h"
#include "record/base/config.h"

enum cli_result { CLI_RUN, CLI_HELP, CLI_VERSION, CLI_LIST, CLI_DOCTOR, CLI_WRONG };

/*
 * Parses the command line; *out is complete with CLI_RUN.  CLI_WRONG: error->text has the reason.
 * max_freq_hz: what `-F max` means and what -F may not exceed; 0: not known.
 */
enum cli_result cli_parse(int argc, char **argv, unsigned max_freq_hz, struct record_opts *out,
			  struct option_error *error);
void cli_print_help(FILE *to);
void cli_print_lines(FILE *to); /* the options alone, for programs */

#endif
