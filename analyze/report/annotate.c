/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/annotate.h"

#include <elf.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define FRAMES_MAX       64
#define TEXT_MAX_BYTES   (256u << 20) /* of all source files */
#define NO_RESOLVER_FILE UINT32_MAX

/* What annotate_look() has at hand. */
struct look {
	struct annotate *a;
	const struct annotate_query *query;
	const struct function_table *n;
	struct resolver *resolver;
	struct string_table *names;
	uint64_t text_bytes;
	struct code_range *ranges; /* of which the instructions were added */
	size_t range_count, range_capacity;
};

struct code_range {
	uint32_t function, source;
	uint64_t from, to; /* offsets in the file */
};

/* ---- which functions ---- */

static bool is_code(const struct function *f)
{
	return f->location || f->is_inlined;
}

/* By number of a name in the strings.  Owned; NULL: no memory. */
static bool *match_names(const struct look *l, bool (*matches)(const void *how, const char *name),
			 const void *how, bool *found)
{
	bool *wanted = calloc((size_t)string_table_count(l->names) + 1, sizeof(*wanted)),
	     *seen = calloc((size_t)string_table_count(l->names) + 1, sizeof(*seen));

	*found = false;
	for (size_t i = 0; wanted && seen && i < l->n->function_count; i++) {
		const struct function *f = &l->n->functions[i];

		if (!is_code(f) || seen[f->name])
			continue;
		seen[f->name] = true;
		wanted[f->name] = matches(how, string_table_text(l->names, f->name));
		*found |= wanted[f->name];
	}
	if (!seen) {
		free(wanted);
		wanted = NULL;
	}
	free(seen);
	return wanted;
}

static bool is_equal(const void *how, const char *name)
{
	return !strcmp(how, name);
}

static bool is_found(const void *how, const char *name)
{
	return !regexec(how, name, 0, NULL, 0);
}

/* The name itself; if none is called so, a regular expression.  NULL: no memory. */
static bool *find_names(const struct look *l, bool *found)
{
	bool *wanted = match_names(l, is_equal, l->query->function, found);
	regex_t regex;

	if (!wanted || *found || regcomp(&regex, l->query->function, REG_EXTENDED | REG_NOSUB))
		return wanted;
	free(wanted);
	wanted = match_names(l, is_found, &regex, found);
	regfree(&regex);
	return wanted;
}

static int compare_functions(const void *x, const void *y)
{
	const struct annotated *a = x, *b = y;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->dso < b->dso ? -1 : a->dso > b->dso;
}

static struct annotated *find_function(const struct annotate *a, uint32_t name, uint32_t dso)
{
	const struct annotated key = { .name = name, .dso = dso };

	return a->function_count ? bsearch(&key, a->functions, a->function_count, sizeof(key),
					   compare_functions)
				 : NULL;
}

static void unite_functions(struct annotate *a)
{
	size_t kept = 0;

	qsort(a->functions, a->function_count, sizeof(*a->functions), compare_functions);
	for (size_t i = 0; i < a->function_count; i++)
		if (!kept || compare_functions(&a->functions[kept - 1], &a->functions[i]) != 0)
			a->functions[kept++] = a->functions[i];
	a->function_count = kept;
}

static int choose_functions(struct look *l)
{
	struct annotate *a = l->a;
	bool found, *wanted = find_names(l, &found);
	int err = !wanted ? -ENOMEM : found ? 0 : -ENOENT;

	for (size_t i = 0; !err && i < l->n->function_count; i++) {
		const struct function *f = &l->n->functions[i];

		if (!is_code(f) || !wanted[f->name])
			continue;
		err = vec_reserve(&a->functions, &a->function_capacity, a->function_count + 1);
		if (!err)
			a->functions[a->function_count++] = (struct annotated){ .name = f->name,
										.dso = f->dso };
	}
	free(wanted);
	if (err)
		return err;
	unite_functions(a);
	a->by_function = malloc((l->n->function_count + 1) * sizeof(*a->by_function));
	if (!a->by_function)
		return -ENOMEM;
	a->by_function_count = l->n->function_count;
	for (size_t i = 0; i < a->by_function_count; i++) {
		const struct function *f = &l->n->functions[i];
		const struct annotated *x = is_code(f) ? find_function(a, f->name, f->dso) : NULL;

		a->by_function[i] = x ? (uint32_t)(x - a->functions) : ANNOTATE_NONE;
	}
	return 0;
}

