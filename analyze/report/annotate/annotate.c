/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Which functions are annotated, where their code is, and why lines are missing. */
#include "analyze/report/annotate/annotate_priv.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

/* ---- which functions ---- */

static bool is_code(const struct function *f)
{
	return f->location || f->is_inlined;
}

/* By number of a name in the strings.  Owned; NULL: no memory. */
static bool *match_names(const struct annotate_look *l,
			 bool (*matches)(const void *how, const char *name), const void *how,
			 bool *found)
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
static bool *find_names(const struct annotate_look *l, bool *found)
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
	size_t used = 0;

	qsort(a->functions, a->function_count, sizeof(*a->functions), compare_functions);
	for (size_t i = 0; i < a->function_count; i++)
		if (!used || compare_functions(&a->functions[used - 1], &a->functions[i]) != 0)
			a->functions[used++] = a->functions[i];
	a->function_count = used;
}

static int choose_functions(struct annotate_look *l)
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

/* ---- places ---- */

static void read_chain(const struct function_table *n, size_t place, struct annotate_chain *out)
{
	size_t first = n->inlined_first ? n->inlined_first[place] : 0,
	       end = n->inlined_first ? n->inlined_first[place + 1] : 0;

	out->count = 1;
	out->functions[0] = n->by_place[place];
	for (size_t i = first; i < end && out->count <= ANNOTATE_FRAMES_MAX; i++)
		out->functions[out->count++] = n->inlined[i];
}

/* Whether a function of the chain is the same annotated one as one before it. */
static bool is_repeated(const struct annotate *a, const struct annotate_chain *chain, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (annotate_number_of(a, chain->functions[k]) ==
		    annotate_number_of(a, chain->functions[i]))
			return true;
	return false;
}

/* For each place, and each annotated function that it is in.  0, or the first error of fn. */
static int each_place(struct annotate_look *l, annotate_place_fn fn)
{
	const struct function_table *n = l->n;
	struct annotate_chain chain;
	int err = 0;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];
		size_t place = f->location - 1;

		if (!f->location || n->by_place[place] != i)
			continue;
		read_chain(n, place, &chain);
		for (size_t k = 0; !err && k < chain.count; k++)
			if (annotate_number_of(l->a, chain.functions[k]) != ANNOTATE_NONE &&
			    !is_repeated(l->a, &chain, k))
				err = fn(l, &chain, k, &n->locations[place]);
	}
	return err;
}

/* ---- why there are no lines ---- */

static void find_gap(const struct annotate_look *l, struct annotated *f)
{
	struct resolver_source source;

	f->gap = ANNOTATE_COMPLETE;
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
	struct annotate_look l = {
		.a = a, .query = query, .n = n, .resolver = resolver, .names = names
	};
	int err = choose_functions(&l);

	if (!err)
		err = each_place(&l, annotate_lines_add);
	if (!err) {
		annotate_lines_unite(a);
		err = annotate_sources_read(&l);
	}
	if (!err)
		err = each_place(&l, annotate_code_add);
	free(l.ranges);
	annotate_code_order(a);
	for (size_t i = 0; !err && i < a->function_count; i++)
		find_gap(&l, &a->functions[i]);
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
