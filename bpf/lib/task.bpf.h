/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * task - whether an interrupt runs on top of the current thread
 *
 * The kernel's own count is a variable whose address not every kernel exports.  So code in the idle
 * thread, or on another stack than the thread's, counts as an interrupt.  The hard part of one that
 * interrupts user code runs on the thread's stack and is not seen; its soft part is.
 */
#ifndef EBPREC_BPF_CONTEXT_H
#define EBPREC_BPF_CONTEXT_H

#include "bpf/lib/common.bpf.h"
#include "bpf/kernel.h"

static __always_inline bool in_interrupt(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	/* The verifier lets only the difference of two pointers become a number. */
	__u64 here = (__u64)ctx - (__u64)t;

	barrier_var(here);
	here += bpf_get_current_task();
	return !t->pid || here - (__u64)t->stack > THREAD_STACK_MOST;
}

#endif