static uint32_t annotated_of(const struct annotate *a, uint32_t function)
{
	return function < a->by_function_count ? a->by_function[function] : ANNOTATE_NONE;
}

/* ---- lines ---- */

static int add_line(struct annotate *a, const struct annotate_line *line)
{
	int err;

	if (!line->file)
		return 0;
	err = vec_reserve(&a->lines, &a->line_capacity, a->line_count + 1);
	if (!err)
		a->lines[a->line_count++] = *line;
	return err;
}

static uint32_t resolver_file_of(const struct function_location *at)
{
	return at->source ? at->source - 1 : NO_RESOLVER_FILE;
}

/* Where the compiled function begins, for the head of its text. */
static int add_start(struct look *l, uint32_t function, const struct function_location *at)
{
	struct annotate_line line = {
		.function = function, .source = at->source, .is_own = true, .is_start = true
	};
	struct resolver_frame frames[FRAMES_MAX];
	size_t count;
	int err;

	if (!at->source || at->into_bytes > at->offset)
		return 0;
	count = resolver_frames(l->resolver, resolver_file_of(at), at->offset - at->into_bytes,
				false, frames, FRAMES_MAX);
	if (!count || !frames[count - 1].file || !frames[count - 1].line)
		return 0;
	line.number = frames[count - 1].line;
	err = string_table_add(l->names, frames[count - 1].file, strlen(frames[count - 1].file),
			       &line.file);
	return err ? err : add_line(l->a, &line);
}

/* The functions of a place: what was compiled there, and what was inlined, each into the one before. */
struct chain {
	uint32_t functions[FRAMES_MAX + 1];
	size_t count;
};

static void read_chain(const struct function_table *n, size_t place, struct chain *out)
{
	size_t first = n->inlined_first ? n->inlined_first[place] : 0,
	       end = n->inlined_first ? n->inlined_first[place + 1] : 0;

	out->count = 1;
	out->functions[0] = n->by_place[place];
	for (size_t i = first; i < end && out->count <= FRAMES_MAX; i++)
		out->functions[out->count++] = n->inlined[i];
}

/* Those of the chain from the function on; lines are of what it is, or was inlined into it. */
static int add_lines(struct look *l, const struct chain *chain, size_t from,
		     const struct function_location *at)
{
	uint32_t function = annotated_of(l->a, chain->functions[from]);
	int err = 0;

	for (size_t i = from; !err && i < chain->count; i++) {
		const struct function *f = &l->n->functions[chain->functions[i]];
		const struct annotate_line line = { .function = function,
						    .file = f->file,
						    .number = f->line_number,
						    .source = at->source,
						    .is_own = i == from };

		err = add_line(l->a, &line);
	}
	return err;
}

/* Whether a function of the chain is the same annotated one as one before it. */
static bool is_repeated(const struct annotate *a, const struct chain *chain, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (annotated_of(a, chain->functions[k]) == annotated_of(a, chain->functions[i]))
			return true;
	return false;
}

typedef int (*place_fn)(struct look *l, const struct chain *chain, size_t from,
			const struct function_location *at);

/* For each place, and each annotated function that it is in. */
static int each_place(struct look *l, place_fn fn)
{
	const struct function_table *n = l->n;
	struct chain chain;
	int err = 0;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];
		size_t place = f->location - 1;

		if (!f->location || n->by_place[place] != i)
			continue;
		read_chain(n, place, &chain);
		for (size_t k = 0; !err && k < chain.count; k++)
			if (annotated_of(l->a, chain.functions[k]) != ANNOTATE_NONE &&
			    !is_repeated(l->a, &chain, k))
				err = fn(l, &chain, k, &n->locations[place]);
	}
	return err;
}

