/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/views.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/annotate/annotate_text.h"
#include "analyze/report/profile/callgraph.h"
#include "analyze/report/profile/calltree.h"
#include "analyze/report/profile/flame_svg.h"
#include "analyze/report/profile/folded.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

/* ---- folded ---- */

static int comm_label(void *ctx, uint32_t group, uint32_t *label)
{
	return report_comm_label(ctx, group, label);
}

static int function_labels(struct report *r, bool annotate, uint32_t **out)
{
	const struct function_table *n = &r->naming;
	uint32_t *labels = calloc(n->function_count + 1, sizeof(*labels));
	int err = labels ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];
		const char *mark = f->is_kernel ? "_[k]" : f->is_inlined ? "_[i]" : "";

		err = function_table_label(r->names, string_table_text(r->names, f->name),
					   annotate ? mark : "", &labels[i]);
	}
	if (err) {
		free(labels);
		return err;
	}
	*out = labels;
	return 0;
}

static int write_folded(struct report *r, const struct report_ask *ask, FILE *to)
{
	struct calltree_labels by = { .group = comm_label, .ctx = r };
	struct calltree tree;
	uint32_t *labels;
	int err;

	err = function_labels(r, ask->annotations, &labels);
	if (err)
		return err;
	by.frames = labels;
	err = calltree_build(&r->stacks, &by, ask->weight, &tree);
	free(labels);
	if (err)
		return err;
	err = folded_write(&tree, r->names, 0, to);
	calltree_done(&tree);
	return err;
}

/* ---- a flame graph ---- */

static enum flame_kind kind_of(const struct report *r, const struct function *f)
{
	if (!strcmp(string_table_text(r->names, f->dso), "[off-cpu]"))
		return FLAME_WAIT;
	if (f->reason)
		return FLAME_UNNAMED;
	return f->is_kernel ? FLAME_KERNEL : f->is_inlined ? FLAME_INLINED : FLAME_USER;
}

/* By label.  Owned; NULL: no memory. */
static uint8_t *kinds_of(const struct report *r, const uint32_t *labels)
{
	uint8_t *kinds = calloc(string_table_count(r->names) + 1, sizeof(*kinds));

	for (size_t i = 0; kinds && i < r->naming.function_count; i++)
		kinds[labels[i]] = (uint8_t)kind_of(r, &r->naming.functions[i]);
	return kinds;
}

static int draw_svg(struct report *r, const struct report_ask *ask, const uint32_t *labels,
		    const uint8_t *kinds, FILE *to)
{
	struct calltree_labels by = { .frames = labels, .group = comm_label, .ctx = r };
	struct flame_style style = { .unit = ask->weight_name, .kinds = kinds };
	char *title = strndup(ask->head + strspn(ask->head, "# "),
			      strcspn(ask->head + strspn(ask->head, "# "), "\n"));
	struct calltree tree;
	int err;

	if (!title)
		return -ENOMEM;
	style.title = title;
	err = calltree_build(&r->stacks, &by, ask->weight, &tree);
	if (!err) {
		err = flame_svg_write(&tree, r->names, &style, to);
		calltree_done(&tree);
	}
	free(title);
	return err;
}

static int write_svg(struct report *r, const struct report_ask *ask, FILE *to)
{
	uint32_t *labels;
	uint8_t *kinds;
	int err = function_labels(r, true, &labels);

	if (err)
		return err;
	kinds = kinds_of(r, labels);
	err = kinds ? draw_svg(r, ask, labels, kinds, to) : -ENOMEM;
	free(kinds);
	free(labels);
	return err;
}

/* ---- keys ---- */

static int make_keys(struct report *r, const struct report_ask *ask, struct row_keys *out)
{
	struct row_keys_source source = {
		.naming = &r->naming,
		.names = r->names,
		.containers = r->containers,
		.services = r->services,
		.sources = &r->sources,
		.hide_system = ask->hide_system,
	};
	uint32_t *categories = NULL;
	int err = 0;

	source.groups = groups_list(r->groups, &source.group_count);
	if (ask->categories)
		err = categories_run(ask->categories, &r->naming, r->names, &categories);
	source.categories = categories;
	if (!err)
		err = row_keys_make(&ask->keys, &source, out);
	free(categories);
	return err;
}

