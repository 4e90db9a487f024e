/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The instructions of the chosen functions, with the line of each. */
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "analyze/report/annotate/annotate_priv.h"

static int add_instruction(struct annotate *a, const struct annotate_instruction *in)
{
	int err = vec_reserve(&a->instructions, &a->instruction_capacity, a->instruction_count + 1);

	if (!err)
		a->instructions[a->instruction_count++] = *in;
	return err;
}

/* Whether an instruction with these frames is of the function; with whose line, if any. */
static int find_line(struct annotate_look *l, uint32_t function, bool is_compiled,
		     const struct source_frame *frames, size_t count,
		     struct annotate_instruction *in, bool *is_of)
{
	const struct annotated *f = &l->a->functions[function];
	const char *name = string_table_text(l->names, f->name);

	*is_of = is_compiled;
	for (size_t i = 0; !*is_of && i + 1 < count; i++)
		*is_of = frames[i].function && !strcmp(frames[i].function, name);
	if (!*is_of || !count || !frames[0].file || !frames[0].line)
		return 0;
	in->number = frames[0].line;
	return string_table_add(l->names, frames[0].file, strlen(frames[0].file), &in->file);
}

static int add_code(struct annotate_look *l, uint32_t function, bool is_compiled, uint32_t source,
		    const struct function_code *c)
{
	struct source_frame frames[ANNOTATE_FRAMES_MAX];
	char text[DISASSEMBLE_TEXT_BYTES];
	size_t count, size;
	bool is_of;
	int err = 0;

	for (size_t at = 0; !err && at < c->size_bytes; at += size) {
		struct annotate_instruction in = { .function = function,
						   .source = source,
						   .offset = c->offset + at,
						   .vaddr = c->vaddr + at,
						   .into_bytes = at };

		size = disassemble(c->machine, l->query->style, in.vaddr, c->bytes + at,
				   c->size_bytes - at, text);
		in.size_bytes = (uint32_t)size;
		count = resolver_frames(l->resolver, source - 1, in.offset, false, frames,
					ANNOTATE_FRAMES_MAX);
		err = find_line(l, function, is_compiled, frames, count, &in, &is_of);
		if (err || !is_of)
			continue;
		in.text = strdup(*text ? text : "(bad)");
		err = in.text ? add_instruction(l->a, &in) : -ENOMEM;
		if (err)
			free(in.text);
	}
	return err;
}

/* Whether the code at a place was read.  Places come in the order of their files: mostly it was the last. */
static bool has_code(const struct annotate_look *l, uint32_t function, uint32_t source,
		     uint64_t offset)
{
	for (size_t i = l->range_count; i-- > 0;) {
		const struct annotate_code_range *r = &l->ranges[i];

		if (r->function == function && r->source == source && offset >= r->from &&
		    offset < r->to)
			return true;
	}
	return false;
}

static int add_range(struct annotate_look *l, uint32_t function, uint32_t source,
		     const struct function_code *c)
{
	int err = vec_reserve(&l->ranges, &l->range_capacity, l->range_count + 1);

	if (!err)
		l->ranges[l->range_count++] = (struct annotate_code_range){
			function, source, c->offset, c->offset + c->size_bytes
		};
	return err;
}

static int read_code(struct annotate_look *l, uint32_t function, bool is_compiled,
		     const struct function_location *at)
{
	struct annotated *f = &l->a->functions[function];
	struct function_code c;
	int err = 0;

	f->reason = at->source ? resolver_code(l->resolver, at->source - 1, at->offset,
					       at->is_return, &c)
			       : NAME_KERNEL_HIDDEN;
	if (f->reason != NAME_FOUND)
		return 0;
	f->other_machine = !disassemble_knows(c.machine);
	f->is_cut |= c.size_bytes < c.total_bytes;
	if (!f->other_machine)
		err = add_range(l, function, at->source, &c);
	if (!err && !f->other_machine)
		err = add_code(l, function, is_compiled, at->source, &c);
	free(c.bytes);
	return err;
}

static bool wants_code(const struct annotate_look *l, const struct annotated *f)
{
	return l->query->with_code || !f->line_count;
}

int annotate_code_add(struct annotate_look *l, const struct annotate_chain *chain, size_t from,
		      const struct function_location *at)
{
	uint32_t function = annotate_number_of(l->a, chain->functions[from]);
	struct annotate_instruction in = { .function = function,
					   .source = at->source,
					   .offset = at->offset - (at->is_return && at->offset),
					   .into_bytes = at->into_bytes,
					   .size_bytes = 1 };
	const struct annotated *f = &l->a->functions[function];
	const struct function *innermost = &l->n->functions[chain->functions[chain->count - 1]];
	int err = 0;

	if (!wants_code(l, f) || has_code(l, function, at->source, in.offset))
		return 0;
	if (f->reason == NAME_FOUND && !f->other_machine)
		err = read_code(l, function, !from, at);
	if (err || has_code(l, function, at->source, in.offset))
		return err;
	in.vaddr = in.offset;
	if (in.into_bytes != RESOLVED_INTO_UNKNOWN)
		in.into_bytes -= at->is_return && in.into_bytes;
	in.file = innermost->file;
	in.number = innermost->line_number;
	return add_instruction(l->a, &in);
}

int annotate_compare_instructions(const void *x, const void *y)
{
	const struct annotate_instruction *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void annotate_code_order(struct annotate *a)
{
	if (a->instruction_count)
		qsort(a->instructions, a->instruction_count, sizeof(*a->instructions),
		      annotate_compare_instructions);
	for (size_t i = 0; i < a->instruction_count; i++) {
		struct annotated *f = &a->functions[a->instructions[i].function];

		if (!f->instruction_count++)
			f->first_instruction = i;
	}
}