static int look_at_lines(struct look *l, const struct chain *chain, size_t from,
			 const struct function_location *at)
{
	uint32_t function = annotated_of(l->a, chain->functions[from]);
	struct annotated *f = &l->a->functions[function];
	int err = 0;

	if (!from && !f->has_start && at->into_bytes != RESOLVED_INTO_UNKNOWN) {
		f->has_start = true;
		err = add_start(l, function, at);
	}
	f->source = at->source;
	return err ? err : add_lines(l, chain, from, at);
}

static int compare_lines(const void *x, const void *y)
{
	const struct annotate_line *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void unite_lines(struct annotate *a)
{
	size_t kept = 0;

	if (a->line_count)
		qsort(a->lines, a->line_count, sizeof(*a->lines), compare_lines);
	for (size_t i = 0; i < a->line_count; i++) {
		struct annotate_line *line = kept ? &a->lines[kept - 1] : NULL;

		if (!line || compare_lines(line, &a->lines[i]) != 0) {
			a->lines[kept++] = a->lines[i];
			continue;
		}
		line->is_own |= a->lines[i].is_own;
		line->is_start |= a->lines[i].is_start;
	}
	a->line_count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct annotated *f = &a->functions[a->lines[i].function];

		if (!f->line_count++)
			f->first_line = i;
	}
}

/* ---- source files ---- */

static int compare_files(const void *x, const void *y)
{
	const struct annotate_file *a = x, *b = y;

	return a->path < b->path ? -1 : a->path > b->path;
}

const struct annotate_file *annotate_file_of(const struct annotate *a, uint32_t path)
{
	const struct annotate_file key = { .path = path };

	return a->file_count ? bsearch(&key, a->files, a->file_count, sizeof(key), compare_files)
			     : NULL;
}

static void read_file(struct look *l, struct annotate_file *f)
{
	const uint32_t program = f->source ? f->source - 1 : NO_RESOLVER_FILE;
	uint64_t made_ns;

	f->err = l->text_bytes > TEXT_MAX_BYTES
			 ? -EFBIG
			 : resolver_text(l->resolver, program, string_table_text(l->names, f->path),
					 &f->text);
	if (f->err)
		return;
	l->text_bytes += f->text.size_bytes;
	made_ns = f->text.mtime_ns ? resolver_file_mtime_ns(l->resolver, program) : 0;
	f->is_newer = made_ns && f->text.mtime_ns > made_ns;
}

static int read_files(struct look *l)
{
	struct annotate *a = l->a;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && i < a->line_count; i++) {
		err = vec_reserve(&a->files, &a->file_capacity, a->file_count + 1);
		if (!err)
			a->files[a->file_count++] = (struct annotate_file){
				.path = a->lines[i].file, .source = a->lines[i].source
			};
	}
	if (a->file_count)
		qsort(a->files, a->file_count, sizeof(*a->files), compare_files);
	for (size_t i = 0; i < a->file_count; i++)
		if (!kept || a->files[kept - 1].path != a->files[i].path)
			a->files[kept++] = a->files[i];
	a->file_count = kept;
	for (size_t i = 0; !err && i < kept; i++) {
		read_file(l, &a->files[i]);
		err = a->files[i].err == -ENOMEM ? -ENOMEM : 0;
	}
	return err;
}

/* ---- instructions ---- */

static int add_instruction(struct annotate *a, const struct annotate_instruction *in)
{
	int err = vec_reserve(&a->instructions, &a->instruction_capacity, a->instruction_count + 1);

	if (!err)
		a->instructions[a->instruction_count++] = *in;
	return err;
}

