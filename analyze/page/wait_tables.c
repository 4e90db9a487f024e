/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/wait_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/page/runs.h"
#include "format/base/vec.h"

/* The row for waits of a kind without a stack. */
struct kind {
	uint32_t kind, syscall, queued, node, queue;
	uint32_t key, queue_key; /* numbers of pairs of a kind and a system call */
};

struct kinds {
	struct kind *list;
	size_t count, capacity;
	uint32_t first;    /* where they begin in the table */
	uint32_t *bare;    /* node by kind and system call */
	uint32_t *numbers; /* by these and queued: number in the list, and 1 */
};

static size_t kind_at(unsigned kind, unsigned syscall)
{
	return (size_t)kind << 16 | syscall;
}

static int make_kinds(const struct page_waits *w, const struct page_stacks *stacks, struct kinds *k)
{
	const struct stack_table *s = &w->report.stacks;
	const struct offcpu *o = &w->report.waits;

	k->bare = calloc(kind_at(WAIT_KINDS, 0), sizeof(*k->bare));
	k->numbers = calloc(2 * kind_at(WAIT_KINDS, 0), sizeof(*k->numbers));
	if (!k->bare || !k->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++) {
		uint32_t number = s->entries[i].key.end;

		if (number < o->end_count && !o->ends[number].stack)
			k->bare[kind_at(o->ends[number].kind, o->ends[number].syscall)] =
				stacks->node_of[w->number][i];
	}
	for (size_t i = 0; i < w->wait_count; i++) {
		const struct page_wait *wait = &w->waits[i];
		uint32_t *number =
			&k->numbers[2 * kind_at(wait->kind, wait->syscall) + wait->queued];

		if (*number)
			continue;
		if (vec_reserve(&k->list, &k->capacity, k->count + 1))
			return -ENOMEM;
		k->list[k->count++] =
			(struct kind){ .kind = wait->kind,
				       .syscall = wait->syscall,
				       .queued = wait->queued,
				       .node = k->bare[kind_at(wait->kind, wait->syscall)],
				       .queue = k->bare[kind_at(WAIT_RUN_QUEUE, wait->syscall)] };
		*number = (uint32_t)k->count;
	}
	/* All that is no wait: each in a row of its own, behind those. */
	for (unsigned kind = WAIT_ON_CPU; kind < WAIT_KINDS; kind++) {
		if (vec_reserve(&k->list, &k->capacity, k->count + 1))
			return -ENOMEM;
		k->list[k->count++] = (struct kind){ .kind = kind,
						     .node = k->bare[kind_at(kind, 0)] };
	}
	return 0;
}

/* The first row of that kind and system call, and 1; 0: there is none. */
static uint32_t find_kind(const struct kinds *k, uint32_t kind, uint32_t syscall)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->list[i].kind == kind && k->list[i].syscall == syscall)
			return (uint32_t)i + 1;
	return 0;
}

/* The first row of that system call. */
static uint32_t find_syscall(const struct kinds *k, uint32_t syscall)
{
	uint32_t i = 0;

	while (k->list[i].syscall != syscall)
		i++;
	return i;
}

/* Rows may differ in more than in kind and system call; the time for a CPU behind a wait may be of a pair that no row has. */
static void number_pairs(struct kinds *k)
{
	for (size_t i = 0; i < k->count; i++) {
		struct kind *own = &k->list[i];
		uint32_t queue = find_kind(k, WAIT_RUN_QUEUE, own->syscall);

		own->key = 2 * (k->first + find_kind(k, own->kind, own->syscall) - 1);
		own->queue_key = queue ? 2 * (k->first + queue - 1)
				       : 2 * (k->first + find_syscall(k, own->syscall)) + 1;
	}
}

static void kinds_done(struct kinds *k)
{
	free(k->list);
	free(k->bare);
	free(k->numbers);
}

/* The waits, samples and kinds of a capture, and where its rows begin. */
struct source {
	const struct page_waits *waits;
	const struct page_samples *samples;
	struct kinds kinds;
	uint32_t first_stack, first_thread;
	struct page_run *runs;
	size_t run_count;
};

struct writer {
	struct source *list, *end;
	const struct page_texts *texts;
	struct page_columns *p;
};

/* A column of numbers of all captures; x: a row of theirs, s: whose it is. */
#define WRITE(w, name, rows, row_count, value)                               \
	do {                                                                 \
		page_columns_begin((w)->p, name);                            \
		for (const struct source *s = (w)->list; s < (w)->end; s++)  \
			for (size_t i = 0; i < s->row_count; i++) {          \
				const __typeof__(*s->rows) *x = &s->rows[i]; \
				page_columns_put((w)->p, value);             \
			}                                                    \
	} while (0)

