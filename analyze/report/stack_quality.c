/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/stack_quality.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/stack_counter.h"
#include "analyze/sym/locate/file_search.h"
#include "format/unwind/unwind.h"

#define NO_FUNCTION UINT32_MAX
#define END_GO      (UNWIND_WHY_COUNT + 1) /* of ours: where Go changes stacks */
#define ENDS        (END_GO + 1)

/* Where stacks of programs and threads begin: glibc, musl, the dynamic linker, Go. */
static const char *const roots[] = {
	"_start",
	"_start_c",
	"__libc_start_main",
	"libc_start_main_stage2",
	"__libc_start_main_impl",
	"__libc_start_call_main",
	"_dl_start_user",
	"_dl_start",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"start_thread",
	"runtime.goexit",
	"runtime.mstart",
	"runtime.rt0_go",
};

/*
 * Of these musl's have no unwind table: a walk that reaches one stops in it, and nothing but _start is left
 * out.  No program has a function of its own of such a name.
 */
static const char *const bare_roots[] = {
	"_start",
	"_start_c",
	"__libc_start_main",
	"libc_start_main_stage2",
};

/* Where Go's runtime leaves the stack of its caller, which has no rule (go_pclntab.h). */
static const char *const changers[] = {
	"runtime.systemstack",
	"runtime.morestack",
	"runtime.asmcgocall",
};

/* Without a symbol version ("@@GLIBC_2.34") and Go's calling convention (".abi0"). */
static bool is_one_of(const char *const *list, size_t count, const char *name)
{
	size_t n = strcspn(name, "@");

	if (n > 5 && !strncmp(name + n - 5, ".abi0", 5))
		n -= 5;
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == n && !strncmp(list[i], name, n))
			return true;
	return false;
}

/* By user node: what its stack begins with, and the outermost function that is in a file. */
struct ends {
	uint32_t *outermost, *in_file;
};

/* What a thread counts; names are looked at before and after it. */
struct stack_quality_work {
	const struct stack_table *stacks;
	const struct function_table *naming;
	bool *is_root, *is_bare_root, *is_in_file, *is_changer; /* by function */
	uint64_t *breaks;                                       /* by function and end */
	uint64_t *frames;                                       /* by function */
	struct stack_quality verdict;
	pthread_t thread;
	bool started;
	int err;
};

static bool is_in_file(const struct function *f, const struct string_table *names)
{
	return f->reason != NAME_NO_MAP && *string_table_text(names, f->dso) != '[';
}

static int find_ends(const struct stack_table *s, const bool *in_file, struct ends *out)
{
	struct ends e;

	e.outermost = calloc(s->node_count, sizeof(uint32_t));
	e.in_file = calloc(s->node_count, sizeof(uint32_t));
	if (!e.outermost || !e.in_file) {
		free(e.outermost);
		free(e.in_file);
		return -ENOMEM;
	}
	e.in_file[STACK_TABLE_USER_ROOT] = e.in_file[STACK_TABLE_KERNEL_ROOT] = NO_FUNCTION;
	for (size_t i = STACK_TABLE_FIRST_NODE; i < s->node_count; i++) {
		uint32_t parent = s->nodes[i].parent, frame = s->nodes[i].frame;

		e.outermost[i] = parent < STACK_TABLE_FIRST_NODE ? frame : e.outermost[parent];
		e.in_file[i] = e.in_file[parent];
		if (e.in_file[i] == NO_FUNCTION && in_file[frame])
			e.in_file[i] = frame;
	}
	*out = e;
	return 0;
}

static bool is_complete(const struct stack_quality_work *w, uint32_t end, uint32_t outermost)
{
	if (end == STACK_COUNTER_END_UNKNOWN)
		return w->is_root[outermost];
	return unwind_why_is_complete(end - 1) ||
	       ((end - 1 == UNWIND_NO_CFI || end - 1 == UNWIND_NO_FILE) &&
		w->is_bare_root[outermost]);
}

static void count_stacks(const struct stack_table *s, const struct ends *ends,
			 const struct stack_quality_work *w, struct stack_quality *v)
{
	for (size_t i = 0; i < s->entry_count; i++) {
		const struct stack_table_entry *e = &s->entries[i];
		uint32_t at, end = e->key.end < END_GO ? e->key.end : STACK_COUNTER_END_UNKNOWN;

		v->samples += e->sample_count;
		if (e->key.user == STACK_TABLE_USER_ROOT)
			continue;
		v->user_stacks += e->sample_count;
		at = ends->outermost[e->key.user];
		if (is_complete(w, end, at)) {
			v->complete_stacks += e->sample_count;
			continue;
		}
		if (ends->in_file[e->key.user] != NO_FUNCTION)
			at = ends->in_file[e->key.user];
		if (end == UNWIND_NO_CFI + 1 && w->is_changer[at])
			end = END_GO;
		w->breaks[at * ENDS + end] += e->sample_count;
	}
}

