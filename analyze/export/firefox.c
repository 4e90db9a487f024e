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
#include "format/text/json_writer.h"

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

static void begin_column(struct json_writer *j, const char *key)
{
	json_writer_begin_array(j, key);
	j->layout = JSON_WRITER_TIGHT;
}

static void end_column(struct json_writer *j)
{
	json_writer_end_array(j);
	j->layout = JSON_WRITER_SPACED;
}

/* "key": [text,text,...] of count times the same. */
static void write_column(struct json_writer *j, const char *key, const char *text, size_t count)
{
	begin_column(j, key);
	for (size_t i = 0; i < count; i++)
		json_writer_number(j, NULL, "%s", text);
	end_column(j);
}

/* "key": [first, ...]: count numbers, each one more than the last. */
static void write_range(struct json_writer *j, const char *key, size_t first, size_t count)
{
	begin_column(j, key);
	for (size_t i = 0; i < count; i++)
		json_writer_u64(j, NULL, first + i);
	end_column(j);
}

static void write_text(struct json_writer *j, const char *key, const struct report *r,
		       uint32_t name)
{
	json_writer_string(j, key, string_table_text(r->names, name));
}

static void begin_table(struct json_writer *j, const char *key)
{
	json_writer_line(j, 3);
	json_writer_begin(j, key);
}

static void end_table(struct json_writer *j, size_t length)
{
	json_writer_u64(j, "length", length);
	json_writer_end(j);
}

/* ---- files ---- */

static bool is_on_disk(const char *path)
{
	return *path == '/';
}

/* A build-id as symbol servers of Windows want it: a GUID, and the age 0. */
static void write_breakpad_id(struct json_writer *j, const char *hex)
{
	static const uint8_t order[] = { 6, 7, 4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 14, 15, 12, 13 };
	char id[33];

	for (size_t i = 0; i < 32 && strlen(hex) >= 32; i++) {
		char c = hex[i < sizeof(order) ? order[i] : i];

		id[i] = (char)(c >= 'a' ? c - 'a' + 'A' : c);
	}
	id[32] = '0';
	json_writer_text(j, "breakpadId", id, strlen(hex) >= 32 ? sizeof(id) : 0);
}

static void write_libs(const struct export_files *l, const struct report *r, struct json_writer *j)
{
	json_writer_line(j, 1);
	json_writer_begin_array(j, "libs");
	for (size_t i = 0; i < l->count; i++) {
		const char *path = string_table_text(r->names,
						     r->naming.functions[l->functions[i]].dso);
		const char *id = string_table_text(
			r->names, name_sources_of(&r->sources, l->functions[i]).build_id);
		const char *base = strrchr(path, '/') + 1;

		json_writer_line(j, 2);
		json_writer_begin(j, NULL);
		json_writer_string(j, "arch", "");
		json_writer_string(j, "name", base);
		json_writer_string(j, "path", path);
		json_writer_string(j, "debugName", base);
		json_writer_string(j, "debugPath", path);
		write_breakpad_id(j, id);
		if (*id)
			json_writer_string(j, "codeId", id);
		else
			json_writer_null(j, "codeId");
		json_writer_end(j);
	}
	json_writer_end_array(j);
	json_writer_begin_array(j, "pages");
	json_writer_end_array(j);
}

