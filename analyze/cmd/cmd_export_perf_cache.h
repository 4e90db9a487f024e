/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_export_perf_cache - the names of a capture's interpreted code, where perf looks for names */
#ifndef EBPREC_ANALYZE_CMD_CMD_EXPORT_PERF_CACHE_H
#define EBPREC_ANALYZE_CMD_CMD_EXPORT_PERF_CACHE_H

#include <stdbool.h>

/* Writes them into a folder that perf takes as its cache of files by build-id.  The exit status. */
int cmd_export_perf_cache(const char *input, const char *dir, bool quiet);

#endif
