/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/radix_sort.h"
#include "analyze/report/wait_table.h"
#include "format/base/vec.h"

#define NO_WAIT UINT32_MAX

enum { RELATION_NONE, RELATION_SAME, RELATION_NEXT };

/* ---- the timeline ---- */

struct recorder {
	struct page_waits *w;
	const struct sched_replay *run;
	const struct filter *filter;
};

static int on_begin(void *ctx, const struct sched_replay *run)
{
	struct recorder *r = ctx;

	r->run = run;
	r->w->piece_count = r->w->wait_count = r->w->last_count = 0;
	return 0;
}

/* The wait that an interval is part of.  *relation: to the piece before. */
static int find_wait(struct page_waits *w, const struct thread_states_interval *i,
		     uint8_t *relation)
{
	uint32_t *last;

	if (vec_reserve(&w->last_wait, &w->last_capacity, (size_t)i->thread + 1))
		return -ENOMEM;
	while (w->last_count <= i->thread)
		w->last_wait[w->last_count++] = NO_WAIT;
	last = &w->last_wait[i->thread];
	*relation = RELATION_SAME;
	if (*last != NO_WAIT && w->waits[*last].number == i->out->number)
		return 0;
	if (w->wait_count >= NO_WAIT)
		return -EOVERFLOW;
	if (vec_reserve(&w->waits, &w->wait_capacity, w->wait_count + 1))
		return -ENOMEM;
	*last = (uint32_t)w->wait_count;
	w->waits[w->wait_count++] = (struct page_wait){
		.time_ns = i->out->time_ns,
		.number = i->out->number,
		.thread = i->thread,
		.stack = i->out->stack,
		.weight = i->out->weight,
		.syscall = i->out->syscall,
		.kind = (uint8_t)wait_times_kind_of(i->out),
		.queued = !wait_times_was_preempted(i->out->state),
	};
	*relation = RELATION_NEXT;
	return 0;
}

static int add_piece(struct recorder *r, const struct thread_states_interval *i, uint64_t from_ns,
		     uint64_t to_ns)
{
	struct page_waits *w = r->w;
	uint8_t relation = RELATION_NONE;
	int err = 0;

	if (to_ns <= from_ns)
		return 0;
	if (i->out && i->state != THREAD_STATES_RUN && i->state != THREAD_STATES_UNKNOWN)
		err = find_wait(w, i, &relation);
	if (err)
		return err;
	if (w->piece_count >= UINT32_MAX)
		return -EOVERFLOW;
	if (vec_reserve(&w->pieces, &w->piece_capacity, w->piece_count + 1))
		return -ENOMEM;
	w->pieces[w->piece_count++] = (struct page_piece){ .from_ns = from_ns,
							   .to_ns = to_ns,
							   .thread = i->thread,
							   .state = (uint8_t)i->state,
							   .relation = relation };
	return 0;
}

static int add_within(struct recorder *r, const struct thread_states_interval *i, uint64_t from_ns,
		      uint64_t to_ns, const struct time_span *span)
{
	return add_piece(r, i, from_ns < span->from_ns ? span->from_ns : from_ns,
			 to_ns > span->to_ns ? span->to_ns : to_ns);
}

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct recorder *r = ctx;
	const struct filter *f = r->filter;
	uint64_t from_ns = i->from_ns < r->run->start_ns ? r->run->start_ns : i->from_ns;
	uint64_t to_ns = i->to_ns > r->run->end_ns ? r->run->end_ns : i->to_ns;
	int err = 0;

	if (!f->part_count)
		return add_within(r, i, from_ns, to_ns, &f->span);
	for (size_t p = 0; !err && p < f->part_count && f->parts[p].from_ns < to_ns; p++)
		err = add_within(r, i, from_ns, to_ns, &f->parts[p]);
	return err;
}

/* ---- threads ---- */

