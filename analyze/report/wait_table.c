/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/wait_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/stack_counter.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"
#include "analyze/report/quality/runtimes.h"
#include "analyze/sym/function_label.h"
#include "format/base/hash_index.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

/* ---- where ---- */

/* Ways from a kernel thread, or an interrupt, into the scheduler. */
static bool is_entry(const char *name)
{
	static const char *const functions[] = {
		"asm_",      "ret_from_",    "irqentry_",     "sysvec_",       "exit_to_user_mode",
		"__sysvec_", "syscall_exit", "do_syscall_64", "entry_SYSCALL", NULL
	};

	for (size_t i = 0; functions[i]; i++)
		if (!strncmp(name, functions[i], strlen(functions[i])))
			return true;
	return false;
}

struct walk {
	const struct stack_table *s;
	const struct function_table *n;
	const struct string_table *names;
};

/* The first function from node on that is worth naming; NULL: none. */
static const struct function *find_function(const struct walk *w, uint32_t node, bool in_kernel)
{
	for (; node >= STACK_TABLE_FIRST_NODE; node = w->s->nodes[node].parent) {
		const struct function *f = &w->n->functions[w->s->nodes[node].frame];
		const char *text = string_table_text(w->names, in_kernel ? f->name : f->dso);

		if (in_kernel ? !is_entry(text) : !function_label_is_c_library(text))
			return f;
	}
	return NULL;
}

/* Modules of CPython in a file of their own: the program calls them. */
static bool is_module(const char *path)
{
	size_t size;
	const char *base = function_label_base(path, &size);

	return memmem(base, size, ".cpython-", 9) || memmem(base, size, ".abi3.", 6);
}

/*
 * The function of an interpreted program that called f, the first of node's path that is no part of the C library;
 * NULL: f is neither the interpreter's nor a module's.
 */
static const struct function *find_program(const struct walk *w, uint32_t node,
					   const struct function *f)
{
	bool is_interpreters = is_module(string_table_text(w->names, f->dso));
	const struct function *program = NULL;

	for (; node >= STACK_TABLE_FIRST_NODE; node = w->s->nodes[node].parent) {
		const struct function *g = &w->n->functions[w->s->nodes[node].frame];
		const char *name = string_table_text(w->names, g->name);

		if (g->reason != NAME_FOUND)
			continue;
		if (!program && runtimes_of_named(name))
			program = g;
		is_interpreters |= g->dso == f->dso && runtimes_of_function(name);
	}
	return is_interpreters ? program : NULL;
}

const struct function *wait_table_where(const struct stack_table *s, const struct function_table *n,
					const struct string_table *names,
					const struct stack_table_key *key)
{
	const struct walk walk = { s, n, names }, *w = &walk;
	const struct function *f = find_function(w, key->user, false),
			      *program = f ? find_program(w, key->user, f) : NULL;

	if (program)
		return program;
	if (f || key->user >= STACK_TABLE_FIRST_NODE)
		return f ? f : &w->n->functions[w->s->nodes[key->user].frame];
	/* The innermost kernel frame is the reason. */
	return key->kernel >= STACK_TABLE_FIRST_NODE
		       ? find_function(w, w->s->nodes[key->kernel].parent, true)
		       : NULL;
}

/* ---- rows ---- */

static int waker_name(const struct offcpu *o, const struct offcpu_end *end,
		      struct string_table *names, uint32_t *out)
{
	static const char interrupt[] = "[interrupt]", unknown[] = "[unknown thread]";
	const struct offcpu_end *waker;

	*out = 0;
	if (end->waker == OFFCPU_NO_WAKER)
		return 0;
	waker = &o->ends[end->waker];
	if (waker->kind)
		return string_table_add(names, interrupt, strlen(interrupt), out);
	if (waker->comm == PROCESS_MODEL_NONE)
		return string_table_add(names, unknown, strlen(unknown), out);
	*out = waker->comm;
	return 0;
}

static bool is_same(const struct wait_row *a, const struct wait_row *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->reason == b->reason && a->woken_by == b->woken_by && a->where == b->where &&
	       a->dso == b->dso;
}

