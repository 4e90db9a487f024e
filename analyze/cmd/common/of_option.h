/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* of_option - which stacks --of NAME means, and what there is where the capture has none of them */
#ifndef EBPREC_ANALYZE_CMD_COMMON_OF_OPTION_H
#define EBPREC_ANALYZE_CMD_COMMON_OF_OPTION_H

#include "analyze/metric/layout_of.h"

/* The event of the stacks.  0, or the exit status after an error was printed.  path: for messages. */
int of_option_choose(const struct capture *c, const char *path, const char *name,
		     struct layout_of *out);

#endif