static int by_file(const void *va, const void *vb)
{
	const struct stack_quality_cause *a = va, *b = vb;

	if (a->dso != b->dso)
		return a->dso < b->dso ? -1 : 1;
	return (int)a->reason - (int)b->reason;
}

static int by_count(const void *va, const void *vb, void *names)
{
	const struct stack_quality_cause *a = va, *b = vb;
	int cmp;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	cmp = strcmp(string_table_text(names, a->dso), string_table_text(names, b->dso));
	return cmp ? cmp : (int)a->reason - (int)b->reason;
}

/* The most costly first; takes list, which has used entries. */
static void sum_causes(struct stack_quality_cause *list, size_t used,
		       const struct string_table *names, struct stack_quality_cause **out,
		       size_t *out_count)
{
	size_t kept = 0;

	qsort(list, used, sizeof(*list), by_file);
	for (size_t i = 0; i < used; i++) {
		if (kept && !by_file(&list[kept - 1], &list[i]))
			list[kept - 1].count += list[i].count;
		else
			list[kept++] = list[i];
	}
	qsort_r(list, kept, sizeof(*list), by_count, (void *)names);
	*out = list;
	*out_count = kept;
}

static int sum_breaks(const struct function_table *n, const struct string_table *names,
		      const uint64_t *breaks, struct stack_quality *v)
{
	struct stack_quality_cause *list;
	size_t used = 0, count = n->function_count * ENDS;

	for (size_t i = 0; i < count; i++)
		used += breaks[i] != 0;
	list = calloc(used + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	used = 0;
	for (size_t i = 0; i < count; i++)
		if (breaks[i])
			list[used++] = (struct stack_quality_cause){ n->functions[i / ENDS].dso,
								     (uint8_t)(i % ENDS),
								     breaks[i] };
	sum_causes(list, used, names, &v->breaks, &v->break_count);
	return 0;
}

static int sum_unnamed(const struct function_table *n, const struct string_table *names,
		       const uint64_t *frames, struct stack_quality *v)
{
	struct stack_quality_cause *list = calloc(n->function_count + 1, sizeof(*list));
	size_t used = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n->function_count; i++) {
		v->frames += frames[i];
		if (!frames[i] || n->functions[i].reason == NAME_FOUND)
			continue;
		v->unnamed_frames += frames[i];
		list[used++] = (struct stack_quality_cause){ n->functions[i].dso,
							     n->functions[i].reason, frames[i] };
	}
	sum_causes(list, used, names, &v->unnamed, &v->unnamed_count);
	return 0;
}

/* ---- the whole ---- */

static void *count(void *arg)
{
	struct stack_quality_work *w = arg;
	struct ends ends;

	w->err = find_ends(w->stacks, w->is_in_file, &ends);
	if (w->err)
		return NULL;
	count_stacks(w->stacks, &ends, w, &w->verdict);
	free(ends.outermost);
	free(ends.in_file);
	w->err = stack_table_weigh_frames(w->stacks, w->frames);
	return NULL;
}

static void work_free(struct stack_quality_work *w)
{
	free(w->is_root);
	free(w->is_bare_root);
	free(w->is_in_file);
	free(w->is_changer);
	free(w->breaks);
	free(w->frames);
	free(w);
}

static int prepare(const struct stack_table *s, const struct function_table *n,
		   const struct string_table *names, struct stack_quality_work **out)
{
	struct stack_quality_work *w = calloc(1, sizeof(*w));
	size_t functions = n->function_count + 1;

	if (!w)
		return -ENOMEM;
	w->stacks = s;
	w->naming = n;
	w->is_root = calloc(functions, sizeof(*w->is_root));
	w->is_bare_root = calloc(functions, sizeof(*w->is_bare_root));
	w->is_in_file = calloc(functions, sizeof(*w->is_in_file));
	w->is_changer = calloc(functions, sizeof(*w->is_changer));
	w->breaks = calloc(functions * ENDS, sizeof(*w->breaks));
	w->frames = calloc(functions, sizeof(*w->frames));
	if (!w->is_root || !w->is_bare_root || !w->is_in_file || !w->is_changer || !w->breaks ||
	    !w->frames) {
		work_free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n->function_count; i++) {
		const char *name = string_table_text(names, n->functions[i].name);

		w->is_root[i] = is_one_of(roots, sizeof(roots) / sizeof(roots[0]), name);
		w->is_bare_root[i] = is_one_of(bare_roots,
					       sizeof(bare_roots) / sizeof(bare_roots[0]), name);
		w->is_changer[i] = is_one_of(changers, sizeof(changers) / sizeof(changers[0]),
					     name);
		w->is_in_file[i] = is_in_file(&n->functions[i], names);
	}
	*out = w;
	return 0;
}

