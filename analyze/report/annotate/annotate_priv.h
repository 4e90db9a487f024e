/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* annotate_priv - what the files of annotate share */
#ifndef EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_PRIV_H
#define EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_PRIV_H

#include "analyze/report/annotate/annotate.h"

#define ANNOTATE_FRAMES_MAX 64 /* of a place */

struct annotate_code_range {
	uint32_t function, source;
	uint64_t from, to; /* offsets in the file */
};

/* The context of annotate_look(). */
struct annotate_look {
	struct annotate *a;
	const struct annotate_query *query;
	const struct function_table *n;
	struct resolver *resolver;
	struct string_table *names;
	uint64_t text_bytes;
	struct annotate_code_range *ranges; /* of which the instructions were added */
	size_t range_count, range_capacity;
};

/* The functions of a place: what was compiled there, and what was inlined, each into the one before. */
struct annotate_chain {
	uint32_t functions[ANNOTATE_FRAMES_MAX + 1];
	size_t count;
};

typedef int (*annotate_place_fn)(struct annotate_look *l, const struct annotate_chain *chain,
				 size_t from, const struct function_location *at);

/* The annotated one that a function of the table is; ANNOTATE_NONE. */
static inline uint32_t annotate_number_of(const struct annotate *a, uint32_t function)
{
	return function < a->by_function_count ? a->by_function[function] : ANNOTATE_NONE;
}

/* An annotate_place_fn: the lines of a place. */
int annotate_lines_add(struct annotate_look *l, const struct annotate_chain *chain, size_t from,
		       const struct function_location *at);
/* By function, file and number. */
int annotate_compare_lines(const void *x, const void *y);
/* Sorts the lines, leaves each once, and assigns them to the functions. */
void annotate_lines_unite(struct annotate *a);
/* Reads the source files of the lines: -ENOMEM; what else fails is noted in the file. */
int annotate_sources_read(struct annotate_look *l);

/* An annotate_place_fn: its instructions, or where there are none, the location. */
int annotate_code_add(struct annotate_look *l, const struct annotate_chain *chain, size_t from,
		      const struct function_location *at);
/* By function, source and offset. */
int annotate_compare_instructions(const void *x, const void *y);
void annotate_code_order(struct annotate *a);

#endif
