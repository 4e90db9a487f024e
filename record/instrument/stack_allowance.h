/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_allowance - how much CPU time stacks of switches may take, so that a recording costs no more than it may
 *
 * Stacks of switches cost most where threads switch often, and are what can be left out best: the programs take as
 * many as they have time for, and each has the number of switches that it stands for.  So they get what everything
 * else leaves of the limit, but always STACK_ALLOWANCE_PART of it, so that no kind of wait is without any stack.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_STACK_ALLOWANCE_H
#define EBPREC_RECORD_INSTRUMENT_STACK_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_ALLOWANCE_PART 8 /* the least is an eighth of the limit */

struct stack_allowance {
	uint64_t limit_ns;   /* a second, of everything; 0: no stack is taken, ever */
	uint64_t allowed_ns; /* a second, of these stacks */
	uint64_t least_ns;   /* that was allowed so far */
	/* As of the last look. */
	uint64_t at_ns, used_ns;
	uint64_t last_ns; /* the CPU time of the second before it, without these stacks */
	bool is_low;      /* the least is allowed */
};

/* used_ns: the CPU time so far that the recording took, but for these stacks in the kernel. */
void stack_allowance_init(struct stack_allowance *a, uint64_t limit_ns, uint64_t now_ns,
			  uint64_t used_ns);
/* A second or more after the look before; true: allowed_ns has changed. */
bool stack_allowance_look(struct stack_allowance *a, uint64_t now_ns, uint64_t used_ns);

#endif
