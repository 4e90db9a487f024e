/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * livewalk - a small user-space unwinder for tests
 *
 * Walks the stack of a stopped process of the same machine with the tables and the step function
 * of format/, over process_vm_readv(), or over a copy of its stack made before.  It is what the
 * recorder and the analyzer do, without their care for speed.  x86_64 only.
 */
#ifndef EBPREC_TESTS_LIVEWALK_H
#define EBPREC_TESTS_LIVEWALK_H

#include <sys/types.h>
#include <sys/user.h>

#include "format/unwind/unwind.h"

enum { LIVEWALK_MAX_FRAMES = 512 };

struct livewalk;

struct livewalk_stack {
	uint64_t pc[LIVEWALK_MAX_FRAMES];
	bool is_return[LIVEWALK_MAX_FRAMES]; /* pc is a return address */
	uint32_t n;
	enum unwind_why why; /* why it ended */
};

/* Reads the mappings of pid and builds their tables.  0 or a negative errno. */
int livewalk_new(pid_t pid, struct livewalk **out);
void livewalk_free(struct livewalk *lw); /* NULL is fine */

/* Walks from *regs, reading the process. */
void livewalk_process(const struct livewalk *lw, const struct user_regs_struct *regs,
		      struct livewalk_stack *stack);

/* Walks from *regs over a copy of max_bytes of stack from its red zone on, or of as much as there is. */
int livewalk_copy(const struct livewalk *lw, const struct user_regs_struct *regs, size_t max_bytes,
		  struct livewalk_stack *stack);

#endif
