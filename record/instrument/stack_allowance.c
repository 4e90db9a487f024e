/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/stack_allowance.h"

#define LOOK_NS 1000000000ULL

void stack_allowance_init(struct stack_allowance *a, uint64_t limit_ns, uint64_t now_ns,
			  uint64_t used_ns)
{
	*a = (struct stack_allowance){
		.limit_ns = limit_ns,
		.allowed_ns = limit_ns,
		.least_ns = limit_ns,
		.at_ns = now_ns,
		.used_ns = used_ns,
	};
}

bool stack_allowance_look(struct stack_allowance *a, uint64_t now_ns, uint64_t used_ns)
{
	uint64_t passed_ns = now_ns - a->at_ns, before_ns = a->allowed_ns,
		 least_ns = (a->limit_ns + STACK_ALLOWANCE_PART - 1) / STACK_ALLOWANCE_PART,
		 left_ns;

	if (!a->limit_ns || now_ns < a->at_ns || passed_ns < LOOK_NS || used_ns < a->used_ns)
		return false;
	a->last_ns = (uint64_t)((double)(used_ns - a->used_ns) * 1e9 / (double)passed_ns);
	a->at_ns = now_ns;
	a->used_ns = used_ns;
	left_ns = a->last_ns < a->limit_ns ? a->limit_ns - a->last_ns : 0;
	if (left_ns < least_ns)
		left_ns = least_ns;
	/* Down at once, and half of the way up: to handle more stacks takes more of the rest. */
	a->allowed_ns = left_ns < before_ns ? left_ns : before_ns + (left_ns - before_ns + 1) / 2;
	a->is_low = a->allowed_ns == least_ns;
	if (a->allowed_ns < a->least_ns)
		a->least_ns = a->allowed_ns;
	return a->allowed_ns != before_ns;
}
