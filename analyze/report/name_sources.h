/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* namesources - which build a function is of, and what says that its name is right, or why it has none */
#ifndef EBPREC_ANALYZE_REPORT_NAME_SOURCES_H
#define EBPREC_ANALYZE_REPORT_NAME_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/names/function_table.h"

/* Both in the strings. */
struct namesource {
	uint32_t build_id; /* hex; "": none */
	uint32_t origin;   /* as `ebprec script -F origin` has it */
};

/* Embedded by the owner; all zero is an empty one. */
struct namesources {
	struct namesource *list; /* by function */
	size_t count;
};

/* naming was run with_sources.  -ENOMEM, -EOVERFLOW. */
int namesources_make(const struct naming *naming, const struct resolver *resolver,
		     struct strings *names, struct namesources *out);
/* Of a function; labels that were added to naming later have neither. */
static inline struct namesource namesources_of(const struct namesources *s, size_t function)
{
	return function < s->count ? s->list[function] : (struct namesource){ 0 };
}
void namesources_done(struct namesources *s);

#endif