/* The group of a thread at a time; of most it is the one before. */
static int find_group(struct page_waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      uint32_t *out)
{
	struct process_model_where where;
	struct group g = { .pid = pid, .tid = tid, .cpu = -1 };

	process_model_thread(w->report.model, pid, tid, time_ns, &where);
	g.comm = where.comm == PROCESS_MODEL_NONE ? STACK_COUNTER_TID_GROUP | tid : where.comm;
	if (w->group_count && w->groups[w->group_count - 1].pid == pid &&
	    w->groups[w->group_count - 1].tid == tid &&
	    w->groups[w->group_count - 1].comm == g.comm) {
		*out = (uint32_t)w->group_count - 1;
		return 0;
	}
	if (vec_reserve(&w->groups, &w->group_capacity, w->group_count + 1))
		return -ENOMEM;
	*out = (uint32_t)w->group_count;
	w->groups[w->group_count++] = g;
	return 0;
}

/* Waits of a thread are side by side by now. */
static int name_thread(struct page_waits *w, struct page_thread *t,
		       const struct thread_states_thread *th)
{
	int err = 0;

	t->tid = th->tid;
	t->pid = sched_replay_pid(&w->times.run, th);
	for (size_t i = 0; !err && i < t->waits; i++)
		err = find_group(w, t->pid, t->tid, w->waits[t->wait + i].time_ns,
				 &w->waits[t->wait + i].group);
	return err ? err : find_group(w, t->pid, t->tid, th->end_ns, &t->group);
}

/* Orders by thread, without threads that were not asked for.  wanted: by thread. */
#define ORDER(list, count, wanted, order)                                                    \
	do {                                                                                 \
		size_t wanted_ = 0;                                                          \
		for (size_t i_ = 0; i_ < (count); i_++)                                      \
			if ((wanted)[(list)[i_].thread])                                     \
				(order)[wanted_++] = (struct radix_item){ (list)[i_].thread, \
									  (uint32_t)i_ };    \
		(count) = wanted_;                                                           \
	} while (0)

static int order_pieces(struct page_waits *w, const bool *wanted)
{
	struct radix_item *order = calloc(w->piece_count + 1, sizeof(*order));
	struct page_piece *pieces = NULL;
	int err = order ? 0 : -ENOMEM;

	if (!err) {
		ORDER(w->pieces, w->piece_count, wanted, order);
		pieces = calloc(w->piece_count + 1, sizeof(*pieces));
		err = pieces ? radix_sort(&order, w->piece_count) : -ENOMEM;
	}
	for (size_t i = 0; !err && i < w->piece_count; i++)
		pieces[i] = w->pieces[order[i].value];
	free(order);
	if (err) {
		free(pieces);
		return err;
	}
	free(w->pieces);
	w->pieces = pieces;
	return 0;
}

static int order_waits(struct page_waits *w, const bool *wanted)
{
	struct radix_item *order = calloc(w->wait_count + 1, sizeof(*order));
	struct page_wait *waits = NULL;
	int err = order ? 0 : -ENOMEM;

	if (!err) {
		ORDER(w->waits, w->wait_count, wanted, order);
		waits = calloc(w->wait_count + 1, sizeof(*waits));
		err = waits ? radix_sort(&order, w->wait_count) : -ENOMEM;
	}
	for (size_t i = 0; !err && i < w->wait_count; i++)
		waits[i] = w->waits[order[i].value];
	free(order);
	if (err) {
		free(waits);
		return err;
	}
	free(w->waits);
	w->waits = waits;
	return 0;
}

/* Each thread that has pieces. */
static int list_threads(struct page_waits *w, const struct thread_states_thread *threads,
			size_t count)
{
	size_t wait = 0;
	int err = 0;

	w->threads = calloc(count + 1, sizeof(*w->threads));
	if (!w->threads)
		return -ENOMEM;
	for (size_t i = 0; !err && i < w->piece_count;) {
		struct page_thread *t = &w->threads[w->thread_count++];

		*t = (struct page_thread){ .index = w->pieces[i].thread, .piece = i, .wait = wait };
		for (; i < w->piece_count && w->pieces[i].thread == t->index; i++)
			t->pieces++;
		for (; wait < w->wait_count && w->waits[wait].thread == t->index; wait++)
			t->waits++;
		err = name_thread(w, t, &threads[t->index]);
	}
	return err;
}

