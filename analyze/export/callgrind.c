/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The profile format of callgrind: what each function cost, and what each of its calls cost.  The
 * cost of a call is that of the stacks it is on, each counted once however often it recurs.  The
 * first function of a stack is called by "(all)": readers take the calls of a function for its
 * inclusive cost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/exporter.h"
#include "analyze/out/message.h"
#include "format/base/vec.h"

struct edge {
	uint32_t caller, callee;
	uint64_t cost;
	size_t seen; /* the last stack it was on, and 1 */
};

struct graph {
	struct edge *edges;
	size_t count, capacity;
	struct hash_index index;
	uint64_t *self; /* by function */
	uint64_t sum;
};

static int add_edge(struct graph *g, uint32_t caller, uint32_t callee, uint64_t cost, size_t stack)
{
	uint64_t hash;
	struct edge *e;
	uint32_t pos, id;
	int err;

	err = hash_index_reserve(&g->index);
	if (!err)
		err = vec_reserve(&g->edges, &g->capacity, g->count + 1);
	if (err)
		return err;
	hash = hash_index_pair(&g->index, caller, callee);
	pos = hash_index_start(&g->index, hash);
	while ((id = hash_index_match(&g->index, hash, &pos)) != HASH_INDEX_NONE) {
		e = &g->edges[id];
		/* NOLINTNEXTLINE: what the index finds was put into the edges */
		if (e->caller == caller && e->callee == callee) {
			e->cost += e->seen == stack ? 0 : cost;
			e->seen = stack;
			return 0;
		}
	}
	hash_index_put(&g->index, hash, pos, (uint32_t)g->count);
	g->edges[g->count++] = (struct edge){ caller, callee, cost, stack };
	return 0;
}

static int build(struct report *r, const struct export_ask *ask, struct graph *g)
{
	struct export_stacks s;
	uint64_t cost;
	int err;

	g->self = calloc(r->naming.function_count + 1, sizeof(*g->self));
	if (!g->self)
		return -ENOMEM;
	err = export_stacks_init(&s, r);
	for (size_t i = 0; !err && i < s.count; i++) {
		err = export_stacks_read(&s, i);
		cost = export_weight(ask, s.list[i]);
		g->sum += cost;
		if (err || !s.path.count)
			continue;
		g->self[s.path.labels[0]] += cost;
		err = add_edge(g, (uint32_t)r->naming.function_count,
			       s.path.labels[s.path.count - 1], cost, i + 1);
		for (size_t f = 1; !err && f < s.path.count; f++)
			/* A call of itself would count for the function twice. */
			if (s.path.labels[f] != s.path.labels[f - 1])
				err = add_edge(g, s.path.labels[f], s.path.labels[f - 1], cost,
					       i + 1);
	}
	export_stacks_done(&s);
	return err;
}

static int by_caller(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* A line that names: "fn=(7) main" the first time, "fn=(7)" later. */
static void write_name(FILE *to, const char *key, uint32_t id, const char *text, bool *known)
{
	fprintf(to, "%s=(%" PRIu32 ")", key, id);
	if (!*known) {
		putc(' ', to);
		message_escaped(to, text, strlen(text));
	}
	putc('\n', to);
	*known = true;
}

struct output {
	struct report *r;
	bool *known_names, *known_files, known_source;
	FILE *to;
};

static void write_place(struct output *o, bool called, uint32_t function)
{
	bool is_all = function == o->r->naming.function_count;
	const struct function all = { 0 }, *f = is_all ? &all : &o->r->naming.functions[function];

	write_name(o->to, called ? "cob" : "ob", f->dso + 1, string_table_text(o->r->names, f->dso),
		   &o->known_files[f->dso]);
	/* Source files are not known; readers want a name for them. */
	write_name(o->to, called ? "cfi" : "fl", 1, "???", &o->known_source);
	write_name(o->to, called ? "cfn" : "fn", function + 1,
		   is_all ? "(all)" : string_table_text(o->r->names, f->name),
		   &o->known_names[function]);
}

static void write_graph(struct output *o, const struct graph *g)
{
	size_t at = 0;

	for (uint32_t i = 0; i <= o->r->naming.function_count; i++) {
		if (!g->self[i] && (at == g->count || g->edges[at].caller != i))
			continue;
		putc('\n', o->to);
		write_place(o, false, i);
		fprintf(o->to, "0 %" PRIu64 "\n", g->self[i]);
		for (; at < g->count && g->edges[at].caller == i; at++) {
			write_place(o, true, g->edges[at].callee);
			/* Samples do not have the number of calls. */
			fprintf(o->to, "calls=1 0\n0 %" PRIu64 "\n", g->edges[at].cost);
		}
	}
}

int export_callgrind(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct output o = { .r = r, .to = to };
	struct graph g = { 0 };
	int err = build(r, ask, &g);

	o.known_names = calloc(r->naming.function_count + 2, sizeof(bool));
	o.known_files = calloc((size_t)string_table_count(r->names) + 1, sizeof(bool));
	if (!err && (!o.known_names || !o.known_files))
		err = -ENOMEM;
	if (!err) {
		if (g.count)
			qsort(g.edges, g.count, sizeof(*g.edges), by_caller);
		fprintf(to,
			"# callgrind format\nversion: 1\ncreator: ebprec " EBPREC_VERSION
			"\npositions: line\nevents: %s\nsummary: %" PRIu64 "\n",
			ask->weight_name, g.sum);
		write_graph(&o, &g);
		fprintf(to, "\ntotals: %" PRIu64 "\n", g.sum);
	}
	free(o.known_names);
	free(o.known_files);
	free(g.edges);
	free(g.self);
	hash_index_done(&g.index);
	return err;
}
