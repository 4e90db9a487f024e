/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* name_sources - the build of a function, and the proof of its name, or why it has none */
#ifndef EBPREC_ANALYZE_REPORT_KEY_NAME_SOURCES_H
#define EBPREC_ANALYZE_REPORT_KEY_NAME_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/names/function_table.h"

/* Both in the strings. */
struct name_source {
	uint32_t build_id; /* hex; "": none */
	uint32_t origin;   /* as `ebprec script -F origin` has it */
};

/* Embedded by the owner; all zero is an empty one. */
struct name_sources {
	struct name_source *list; /* by function */
	size_t count;
};

/* naming was run with_sources.  -ENOMEM, -EOVERFLOW. */
int name_sources_make(const struct function_table *naming, const struct resolver *resolver,
		      struct string_table *names, struct name_sources *out);
/* The source of a function's name; labels that were added later have none. */
static inline struct name_source name_sources_of(const struct name_sources *s, size_t function)
{
	return function < s->count ? s->list[function] : (struct name_source){ 0 };
}
void name_sources_done(struct name_sources *s);

#endif
