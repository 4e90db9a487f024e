/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* marks - the tables of marks and spans of a page */
#ifndef EBPREC_ANALYZE_PAGE_MARKS_H
#define EBPREC_ANALYZE_PAGE_MARKS_H

#include "analyze/page/table/columns.h"
#include "analyze/page/table/texts.h"
#include "analyze/report/mark_views.h"

struct page_mark {
	uint32_t comm, group, name, text; /* texts */
};

/* Embedded by the owner; page_marks_done(); all zero is none. */
struct page_marks {
	struct mark_views views;
	struct page_mark *texts; /* by mark */
	bool any;
};

/* The marks of c that pass the filter.  -ENOMEM, -EOVERFLOW. */
int page_marks_make(const struct capture *c, struct string_table *names,
		    const struct filter *filter, struct page_texts *texts, struct page_marks *out);
void page_marks_done(struct page_marks *m);
/* The tables "marks" and "spans"; texts have their numbers by then.  -ENOMEM. */
int page_marks_write(const struct page_marks *m, uint64_t base_us, const struct page_texts *texts,
		     struct page_columns *p);

#endif