/* Whether an instruction with these frames is of the function; with whose line, if any. */
static int find_line(struct look *l, uint32_t function, bool is_compiled,
		     const struct resolver_frame *frames, size_t count,
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

static int add_code(struct look *l, uint32_t function, bool is_compiled, uint32_t source,
		    const struct function_code *c)
{
	struct resolver_frame frames[FRAMES_MAX];
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
					FRAMES_MAX);
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
static bool has_code(const struct look *l, uint32_t function, uint32_t source, uint64_t offset)
{
	for (size_t i = l->range_count; i-- > 0;) {
		const struct code_range *r = &l->ranges[i];

		if (r->function == function && r->source == source && offset >= r->from &&
		    offset < r->to)
			return true;
	}
	return false;
}

static int add_range(struct look *l, uint32_t function, uint32_t source,
		     const struct function_code *c)
{
	int err = vec_reserve(&l->ranges, &l->range_capacity, l->range_count + 1);

	if (!err)
		l->ranges[l->range_count++] = (struct code_range){ function, source, c->offset,
								   c->offset + c->size_bytes };
	return err;
}

static int read_code(struct look *l, uint32_t function, bool is_compiled,
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
	f->is_cut |= c.size_bytes < c.whole_bytes;
	if (!f->other_machine)
		err = add_range(l, function, at->source, &c);
	if (!err && !f->other_machine)
		err = add_code(l, function, is_compiled, at->source, &c);
	free(c.bytes);
	return err;
}

static bool wants_code(const struct look *l, const struct annotated *f)
{
	return l->query->with_code || !f->line_count;
}

/* Instructions, or where there are none, the location. */
static int look_at_code(struct look *l, const struct chain *chain, size_t from,
			const struct function_location *at)
{
	uint32_t function = annotated_of(l->a, chain->functions[from]);
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

static int compare_instructions(const void *x, const void *y)
{
	const struct annotate_instruction *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void order_instructions(struct annotate *a)
{
	if (a->instruction_count)
		qsort(a->instructions, a->instruction_count, sizeof(*a->instructions),
		      compare_instructions);
	for (size_t i = 0; i < a->instruction_count; i++) {
		struct annotated *f = &a->functions[a->instructions[i].function];

		if (!f->instruction_count++)
			f->first_instruction = i;
	}
}

/* ---- why there are no lines ---- */

static void find_gap(const struct look *l, struct annotated *f)
{
	struct resolver_source source;

	f->gap = ANNOTATE_WHOLE;
	if (f->line_count)
		return;
	f->gap = ANNOTATE_KERNEL;
	if (!f->source || !resolver_source(l->resolver, f->source - 1, &source))
		return;
	if (source.reason == NAME_ANONYMOUS || !*source.path)
		f->gap = ANNOTATE_JIT;
	else if (source.trust == NAME_BY_BUNDLE)
		f->gap = ANNOTATE_BUNDLE;
	else if (!*source.file && !*source.debug_file)
		f->gap = ANNOTATE_FILE;
	else
		f->gap = ANNOTATE_NO_DWARF;
	if (source.reason != NAME_FOUND && f->gap != ANNOTATE_NO_DWARF)
		f->reason = source.reason;
}

int annotate_look(struct annotate *a, const struct annotate_query *query,
		  const struct function_table *n, struct resolver *resolver,
		  struct string_table *names)
{
	struct look l = { .a = a, .query = query, .n = n, .resolver = resolver, .names = names };
	int err = choose_functions(&l);

	if (!err)
		err = each_place(&l, look_at_lines);
	if (!err) {
		unite_lines(a);
		err = read_files(&l);
	}
	if (!err)
		err = each_place(&l, look_at_code);
	free(l.ranges);
	order_instructions(a);
	for (size_t i = 0; !err && i < a->function_count; i++)
		find_gap(&l, &a->functions[i]);
	return err;
}

/* ---- counting ---- */

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
						       sizeof(key), compare_lines)
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
				 compare_instructions(&c->a->instructions[i], &key) <= 0);
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
		uint32_t function = annotated_of(c->a, c->frames[i]);
		bool repeated = false;

		if (function == ANNOTATE_NONE)
			continue;
		for (size_t k = first; k < i; k++)
			repeated |= annotated_of(c->a, c->frames[k]) == function;
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

void annotate_done(struct annotate *a)
{
	for (size_t i = 0; i < a->file_count; i++)
		source_text_done(&a->files[i].text);
	for (size_t i = 0; i < a->instruction_count; i++)
		free(a->instructions[i].text);
	free(a->functions);
	free(a->lines);
	free(a->instructions);
	free(a->files);
	free(a->by_function);
	*a = (struct annotate){ 0 };
}
