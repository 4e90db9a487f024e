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
#include "analyze/page/table/columns.h"
#include "analyze/page/counters/counters.h"
#include "analyze/page/table/texts.h"
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
	struct page_renames renames;    /* of a capture before another: the names of that one */
	const char *of;                 /* the instrument that the samples are of; NULL: none */
	const struct time_span
		*all; /* from the first sample of all parts of the page to the last */
};

/* A capture of a page: made with PAGE_SAMPLES_FIELDS, keep_samples and with_sources. */
struct page_side {
	struct report *report;
	const struct page_ask *ask;
};

#define PAGE_SIDES 2

/* The tables of a page of one capture, or of two, one behind the other on one axis.  Embedded by the owner; page_part_done(); all zero is an empty one. */
struct page_part {
	const char *of;     /* borrowed: the instrument; NULL: none */
	bool has_host;      /* its name */
	struct outbuf head; /* JSON */
	struct page_columns columns;
};

/*
 * sides: one, or the capture before and that after, which have no marks, processes and counters in the page.  -ENOMEM,
 * -EOVERFLOW; -ERANGE: the weights add up to more than numbers of JavaScript are exact to.
 */
int page_part_make(const struct page_side *sides, size_t count, struct page_part *out);
void page_part_done(struct page_part *part);
/* The first part has the samples of the capture, each of the others those of an instrument. */
struct page_parts {
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