int stack_quality_begin(const struct stack_table *s, const struct function_table *n,
			const struct string_table *names, struct stack_quality_work **out)
{
	struct stack_quality_work *w;
	int err = prepare(s, n, names, &w);

	if (err)
		return err;
	w->started = !pthread_create(&w->thread, NULL, count, w);
	if (!w->started)
		count(w);
	*out = w;
	return 0;
}

int stack_quality_end(struct stack_quality_work *w, const struct string_table *names,
		      struct stack_quality *out)
{
	int err;

	if (!w)
		return -ENOMEM;
	if (w->started)
		pthread_join(w->thread, NULL);
	err = w->err;
	if (!err && out)
		err = sum_breaks(w->naming, names, w->breaks, &w->verdict);
	if (!err && out)
		err = sum_unnamed(w->naming, names, w->frames, &w->verdict);
	if (err || !out)
		stack_quality_done(&w->verdict);
	else
		*out = w->verdict;
	work_free(w);
	return err;
}

int stack_quality_make(const struct stack_table *s, const struct function_table *n,
		       const struct string_table *names, struct stack_quality *out)
{
	struct stack_quality_work *w;
	int err = prepare(s, n, names, &w);

	if (err)
		return err;
	count(w);
	return stack_quality_end(w, names, out);
}

void stack_quality_done(struct stack_quality *v)
{
	free(v->breaks);
	free(v->unnamed);
	*v = (struct stack_quality){ 0 };
}

const char *stack_quality_end_text(uint8_t end)
{
	if (end == END_GO)
		return "Go goes on upon another stack here";
	return end == STACK_COUNTER_END_UNKNOWN ? NULL : unwind_why_text(end - 1);
}

/* Code that a compiler makes at run time, with names or without: "/tmp/perf-12.map", "//anon". */
static bool is_made(const char *dso)
{
	static const char map[] = "/tmp/perf-", end[] = ".map";
	size_t n = strlen(dso);

	return file_search_is_anonymous(dso) ||
	       (!strncmp(dso, map, strlen(map)) && n > strlen(end) &&
		!strcmp(dso + n - strlen(end), end));
}

const char *stack_quality_end_remedy(uint8_t end, const char *dso)
{
	if (end == STACK_COUNTER_END_UNKNOWN)
		return NULL;
	if (end == END_GO)
		return "nothing: its callers are on the stack of a goroutine";
	switch (end - 1) {
	case UNWIND_NO_CFI:
		return is_made(dso)
			       ? "code made at run time must keep frame pointers: java "
				 "-XX:+PreserveFramePointer"
			       : "build it with -fasynchronous-unwind-tables, or with frame pointers";
	case UNWIND_UNSUPPORTED:
		return "nothing: a 32-bit program, or code written by hand";
	case UNWIND_READ_FAULT:
		return "in a copy: it was too short, copy more of the stack";
	case UNWIND_SP_NOT_UP:
	case UNWIND_BAD_PC:
		return "its unwind tables are wrong there, or its stack is damaged";
	case UNWIND_REG_UNKNOWN:
		return "nothing: code written by hand, whose table needs a register that is lost";
	case UNWIND_NO_MAPPING:
		return "it was mapped a moment before, or the stack is damaged";
	case UNWIND_NO_TABLE:
		return "raise --tables; or its table was still being built";
	case UNWIND_NO_FILE:
		return "its process or file system was gone, or did not let others open it";
	case UNWIND_MAX_FRAMES:
		return "raise --max-frames, if it is not 256";
	case UNWIND_NOT_A_FRAME:
	case UNWIND_FP_UNKNOWN:
		return "build it with -fno-omit-frame-pointer, or with unwind tables";
	default:
		return NULL;
	}
}