/* The files of a thread's functions. */
static int find_resources(struct thread *t, const struct export_files *l)
{
	int err = 0;

	t->resource_of = calloc(l->count + 1, sizeof(*t->resource_of)); /* + 1 */
	if (!t->resource_of)
		return -ENOMEM;
	for (size_t i = 0; !err && i < t->count; i++) {
		uint32_t lib = l->by_function[t->functions[i]];

		if (lib == EXPORT_NO_FILE || t->resource_of[lib])
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
static void write_resources(const struct thread *t, struct json_writer *j)
{
	begin_table(j, "resourceTable");
	begin_column(j, "lib");
	for (size_t i = 0; i < t->resource_count; i++)
		json_writer_u64(j, NULL, t->resources[i]);
	end_column(j);
	write_range(j, "name", 2 * t->count, t->resource_count);
	write_column(j, "host", "null", t->resource_count);
	write_column(j, "type", "1", t->resource_count); /* a library */
	end_table(j, t->resource_count);
}

static void write_node(struct json_writer *j, uint32_t node)
{
	if (node == CALLTREE_ROOT)
		json_writer_null(j, NULL);
	else
		json_writer_u64(j, NULL, node - 1);
}

static void write_ms(struct json_writer *j, const char *key, uint64_t ns)
{
	json_writer_fixed(j, key, ns, 6);
}

static void write_samples(const struct export_stacks *s, const struct export_ask *ask,
			  const struct thread *t, size_t first, size_t end, uint64_t base_ns,
			  struct json_writer *j)
{
	bool is_time = !strcmp(ask->unit, "nanoseconds");

	begin_table(j, "samples");
	json_writer_string(j, "weightType", is_time ? "tracing-ms" : "samples");
	begin_column(j, "weight");
	for (size_t i = first; i < end; i++) {
		uint64_t weight = export_weight(ask, s->list[i]);

		if (is_time)
			write_ms(j, NULL, weight);
		else
			json_writer_u64(j, NULL, weight);
	}
	end_column(j);
	begin_column(j, "stack");
	for (size_t i = first; i < end; i++)
		write_node(j, t->leaves[i - first]);
	end_column(j);
	begin_column(j, "time");
	for (size_t i = first; i < end; i++)
		write_ms(j, NULL, export_stacks_group(s, i)->time_ns - base_ns);
	end_column(j);
	end_table(j, end - first);
}

static bool is_kernel(const struct export_stacks *s, const struct thread *t, uint32_t number)
{
	return s->r->naming.functions[t->functions[number]].is_kernel;
}

static void write_category(struct json_writer *j, const struct export_stacks *s,
			   const struct thread *t, uint32_t number)
{
	json_writer_u64(j, NULL, is_kernel(s, t, number) ? CATEGORY_KERNEL : CATEGORY_USER);
}

static void write_stacks(const struct export_stacks *s, const struct thread *t,
			 struct json_writer *j)
{
	size_t count = t->tree.count - 1;

	begin_table(j, "stackTable");
	begin_column(j, "frame");
	for (size_t i = 1; i <= count; i++)
		json_writer_u64(j, NULL, t->tree.nodes[i].label);
	end_column(j);
	begin_column(j, "prefix");
	for (size_t i = 1; i <= count; i++)
		write_node(j, t->tree.nodes[i].parent);
	end_column(j);
	begin_column(j, "category");
	for (size_t i = 1; i <= count; i++)
		write_category(j, s, t, t->tree.nodes[i].label);
	end_column(j);
	write_column(j, "subcategory", "0", count);
	end_table(j, count);
}

static void write_frames(const struct export_stacks *s, const struct thread *t,
			 struct json_writer *j)
{
	begin_table(j, "frameTable");
	write_column(j, "address", "-1", t->count);
	write_column(j, "inlineDepth", "0", t->count);
	begin_column(j, "category");
	for (uint32_t i = 0; i < t->count; i++)
		write_category(j, s, t, i);
	end_column(j);
	write_column(j, "subcategory", "0", t->count);
	write_range(j, "func", 0, t->count);
	write_column(j, "nativeSymbol", "null", t->count);
	write_column(j, "innerWindowID", "0", t->count);
	write_column(j, "implementation", "null", t->count);
	write_column(j, "line", "null", t->count);
	write_column(j, "column", "null", t->count);
	end_table(j, t->count);
}

static void write_functions(const struct export_files *l, const struct thread *t,
			    struct json_writer *j)
{
	begin_table(j, "funcTable");
	write_column(j, "isJS", "false", t->count);
	write_column(j, "relevantForJS", "false", t->count);
	write_range(j, "name", 0, t->count);
	begin_column(j, "resource");
	for (size_t i = 0; i < t->count; i++) {
		uint32_t lib = l->by_function[t->functions[i]];

		json_writer_number(j, NULL, "%d",
				   lib == EXPORT_NO_FILE ? -1 : (int)t->resource_of[lib] - 1);
	}
	end_column(j);
	write_range(j, "fileName", t->count, t->count);
	write_column(j, "lineNumber", "null", t->count);
	write_column(j, "columnNumber", "null", t->count);
	end_table(j, t->count);
}

/* First the names of the functions, then their files, then those of the resources. */
static void write_strings(const struct export_stacks *s, const struct export_files *l,
			  const struct thread *t, struct json_writer *j)
{
	const struct function *functions = s->r->naming.functions, *f;

	json_writer_line(j, 3);
	json_writer_begin_array(j, "stringArray");
	for (size_t i = 0; i < t->count; i++) {
		json_writer_line(j, 4);
		write_text(j, NULL, s->r, functions[t->functions[i]].name);
	}
	for (size_t i = 0; i < t->count; i++) {
		json_writer_line(j, 4);
		write_text(j, NULL, s->r, functions[t->functions[i]].dso);
	}
	for (size_t i = 0; i < t->resource_count; i++) {
		f = &functions[l->functions[t->resources[i]]];
		json_writer_line(j, 4);
		json_writer_string(j, NULL,
				   strrchr(string_table_text(s->r->names, f->dso), '/') + 1);
	}
	json_writer_end_array(j);
}

/* A table of nothing, which the Profiler wants to find. */
static void write_empty_table(struct json_writer *j, const char *key, const char *const *columns,
			      size_t count)
{
	begin_table(j, key);
	for (size_t i = 0; i < count; i++)
		write_column(j, columns[i], "", 0);
	end_table(j, 0);
}

/* A process in a container is shown under its name. */
static int write_process(const struct export_stacks *s, const struct group *g,
			 struct json_writer *j)
{
	char pid[16], unknown[16];
	uint32_t container;
	int err = export_container(s->r, g, &container);

	snprintf(pid, sizeof(pid), "%" PRIu32, g->pid);
	json_writer_string(j, "processType", "default");
	json_writer_u64(j, "processStartupTime", 0);
	json_writer_null(j, "processShutdownTime");
	json_writer_u64(j, "registerTime", 0);
	json_writer_null(j, "unregisterTime");
	write_column(j, "pausedRanges", "", 0);
	json_writer_string(j, "name", export_comm(s->r, g, unknown));
	json_writer_bool(j, "isMainThread", g->pid == g->tid);
	json_writer_string(j, "pid", pid);
	json_writer_u64(j, "tid", g->tid);
	if (!err && container)
		write_text(j, "processName", s->r, container);
	return err;
}

static int write_thread(struct export_stacks *s, const struct export_ask *ask,
			const struct export_files *l, size_t first, size_t end, uint64_t base_ns,
			struct json_writer *j)
{
	static const char *const markers[] = { "data",    "name",  "startTime",
					       "endTime", "phase", "category" };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize" };
	struct thread t = { 0 };
	int err = build(s, first, end, &t);

	if (!err)
		err = find_resources(&t, l);
	if (err) {
		thread_done(&t);
		return err;
	}
	json_writer_begin(j, NULL);
	err = write_process(s, export_stacks_group(s, end - 1), j); /* its last name */
	write_samples(s, ask, &t, first, end, base_ns, j);
	write_empty_table(j, "markers", markers, sizeof(markers) / sizeof(markers[0]));
	write_stacks(s, &t, j);
	write_frames(s, &t, j);
	write_functions(l, &t, j);
	write_resources(&t, j);
	write_empty_table(j, "nativeSymbols", symbols, sizeof(symbols) / sizeof(symbols[0]));
	write_strings(s, l, &t, j);
	json_writer_end(j);
	thread_done(&t);
	return err;
}

static void write_category_of(struct json_writer *j, const char *name, const char *color)
{
	json_writer_begin(j, NULL);
	json_writer_string(j, "name", name);
	json_writer_string(j, "color", color);
	json_writer_begin_array(j, "subcategories");
	json_writer_string(j, NULL, "Other");
	json_writer_end_array(j);
	json_writer_end(j);
}

static void write_meta(const struct export_ask *ask, struct json_writer *j)
{
	json_writer_begin(j, "meta");
	write_ms(j, "interval", ask->interval_ns ? ask->interval_ns : 1000000);
	json_writer_number(j, "startTime", "%.3f", (double)ask->wall_ns / 1e6);
	json_writer_u64(j, "processType", 0);
	json_writer_string(j, "product", "ebprec");
	json_writer_u64(j, "stackwalk", 1);
	json_writer_u64(j, "version", 27);
	json_writer_u64(j, "preprocessedProfileVersion", 47);
	json_writer_bool(j, "symbolicationNotSupported", true);
	json_writer_line(j, 2);
	json_writer_begin_array(j, "categories");
	write_category_of(j, "User", "yellow");
	write_category_of(j, "Kernel", "orange");
	json_writer_end_array(j);
	json_writer_line(j, 2);
	write_column(j, "markerSchema", "", 0);
	json_writer_end(j);
}

int export_firefox(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_SPACED };
	uint64_t base_ns = ask->span.from_ns;
	struct export_stacks s;
	struct export_files libs;
	size_t first = 0;
	int err = export_stacks_init(&s, r);

	if (err)
		return err;
	err = export_files_make(r, is_on_disk, &libs);
	if (err) {
		export_stacks_done(&s);
		return err;
	}
	for (size_t i = 0; i < s.count; i++)
		if (export_stacks_group(&s, i)->time_ns < base_ns)
			base_ns = export_stacks_group(&s, i)->time_ns;
	json_writer_begin(&j, NULL);
	write_meta(ask, &j);
	write_libs(&libs, r, &j);
	j.line_depth = 2;
	json_writer_begin_array(&j, "threads");
	for (size_t i = 1; !err && i <= s.count; i++) {
		if (i < s.count &&
		    export_stacks_group(&s, i)->tid == export_stacks_group(&s, first)->tid &&
		    export_stacks_group(&s, i)->pid == export_stacks_group(&s, first)->pid)
			continue;
		err = write_thread(&s, ask, &libs, first, i, base_ns, &j);
		first = i;
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
	export_files_done(&libs);
	export_stacks_done(&s);
	return err;
}