#define COUNT(w, row_count, out)                                            \
	do {                                                                \
		(out) = 0;                                                  \
		for (const struct source *s = (w)->list; s < (w)->end; s++) \
			(out) += s->row_count;                              \
	} while (0)

/* The nanoseconds on the axis of the page where the clock of a capture is 0. */
static uint64_t zero_ns(const struct source *s)
{
	return (s->samples->shift_us - s->samples->base_us) * 1000;
}

static void write_threads(const struct writer *w)
{
	uint64_t count;

	COUNT(w, waits->thread_count, count);
	page_columns_begin_table(w->p, "threads", count);
	page_columns_begin_differences(w->p, "tid");
	for (const struct source *s = w->list; s < w->end; s++)
		for (size_t i = 0; i < s->waits->thread_count; i++)
			page_columns_put_difference(w->p, s->waits->threads[i].tid);
	WRITE(w, "pid", waits->threads, waits->thread_count, x->pid);
	WRITE(w, "comm", waits->threads, waits->thread_count, page_texts_number(w->texts, x->comm));
	WRITE(w, "task", waits->threads, waits->thread_count,
	      s->samples->first_task + s->samples->task_of_wait[x->group]);
	page_columns_begin_signed(w->p, "begin");
	for (const struct source *s = w->list; s < w->end; s++)
		for (size_t i = 0; i < s->waits->thread_count; i++)
			page_columns_put_signed(
				w->p,
				(int64_t)(s->waits->pieces[s->waits->threads[i].piece].from_ns +
					  zero_ns(s)));
	WRITE(w, "start", waits->threads, waits->thread_count,
	      s->waits->pieces[x->piece].from_ns - x->start_ns);
	WRITE(w, "pieces", waits->threads, waits->thread_count, x->pieces);
	WRITE(w, "waits", waits->threads, waits->thread_count, x->waits);
	page_columns_end_table(w->p);
}

/* How long nothing is known of a thread before this piece of it. */
static uint64_t hole_before(const struct page_waits *w, const struct page_piece *piece)
{
	return piece > w->pieces && piece[-1].thread == piece->thread
		       ? piece->from_ns - piece[-1].to_ns
		       : 0;
}

static void write_pieces(const struct writer *w)
{
	uint64_t count;

	COUNT(w, waits->piece_count, count);
	page_columns_begin_table(w->p, "pieces", count);
	WRITE(w, "state", waits->pieces, waits->piece_count, (uint64_t)x->relation << 3 | x->state);
	WRITE(w, "hole", waits->pieces, waits->piece_count, hole_before(s->waits, x));
	page_columns_end_table(w->p);
}

static void put_length(void *columns, uint64_t ns)
{
	page_columns_put(columns, ns);
}

static void write_lengths(const struct writer *w)
{
	uint64_t count = 0;

	for (const struct source *s = w->list; s < w->end; s++)
		count += page_runs_lengths(s->waits, NULL, NULL);
	page_columns_begin_table(w->p, "pieces.lengths", count);
	page_columns_begin(w->p, "length");
	for (const struct source *s = w->list; s < w->end; s++)
		page_runs_lengths(s->waits, put_length, w->p);
	page_columns_end_table(w->p);
}

static void write_runs(const struct writer *w)
{
	struct page_runs_recent recent = { .count = 0 };
	uint64_t count, before_ns = 0;

	COUNT(w, run_count, count);
	page_columns_begin_table(w->p, "runs", count);
	WRITE(w, "thread", runs, run_count, page_runs_place(&recent, s->first_thread + x->thread));
	page_columns_begin_signed(w->p, "gap");
	for (const struct source *s = w->list; s < w->end; s++)
		for (size_t i = 0; i < s->run_count; i++) {
			page_columns_put_signed(
				w->p, (int64_t)(s->runs[i].from_ns + zero_ns(s) - before_ns));
			before_ns = s->runs[i].to_ns + zero_ns(s);
		}
	WRITE(w, "length", runs, run_count, x->to_ns - x->from_ns);
	page_columns_end_table(w->p);
}

static void write_stacks(const struct writer *w)
{
	uint64_t count;

	COUNT(w, waits->stack_count, count);
	page_columns_begin_table(w->p, "waits.stacks", count);
	WRITE(w, "node", waits->stacks, waits->stack_count, x->node);
	WRITE(w, "queue", waits->stacks, waits->stack_count, x->queue);
	WRITE(w, "woken", waits->stacks, waits->stack_count, x->woken);
	WRITE(w, "queue_woken", waits->stacks, waits->stack_count, x->queue_woken);
	WRITE(w, "end", waits->stacks, waits->stack_count, x->end);
	WRITE(w, "where", waits->stacks, waits->stack_count, x->where);
	WRITE(w, "waker", waits->stacks, waits->stack_count, page_texts_number(w->texts, x->waker));
	page_columns_end_table(w->p);
}

