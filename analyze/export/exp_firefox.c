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
#include "analyze/vec.h"

enum { CATEGORY_USER = 0, CATEGORY_KERNEL = 1 };

/* What is used of the functions by one thread. */
struct thread {
	struct calltree tree; /* labels: functions of the thread */
	uint32_t *numbers;    /* by function: number in the thread + 1 */
	uint32_t *functions;  /* by number in the thread */
	size_t count, capacity;
	uint32_t *leaves; /* by sample: its node; CALLTREE_ROOT: no stack */
	size_t leaf_capacity;
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

static void write_frames(const struct export_stacks *s, const struct thread *t, FILE *to)
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
	write_column(to, "resource", "-1", t->count);
	fputs("\"fileName\": [", to);
	for (size_t i = 0; i < t->count; i++)
		fprintf(to, "%s%zu", i ? "," : "", t->count + i);
	fputs("], ", to);
	write_column(to, "lineNumber", "null", t->count);
	write_column(to, "columnNumber", "null", t->count);
	fprintf(to, "\"length\": %zu},\n", t->count);
}

/* First the names of the functions, then their files. */
static void write_strings(const struct export_stacks *s, const struct thread *t, FILE *to)
{
	const struct naming *n = &s->r->naming;

	fputs("   \"stringArray\": [", to);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		export_json(to, strings_text(s->r->names, n->functions[t->functions[i]].name));
	}
	for (size_t i = 0; i < t->count; i++) {
		fputs(",\n    ", to);
		export_json(to, strings_text(s->r->names, n->functions[t->functions[i]].dso));
	}
	fputs("]}", to);
}

static int write_thread(struct export_stacks *s, const struct export_ask *ask, size_t first,
			size_t end, uint64_t base_ns, FILE *to)
{
	const struct group *g = export_stacks_group(s, end - 1); /* its last name */
	struct thread t = { 0 };
	char unknown[16];
	int err = build(s, first, end, &t);

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
	write_samples(s, ask, &t, first, end, base_ns, to);
	fputs("   \"markers\": {\"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], "
	      "\"phase\": [], \"category\": [], \"length\": 0},\n",
	      to);
	write_stacks(s, &t, to);
	write_frames(s, &t, to);
	fputs("   \"resourceTable\": {\"lib\": [], \"name\": [], \"host\": [], \"type\": [], "
	      "\"length\": 0},\n   \"nativeSymbols\": {\"libIndex\": [], \"address\": [], "
	      "\"name\": [], \"functionSize\": [], \"length\": 0},\n",
	      to);
	write_strings(s, &t, to);
	thread_done(&t);
	return 0;
}

int export_firefox(struct report *r, const struct export_ask *ask, FILE *to)
{
	uint64_t base_ns = ask->span.from_ns;
	struct export_stacks s;
	size_t first = 0;
	int err = export_stacks_init(&s, r);

	if (err)
		return err;
	for (size_t i = 0; i < s.count; i++)
		if (export_stacks_group(&s, i)->time_ns < base_ns)
			base_ns = export_stacks_group(&s, i)->time_ns;
	fprintf(to,
		"{\"meta\": {\"interval\": %.6f, \"startTime\": %.3f, \"processType\": 0, "
		"\"product\": \"ebprec\", \"stackwalk\": 1, \"version\": 27, "
		"\"preprocessedProfileVersion\": 47, \"symbolicationNotSupported\": true,\n"
		"  \"categories\": [{\"name\": \"User\", \"color\": \"yellow\", "
		"\"subcategories\": [\"Other\"]}, {\"name\": \"Kernel\", \"color\": \"orange\", "
		"\"subcategories\": [\"Other\"]}],\n  \"markerSchema\": []},\n"
		" \"libs\": [], \"pages\": [],\n \"threads\": [",
		ask->interval_ns ? (double)ask->interval_ns / 1e6 : 1.0,
		(double)ask->wall_ns / 1e6);
	for (size_t i = 1; !err && i <= s.count; i++) {
		if (i < s.count &&
		    export_stacks_group(&s, i)->tid == export_stacks_group(&s, first)->tid &&
		    export_stacks_group(&s, i)->pid == export_stacks_group(&s, first)->pid)
			continue;
		err = write_thread(&s, ask, first, i, base_ns, to);
		first = i;
	}
	fputs("\n ]\n}\n", to);
	export_stacks_done(&s);
	return err;
}