/* number: of the row, and 1. */
static int add_row(struct wait_table *t, struct hash_index *index, const struct wait_row *row,
		   uint32_t *number)
{
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(index) || vec_reserve(&t->rows, &t->capacity, t->count + 1))
		return -ENOMEM;
	hash = hash_index_pair(
		index, (uint64_t)row->comm << 32 | row->tid,
		hash_index_pair(index, (uint64_t)row->woken_by << 32 | row->where, row->reason));
	pos = hash_index_start(index, hash);
	while ((id = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE)
		if (is_same(&t->rows[id], row))
			break;
	if (id == HASH_INDEX_NONE) {
		id = (uint32_t)t->count++;
		t->rows[id] = *row;
		hash_index_put(index, hash, pos, id);
		*number = id + 1;
		return 0;
	}
	*number = id + 1;
	t->rows[id].count += row->count;
	t->rows[id].total_ns = saturate_add(t->rows[id].total_ns, row->total_ns);
	if (t->rows[id].longest_ns < row->longest_ns)
		t->rows[id].longest_ns = row->longest_ns;
	return 0;
}

static int compare_texts(const struct string_table *names, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(string_table_text(names, a), string_table_text(names, b));
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct wait_row *a = x, *b = y;
	const struct string_table *names = arg;
	int by = 0;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if ((a->comm | b->comm) & STACK_COUNTER_TID_GROUP)
		by = a->comm < b->comm ? -1 : a->comm > b->comm;
	else
		by = compare_texts(names, a->comm, b->comm);
	by = by ? by : compare_texts(names, a->reason, b->reason);
	by = by ? by : compare_texts(names, a->woken_by, b->woken_by);
	by = by ? by : compare_texts(names, a->where, b->where);
	return by ? by : compare_texts(names, a->dso, b->dso);
}

/* A stack has the waits of its end; an end whose stack has two names has them once. */
static int add_entry(struct wait_table *t, struct hash_index *index, const struct offcpu *o,
		     const struct walk *w, const struct stack_table_entry *e, const struct group *g,
		     struct string_table *names, uint32_t *number)
{
	const struct offcpu_end *end = &o->ends[e->key.end];
	const struct function *where = wait_table_where(w->s, w->n, w->names, &e->key);
	struct wait_row row = { .comm = g->comm,
				.pid = g->pid,
				.tid = g->tid,
				.where = where ? where->name : 0,
				.dso = where ? where->dso : 0,
				.count = end->count,
				.total_ns = end->ns,
				.longest_ns = end->longest_ns };
	int err;

	if (e->key.kernel >= STACK_TABLE_FIRST_NODE)
		row.reason = w->n->functions[w->s->nodes[e->key.kernel].frame].name;
	err = waker_name(o, end, names, &row.woken_by);
	return err ? err : add_row(t, index, &row, number);
}

/*
 * The longest wait of a kind may have no stack.  Most likely it was where most of that kind's waits are: of the
 * rows that have some of them, in the first one.
 */
static int add_unseen(struct wait_table *t, const struct offcpu *o, const uint32_t *row_of,
		      struct string_table *names)
{
	uint32_t *first = calloc(o->unseen_count + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < o->end_count; i++) {
		uint32_t *at = &first[o->ends[i].source], row = row_of[i];

		if (!row || o->ends[i].is_waker)
			continue;
		if (!*at || compare_rows(&t->rows[row - 1], &t->rows[*at - 1], names) < 0)
			*at = row;
	}
	for (size_t i = 0; i < o->unseen_count; i++)
		if (first[i] && t->rows[first[i] - 1].longest_ns < o->unseen_ns[i])
			t->rows[first[i] - 1].longest_ns = o->unseen_ns[i];
	free(first);
	return 0;
}

int wait_table_make(struct wait_table *t, const struct offcpu *o, struct stack_table *s,
		    const struct function_table *n, const struct group *groups,
		    struct string_table *names)
{
	const struct walk walk = { s, n, names };
	struct hash_index index = { .slots = NULL };
	uint32_t *row_of = calloc(o->end_count + 1, sizeof(*row_of));
	int err = row_of ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < s->entry_count; i++) {
		struct stack_table_key *key = &s->entries[i].key;
		uint32_t end = key->end;

		if (!row_of[end])
			err = add_entry(t, &index, o, &walk, &s->entries[i], &groups[key->group],
					names, &row_of[end]);
		key->end = o->ends[end].walk_end;
	}
	if (!err)
		err = add_unseen(t, o, row_of, names);
	for (size_t i = 0; i < t->count; i++) {
		struct wait_row *row = &t->rows[i];

		/* Its total is a share, by what was seen. */
		row->longest_ns = row->longest_ns < row->total_ns ? row->longest_ns : row->total_ns;
		t->total_ns = saturate_add(t->total_ns, row->total_ns);
	}
	if (!err && t->count)
		qsort_r(t->rows, t->count, sizeof(*t->rows), compare_rows, names);
	hash_index_done(&index);
	free(row_of);
	return err;
}

