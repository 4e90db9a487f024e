/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* viewer - what is the same in every page: analyze/web/, joined and hashed by the build (viewer.S) */
#ifndef EBPREC_ANALYZE_PAGE_VIEWER_H
#define EBPREC_ANALYZE_PAGE_VIEWER_H

#include <stddef.h>

struct page_viewer_part {
	const char *text; /* without a NUL */
	size_t bytes;
};

/* From the doctype up to where the title belongs, with the policy and the styles. */
struct page_viewer_part page_viewer_head(void);
/* The script, and what closes the page. */
struct page_viewer_part page_viewer_tail(void);

#endif
