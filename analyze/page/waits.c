/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/radix_sort.h"
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
							   .cpu = (uint16_t)i->cpu,
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
	t->start_ns = th->start_ns;
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
	how.fields = GROUP_SERVICE;
	how.times = &w->times;
	how.with_lines = false; /* only where threads ran is shown by lines */
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
