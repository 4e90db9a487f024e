/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/views.h"
#include "format/base/hash_index.h"

static int write_view(const char *name, enum flat_form form, struct report *r,
		      const struct export_ask *ask, FILE *to)
{
	struct report_ask view = {
		.weight = ask->weight,
		.weight_name = ask->weight_name,
		.form = form,
		.head = "",
		.keys = { { KEY_COMM, KEY_DSO, KEY_SYMBOL }, 3 },
	};

	return report_view(name)->write(r, &view, to);
}

static int export_folded(struct report *r, const struct export_ask *ask, FILE *to)
{
	return write_view("folded", FLAT_TEXT, r, ask, to);
}

static int export_csv(struct report *r, const struct export_ask *ask, FILE *to)
{
	return write_view("functions", FLAT_CSV, r, ask, to);
}

static int export_json_table(struct report *r, const struct export_ask *ask, FILE *to)
{
	return write_view("functions", FLAT_JSON, r, ask, to);
}

#define GROUP_THREAD (GROUP_COMM | GROUP_PID | GROUP_TID)

static const struct exporter table[] = {
	{ "folded", "a line a stack", GROUP_COMM, false, export_folded, "flamegraph.pl, inferno" },
	{ "pprof", "gzipped protocol buffers", GROUP_THREAD | GROUP_CGROUP, true, export_pprof,
	  "pprof, Grafana" },
	{ "speedscope", "JSON", GROUP_COMM, false, export_speedscope, "speedscope" },
	{ "firefox", "JSON of a processed profile", GROUP_THREAD | GROUP_CGROUP | GROUP_TIME, true,
	  export_firefox, "profiler.firefox.com" },
	{ "chrome", "JSON of trace events", GROUP_THREAD | GROUP_CGROUP | GROUP_TIME, true,
	  export_chrome, "Perfetto, chrome://tracing" },
	{ "callgrind", "costs of functions and calls", GROUP_COMM, false, export_callgrind,
	  "callgrind_annotate, kcachegrind" },
	{ "csv", "a table of comm, dso and symbol", GROUP_COMM, false, export_csv, "spreadsheets" },
	{ "json", "the same table", GROUP_COMM, false, export_json_table, "jq" },
	{ "perf-cache", "a folder with names of Python code", 0, false, NULL, "perf" },
};

