/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verdict - how far can these stacks be trusted?
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

struct verdict_cause {
	uint32_t dso; /* in the strings */
	uint8_t reason; /* unnamed: enum name_reason; breaks: an end as in sampler.h, or one of ours */
	uint64_t count; /* stacks or frames, weighted by samples */
};

struct verdict {
	uint64_t samples, user_stacks, complete_stacks;
	uint64_t frames, unnamed_frames;
	struct verdict_cause *breaks, *unnamed; /* most costly first */
	size_t break_count, unnamed_count;
};

/* s: its frames are functions of n.  -ENOMEM.  *out: verdict_done(). */
int verdict_make(const struct stacks *s, const struct naming *n, const struct strings *names,
		 struct verdict *out);
void verdict_done(struct verdict *v);

/*
 * The same while something else is done: stacks and functions must stay as they are until
 * verdict_end(), strings may be added.  -ENOMEM; *out: verdict_end().
 */
struct verdict_work; /* opaque */
int verdict_begin(const struct stacks *s, const struct naming *n, const struct strings *names,
		  struct verdict_work **out);
/* Takes w; NULL: -ENOMEM.  out may be NULL: nobody wants to know any more. */
int verdict_end(struct verdict_work *w, const struct strings *names, struct verdict *out);

/* Why stacks end there, for people: "code without unwind tables".  NULL for an end not known. */
const char *verdict_end_text(uint8_t end);
/* What would mend it, in stacks that break off in dso; NULL: not known. */
const char *verdict_end_remedy(uint8_t end, const char *dso);

#endif
