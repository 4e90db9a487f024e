/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* stacks - the user stack of the current thread, for programs that run inside the kernel's code */
#ifndef EBPREC_BPF_WALKSELF_H
#define EBPREC_BPF_WALKSELF_H

#include "bpf/lib/unwind.bpf.h"

/* Whether user stacks can be walked. */
const volatile bool user_stacks = 0;

static __always_inline bool saved_registers(struct task_struct *prev, struct walk_state *w)
{
	if (prev->flags & TASK_KERNEL || !task_mm(prev))
		return false;
	if (bpf_probe_read_kernel(&w->saved, sizeof(w->saved),
				  (void *)bpf_task_pt_regs((void *)prev)))
		return false;
	TAKE_REGS(w->gprs, &w->saved);
	w->compat = mode_is_compat(REGS_MODE(&w->saved));
	return mode_is_user(REGS_MODE(&w->saved));
}

/* Walks the current thread's user stack; NULL: it has none. */
static __always_inline struct walk_state *walk_current(void)
{
	struct walk_state *w = walk_here();

	if (!w || !user_stacks)
		return NULL;
	walk_start(w);
	if (!saved_registers((void *)bpf_get_current_task_btf(), w))
		return NULL;
	if (pidns_level && walk_foreign(w, current_ids()))
		return w;
	walk_run(w);
	return walk_between_programs(w) ? NULL : w;
}

/*
 * Fills in both stacks of the current thread: the kernel's frames from the program on, of which user
 * space leaves out those of the program and its tracepoint (record/ownframes), and those that w found;
 * w: NULL: none.  Returns how many.
 */
static __always_inline __u64 stack_take(void *ctx, struct event_stack *s, struct walk_state *w)
{
	/* 64 bits: the bounds must survive clang's shifting */
	__u64 kernel_count = 0, user_count = 0;
	long bytes;

	bytes = bpf_get_stack(ctx, s->frames, CPU_KERNEL_MAX * sizeof(__u64), 0);
	if (bytes > 0)
		kernel_count = bytes / sizeof(__u64);
	if (kernel_count > CPU_KERNEL_MAX)
		kernel_count = CPU_KERNEL_MAX;
	s->how = STACK_RESULT_NONE;
	s->why = 0;
	s->flags = 0;
	if (w) {
		user_count = w->n;
		if (user_count > CPU_USER_MAX)
			user_count = 0;
		bpf_probe_read_kernel(&s->frames[kernel_count], user_count * sizeof(__u64),
				      w->frames);
		s->how = walk_how(w);
		s->why = w->why;
		s->flags = (w->compat ? STACK_RESULT_COMPAT : 0) |
			   (w->why == UNWIND_MAX_FRAMES ? STACK_RESULT_CUT : 0);
	}
	if (user_count > CPU_USER_MAX) /* for the verifier */
		user_count = CPU_USER_MAX;
	s->kernel_count = kernel_count;
	s->user_count = user_count;
	return kernel_count + user_count;
}

/* Sends an event that ends with its stacks; its header is complete except for the size. */
#define STACK_SEND(ring, ev, frames)                                                               \
	({                                                                                         \
		__u64 size__ = __builtin_offsetof(typeof(*(ev)), stack) + EVENT_STACK_HEAD_BYTES + \
			       (frames) * sizeof(__u64);                                           \
		(ev)->h.size_bytes = size__;                                                       \
		barrier_var(size__);                                                               \
		size__ <= sizeof(*(ev)) &&                                                         \
			!bpf_ringbuf_output((ring), (ev), size__, wake_flags(ring));               \
	})

#endif
