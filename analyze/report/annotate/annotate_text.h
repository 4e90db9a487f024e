/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* annotate_text - annotated functions as text and as JSON */
#ifndef EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_TEXT_H
#define EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/base/string_table.h"
#include "analyze/out/terminal.h"
#include "analyze/report/annotate/annotate.h"

struct annotate_style {
	struct terminal look;
	const char *weight, *head;
	double min_percent; /* functions below are left out */
	bool json;
	bool with_code;
};

/* The function with most cost comes first.  -ENOMEM; -ENOENT: no stack has any of the functions. */
int annotate_write(const struct annotate *a, const struct string_table *names,
		   const struct annotate_style *style, FILE *to);

#endif