static int choose_threads(struct page_waits *w, const struct filter *filter)
{
	size_t count;
	const struct thread_states_thread *threads = thread_states_threads(w->times.run.timeline,
									   &count);
	bool *wanted = calloc(count + 1, sizeof(*wanted));
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++)
		wanted[i] = sched_replay_wants(&w->times.run, filter, &threads[i]);
	if (!err)
		err = order_pieces(w, wanted);
	if (!err)
		err = order_waits(w, wanted);
	free(wanted);
	return err ? err : list_threads(w, threads, count);
}

int page_waits_read(const struct report *first, const struct report_query *query,
		    struct page_waits *w)
{
	struct recorder recorder = { .w = w, .filter = query->filter };
	struct report_query how = *query;
	struct sched_replay_user users[2];
	int err;

	*w = (struct page_waits){ 0 };
	err = report_open_beside(first, &w->report);
	if (err)
		return err;
	users[0] = wait_times_user(&w->times.waits, query->filter, true, true);
	users[1] = (struct sched_replay_user){ on_begin, on_interval, NULL, &recorder };
	err = sched_replay_make(first->capture, first->names, query->filter, users, 2,
				&w->times.run);
	if (err)
		return err == -ENODATA ? 0 : err;
	err = wait_times_finish(&w->times.waits);
	if (!err)
		err = choose_threads(w, query->filter);
	how.off_cpu = how.wakers = how.each_wait = how.with_sources = how.no_quality = true;
	how.fields = GROUP_COMM | GROUP_CGROUP;
	how.times = &w->times;
	w->any = true;
	return err ? err : report_make(&w->report, &how);
}

void page_waits_done(struct page_waits *w)
{
	report_done(&w->report);
	offcpu_times_done(&w->times);
	free(w->threads);
	free(w->pieces);
	free(w->waits);
	free(w->last_wait);
	free(w->groups);
	free(w->stacks);
	*w = (struct page_waits){ 0 };
}

/* ---- stacks ---- */

/* By number of a wait's stack: the nodes of its ends, and when it was taken. */
struct taken {
	struct page_wait_stack nodes;
	uint32_t order;
	bool taken;
};

static int name_waker(struct page_waits *w, const struct offcpu_end *end, struct page_texts *texts,
		      uint32_t *out)
{
	const struct offcpu_end *waker = &w->report.waits.ends[end->waker];

	return page_texts_add_name(texts,
				   waker->kind ? "[interrupt]"
				   : waker->comm == PROCESS_MODEL_NONE
					   ? "[unknown thread]"
					   : string_table_text(w->report.names, waker->comm),
				   out);
}

/* The frame on the way to node that is this function, and 1; 0: none is. */
static int find_frame(const struct page_waits *w, const struct page_stacks *stacks, uint32_t node,
		      const struct function *f, struct page_texts *texts, uint32_t *out)
{
	uint32_t name, path;
	int err = page_texts_add(texts, string_table_text(w->report.names, f->name), &name);

	if (!err)
		err = page_texts_add(texts, string_table_text(w->report.names, f->dso), &path);
	for (*out = 0; !err && node && !*out; node = stacks->nodes[node].parent) {
		const struct page_frame *frame = &stacks->frames[stacks->nodes[node].frame];

		if (frame->name == name && stacks->objects[frame->object].path == path)
			*out = stacks->nodes[node].frame + 1;
	}
	return err;
}

static int take_where(struct page_waits *w, const struct page_stacks *stacks, size_t entry,
		      struct page_texts *texts, uint32_t *out)
{
	const struct report *r = &w->report;
	const struct function *f = wait_table_where(&r->stacks, &r->naming, r->names,
						    &r->stacks.entries[entry].key);

	return f ? find_frame(w, stacks, stacks->node_of[1][entry], f, texts, out) : 0;
}

