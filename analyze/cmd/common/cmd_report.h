/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_report - what the two halves of the command share */
#ifndef EBPREC_ANALYZE_CMD_COMMON_CMD_REPORT_H
#define EBPREC_ANALYZE_CMD_COMMON_CMD_REPORT_H

#include "analyze/report/report.h"

/* Says so on stderr when the periods of the report are not those of the file. */
void cmd_report_periods(const struct report *r, const char *path);
/* Says on stderr how far the report can be trusted: the same, too. */
void cmd_report_verdict(const struct report *r, const char *path);

#endif
