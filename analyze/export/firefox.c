/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The processed profile format of the Firefox Profiler, version 47 (it upgrades older ones by
 * itself).  A thread has tables of its own; frames and functions are one here, and the stacks are a
 * tree below the functions they begin in.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/exporter.h"
#include "format/base/vec.h"

enum { CATEGORY_USER = 0, CATEGORY_KERNEL = 1 };

/* The functions that one thread uses. */
struct thread {
	struct calltree tree; /* labels: functions of the thread */
	uint32_t *numbers;    /* by function: number in the thread + 1 */
	uint32_t *functions;  /* by number in the thread */
	size_t count, capacity;
	/* Files, by number in the list of libs, and where each of these is among the thread's. */
	uint32_t *resources, *resource_of;
	size_t resource_count, resource_capacity;
	uint32_t *leaves; /* by sample: its node; CALLTREE_ROOT: no stack */
};

static int function_of(struct thread *t, uint32_t function, uint32_t *out)
{
	int err;

	if (!t->numbers[function]) {
		err = vec_reserve(&t->functions, &t->capacity, t->count + 1);
		if (err)
			return err;
		t->functions[t->count++] = function;
		t->numbers[function] = (uint32_t)t->count;
	}
	*out = t->numbers[function] - 1;
	return 0;
}

static int build(struct export_stacks *s, size_t first, size_t end, struct thread *t)
{
	uint32_t label, node;
	int err = calltree_init(&t->tree);

	t->numbers = calloc(s->r->naming.function_count + 1, sizeof(*t->numbers));
	t->leaves = calloc(end - first + 1, sizeof(*t->leaves));
	if (!err && (!t->numbers || !t->leaves))
		err = -ENOMEM;
	for (size_t i = first; !err && i < end; i++) {
		err = export_stacks_read(s, i);
		node = CALLTREE_ROOT;
		for (size_t f = s->path.count; !err && f-- > 0;) {
			err = function_of(t, s->path.labels[f], &label);
			if (!err)
				err = calltree_child(&t->tree, node, label, &node);
		}
		t->leaves[i - first] = node;
	}
	return err;
}

static void thread_done(struct thread *t)
{
	calltree_done(&t->tree);
	free(t->numbers);
	free(t->functions);
	free(t->resources);
	free(t->resource_of);
	free(t->leaves);
}

/* "key": [text, text, ...] of count times the same. */
static void write_column(FILE *to, const char *key, const char *text, size_t count)
{
	fprintf(to, "\"%s\": [", key);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%s", i ? "," : "", text);
	fputs("], ", to);
}

/* ---- files ---- */

#define NO_LIB UINT32_MAX

/* The files of all functions; of one build-id they are one. */
struct libs {
	uint32_t *by_function; /* NO_LIB: it is in no file */
	uint32_t *functions;   /* of each: the first function in it */
	size_t count;
};

static void libs_done(struct libs *l)
{
	free(l->by_function);
	free(l->functions);
}

static int libs_make(const struct report *r, struct libs *out)
{
	size_t count = r->naming.function_count;
	struct libs l = { .by_function = calloc(count + 1, sizeof(*l.by_function)),
			  .functions = calloc(count + 1, sizeof(*l.functions)) };
	uint32_t *seen = calloc(string_table_count(r->names) + 1, sizeof(*seen)); /* + 1 */

	if (!l.by_function || !l.functions || !seen) {
		libs_done(&l);
		free(seen);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t dso = r->naming.functions[i].dso;
		uint32_t id = name_sources_of(&r->sources, i).build_id;
		uint32_t *known = &seen[id ? id : dso];

		l.by_function[i] = NO_LIB;
		if (*string_table_text(r->names, dso) != '/')
			continue;
		if (!*known) {
			l.functions[l.count++] = (uint32_t)i;
			*known = (uint32_t)l.count;
		}
		l.by_function[i] = *known - 1;
	}
	free(seen);
	*out = l;
	return 0;
}

