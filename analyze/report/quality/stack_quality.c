/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/quality/stack_quality.h"

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
 * The entry functions of musl have no unwind table: a walk that reaches one stops in it, and
 * nothing but _start is left out.  No program has a function of its own of such a name.
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

/* The effect of a function on the stacks that it is on. */
struct traits {
	bool is_root, is_bare_root, is_in_file, is_changer;
	bool is_made;         /* at run time */
	uint16_t compilers;   /* whose file it is in */
	uint8_t interpreters; /* that it is the heart of */
	uint8_t named_by;     /* with whose help it has its name */
};

/* By user node, of the frames from the outermost to this one. */
struct path {
	uint32_t outermost;   /* function */
	uint32_t in_file;     /* the outermost one that is in a file; NO_FUNCTION */
	uint32_t interpreter; /* the innermost one that is the heart of one; NO_FUNCTION */
	uint16_t compilers;   /* of all of them, */
	uint8_t interpreters, named_by; /* the same */
};

/* The counts of a thread; names are looked at before and after it. */
struct stack_quality_work {
	const struct stack_table *stacks;
	const struct function_table *naming;
	struct traits *traits; /* by function, as the next three */
	uint64_t *breaks;      /* and by end */
	uint64_t *frames;
	uint64_t *leaves;    /* samples that end in it */
	uint16_t *compilers; /* of code made at run time: that it may be of */
	uint16_t mapped;     /* compilers that any process has mapped */
	struct stack_quality quality;
	pthread_t thread;
	bool started;
	int err;
};

static bool is_in_file(const struct function *f, const struct string_table *names)
{
	return f->reason != NAME_NO_MAP && *string_table_text(names, f->dso) != '[';
}

