/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* runtimes - the frames of whatever interpreter runs the current thread's program */
#ifndef EBPREC_BPF_RUNTIME_RUNTIMES_H
#define EBPREC_BPF_RUNTIME_RUNTIMES_H

#include "bpf/lib/unwind.bpf.h"
#include "bpf/runtime/python.bpf.h"

/* Whether one of the native frames is in the loop that runs the program. */
__attribute__((noinline)) int runtime_is_running(void)
{
	struct runtime_state *s = runtime_here();
	struct walk_state *w = walk_here();
	struct runtime_desc *d;
	__u64 start[RUNTIME_EVAL_RANGES], found = 0, pc;
	__u32 i, k, n;

	if (!s || !w)
		return 0;
	d = runtime_desc_of(s);
	if (!d)
		return 0;
	for (k = 0; k < RUNTIME_EVAL_RANGES; k++)
		start[k] = d->eval[k].start + s->base;
	n = w->n;
	for (i = 0; i < CPU_USER_MAX && i < n; i++) {
		pc = w->frames[i];
		for (k = 0; k < RUNTIME_EVAL_RANGES; k++)
			found |= pc - start[k] < d->eval[k].size_bytes;
	}
	return found;
}

/*
 * Collects the frames of the interpreted program after walk_run().  NULL: there are none, as no interpreter
 * is on the stack; where that is not known completely, it may be.
 */
static __always_inline struct runtime_state *runtimes_take(const struct walk_state *w)
{
	struct runtime_state *s = runtime_here();
	struct runtime_desc *d;

	if (!s || !w->runtime)
		return NULL;
	s->base = w->runtime_base;
	s->number = w->runtime;
	s->n = 0;
	s->why = RUNTIME_COMPLETE;
	d = runtime_desc_of(s);
	if (!d || (w->why == UNWIND_COMPLETE && !runtime_is_running()))
		return NULL;
	if (d->kind == RUNTIME_PYTHON)
		runtime_python_walk(s);
	return s;
}

/*
 * Puts its words behind the `at` frames of a stack with user frames; room for RUNTIME_WORDS_MAX is there.  Returns
 * how many words.
 */
static __always_inline __u64 runtimes_add(struct event_stack *to, __u64 at,
					  const struct walk_state *w)
{
	struct runtime_state *s = runtimes_take(w);
	__u64 n, *words;

	barrier_var(at);
	if (!s || at > CPU_KERNEL_MAX + CPU_USER_MAX)
		return 0;
	n = s->n;
	barrier_var(n);
	if (n > RUNTIME_FRAMES_MAX)
		n = 0;
	to->flags |= EVENT_FLAG_RUNTIME;
	words = to->frames + at;
	words[0] = RUNTIME_WORD_HEAD(n, s->why, s->number);
	words[1] = s->base;
	bpf_probe_read_kernel(words + RUNTIME_HEAD_WORDS, n * sizeof(*words), s->words);
	return n + RUNTIME_HEAD_WORDS;
}

#endif