/* A build-id as symbol servers of Windows want it: a GUID, and the age 0. */
static void write_breakpad_id(FILE *to, const char *hex)
{
	static const uint8_t order[] = { 6, 7, 4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 14, 15, 12, 13 };

	if (strlen(hex) < 32)
		return;
	for (size_t i = 0; i < 32; i++) {
		char c = hex[i < sizeof(order) ? order[i] : i];

		putc(c >= 'a' ? c - 'a' + 'A' : c, to);
	}
	putc('0', to);
}

static void write_libs(const struct libs *l, const struct report *r, FILE *to)
{
	fputs(" \"libs\": [", to);
	for (size_t i = 0; i < l->count; i++) {
		const char *path = string_table_text(r->names,
						     r->naming.functions[l->functions[i]].dso);
		const char *id = string_table_text(
			r->names, name_sources_of(&r->sources, l->functions[i]).build_id);
		const char *base = strrchr(path, '/') + 1;

		fprintf(to, "%s\n  {\"arch\": \"\", \"name\": ", i ? "," : "");
		export_json(to, base);
		fputs(", \"path\": ", to);
		export_json(to, path);
		fputs(", \"debugName\": ", to);
		export_json(to, base);
		fputs(", \"debugPath\": ", to);
		export_json(to, path);
		fputs(", \"breakpadId\": \"", to);
		write_breakpad_id(to, id);
		fputs("\", \"codeId\": ", to);
		if (*id)
			export_json(to, id);
		else
			fputs("null", to);
		putc('}', to);
	}
	fputs("], \"pages\": [],\n", to);
}

/* The files of a thread's functions. */
static int find_resources(struct thread *t, const struct libs *l)
{
	int err = 0;

	t->resource_of = calloc(l->count + 1, sizeof(*t->resource_of)); /* + 1 */
	if (!t->resource_of)
		return -ENOMEM;
	for (size_t i = 0; !err && i < t->count; i++) {
		uint32_t lib = l->by_function[t->functions[i]];

		if (lib == NO_LIB || t->resource_of[lib])
			continue;
		err = vec_reserve(&t->resources, &t->resource_capacity, t->resource_count + 1);
		if (err)
			break;
		t->resources[t->resource_count++] = lib;
		t->resource_of[lib] = (uint32_t)t->resource_count;
	}
	return err;
}

/* Their names stand behind those of functions and files. */
static void write_resources(const struct thread *t, FILE *to)
{
	fputs("   \"resourceTable\": {\"lib\": [", to);
	for (size_t i = 0; i < t->resource_count; i++)
		fprintf(to, "%s%" PRIu32, i ? "," : "", t->resources[i]);
	fputs("], \"name\": [", to);
	for (size_t i = 0; i < t->resource_count; i++)
		fprintf(to, "%s%zu", i ? "," : "", 2 * t->count + i);
	fputs("], ", to);
	write_column(to, "host", "null", t->resource_count);
	write_column(to, "type", "1", t->resource_count); /* a library */
	fprintf(to, "\"length\": %zu},\n", t->resource_count);
}

static void write_count(FILE *to, const char *key, size_t count)
{
	fprintf(to, "\"%s\": [", key);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%zu", i ? "," : "", i);
	fputs("], ", to);
}

static void write_samples(const struct export_stacks *s, const struct export_ask *ask,
			  const struct thread *t, size_t first, size_t end, uint64_t base_ns,
			  FILE *to)
{
	fprintf(to, "\n   \"samples\": {\"weightType\": \"%s\", \"weight\": [",
		strcmp(ask->unit, "nanoseconds") ? "samples" : "tracing-ms");
	for (size_t i = first; i < end; i++) {
		uint64_t weight = export_weight(ask, s->list[i]);

		if (strcmp(ask->unit, "nanoseconds") != 0)
			fprintf(to, "%s%" PRIu64, i > first ? "," : "", weight);
		else
			fprintf(to, "%s%.6f", i > first ? "," : "", (double)weight / 1e6);
	}
	fputs("], \"stack\": [", to);
	for (size_t i = first; i < end; i++) {
		uint32_t node = t->leaves[i - first];

		fputs(i > first ? "," : "", to);
		if (node == CALLTREE_ROOT)
			fputs("null", to);
		else
			fprintf(to, "%" PRIu32, node - 1);
	}
	fputs("], \"time\": [", to);
	for (size_t i = first; i < end; i++)
		fprintf(to, "%s%.6f", i > first ? "," : "",
			(double)(export_stacks_group(s, i)->time_ns - base_ns) / 1e6);
	fprintf(to, "], \"length\": %zu},\n", end - first);
}

