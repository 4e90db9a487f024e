/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* opts - what `ebprec record` was asked to do */
#ifndef EBPREC_RECORD_CLI_H
#define EBPREC_RECORD_CLI_H

#include <stdio.h>

#include "format/base/options.h"
#include "record/base/config.h"

enum opts_result { OPTS_RUN, OPTS_HELP, OPTS_VERSION, OPTS_LIST, OPTS_DOCTOR, OPTS_WRONG };

/*
 * Parses the command line; *out is complete with OPTS_RUN.  OPTS_WRONG: error->text says why.
 * max_freq_hz: what `-F max` means and what -F may not exceed; 0: not known.
 */
enum opts_result opts_parse(int argc, char **argv, unsigned max_freq_hz, struct record_opts *out,
			    struct option_error *error);
void opts_print_help(FILE *to);
void opts_print_lines(FILE *to); /* the options alone, for programs */

#endif