static int find_paths(const struct stack_quality_work *w, struct path **out)
{
	const struct stack_table *s = w->stacks;
	struct path *paths = calloc(s->node_count, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	paths[STACK_TABLE_USER_ROOT] = paths[STACK_TABLE_KERNEL_ROOT] =
		(struct path){ .in_file = NO_FUNCTION, .interpreter = NO_FUNCTION };
	for (size_t i = STACK_TABLE_FIRST_NODE; i < s->node_count; i++) {
		uint32_t parent = s->nodes[i].parent, frame = s->nodes[i].frame;
		const struct traits *t = &w->traits[frame];

		paths[i] = paths[parent];
		if (parent < STACK_TABLE_FIRST_NODE)
			paths[i].outermost = frame;
		if (paths[i].in_file == NO_FUNCTION && t->is_in_file)
			paths[i].in_file = frame;
		if (t->interpreters)
			paths[i].interpreter = frame;
		paths[i].compilers |= t->compilers;
		paths[i].interpreters |= t->interpreters;
		paths[i].named_by |= t->named_by;
	}
	*out = paths;
	return 0;
}

/* Files of compilers, and loops and functions of interpreters, that any stack of a group has. */
struct group_traits {
	uint16_t compilers;
	uint8_t interpreters;
};

static int find_groups(const struct stack_table *s, const struct path *paths,
		       struct group_traits **out)
{
	struct group_traits *groups;
	size_t count = 0;

	for (size_t i = 0; i < s->entry_count; i++)
		if (s->entries[i].key.group >= count)
			count = (size_t)s->entries[i].key.group + 1;
	groups = calloc(count + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++) {
		const struct path *path = &paths[s->entries[i].key.user];
		struct group_traits *g = &groups[s->entries[i].key.group];

		g->compilers |= path->compilers;
		g->interpreters |= path->interpreters | path->named_by;
	}
	*out = groups;
	return 0;
}

static bool is_complete(const struct stack_quality_work *w, uint32_t end, uint32_t outermost)
{
	if (end == STACK_COUNTER_END_UNKNOWN)
		return w->traits[outermost].is_root;
	return unwind_why_is_complete(end - 1) ||
	       ((end - 1 == UNWIND_NO_CFI || end - 1 == UNWIND_NO_FILE) &&
		w->traits[outermost].is_bare_root);
}

/* Which compiler may have made the function, if it was made at run time. */
static void find_compilers(struct stack_quality_work *w, uint32_t function, uint16_t on_stack,
			   uint16_t of_group)
{
	if (w->traits[function].is_made)
		w->compilers[function] |= on_stack ? on_stack : of_group ? of_group : w->mapped;
}

static void count_stack(struct stack_quality_work *w, const struct stack_table_entry *e,
			const struct path *path, uint16_t of_group)
{
	uint32_t end = e->key.end & STACK_COUNTER_END_MASK;
	uint32_t at = path->outermost;

	end = end < END_GO ? end : STACK_COUNTER_END_UNKNOWN;
	w->quality.user_stacks += e->sample_count;
	if (is_complete(w, end, at)) {
		w->quality.complete_stacks += e->sample_count;
		return;
	}
	if (path->in_file != NO_FUNCTION)
		at = path->in_file;
	if (end == UNWIND_NO_CFI + 1 && w->traits[at].is_changer)
		end = END_GO;
	w->breaks[at * ENDS + end] += e->sample_count;
	find_compilers(w, at, path->compilers, of_group);
}

/*
 * A recorder that reads functions of programs stores reasons; it reads those of the first interpreters.  RUNTIMES_INTERPRETERS: it is
 * not known of which one this is.
 */
static unsigned interpreter_of(const struct path *path, const struct group_traits *group)
{
	const unsigned read = (1u << RUNTIMES_READ) - 1;
	unsigned set = (path->interpreters | path->named_by) & read;
	unsigned others = group->interpreters & read;

	if (!set && path->compilers)
		return runtimes_interpreter_of(path->compilers);
	if (!set && others && !(others & (others - 1)))
		set = others;
	for (unsigned i = 0; i < RUNTIMES_READ; i++)
		if (set & 1u << i)
			return i;
	return others ? RUNTIMES_INTERPRETERS : runtimes_interpreter_of(group->compilers);
}

static void count_reason(struct stack_quality_work *w, const struct stack_table_entry *e,
			 const struct path *path, const struct group_traits *group)
{
	uint32_t why = e->key.end >> STACK_COUNTER_END_BITS;
	struct stack_quality_interpreted *in = &w->quality.interpreted[interpreter_of(path, group)];

	if (!why || why >= RUNTIME_WHYS)
		return;
	in->by_why[why] += e->sample_count;
	in->samples += path->interpreters || path->named_by ? 0 : e->sample_count;
	if (!in->dso && path->in_file != NO_FUNCTION)
		in->dso = w->naming->functions[path->in_file].dso;
}

static void count_interpreted(struct stack_quality_work *w, const struct stack_table_entry *e,
			      const struct path *path, const struct group_traits *group)
{
	uint8_t set = path->interpreters & (uint8_t)~path->named_by;

	for (unsigned i = 0; i < RUNTIMES_INTERPRETERS; i++) {
		struct stack_quality_interpreted *in = &w->quality.interpreted[i];

		if (path->named_by & 1u << i)
			in->named += e->sample_count;
		if (!(set & 1u << i))
			continue;
		in->samples += e->sample_count;
		in->dso = w->naming->functions[path->interpreter].dso;
	}
	count_reason(w, e, path, group);
}

static void count_leaf(struct stack_quality_work *w, const struct stack_table_entry *e,
		       const struct path *path, uint16_t of_group)
{
	uint32_t node = e->key.kernel == STACK_TABLE_KERNEL_ROOT ? e->key.user : e->key.kernel;
	uint32_t function = w->stacks->nodes[node].frame;

	if (node < STACK_TABLE_FIRST_NODE || w->naming->functions[function].reason == NAME_FOUND)
		return;
	w->quality.unnamed_samples += e->sample_count;
	w->leaves[function] += e->sample_count;
	find_compilers(w, function, path->compilers, of_group);
}

static void count_entries(struct stack_quality_work *w, const struct path *paths,
			  const struct group_traits *groups)
{
	for (size_t i = 0; i < w->stacks->entry_count; i++) {
		const struct stack_table_entry *e = &w->stacks->entries[i];
		const struct path *path = &paths[e->key.user];
		const struct group_traits *group = &groups[e->key.group];

		w->quality.samples += e->sample_count;
		count_leaf(w, e, path, group->compilers);
		if (e->key.user == STACK_TABLE_USER_ROOT)
			continue;
		count_stack(w, e, path, group->compilers);
		count_interpreted(w, e, path, group);
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

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
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
	size_t n = 0;

	qsort(list, used, sizeof(*list), by_file);
	for (size_t i = 0; i < used; i++) {
		if (n && !by_file(&list[n - 1], &list[i])) {
			list[n - 1].count += list[i].count;
			list[n - 1].samples += list[i].samples;
			list[n - 1].compilers |= list[i].compilers;
		} else {
			list[n++] = list[i];
		}
	}
	qsort_r(list, n, sizeof(*list), by_count, (void *)names);
	*out = list;
	*out_count = n;
}

static int sum_breaks(const struct stack_quality_work *w, const struct string_table *names,
		      struct stack_quality *v)
{
	const struct function_table *n = w->naming;
	const uint64_t *breaks = w->breaks;
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
			list[used++] = (struct stack_quality_cause){
				.dso = n->functions[i / ENDS].dso,
				.reason = (uint8_t)(i % ENDS),
				.compilers = w->compilers[i / ENDS],
				.count = breaks[i],
			};
	sum_causes(list, used, names, &v->breaks, &v->break_count);
	return 0;
}

static int sum_unnamed(const struct stack_quality_work *w, const struct string_table *names,
		       struct stack_quality *v)
{
	const struct function_table *n = w->naming;
	struct stack_quality_cause *list = calloc(n->function_count + 1, sizeof(*list));
	size_t used = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n->function_count; i++) {
		v->frames += w->frames[i];
		if (!w->frames[i] || n->functions[i].reason == NAME_FOUND)
			continue;
		v->unnamed_frames += w->frames[i];
		list[used++] = (struct stack_quality_cause){
			.dso = n->functions[i].dso,
			.reason = n->functions[i].reason,
			.compilers = w->compilers[i],
			.count = w->frames[i],
			.samples = w->leaves[i],
		};
	}
	sum_causes(list, used, names, &v->unnamed, &v->unnamed_count);
	return 0;
}

/* ---- the result ---- */

static void *count(void *arg)
{
	struct stack_quality_work *w = arg;
	struct path *paths = NULL;
	struct group_traits *groups = NULL;

	w->err = find_paths(w, &paths);
	if (!w->err)
		w->err = find_groups(w->stacks, paths, &groups);
	if (!w->err) {
		count_entries(w, paths, groups);
		w->err = stack_table_weigh_frames(w->stacks, w->frames);
	}
	free(paths);
	free(groups);
	return NULL;
}

static void work_free(struct stack_quality_work *w)
{
	free(w->traits);
	free(w->breaks);
	free(w->frames);
	free(w->leaves);
	free(w->compilers);
	free(w);
}

static void find_traits(const struct function *f, const struct string_table *names,
			struct traits *out)
{
	const char *name = string_table_text(names, f->name);
	const char *dso = string_table_text(names, f->dso);

	*out = (struct traits){
		.is_root = is_one_of(roots, sizeof(roots) / sizeof(roots[0]), name),
		.is_bare_root = is_one_of(bare_roots, sizeof(bare_roots) / sizeof(bare_roots[0]),
					  name),
		.is_changer = is_one_of(changers, sizeof(changers) / sizeof(changers[0]), name),
		.is_in_file = is_in_file(f, names),
		.is_made = stack_quality_is_made(dso),
		.compilers = runtimes_of_file(dso),
		.interpreters = f->reason == NAME_FOUND ? runtimes_of_function(name) : 0,
		.named_by = f->reason == NAME_FOUND ? runtimes_of_named(name) : 0,
	};
}

static int prepare(const struct stack_table *s, const struct function_table *n,
		   const struct string_table *names, uint16_t mapped,
		   struct stack_quality_work **out)
{
	struct stack_quality_work *w = calloc(1, sizeof(*w));
	size_t functions = n->function_count + 1;

	if (!w)
		return -ENOMEM;
	w->stacks = s;
	w->naming = n;
	w->mapped = mapped;
	w->traits = calloc(functions, sizeof(*w->traits));
	w->breaks = calloc(functions * ENDS, sizeof(*w->breaks));
	w->frames = calloc(functions, sizeof(*w->frames));
	w->leaves = calloc(functions, sizeof(*w->leaves));
	w->compilers = calloc(functions, sizeof(*w->compilers));
	if (!w->traits || !w->breaks || !w->frames || !w->leaves || !w->compilers) {
		work_free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n->function_count; i++)
		find_traits(&n->functions[i], names, &w->traits[i]);
	*out = w;
	return 0;
}

int stack_quality_begin(const struct stack_table *s, const struct function_table *n,
			const struct string_table *names, uint16_t compilers,
			struct stack_quality_work **out)
{
	struct stack_quality_work *w;
	int err = prepare(s, n, names, compilers, &w);

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
		err = sum_breaks(w, names, &w->quality);
	if (!err && out)
		err = sum_unnamed(w, names, &w->quality);
	if (err || !out)
		stack_quality_done(&w->quality);
	else
		*out = w->quality;
	work_free(w);
	return err;
}

int stack_quality_make(const struct stack_table *s, const struct function_table *n,
		       const struct string_table *names, uint16_t compilers,
		       struct stack_quality *out)
{
	struct stack_quality_work *w;
	int err = prepare(s, n, names, compilers, &w);

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
	if (end == UNWIND_NO_TABLE + 1)
		return "sampled before its unwind table was built, which takes long on a busy machine";
	return end == STACK_COUNTER_END_UNKNOWN ? NULL : unwind_why_text(end - 1);
}

bool stack_quality_is_made(const char *dso)
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
		return stack_quality_is_made(dso)
			       ? "code made at run time must keep frame pointers"
			       : "build it with -fasynchronous-unwind-tables, or with frame pointers";
	case UNWIND_UNSUPPORTED:
		return "nothing: a 32-bit program, or code written by hand";
	case UNWIND_READ_FAULT:
		return "in a copy: it was too short, copy more of the stack; or 'ebprec scrub' blanked it";
	case UNWIND_SP_NOT_UP:
	case UNWIND_BAD_PC:
		return "its unwind tables are wrong there, or its stack is damaged";
	case UNWIND_REG_UNKNOWN:
		return "nothing: code written by hand, whose table needs a register that is lost";
	case UNWIND_NO_MAPPING:
		return "it was mapped a moment before, or the stack is damaged";
	case UNWIND_NO_TABLE:
		return "record again: the recorder finds the table in its cache; or give the machine less other "
		       "work meanwhile";
	case UNWIND_NO_FILE:
		return "its process or file system was gone, or did not let others open it";
	case UNWIND_MAX_FRAMES:
		return "raise --max-frames, if it is not 1024; waits have 256 at most";
	case UNWIND_NOT_A_FRAME:
	case UNWIND_FP_UNKNOWN:
		return "build it with -fno-omit-frame-pointer, or with unwind tables";
	default:
		return NULL;
	}
}