static bool is_kernel(const struct export_stacks *s, const struct thread *t, uint32_t number)
{
	return s->r->naming.functions[t->functions[number]].is_kernel;
}

static void write_stacks(const struct export_stacks *s, const struct thread *t, FILE *to)
{
	size_t count = t->tree.count - 1;

	fputs("   \"stackTable\": {\"frame\": [", to);
	for (size_t i = 1; i <= count; i++)
		fprintf(to, "%s%" PRIu32, i > 1 ? "," : "", t->tree.nodes[i].label);
	fputs("], \"prefix\": [", to);
	for (size_t i = 1; i <= count; i++) {
		uint32_t parent = t->tree.nodes[i].parent;

		fputs(i > 1 ? "," : "", to);
		if (parent == CALLTREE_ROOT)
			fputs("null", to);
		else
			fprintf(to, "%" PRIu32, parent - 1);
	}
	fputs("], \"category\": [", to);
	for (size_t i = 1; i <= count; i++)
		fprintf(to, "%s%d", i > 1 ? "," : "",
			is_kernel(s, t, t->tree.nodes[i].label) ? CATEGORY_KERNEL : CATEGORY_USER);
	fputs("], ", to);
	write_column(to, "subcategory", "0", count);
	fprintf(to, "\"length\": %zu},\n", count);
}

static void write_frames(const struct export_stacks *s, const struct libs *l,
			 const struct thread *t, FILE *to)
{
	fputs("   \"frameTable\": {", to);
	write_column(to, "address", "-1", t->count);
	write_column(to, "inlineDepth", "0", t->count);
	fputs("\"category\": [", to);
	for (uint32_t i = 0; i < t->count; i++)
		fprintf(to, "%s%d", i ? "," : "",
			is_kernel(s, t, i) ? CATEGORY_KERNEL : CATEGORY_USER);
	fputs("], ", to);
	write_column(to, "subcategory", "0", t->count);
	write_count(to, "func", t->count);
	write_column(to, "nativeSymbol", "null", t->count);
	write_column(to, "innerWindowID", "0", t->count);
	write_column(to, "implementation", "null", t->count);
	write_column(to, "line", "null", t->count);
	write_column(to, "column", "null", t->count);
	fprintf(to, "\"length\": %zu},\n   \"funcTable\": {", t->count);
	write_column(to, "isJS", "false", t->count);
	write_column(to, "relevantForJS", "false", t->count);
	write_count(to, "name", t->count);
	fputs("\"resource\": [", to);
	for (size_t i = 0; i < t->count; i++) {
		uint32_t lib = l->by_function[t->functions[i]];

		fprintf(to, "%s%d", i ? "," : "",
			lib == NO_LIB ? -1 : (int)t->resource_of[lib] - 1);
	}
	fputs("], ", to);
	fputs("\"fileName\": [", to);
	for (size_t i = 0; i < t->count; i++)
		fprintf(to, "%s%zu", i ? "," : "", t->count + i);
	fputs("], ", to);
	write_column(to, "lineNumber", "null", t->count);
	write_column(to, "columnNumber", "null", t->count);
	fprintf(to, "\"length\": %zu},\n", t->count);
}

/* First the names of the functions, then their files, then those of the resources. */
static void write_strings(const struct export_stacks *s, const struct libs *l,
			  const struct thread *t, FILE *to)
{
	const struct function_table *n = &s->r->naming;

	fputs("   \"stringArray\": [", to);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		export_json(to, string_table_text(s->r->names, n->functions[t->functions[i]].name));
	}
	for (size_t i = 0; i < t->count; i++) {
		fputs(",\n    ", to);
		export_json(to, string_table_text(s->r->names, n->functions[t->functions[i]].dso));
	}
	for (size_t i = 0; i < t->resource_count; i++) {
		const struct function *f = &n->functions[l->functions[t->resources[i]]];

		fputs(",\n    ", to);
		export_json(to, strrchr(string_table_text(s->r->names, f->dso), '/') + 1);
	}
	fputs("]}", to);
}

