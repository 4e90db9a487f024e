/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* walkself - the user stack of the current thread, for programs that run inside the kernel's code */
#ifndef EBPREC_BPF_WALKSELF_H
#define EBPREC_BPF_WALKSELF_H

#include "bpf/walk.bpf.h"

/* Whether user stacks can be walked. */
const volatile bool user_stacks = 0;

static __always_inline bool saved_registers(struct task_struct *prev, struct walk_state *w)
{
	struct pt_regs saved;

	if (prev->flags & TASK_KERNEL || !task_mm(prev))
		return false;
	if (bpf_probe_read_kernel(&saved, sizeof(saved), (void *)bpf_task_pt_regs((void *)prev)))
		return false;
	WALK_TAKE_REGS(w->gprs, &saved);
	w->compat = (saved.cs & 0xffff) == 0x23;
	return (saved.cs & 3) == 3;
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
	walk_run(w);
	return walk_between_programs(w) ? NULL : w;
}

/* Puts the walk's frames behind at kernel frames; returns how many. */
#define PUT_USER(ev, at, w)                                                           \
	({                                                                            \
		__u64 n__ = (w)->n;                                                   \
		if (n__ > CPU_USER_MAX || (at) > CPU_KERNEL_MAX)                      \
			n__ = 0;                                                      \
		else                                                                  \
			bpf_probe_read_kernel(&(ev)->frames[at], n__ * sizeof(__u64), \
					      (w)->frames);                           \
		(ev)->how = walk_how(w);                                              \
		(ev)->why = (w)->why;                                                 \
		(ev)->flags = ((w)->compat ? STACKINFO_COMPAT : 0) |                  \
			      ((w)->why == UNWIND_MAX_FRAMES ? STACKINFO_CUT : 0);    \
		n__;                                                                  \
	})

#endif
