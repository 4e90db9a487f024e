/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* print_quality - how far the stacks of a report can be trusted, on stderr */
#ifndef EBPREC_ANALYZE_CMD_COMMON_PRINT_QUALITY_H
#define EBPREC_ANALYZE_CMD_COMMON_PRINT_QUALITY_H

#include "analyze/report/report.h"

/* A warning when the periods of the report are not those of the file; else nothing. */
void print_quality_periods(const struct report *r, const char *path);
/* Losses, damage and the warning, which change the numbers: also with --quiet. */
void print_quality_losses(const struct report *r, const char *path);
/* How many stacks are complete, what broke the others, and all of that. */
void print_quality(const struct report *r, const char *path);

#endif
