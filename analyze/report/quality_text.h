/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* quality_text - how far a report can be trusted, and what would help, in lines for people */
#ifndef EBPREC_ANALYZE_REPORT_QUALITY_TEXT_H
#define EBPREC_ANALYZE_REPORT_QUALITY_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/report/report.h"

/* Behind report_end_quality().  path: the capture, as the user named it. */
void quality_text_write(const struct report *r, const char *path, FILE *to);
/* The part about losses, damage and times that are not known; needs no stack quality. */
void quality_text_write_losses(const struct report *r, const char *path, FILE *to);
/* One line when the periods of the report are not those of the file; else none. */
void quality_text_write_periods(const struct report *r, const char *path, FILE *to);
/* Whether the capture ends, and not as it should, before the first events. */
bool quality_text_ends_early(const struct capture *c);

#endif
