/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_quality - how far can these stacks be trusted?
 *
 * A user stack is complete when the unwinder marked it so, or, without such a mark, when its
 * outermost frame is where programs and threads begin.  Those that are not are added up by cause
 * and by the file in which they break: that of the outermost frame that is in a file.  Samples
 * whose innermost frame has no name, and all frames without one, are added up by file and reason.
 *
 * Code made at run time has no file with the name of its compiler.  That is the one whose files are
 * on the same stack, else on other stacks of its group, else those that any process has mapped.
 *
 * A stack with a reason but no loop is of the interpreter whose compiler has files on it, else of the only one that other stacks of
 * its group have, else of the compiler that they have; else of none.
 */
#ifndef EBPREC_ANALYZE_REPORT_QUALITY_STACK_QUALITY_H
#define EBPREC_ANALYZE_REPORT_QUALITY_STACK_QUALITY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/names/function_table.h"
#include "analyze/report/quality/runtimes.h"
#include "analyze/fold/stack_table.h"
#include "format/unwind/stack_result.h"

struct stack_quality_cause {
	uint32_t dso; /* in the strings */
	uint8_t reason; /* unnamed: enum name_reason; breaks: an end as in stack_counter.h, or one of ours */
	uint16_t compilers; /* of code made at run time: a set as in runtimes.h */
	uint64_t count;     /* breaks: stacks; unnamed: frames, weighted by samples */
	uint64_t samples;   /* unnamed: that end in such a frame */
};

/* Samples in which an interpreter runs. */
struct stack_quality_interpreted {
	uint64_t samples; /* without a name of its program's function */
	uint64_t named;   /* with one */
	uint64_t by_why
		[RUNTIME_WHYS]; /* where the recorder stored why frames of the program are missing */
	uint32_t dso;           /* of the interpreter, in the strings */
};

struct stack_quality {
	uint64_t samples, user_stacks, complete_stacks;
	uint64_t frames, unnamed_frames;
	uint64_t unnamed_samples;                     /* whose innermost frame has no name */
	struct stack_quality_cause *breaks, *unnamed; /* most costly first */
	size_t break_count, unnamed_count;
	/* The last one: it is not known which interpreter it was. */
	struct stack_quality_interpreted interpreted[RUNTIMES_INTERPRETERS + 1];
};

/* s: its frames are functions of n.  compilers: that any process has mapped.  -ENOMEM.  *out: stack_quality_done(). */
int stack_quality_make(const struct stack_table *s, const struct function_table *n,
		       const struct string_table *names, uint16_t compilers,
		       struct stack_quality *out);
void stack_quality_done(struct stack_quality *v);

/*
 * The same while something else is done: stacks and functions must stay as they are until
 * stack_quality_end(), strings may be added.  -ENOMEM; *out: stack_quality_end().
 */
struct stack_quality_work; /* opaque */
int stack_quality_begin(const struct stack_table *s, const struct function_table *n,
			const struct string_table *names, uint16_t compilers,
			struct stack_quality_work **out);
/* Takes w; NULL: -ENOMEM.  out may be NULL: the result is not needed any more. */
int stack_quality_end(struct stack_quality_work *w, const struct string_table *names,
		      struct stack_quality *out);

/* Whether code at that path was made at run time: "/tmp/perf-12.map", "//anon". */
bool stack_quality_is_made(const char *dso);
/* Why stacks end there, for people: "code without unwind tables".  NULL for an end not known. */
const char *stack_quality_end_text(uint8_t end);
/* Why frames of an interpreted program are missing, enum runtime_why, and what helps; NULL: not known. */
const char *stack_quality_runtime_text(unsigned why);
const char *stack_quality_runtime_remedy(unsigned why);
/* The remedy for stacks that end early in dso; NULL: not known. */
const char *stack_quality_end_remedy(uint8_t end, const char *dso);

#endif
