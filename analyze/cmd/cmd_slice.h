/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_slice - copying a capture, for the commands that do */
#ifndef EBPREC_ANALYZE_CMD_CMD_SLICE_H
#define EBPREC_ANALYZE_CMD_CMD_SLICE_H

#include <stdbool.h>

#include "analyze/cmd/common/usage.h"

/* The entire capture as uncompressed perf.data.  The exit status. */
int cmd_slice_raw(const struct usage *u, const char *input, const char *output, bool quiet);

#endif