static void write_kinds(const struct writer *w)
{
	uint64_t count;

	COUNT(w, kinds.count, count);
	page_columns_begin_table(w->p, "waits.kinds", count);
	WRITE(w, "kind", kinds.list, kinds.count, x->kind);
	WRITE(w, "syscall", kinds.list, kinds.count, x->syscall);
	WRITE(w, "queued", kinds.list, kinds.count, x->queued);
	WRITE(w, "node", kinds.list, kinds.count, x->node);
	WRITE(w, "queue", kinds.list, kinds.count, x->queue);
	WRITE(w, "key", kinds.list, kinds.count, x->key);
	WRITE(w, "queue_key", kinds.list, kinds.count, x->queue_key);
	page_columns_end_table(w->p);
}

struct place {
	uint32_t order, at;
};

static int by_order(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return (a->order > b->order) - (a->order < b->order);
}

/* Stacks of a thread were mostly taken in the order of its waits: by how many places each was elsewhere. */
static int put_order(const struct page_waits *w, struct page_columns *p)
{
	struct place *places = calloc(w->wait_count + 1, sizeof(*places));
	int64_t *moved = calloc(w->wait_count + 1, sizeof(*moved));
	int err = places && moved ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < w->thread_count; i++) {
		size_t count = 0;

		for (size_t n = w->threads[i].wait; n < w->threads[i].wait + w->threads[i].waits;
		     n++)
			if (w->waits[n].combination)
				places[count++] = (struct place){ w->waits[n].order, (uint32_t)n };
		for (size_t n = 0; n < count; n++)
			moved[places[n].at] = -(int64_t)n;
		qsort(places, count, sizeof(*places), by_order);
		for (size_t n = 0; n < count; n++)
			moved[places[n].at] += (int64_t)n;
	}
	for (size_t i = 0; !err && i < w->wait_count; i++)
		page_columns_put_signed(p, w->waits[i].combination ? moved[i] : 0);
	free(places);
	free(moved);
	return err;
}

static int write_waits(const struct writer *w)
{
	uint64_t count;
	int err = 0;

	COUNT(w, waits->wait_count, count);
	page_columns_begin_table(w->p, "waits", count);
	WRITE(w, "kind", waits->waits, waits->wait_count,
	      s->kinds.first + s->kinds.numbers[2 * kind_at(x->kind, x->syscall) + x->queued] - 1);
	WRITE(w, "weight", waits->waits, waits->wait_count, x->weight);
	WRITE(w, "stack", waits->waits, waits->wait_count,
	      x->combination ? s->first_stack + x->combination : 0);
	page_columns_begin_differences(w->p, "task");
	for (const struct source *s = w->list; s < w->end; s++)
		for (size_t i = 0; i < s->waits->wait_count; i++)
			page_columns_put_difference(
				w->p, s->samples->first_task +
					      s->samples->task_of_wait[s->waits->waits[i].group]);
	page_columns_begin_signed(w->p, "order");
	for (const struct source *s = w->list; !err && s < w->end; s++)
		err = put_order(s->waits, w->p);
	page_columns_end_table(w->p);
	return err;
}

int page_wait_tables_write(const struct page_wait_source *list, size_t count,
			   const struct page_stacks *stacks, const struct page_texts *texts,
			   struct page_columns *p)
{
	struct source *sources = calloc(count, sizeof(*sources));
	const struct writer w = { sources, sources + count, texts, p };
	int err = sources ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		struct source *s = &sources[i];

		s->waits = list[i].waits;
		s->samples = list[i].samples;
		s->first_stack = i ? s[-1].first_stack + (uint32_t)s[-1].waits->stack_count : 0;
		s->first_thread = i ? s[-1].first_thread + (uint32_t)s[-1].waits->thread_count : 0;
		s->kinds.first = i ? s[-1].kinds.first + (uint32_t)s[-1].kinds.count : 0;
		err = make_kinds(s->waits, stacks, &s->kinds);
		if (!err)
			err = page_runs_list(s->waits, &s->runs, &s->run_count);
		if (!err)
			number_pairs(&s->kinds);
	}
	if (!err) {
		write_threads(&w);
		write_pieces(&w);
		write_lengths(&w);
		write_runs(&w);
		write_stacks(&w);
		write_kinds(&w);
		err = write_waits(&w);
	}
	for (size_t i = 0; sources && i < count; i++) {
		kinds_done(&sources[i].kinds);
		free(sources[i].runs);
	}
	free(sources);
	return err;
}