/* A process in a container is shown under its name. */
static int write_process(const struct export_stacks *s, const struct group *g, FILE *to)
{
	uint32_t container;
	int err = export_container(s->r, g, &container);

	if (!err && container) {
		fputs(" \"processName\": ", to);
		export_json(to, string_table_text(s->r->names, container));
		putc(',', to);
	}
	return err;
}

static int write_thread(struct export_stacks *s, const struct export_ask *ask, const struct libs *l,
			size_t first, size_t end, uint64_t base_ns, FILE *to)
{
	const struct group *g = export_stacks_group(s, end - 1); /* its last name */
	struct thread t = { 0 };
	char unknown[16];
	int err = build(s, first, end, &t);

	if (!err)
		err = find_resources(&t, l);
	if (err) {
		thread_done(&t);
		return err;
	}
	fprintf(to,
		"%s\n  {\"processType\": \"default\", \"processStartupTime\": 0, "
		"\"processShutdownTime\": null, \"registerTime\": 0, \"unregisterTime\": null, "
		"\"pausedRanges\": [], \"name\": ",
		first ? "," : "");
	export_json(to, export_comm(s->r, g, unknown));
	fprintf(to, ", \"isMainThread\": %s, \"pid\": \"%" PRIu32 "\", \"tid\": %" PRIu32 ",",
		g->pid == g->tid ? "true" : "false", g->pid, g->tid);
	err = write_process(s, g, to);
	write_samples(s, ask, &t, first, end, base_ns, to);
	fputs("   \"markers\": {\"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], "
	      "\"phase\": [], \"category\": [], \"length\": 0},\n",
	      to);
	write_stacks(s, &t, to);
	write_frames(s, l, &t, to);
	write_resources(&t, to);
	fputs("   \"nativeSymbols\": {\"libIndex\": [], \"address\": [], "
	      "\"name\": [], \"functionSize\": [], \"length\": 0},\n",
	      to);
	write_strings(s, l, &t, to);
	thread_done(&t);
	return err;
}

int export_firefox(struct report *r, const struct export_ask *ask, FILE *to)
{
	uint64_t base_ns = ask->span.from_ns;
	struct export_stacks s;
	struct libs libs;
	size_t first = 0;
	int err = export_stacks_init(&s, r);

	if (err)
		return err;
	err = libs_make(r, &libs);
	if (err) {
		export_stacks_done(&s);
		return err;
	}
	for (size_t i = 0; i < s.count; i++)
		if (export_stacks_group(&s, i)->time_ns < base_ns)
			base_ns = export_stacks_group(&s, i)->time_ns;
	fprintf(to,
		"{\"meta\": {\"interval\": %.6f, \"startTime\": %.3f, \"processType\": 0, "
		"\"product\": \"ebprec\", \"stackwalk\": 1, \"version\": 27, "
		"\"preprocessedProfileVersion\": 47, \"symbolicationNotSupported\": true,\n"
		"  \"categories\": [{\"name\": \"User\", \"color\": \"yellow\", "
		"\"subcategories\": [\"Other\"]}, {\"name\": \"Kernel\", \"color\": \"orange\", "
		"\"subcategories\": [\"Other\"]}],\n  \"markerSchema\": []},\n",
		ask->interval_ns ? (double)ask->interval_ns / 1e6 : 1.0,
		(double)ask->wall_ns / 1e6);
	write_libs(&libs, r, to);
	fputs(" \"threads\": [", to);
	for (size_t i = 1; !err && i <= s.count; i++) {
		if (i < s.count &&
		    export_stacks_group(&s, i)->tid == export_stacks_group(&s, first)->tid &&
		    export_stacks_group(&s, i)->pid == export_stacks_group(&s, first)->pid)
			continue;
		err = write_thread(&s, ask, &libs, first, i, base_ns, to);
		first = i;
	}
	fputs("\n ]\n}\n", to);
	libs_done(&libs);
	export_stacks_done(&s);
	return err;
}