static const struct {
	const char *text, *remedy;
} runtime_whys[RUNTIME_WHYS] = {
	[RUNTIME_NO_THREAD] = { "the thread had no state or frame in the interpreter, yet or any more",
				NULL },
	[RUNTIME_UNREADABLE] = { "memory of the interpreter was not there", NULL },
	[RUNTIME_UNKNOWN] = { "what was read is no frame of its program", NULL },
	[RUNTIME_TOO_DEEP] = { "there are more frames than are recorded",
			       "raise --max-frames, if it is not 1024; waits have 512 at most" },
	[RUNTIME_NO_MATCH] = { "they do not agree with the native frames", NULL },
	[RUNTIME_NOT_WALKED] = { "the recorder did not know the interpreter, or code on its stack, yet",
				 "nothing: these are the first moments of a process, or of a library in it" },
	[RUNTIME_NOT_UNDERSTOOD] = { "the interpreter is not one that the recorder understands",
				     NULL },
	[RUNTIME_SEVERAL] = { "the process has more than one interpreter, and that of the thread is not known",
			      NULL },
	[RUNTIME_ON_HEAP] = { "the outer frames of a virtual thread were still on the heap, from where they return one by one",
			      NULL },
	[RUNTIME_NO_NUMBER] = { "the process makes more code than the recorder holds of one",
				NULL },
	[RUNTIME_COMPILED] = { "its native stack breaks off before the interpreter, so the code may be compiled",
			       "run PHP with -d opcache.jit=off, Ruby without --yjit" },
};

const char *stack_quality_runtime_text(unsigned why)
{
	return why < RUNTIME_WHYS ? runtime_whys[why].text : NULL;
}

const char *stack_quality_runtime_remedy(unsigned why)
{
	return why < RUNTIME_WHYS ? runtime_whys[why].remedy : NULL;
}