static int write_functions(struct report *r, const struct report_ask *ask, FILE *to)
{
	struct flat_style style = {
		.weight = ask->weight_name,
		.event = r->event,
		.no_children = ask->no_children,
		.form = ask->form,
	};
	struct row_keys keys;
	struct flat flat;
	int err;

	terminal_of(to, &style.look);
	err = make_keys(r, ask, &keys);
	if (err)
		return err;
	err = flat_make(&r->stacks, ask->weight, &keys, &ask->keys, r->names, ask->by_total, &flat);
	if (!err) {
		style.min_cost = saturate_part(ask->min_percent / 100 * (double)flat.sum, flat.sum);
		fputs(ask->head, to);
		flat_write(&flat, &keys, &ask->keys, r->names, &style, to);
		flat_done(&flat);
	}
	row_keys_done(&keys);
	return err;
}

/* ---- trees ---- */

/* For each label of a group, the labels of the levels above its calls. */
static int make_levels(struct row_keys *t, const struct sort_keys *keys, size_t group_count,
		       uint32_t **out, size_t *level_count)
{
	size_t count = 0, labels = t->count;
	uint32_t *levels;
	int err = 0;

	for (size_t k = 0; k < keys->count; k++)
		count += !!sort_key_info(keys->list[k])->fields;
	levels = calloc(labels * count + 1, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	for (size_t g = 0; count && !err && g < group_count; g++) {
		size_t at = t->by_group[g] * count;

		for (size_t k = 0; !err && k < keys->count; k++)
			if (sort_key_info(keys->list[k])->fields)
				err = row_keys_part(t, t->by_group[g], keys->list[k],
						    &levels[at++]);
	}
	if (err) {
		free(levels);
		return err;
	}
	*out = levels;
	*level_count = count;
	return 0;
}

/* The labels that text names: exactly, or if there is none so named, as a regular expression. */
static int find_labels(const struct row_keys *t, const struct string_table *names, const char *text,
		       bool **out)
{
	bool *wanted = calloc(t->count + 1, sizeof(*wanted)), found = false;
	const char *name;
	regex_t regex;

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		wanted[i] = !strcmp(string_table_text(names, t->labels[i].texts[KEY_SYMBOL]), text);
		found |= wanted[i];
	}
	if (!found && !regcomp(&regex, text, REG_EXTENDED | REG_NOSUB)) {
		for (size_t i = 0; i < t->count; i++) {
			name = string_table_text(names, t->labels[i].texts[KEY_SYMBOL]);
			wanted[i] = *name && !regexec(&regex, name, 0, NULL, 0);
			found |= wanted[i];
		}
		regfree(&regex);
	}
	if (!found) {
		free(wanted);
		return -ENOENT;
	}
	*out = wanted;
	return 0;
}

static int write_graph(struct report *r, const struct report_ask *ask, enum callgraph_shape shape,
		       FILE *to)
{
	struct callgraph_query query = {
		.shape = shape,
		.weight = ask->weight,
		.fold_recursion = ask->fold_recursion,
	};
	struct callgraph_style style = {
		.weight = ask->weight_name,
		.event = r->event,
		.min_percent = ask->min_percent,
		.max_depth = ask->max_depth,
		.no_self = shape == CALLGRAPH_BOTTOM_UP || shape == CALLGRAPH_CALLERS,
		.json = ask->form == FLAT_JSON,
	};
	uint32_t *levels = NULL;
	bool *wanted = NULL;
	struct row_keys keys;
	struct callgraph g;
	size_t group_count;
	int err;

	terminal_of(to, &style.look);
	groups_list(r->groups, &group_count);
	err = make_keys(r, ask, &keys);
	if (err)
		return err;
	err = make_levels(&keys, &ask->keys, group_count, &levels, &query.level_count);
	if (!err && ask->around)
		err = find_labels(&keys, r->names, ask->around, &wanted);
	if (!err) {
		query.keys = &keys;
		query.levels = levels;
		query.wanted = wanted;
		err = callgraph_build(&r->stacks, &query, &g);
	}
	if (!err) {
		/* Process and thread are levels, but no calls. */
		if (style.max_depth)
			style.max_depth += (unsigned)query.level_count;
		fputs(ask->head, to);
		err = callgraph_write(&g, &keys, r->names, &style, to);
		callgraph_done(&g);
	}
	free(wanted);
	free(levels);
	row_keys_done(&keys);
	return err;
}