static int take_entry(struct page_waits *w, const struct page_stacks *stacks, size_t entry,
		      struct page_texts *texts, struct taken *list)
{
	const struct stack_table_entry *e = &w->report.stacks.entries[entry];
	const struct offcpu *o = &w->report.waits;
	bool woken = e->key.end >= o->end_count, queue;
	uint32_t number = woken ? e->key.end - (uint32_t)o->end_count : e->key.end;
	const struct offcpu_end *end = &o->ends[number];
	struct page_wait_stack *n;
	struct taken *t;

	if (!end->stack)
		return 0;
	t = &list[end->stack - 1];
	n = &t->nodes;
	queue = end->kind == WAIT_RUN_QUEUE;
	*(woken   ? queue ? &n->queue_woken : &n->woken
	  : queue ? &n->queue
		  : &n->node) = stacks->node_of[1][entry];
	n->end = end->walk_end;
	if (!t->taken || number < t->order)
		t->order = number;
	t->taken = true;
	if (woken)
		return n->waker ? 0 : name_waker(w, end, texts, &n->waker);
	return n->where ? 0 : take_where(w, stacks, entry, texts, &n->where);
}

/* The number of these nodes, and 1; each is counted. */
static int find_stack(struct page_waits *w, struct hash_index *index, uint64_t **counts,
		      size_t *capacity, const struct page_wait_stack *nodes, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(index))
		return -ENOMEM;
	hash = hash_index_bytes(index, nodes, sizeof(*nodes));
	pos = hash_index_start(index, hash);
	while ((id = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE)
		if (!memcmp(&w->stacks[id], nodes, sizeof(*nodes)))
			break;
	if (id == HASH_INDEX_NONE) {
		if (vec_reserve(&w->stacks, &w->stack_capacity, w->stack_count + 1) ||
		    vec_reserve(counts, capacity, w->stack_count + 1))
			return -ENOMEM;
		id = (uint32_t)w->stack_count++;
		w->stacks[id] = *nodes;
		(*counts)[id] = 0;
		hash_index_put(index, hash, pos, id);
	}
	(*counts)[id]++;
	*out = id + 1;
	return 0;
}

/* The most frequent first. */
static int rank_stacks(struct page_waits *w, const uint64_t *counts)
{
	struct radix_item *order = calloc(w->stack_count + 1, sizeof(*order));
	struct page_wait_stack *stacks = calloc(w->stack_count + 1, sizeof(*stacks));
	uint32_t *numbers = calloc(w->stack_count + 1, sizeof(*numbers));
	int err = order && stacks && numbers ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < w->stack_count; i++)
		order[i] = (struct radix_item){ UINT64_MAX - counts[i], (uint32_t)i };
	if (!err)
		err = radix_sort(&order, w->stack_count);
	for (size_t i = 0; !err && i < w->stack_count; i++) {
		stacks[i] = w->stacks[order[i].value];
		numbers[order[i].value] = (uint32_t)i;
	}
	for (size_t i = 0; !err && i < w->wait_count; i++)
		if (w->waits[i].combination)
			w->waits[i].combination = numbers[w->waits[i].combination - 1] + 1;
	free(order);
	free(numbers);
	if (err) {
		free(stacks);
		return err;
	}
	free(w->stacks);
	w->stacks = stacks;
	return 0;
}

static int combine_stacks(struct page_waits *w, const struct taken *list, size_t count)
{
	struct hash_index index = { .slots = NULL };
	uint64_t *counts = NULL;
	size_t capacity = 0;
	int err = 0;

	for (size_t i = 0; !err && i < w->wait_count; i++) {
		struct page_wait *wait = &w->waits[i];
		const struct taken *t = wait->stack < count ? &list[wait->stack] : NULL;

		if (!t || !t->taken)
			continue;
		wait->order = t->order;
		err = find_stack(w, &index, &counts, &capacity, &t->nodes, &wait->combination);
	}
	if (!err)
		err = rank_stacks(w, counts);
	hash_index_done(&index);
	free(counts);
	return err;
}