const struct exporter *exporters(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* ---- files ---- */

static int add_file(const struct report *r, struct export_files *f, struct hash_index *index,
		    uint32_t function)
{
	uint32_t dso = r->naming.functions[function].dso;
	uint32_t build_id = name_sources_of(&r->sources, function).build_id;
	uint32_t pos, id, first;
	uint64_t hash;
	int err = hash_index_reserve(index);

	if (err)
		return err;
	hash = hash_index_pair(index, dso, build_id);
	pos = hash_index_start(index, hash);
	while ((id = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE) {
		first = f->functions[id];
		if (r->naming.functions[first].dso == dso &&
		    name_sources_of(&r->sources, first).build_id == build_id)
			break;
	}
	if (id == HASH_INDEX_NONE) {
		id = (uint32_t)f->count++;
		f->functions[id] = function;
		hash_index_put(index, hash, pos, id);
	}
	f->by_function[function] = id;
	return 0;
}

int export_files_make(const struct report *r, bool (*wants)(const char *path),
		      struct export_files *out)
{
	size_t count = r->naming.function_count;
	struct export_files f = { .by_function = calloc(count + 1, sizeof(*f.by_function)),
				  .functions = calloc(count + 1, sizeof(*f.functions)) };
	struct hash_index index = { 0 };
	int err = f.by_function && f.functions ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		f.by_function[i] = EXPORT_NO_FILE;
		if (!wants || wants(string_table_text(r->names, r->naming.functions[i].dso)))
			err = add_file(r, &f, &index, (uint32_t)i);
	}
	hash_index_done(&index);
	if (err)
		export_files_done(&f);
	else
		*out = f;
	return err;
}

void export_files_done(struct export_files *f)
{
	free(f->by_function);
	free(f->functions);
	*f = (struct export_files){ 0 };
}

/* ---- stacks in order ---- */

static const char *build_id_of(const struct report *r, uint32_t function)
{
	return string_table_text(r->names, name_sources_of(&r->sources, function).build_id);
}

static int by_names(const struct export_stacks *s, uint32_t fa, uint32_t fb)
{
	const struct function *a = &s->r->naming.functions[fa], *b = &s->r->naming.functions[fb];
	int cmp;

	if (fa == fb)
		return 0;
	cmp = strcmp(string_table_text(s->r->names, a->name),
		     string_table_text(s->r->names, b->name));
	if (!cmp)
		cmp = strcmp(string_table_text(s->r->names, a->dso),
			     string_table_text(s->r->names, b->dso));
	if (!cmp)
		cmp = (int)a->reason - (int)b->reason;
	if (!cmp)
		cmp = strcmp(build_id_of(s->r, fa), build_id_of(s->r, fb));
	return cmp ? cmp : (int)a->is_inlined - (int)b->is_inlined;
}

static int by_frames(const struct export_stacks *s, uint32_t a, uint32_t b)
{
	const struct stack_table_node *nodes = s->r->stacks.nodes;
	int cmp;

	for (; a != b; a = nodes[a].parent, b = nodes[b].parent) {
		if (a < STACK_TABLE_FIRST_NODE || b < STACK_TABLE_FIRST_NODE)
			return a < b ? -1 : 1;
		cmp = by_names(s, nodes[a].frame, nodes[b].frame);
		if (cmp)
			return cmp;
	}
	return 0;
}

static int by_group(const void *va, const void *vb, void *ctx)
{
	const struct stack_table_entry *a = *(const struct stack_table_entry *const *)va;
	const struct stack_table_entry *b = *(const struct stack_table_entry *const *)vb;
	const struct export_stacks *s = ctx;
	const struct group *ga = &s->groups[a->key.group], *gb = &s->groups[b->key.group];
	char ua[16], ub[16];
	int cmp;

	if (ga != gb) {
		if (ga->pid != gb->pid)
			return ga->pid < gb->pid ? -1 : 1;
		if (ga->tid != gb->tid)
			return ga->tid < gb->tid ? -1 : 1;
		if (ga->time_ns != gb->time_ns)
			return ga->time_ns < gb->time_ns ? -1 : 1;
		cmp = strcmp(export_comm(s->r, ga, ua), export_comm(s->r, gb, ub));
		if (!cmp)
			cmp = strcmp(string_table_text(s->r->names, (uint32_t)ga->cgroup),
				     string_table_text(s->r->names, (uint32_t)gb->cgroup));
		if (cmp)
			return cmp;
	}
	cmp = by_frames(s, a->key.kernel, b->key.kernel);
	if (!cmp)
		cmp = by_frames(s, a->key.user, b->key.user);
	return cmp ? cmp : (int)a->key.end - (int)b->key.end;
}

int export_stacks_init(struct export_stacks *s, struct report *r)
{
	struct export_stacks fresh = { .r = r, .count = r->stacks.entry_count };
	size_t group_count;

	fresh.groups = groups_list(r->groups, &group_count);
	fresh.list = calloc(fresh.count + 1, sizeof(const void *));
	fresh.labels = calloc(r->naming.function_count + 1, sizeof(*fresh.labels));
	if (!fresh.list || !fresh.labels) {
		export_stacks_done(&fresh);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->naming.function_count; i++)
		fresh.labels[i] = (uint32_t)i;
	for (size_t i = 0; i < fresh.count; i++)
		fresh.list[i] = &r->stacks.entries[i];
	qsort_r(fresh.list, fresh.count, sizeof(const void *), by_group, &fresh);
	*s = fresh;
	return 0;
}

void export_stacks_done(struct export_stacks *s)
{
	free(s->list);
	free(s->labels);
	stack_path_done(&s->path);
	*s = (struct export_stacks){ 0 };
}

int export_stacks_read(struct export_stacks *s, size_t i)
{
	struct stack_path_rule rule = { .labels = s->labels, .empty = STACK_PATH_NONE };
	int err = stack_path_read(&s->path, &s->r->stacks, s->list[i], &rule);

	if (!err && s->path.labels[0] == STACK_PATH_NONE)
		s->path.count = 0; /* a stack without frames */
	return err;
}

const struct group *export_stacks_group(const struct export_stacks *s, size_t i)
{
	return &s->groups[s->list[i]->key.group];
}

uint64_t export_weight(const struct export_ask *ask, const struct stack_table_entry *e)
{
	return ask->weight == CALLTREE_PERIOD ? e->period_sum : e->sample_count;
}

const char *export_comm(const struct report *r, const struct group *g, char unknown[16])
{
	if (!(g->comm & STACK_COUNTER_TID_GROUP))
		return string_table_text(r->names, g->comm);
	snprintf(unknown, 16, ":%d", (int)(g->comm << 1) >> 1);
	return unknown;
}

int export_container(const struct report *r, const struct group *g, uint32_t *out)
{
	uint32_t name = 0;
	int err = 0;

	if (*string_table_text(r->names, (uint32_t)g->cgroup) == '/')
		err = container_names_name(r->containers, r->names, (uint32_t)g->cgroup, &name);
	if (!err)
		*out = strcmp(string_table_text(r->names, name), CONTAINER_NAMES_HOST) ? name : 0;
	return err;
}
