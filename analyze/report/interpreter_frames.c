/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/interpreter_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/report/quality/runtimes.h"
#include "format/base/vec.h"

#define NO_NODE UINT32_MAX

enum kind { KIND_OTHER, KIND_LOOP, KIND_PROGRAM };

/* The frames of one path, and what they are moved to. */
struct walk {
	const struct stack_table *from;
	const struct function_table *functions;
	const uint8_t *kinds; /* by function: enum kind */
	struct stack_table *to;
	uint32_t *nodes; /* of from: its path's node in to, NO_NODE: not looked for yet */
	uint32_t *path;  /* functions, outermost last */
	size_t count, capacity;
};

static uint8_t *find_kinds(const struct function_table *n, const struct string_table *names)
{
	uint8_t *kinds = calloc(n->function_count + 1, sizeof(*kinds));

	for (size_t i = 0; kinds && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];
		const char *name = string_table_text(names, f->name);

		if (f->reason != NAME_FOUND)
			continue;
		if (runtimes_of_named(name))
			kinds[i] = KIND_PROGRAM;
		else if (runtimes_of_function(name))
			kinds[i] = KIND_LOOP;
	}
	return kinds;
}

/* The functions of a path; *first and *last are the innermost and the outermost one of the program, if there is *any. */
static int read_path(struct walk *w, uint32_t node, size_t *first, size_t *last, bool *any)
{
	int err = 0;

	w->count = 0;
	*any = false;
	for (; !err && node >= STACK_TABLE_FIRST_NODE; node = w->from->nodes[node].parent) {
		err = vec_reserve(&w->path, &w->capacity, w->count + 1);
		if (err)
			break;
		w->path[w->count] = w->from->nodes[node].frame;
		if (w->kinds[w->path[w->count]] == KIND_PROGRAM) {
			*first = *any ? *first : w->count;
			*last = w->count;
			*any = true;
		}
		w->count++;
	}
	return err;
}

/* Whether a loop of that file is on the path. */
static bool has_loop_of(const struct walk *w, uint32_t dso)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->kinds[w->path[i]] == KIND_LOOP &&
		    w->functions->functions[w->path[i]].dso == dso)
			return true;
	return false;
}

static bool is_dropped(const struct walk *w, size_t at, size_t first, size_t last)
{
	uint32_t function = w->path[at];

	if (w->kinds[function] != KIND_OTHER)
		return w->kinds[function] == KIND_LOOP;
	return at > first && at < last && has_loop_of(w, w->functions->functions[function].dso);
}

static int move_path(struct walk *w, uint32_t node, uint32_t root)
{
	size_t first = 0, last = 0;
	uint32_t at = root;
	bool any;
	int err = read_path(w, node, &first, &last, &any);

	for (size_t i = w->count; !err && i--;)
		if (!any || !is_dropped(w, i, first, last))
			err = stack_table_child(w->to, at, w->path[i], &at);
	w->nodes[node] = at;
	return err;
}

static int move_entries(struct walk *w)
{
	int err = 0;

	for (size_t i = 0; !err && i < w->from->entry_count; i++) {
		const struct stack_table_entry *e = &w->from->entries[i];
		struct stack_table_key key = e->key;

		if (w->nodes[key.user] == NO_NODE)
			err = move_path(w, key.user, STACK_TABLE_USER_ROOT);
		if (!err && w->nodes[key.kernel] == NO_NODE)
			err = move_path(w, key.kernel, STACK_TABLE_KERNEL_ROOT);
		if (err)
			break;
		key.user = w->nodes[key.user];
		key.kernel = w->nodes[key.kernel];
		err = stack_table_count(w->to, &key, e->sample_count, e->period_sum);
	}
	return err;
}

int interpreter_frames_drop(struct stack_table *s, const struct function_table *n,
			    const struct string_table *names)
{
	uint8_t *kinds = find_kinds(n, names);
	struct stack_table to = { 0 };
	struct walk w = { .from = s, .functions = n, .kinds = kinds, .to = &to };
	int err = kinds ? stack_table_init(&to, NULL) : -ENOMEM;

	w.nodes = malloc(s->node_count * sizeof(*w.nodes));
	if (!err && !w.nodes)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < s->node_count; i++)
		w.nodes[i] = i < STACK_TABLE_FIRST_NODE ? (uint32_t)i : NO_NODE;
	if (!err)
		err = move_entries(&w);
	free(w.nodes);
	free(w.path);
	free(kinds);
	if (err) {
		stack_table_done(&to);
		return err;
	}
	stack_table_done(s);
	*s = to;
	return 0;
}