static int name_threads(struct page_waits *w, struct page_texts *texts)
{
	size_t count;
	const struct thread_states_thread *threads = thread_states_threads(w->times.run.timeline,
									   &count);
	char unknown[16];
	uint32_t comm;
	int err = 0;

	for (size_t i = 0; !err && i < w->thread_count; i++) {
		struct page_thread *t = &w->threads[i];

		comm = sched_replay_comm(&w->times.run, &threads[t->index]);
		snprintf(unknown, sizeof(unknown), ":%u", t->tid);
		err = page_texts_add_name(texts,
					  comm == SCHED_EVENT_NONE
						  ? unknown
						  : string_table_text(w->report.names, comm),
					  &t->comm);
	}
	return err;
}

int page_waits_make(struct page_waits *w, const struct page_stacks *stacks,
		    struct page_texts *texts)
{
	const struct stack_table *s = &w->report.stacks;
	size_t count = w->any ? sched_order_stack_count(w->times.run.flow) : 0;
	struct taken *list;
	uint32_t no_waker;
	int err;

	if (!w->any)
		return 0;
	list = calloc(count + 1, sizeof(*list));
	err = list ? page_texts_add(texts, "", &no_waker) : -ENOMEM;
	for (size_t i = 0; !err && i < s->entry_count; i++)
		err = take_entry(w, stacks, i, texts, list);
	if (!err)
		err = combine_stacks(w, list, count);
	free(list);
	if (err)
		return err;
	for (size_t i = 0; i < w->stack_count; i++)
		if (!w->stacks[i].woken && !w->stacks[i].queue_woken)
			w->stacks[i].waker = no_waker;
	return name_threads(w, texts);
}

/* ---- writing ---- */

static void write_threads(const struct page_waits *w, const uint32_t *tasks, uint64_t base_us,
			  const struct page_texts *texts, struct page_columns *p)
{
	const struct page_thread *list = w->threads;
	uint32_t tid = 0;

	page_columns_begin_table(p, "threads", w->thread_count);
	page_columns_begin_signed(p, "tid"); /* since the thread before */
	for (size_t i = 0; i < w->thread_count; tid = list[i++].tid)
		page_columns_put_signed(p, (int64_t)list[i].tid - tid);
	page_columns_begin(p, "pid");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put(p, list[i].pid);
	page_columns_begin(p, "comm");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put(p, page_texts_number(texts, list[i].comm));
	page_columns_begin(p, "task");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put(p, tasks[list[i].group]);
	page_columns_begin_signed(p, "begin");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put_signed(
			p, (int64_t)(w->pieces[list[i].piece].from_ns - base_us * 1000));
	page_columns_begin(p, "pieces");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put(p, list[i].pieces);
	page_columns_begin(p, "waits");
	for (size_t i = 0; i < w->thread_count; i++)
		page_columns_put(p, list[i].waits);
	page_columns_end_table(p);
}

/* How long nothing is known of a thread before this piece of it. */
static uint64_t hole_before(const struct page_waits *w, size_t i)
{
	const struct page_piece *piece = &w->pieces[i];

	return i && piece[-1].thread == piece->thread ? piece->from_ns - piece[-1].to_ns : 0;
}

static void write_pieces(const struct page_waits *w, struct page_columns *p)
{
	page_columns_begin_table(p, "pieces", w->piece_count);
	page_columns_begin(p, "state");
	for (size_t i = 0; i < w->piece_count; i++)
		page_columns_put(p, (uint64_t)w->pieces[i].relation << 3 | w->pieces[i].state);
	page_columns_begin(p, "length");
	for (size_t i = 0; i < w->piece_count; i++)
		page_columns_put(p, w->pieces[i].to_ns - w->pieces[i].from_ns);
	page_columns_begin(p, "hole");
	for (size_t i = 0; i < w->piece_count; i++)
		page_columns_put(p, hole_before(w, i));
	page_columns_end_table(p);
}