/* ---- what is shown ---- */

/* "futex" of "[futex]", into text. */
static const char *bare(const struct string_table *names, uint32_t label, char text[64])
{
	const char *from = string_table_text(names, label);
	size_t size = strlen(from);

	if (*from != '[' || size < 2 || size > 64)
		return from;
	memcpy(text, from + 1, size - 2);
	text[size - 2] = '\0';
	return text;
}

static const char *comm_of(const struct wait_row *g, const struct string_table *names,
			   char text[64])
{
	if (!(g->comm & STACK_COUNTER_TID_GROUP))
		return string_table_text(names, g->comm);
	snprintf(text, 64, ":%d", (int)(g->comm << 1) >> 1);
	return text;
}

static void put_row(struct text_table *v, const struct wait_row *row,
		    const struct string_table *names, bool with_ids)
{
	char comm[64], reason[64];

	text_table_row(v);
	text_table_text(v, "waiter", comm_of(row, names, comm));
	if (with_ids) {
		text_table_number(v, "pid", row->pid);
		text_table_number(v, "tid", row->tid);
	}
	text_table_text(v, "reason", bare(names, row->reason, reason));
	text_table_text(v, "woken_by", string_table_text(names, row->woken_by));
	text_table_number(v, "count", row->count);
	text_table_ns(v, "total", row->total_ns);
	text_table_ns(v, "longest", row->longest_ns);
	text_table_text(v, "where", string_table_text(names, row->where));
}

static bool is_shown(const struct wait_table *t, const struct wait_row *row, double min_percent)
{
	return row->total_ns && (double)row->total_ns * 100 >= min_percent * (double)t->total_ns;
}

static int write_table(const struct wait_table *t, const struct string_table *names,
		       const struct wait_table_style *style, FILE *to)
{
	static const char *const all[] = { "waiter", "pid",   "tid",     "reason", "woken_by",
					   "count",  "total", "longest", "where" };
	static const char *const few[] = { "waiter", "reason",  "woken_by", "count",
					   "total",  "longest", "where" };
	bool json = style->form == WAIT_TABLE_JSON;
	struct text_table *v;
	size_t hidden = 0;
	bool has_futex = false;
	int err = text_table_open(to, json, &v);

	if (err)
		return err;
	text_table_begin(v, "waits", style->with_ids ? all : few, style->with_ids ? 9 : 7);
	for (size_t i = 0; i < t->count; i++) {
		if (!is_shown(t, &t->rows[i], style->min_percent)) {
			hidden++;
			continue;
		}
		put_row(v, &t->rows[i], names, style->with_ids);
		has_futex |= !strcmp(string_table_text(names, t->rows[i].reason), "[futex]");
	}
	text_table_end(v);
	err = text_table_close(v);
	if (!err && has_futex && !json)
		fputs("# futex: the thread that released it last; 'ebprec record --with locks' and "
		      "'ebprec metrics locks' have\n# the thread that held the lock, and for how long\n",
		      to);
	if (!err && hidden && !json)
		fprintf(to,
			"# %zu of %zu are not shown, each below --min-percent %g (--min-percent 0 shows all)\n",
			hidden, t->count, style->min_percent);
	return err;
}

static void csv_text(FILE *to, const char *text)
{
	message_csv(to, text, strlen(text));
	putc(',', to);
}

static void write_csv(const struct wait_table *t, const struct string_table *names,
		      const struct wait_table_style *style, FILE *to)
{
	char comm[64], reason[64];

	fprintf(to, "waiter,%sreason,woken_by,count,total_ns,longest_ns,where\r\n",
		style->with_ids ? "pid,tid," : "");
	for (size_t i = 0; i < t->count; i++) {
		const struct wait_row *row = &t->rows[i];
		const char *where = string_table_text(names, row->where);

		if (!is_shown(t, row, style->min_percent))
			continue;
		csv_text(to, comm_of(row, names, comm));
		if (style->with_ids)
			fprintf(to, "%" PRIu32 ",%" PRIu32 ",", row->pid, row->tid);
		csv_text(to, bare(names, row->reason, reason));
		csv_text(to, string_table_text(names, row->woken_by));
		fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->count, row->total_ns,
			row->longest_ns);
		message_csv(to, where, strlen(where));
		fputs("\r\n", to);
	}
}

int wait_table_write(const struct wait_table *t, const struct string_table *names,
		     const struct wait_table_style *style, FILE *to)
{
	if (style->form != WAIT_TABLE_CSV)
		return write_table(t, names, style, to);
	write_csv(t, names, style, to);
	return 0;
}