static int write_tree(struct report *r, const struct report_ask *ask, FILE *to)
{
	return write_graph(r, ask, CALLGRAPH_TOP_DOWN, to);
}

static int write_bottom_up(struct report *r, const struct report_ask *ask, FILE *to)
{
	return write_graph(r, ask, CALLGRAPH_BOTTOM_UP, to);
}

static int write_callers(struct report *r, const struct report_ask *ask, FILE *to)
{
	return write_graph(r, ask, CALLGRAPH_CALLERS, to);
}

static int write_callees(struct report *r, const struct report_ask *ask, FILE *to)
{
	return write_graph(r, ask, CALLGRAPH_CALLEES, to);
}

/* ---- the source of a function ---- */

/* The message that no function has this name comes later, for the picked stacks. */
static int look_at_function(void *arg, struct resolver *resolver)
{
	struct report_annotate *a = arg;
	int err = annotate_look(&a->found, &a->query, &a->report->naming, resolver,
				a->report->names);

	return err == -ENOENT ? 0 : err;
}

void report_annotate_begin(struct report_annotate *a, struct report *r, struct report_query *query)
{
	uint64_t sample_ns;

	a->report = r;
	if (!capture_clock(r->capture, &sample_ns, &a->query.recorded_ns))
		a->query.recorded_ns = 0;
	query->on_named = look_at_function;
	query->on_named_arg = a;
	query->with_lines = query->with_inlined = query->with_locations = true;
}

static int write_annotate(struct report *r, const struct report_ask *ask, FILE *to)
{
	struct annotate_style style = {
		.weight = ask->weight_name,
		.head = ask->head,
		.min_percent = ask->min_percent,
		.json = ask->form == FLAT_JSON,
		.with_code = ask->annotate->query.with_code,
	};
	int err = annotate_count(&ask->annotate->found, &r->naming, &r->stacks,
				 ask->weight == CALLTREE_PERIOD);

	terminal_of(to, &style.look);
	return err ? err : annotate_write(&ask->annotate->found, r->names, &style, to);
}

/* ---- waits ---- */

static int write_waits(struct report *r, const struct report_ask *ask, FILE *to)
{
	const struct wait_table_style style = {
		.form = ask->form == FLAT_CSV    ? WAIT_TABLE_CSV
			: ask->form == FLAT_JSON ? WAIT_TABLE_JSON
						 : WAIT_TABLE_TEXT,
		.min_percent = ask->min_percent,
		.with_ids = sort_keys_has(&ask->keys, KEY_TID) ||
			    sort_keys_has(&ask->keys, KEY_PID),
	};

	fputs(ask->head, to);
	return wait_table_write(&r->wait_table, r->names, &style, to);
}

/* ---- where names came from ---- */

static int write_symbols(struct report *r, const struct report_ask *ask, FILE *to)
{
	return symbol_coverage_write(&r->symbols, r->names, ask->form == FLAT_JSON, to);
}

/* ---- the table ---- */

static const struct report_view views[] = {
	{ "functions", write_functions, "dso,symbol", false },
	{ "folded", write_folded, NULL, true },
	{ "tree", write_tree, "comm,symbol,dso", false },
	{ "bottom-up", write_bottom_up, "symbol,dso", false },
	{ "callers", write_callers, "symbol,dso", false },
	{ "callees", write_callees, "symbol,dso", false },
	{ "svg", write_svg, NULL, false },
	{ "annotate", write_annotate, NULL, false },
	{ "waits", write_waits, "comm", false },
	{ "symbols-report", write_symbols, NULL, true },
};

const struct report_view *report_views(size_t *count)
{
	*count = sizeof(views) / sizeof(views[0]);
	return views;
}

const struct report_view *report_view(const char *name)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcmp(views[i].name, name))
			return &views[i];
	return NULL;
}