#define WRITE(p, list, count, field)                           \
	do {                                                   \
		page_columns_begin(p, #field);                 \
		for (size_t i_ = 0; i_ < (count); i_++)        \
			page_columns_put(p, (list)[i_].field); \
	} while (0)

static void write_stacks(const struct page_waits *w, const struct page_texts *texts,
			 struct page_columns *p)
{
	page_columns_begin_table(p, "waits.stacks", w->stack_count);
	WRITE(p, w->stacks, w->stack_count, node);
	WRITE(p, w->stacks, w->stack_count, queue);
	WRITE(p, w->stacks, w->stack_count, woken);
	WRITE(p, w->stacks, w->stack_count, queue_woken);
	WRITE(p, w->stacks, w->stack_count, end);
	WRITE(p, w->stacks, w->stack_count, where);
	page_columns_begin(p, "waker");
	for (size_t i = 0; i < w->stack_count; i++)
		page_columns_put(p, page_texts_number(texts, w->stacks[i].waker));
	page_columns_end_table(p);
}

/* The row for waits of a kind without a stack. */
struct kind {
	uint32_t kind, syscall, queued, node, queue;
};

struct kinds {
	struct kind *list;
	size_t count, capacity;
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
				stacks->node_of[1][i];
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
			(struct kind){ wait->kind, wait->syscall, wait->queued,
				       k->bare[kind_at(wait->kind, wait->syscall)],
				       k->bare[kind_at(WAIT_RUN_QUEUE, wait->syscall)] };
		*number = (uint32_t)k->count;
	}
	/* All that is no wait: each in a row of its own, behind those. */
	for (unsigned kind = WAIT_ON_CPU; kind < WAIT_KINDS; kind++) {
		if (vec_reserve(&k->list, &k->capacity, k->count + 1))
			return -ENOMEM;
		k->list[k->count++] = (struct kind){ kind, 0, 0, k->bare[kind_at(kind, 0)], 0 };
	}
	return 0;
}

static void kinds_done(struct kinds *k)
{
	free(k->list);
	free(k->bare);
	free(k->numbers);
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
static int write_order(const struct page_waits *w, struct page_columns *p)
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
	page_columns_begin_signed(p, "order");
	for (size_t i = 0; !err && i < w->wait_count; i++)
		if (w->waits[i].combination)
			page_columns_put_signed(p, moved[i]);
		else
			page_columns_put_signed(p, 0);
	free(places);
	free(moved);
	return err;
}

static int write_waits(const struct page_waits *w, const struct kinds *k, const uint32_t *tasks,
		       struct page_columns *p)
{
	uint32_t task = 0;
	int err;

	page_columns_begin_table(p, "waits", w->wait_count);
	page_columns_begin(p, "kind");
	for (size_t i = 0; i < w->wait_count; i++)
		page_columns_put(p, k->numbers[2 * kind_at(w->waits[i].kind, w->waits[i].syscall) +
					       w->waits[i].queued] -
					    1);
	WRITE(p, w->waits, w->wait_count, weight);
	page_columns_begin(p, "stack");
	for (size_t i = 0; i < w->wait_count; i++)
		page_columns_put(p, w->waits[i].combination);
	page_columns_begin_signed(p, "task"); /* since the wait before */
	for (size_t i = 0; i < w->wait_count; task = tasks[w->waits[i++].group])
		page_columns_put_signed(p, (int64_t)tasks[w->waits[i].group] - task);
	err = write_order(w, p);
	page_columns_end_table(p);
	return err;
}

int page_waits_write(const struct page_waits *w, const struct page_stacks *stacks,
		     const uint32_t *tasks, uint64_t base_us, const struct page_texts *texts,
		     struct page_columns *p)
{
	struct kinds k = { 0 };
	int err;

	if (!w->any)
		return 0;
	err = make_kinds(w, stacks, &k);
	if (!err) {
		write_threads(w, tasks, base_us, texts, p);
		write_pieces(w, p);
		write_stacks(w, texts, p);
		page_columns_begin_table(p, "waits.kinds", k.count);
		WRITE(p, k.list, k.count, kind);
		WRITE(p, k.list, k.count, syscall);
		WRITE(p, k.list, k.count, queued);
		WRITE(p, k.list, k.count, node);
		WRITE(p, k.list, k.count, queue);
		page_columns_end_table(p);
		err = write_waits(w, &k, tasks, p);
	}
	kinds_done(&k);
	return err;
}
