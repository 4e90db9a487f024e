/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Counts the cost of each function, line and instruction. */
#include <stdlib.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "analyze/report/annotate/annotate_priv.h"

struct counting {
	struct annotate *a;
	const struct function_table *n;
	uint32_t *frames; /* of a stack, innermost first */
	size_t count, capacity;
	uint64_t weight;
	uint32_t stamp;
};

static int read_stack(struct counting *c, const struct stack_table *s,
		      const struct stack_table_entry *e)
{
	const uint32_t starts[] = { e->key.kernel, e->key.user },
		       roots[] = { STACK_TABLE_KERNEL_ROOT, STACK_TABLE_USER_ROOT };
	int err = 0;

	c->count = 0;
	for (size_t i = 0; i < 2; i++) {
		for (uint32_t at = starts[i]; !err && at != roots[i]; at = s->nodes[at].parent) {
			err = vec_reserve(&c->frames, &c->capacity, c->count + 1);
			if (!err)
				c->frames[c->count++] = s->nodes[at].frame;
		}
	}
	return err;
}

static void add_cost(const struct counting *c, struct annotate_cost *cost, bool is_self)
{
	if (cost->stamp != c->stamp)
		cost->total += c->weight;
	cost->stamp = c->stamp;
	if (is_self)
		cost->self += c->weight;
}

static void add_to_line(const struct counting *c, uint32_t function, const struct function *f,
			bool is_self)
{
	const struct annotate_line key = { .function = function,
					   .file = f->file,
					   .number = f->line_number };
	struct annotate_line *line = f->file ? bsearch(&key, c->a->lines, c->a->line_count,
						       sizeof(key), annotate_compare_lines)
					     : NULL;

	if (line)
		add_cost(c, &line->cost, is_self);
}

/* The last instruction of the function that begins at or before the place, if it covers it. */
static void add_to_instruction(const struct counting *c, uint32_t function,
			       const struct function_location *at, bool is_self)
{
	const struct annotated *f = &c->a->functions[function];
	const struct annotate_instruction key = { .function = function,
						  .source = at->source,
						  .offset = at->offset -
							    (at->is_return && at->offset) };
	size_t low = lower_bound(i, f->first_instruction,
				 f->first_instruction + f->instruction_count,
				 annotate_compare_instructions(&c->a->instructions[i], &key) <= 0);
	struct annotate_instruction *in;

	if (low == f->first_instruction || !f->instruction_count)
		return;
	in = &c->a->instructions[low - 1];
	if (in->source == at->source && key.offset - in->offset < in->size_bytes)
		add_cost(c, &in->cost, is_self);
}

/* The frames of one place: [first, last], innermost first; last is what was compiled. */
static void count_place(struct counting *c, size_t first, size_t last)
{
	const struct function *functions = c->n->functions;
	const struct function *compiled = &functions[c->frames[last]];
	bool is_leaf = !first;

	for (size_t i = first; i <= last; i++) {
		uint32_t function = annotate_number_of(c->a, c->frames[i]);
		bool repeated = false;

		if (function == ANNOTATE_NONE)
			continue;
		for (size_t k = first; k < i; k++)
			repeated |= annotate_number_of(c->a, c->frames[k]) == function;
		add_cost(c, &c->a->functions[function].cost, is_leaf && !repeated);
		for (size_t k = first; k <= i; k++)
			add_to_line(c, function, &functions[c->frames[k]],
				    is_leaf && !repeated && k == first);
		if (compiled->location)
			add_to_instruction(c, function, &c->n->locations[compiled->location - 1],
					   is_leaf && !repeated);
	}
}

static void count_stack(struct counting *c)
{
	size_t first = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->n->functions[c->frames[i]].is_inlined && i + 1 < c->count)
			continue;
		count_place(c, first, i);
		first = i + 1;
	}
}

int annotate_count(struct annotate *a, const struct function_table *n, const struct stack_table *s,
		   bool by_period)
{
	struct counting c = { .a = a, .n = n };
	int err = 0;

	for (size_t i = 0; !err && a->by_function && i < s->entry_count; i++) {
		c.weight = by_period ? s->entries[i].period_sum : s->entries[i].sample_count;
		c.stamp = (uint32_t)i + 1;
		a->sum += c.weight;
		err = read_stack(&c, s, &s->entries[i]);
		if (!err)
			count_stack(&c);
	}
	free(c.frames);
	return err;
}
