/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * document - the page of `ebprec report --html` and `ebprec diff --html`: one file with its data and its viewer
 *
 * docs/PAGE.md is the specification.  The same report gives the same bytes.
 */
#ifndef EBPREC_ANALYZE_PAGE_DOCUMENT_H
#define EBPREC_ANALYZE_PAGE_DOCUMENT_H

#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "analyze/page/columns.h"
#include "analyze/page/counters.h"
#include "analyze/report/profile/calltree.h"
#include "analyze/report/report.h"
#include "format/base/outbuf.h"
#include "format/reader/capture.h"

struct page_ask {
	const char *path;                /* of the capture, as the user named it */
	const struct capture_attr *attr; /* the event */
	enum calltree_weight weight;
	const char *weight_name;    /* "samples", "period", "time_ns", or an instrument's unit */
	const char *quality;        /* lines: how far its numbers can be trusted */
	const char *const *options; /* words of a command line: how the samples were chosen */
	size_t option_count;
	const struct report_query *waits; /* how they are read; NULL: they are left out */
	const struct filter *filter;
	bool marks;                     /* have those that the filter takes */
	bool processes;                 /* have a table of them */
	struct page_counters *counters; /* that it has; NULL: none */
	const char *view;               /* the state that is shown first; NULL: none */
	const char *const
		*renames; /* of a capture before another: pairs of a name and what it is later */
	size_t rename_count;
	const char *of; /* the instrument that the samples are of; NULL: none */
	const struct time_span
		*all; /* from the first sample of all parts of the page to the last */
};

/* The tables of a page of one capture.  Embedded by the owner; page_part_done(); all zero is an empty one. */
struct page_part {
	struct outbuf head; /* JSON */
	struct page_columns columns;
};

/*
 * r: made with PAGE_SAMPLES_FIELDS, keep_samples and with_sources.  -ENOMEM, -EOVERFLOW: too many threads for
 * so long a time; -ERANGE: the weights add up to more than numbers of JavaScript are exact to.
 */
int page_part_make(struct report *r, const struct page_ask *ask, struct page_part *out);
void page_part_done(struct page_part *part);
/* The first part has the samples of the capture, each of the others those of an instrument. */
struct page_parts {
	const struct page_part
		*before; /* of the capture that it is compared with; NULL: with none */
	const struct page_part *list;
	size_t count; /* at least 1 */
};

/*
 * Appends the page to *out, of the caller.  summary: the text where scripts do not run.  capture: that the page
 * carries; NULL: none.  -ENOMEM; -EIO: the capture became shorter.
 */
int page_document_write(const char *title, const char *summary, const struct page_parts *parts,
			const struct capture *capture, struct outbuf *out);

#endif
