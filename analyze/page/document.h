/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * document - the page of `ebprec report --html`: one file with its data and its viewer
 *
 * docs/PAGE.md is the specification.  The same report gives the same bytes.
 */
#ifndef EBPREC_ANALYZE_PAGE_DOCUMENT_H
#define EBPREC_ANALYZE_PAGE_DOCUMENT_H

#include <stdint.h>

#include "analyze/report/profile/calltree.h"
#include "analyze/report/report.h"
#include "format/base/outbuf.h"
#include "format/reader/capture.h"

struct page_ask {
	const char *path;                /* of the capture, as the user named it */
	const struct capture_attr *attr; /* the event */
	enum calltree_weight weight;
	const char *weight_name;    /* "samples", "period", "time_ns", or an instrument's unit */
	const char *summary;        /* the text of a page whose script does not run */
	const char *verdict;        /* lines: how far its numbers can be trusted */
	const char *const *options; /* words of a command line: how the samples were chosen */
	size_t option_count;
	const struct report_query *waits; /* how they are read; NULL: they are left out */
	const struct filter *filter;      /* of marks */
	const char *view;                 /* the state that is shown first; NULL: none */
};

/*
 * r: made with PAGE_SAMPLES_FIELDS and PAGE_SAMPLES_QUANTUM_NS, with_sources.  Appends the page to *out, of the
 * caller.  -ENOMEM, -EOVERFLOW: too many threads for so long a time; -ERANGE: the weights add up to more than
 * numbers of JavaScript are exact to.
 */
int page_document_make(struct report *r, const struct page_ask *ask, struct outbuf *out);

#endif
