/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/unwind/table/walk.h"

/* One walk on its way. */
struct run {
	const struct walk_stack *walk;
	const struct unwind_mem *mem;
	struct unwind_regs regs;
	bool by_cfi, by_fp;
	bool stepped; /* to here, by the frame pointer */
};

static void look(const struct run *r, uint64_t pc, struct walk_stack_code *out)
{
	*out = (struct walk_stack_code){ 0 };
	r->walk->lookup(r->walk->ctx, pc, out);
}

/* A frame pointer is believed when what it leads to is code; a chain of them ends with 0. */
static enum unwind_why step_by_fp(struct run *r, enum unwind_why why_not)
{
	struct unwind_regs next = r->regs;
	struct walk_stack_code code;

	if (r->stepped && !next.fp && (why_not == UNWIND_NO_CFI || why_not == UNWIND_NO_FILE))
		return UNWIND_COMPLETE;
	if (unwind_step_fp(r->walk->arch, &next, r->mem) != UNWIND_OK)
		return why_not;
	look(r, unwind_lookup_pc(&next), &code);
	if (!code.executable)
		return why_not;
	r->regs = next;
	r->by_fp = r->stepped = true;
	return UNWIND_OK;
}

static enum unwind_why step(struct run *r)
{
	struct walk_stack_code code;
	const struct unwind_rule *rule;
	enum unwind_why why;

	look(r, unwind_lookup_pc(&r->regs), &code);
	if (!code.executable)
		return UNWIND_NO_MAPPING;
	if (!code.table && !code.rule)
		return step_by_fp(r, code.lacks ? code.lacks : UNWIND_NO_CFI);
	rule = code.rule ? code.rule
			 : module_table_find(code.table, unwind_lookup_pc(&r->regs) - code.bias);
	why = unwind_step(r->walk->arch, rule, &r->regs, r->mem);
	if (why == UNWIND_NO_CFI)
		return step_by_fp(r, why);
	r->stepped = false;
	if (why == UNWIND_OK)
		r->by_cfi = true;
	return why;
}

static uint8_t how(const struct run *r)
{
	if (r->by_cfi)
		return r->by_fp ? STACK_RESULT_MIXED : STACK_RESULT_CFI;
	return r->by_fp ? STACK_RESULT_FP : STACK_RESULT_PC;
}

size_t walk_stack_run(const struct walk_stack *walk, const struct unwind_regs *regs,
		      const struct unwind_mem *mem, uint64_t *frames, struct stack_result *info)
{
	struct run r = { .walk = walk, .mem = mem, .regs = *regs };
	enum unwind_why why = UNWIND_OK;
	size_t n = 0;

	for (;;) {
		frames[n++] = r.regs.pc;
		why = step(&r);
		if (why != UNWIND_OK)
			break;
		if (n == walk->frame_max) {
			why = UNWIND_MAX_FRAMES;
			break;
		}
	}
	/* One frame that is the outermost too was found by its table. */
	if (why == UNWIND_COMPLETE && !r.stepped)
		r.by_cfi = true;
	*info = (struct stack_result){ .how = how(&r),
				       .why = (uint8_t)why,
				       .flags = why == UNWIND_MAX_FRAMES ? STACK_RESULT_CUT : 0 };
	return n;
}
