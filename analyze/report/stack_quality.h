/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_quality - how far can these stacks be trusted?
 *
 * A user stack is complete when the walk said so, or, where nobody told how it went, when its
 * outermost frame is where programs and threads begin.  Those that are not are added up by cause
 * and by the file in which they break: that of the outermost frame that is in a file.  Frames
 * without a name are added up by file and reason.
 */
#ifndef EBPREC_ANALYZE_REPORT_STACK_QUALITY_H
#define EBPREC_ANALYZE_REPORT_STACK_QUALITY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/names/function_table.h"
#include "analyze/fold/stack_table.h"

struct stack_quality_cause {
	uint32_t dso; /* in the strings */
	uint8_t reason; /* unnamed: enum name_reason; breaks: an end as in stack_counter.h, or one of ours */
	uint64_t count; /* stacks or frames, weighted by samples */
};

struct stack_quality {
	uint64_t samples, user_stacks, complete_stacks;
	uint64_t frames, unnamed_frames;
	struct stack_quality_cause *breaks, *unnamed; /* most costly first */
	size_t break_count, unnamed_count;
};

/* s: its frames are functions of n.  -ENOMEM.  *out: stack_quality_done(). */
int stack_quality_make(const struct stack_table *s, const struct function_table *n,
		       const struct string_table *names, struct stack_quality *out);
void stack_quality_done(struct stack_quality *v);

/*
 * The same while something else is done: stacks and functions must stay as they are until
 * stack_quality_end(), strings may be added.  -ENOMEM; *out: stack_quality_end().
 */
struct stack_quality_work; /* opaque */
int stack_quality_begin(const struct stack_table *s, const struct function_table *n,
			const struct string_table *names, struct stack_quality_work **out);
/* Takes w; NULL: -ENOMEM.  out may be NULL: nobody wants to know any more. */
int stack_quality_end(struct stack_quality_work *w, const struct string_table *names,
		      struct stack_quality *out);

/* Why stacks end there, for people: "code without unwind tables".  NULL for an end not known. */
const char *stack_quality_end_text(uint8_t end);
/* What would mend it, in stacks that break off in dso; NULL: not known. */
const char *stack_quality_end_remedy(uint8_t end, const char *dso);

#endif
