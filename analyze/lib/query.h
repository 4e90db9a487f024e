/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* query - a struct ebprec_query of a caller, checked, and as the analyzer has its parts; errors have their words in the handle */
#ifndef EBPREC_ANALYZE_LIB_QUERY_H
#define EBPREC_ANALYZE_LIB_QUERY_H

#include "analyze/lib/handle.h"

/* given: NULL for all zero.  -EINVAL, -E2BIG. */
int lib_query_take(struct ebprec *e, const struct ebprec_query *given, struct ebprec_query *out);
/* filter_done() is due also after a failure.  -EINVAL, -ENOMEM. */
int lib_query_filter(struct ebprec *e, const struct ebprec_query *q, struct filter *f);
/* The number of an event; name NULL: of the one that is chosen.  -ENOENT. */
int lib_query_event(struct ebprec *e, const struct load_scan *scan, const char *name, size_t *out);
/* Borrows from q, which has to stay where it is. */
struct name_roots lib_query_roots(const struct ebprec_query *q);

#endif
