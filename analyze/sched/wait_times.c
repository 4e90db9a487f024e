/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/wait_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"
#include "analyze/sched/wait_reason.h"

static int thread_at(struct wait_times *w, uint32_t thread, struct wait_times_thread **out)
{
	if (vec_reserve(&w->threads, &w->thread_capacity, (size_t)thread + 1))
		return -ENOMEM;
	for (; w->thread_count <= thread; w->thread_count++)
		w->threads[w->thread_count] = (struct wait_times_thread){
			.kinds = WAIT_TIMES_NO_KIND,
			.open = WAIT_TIMES_NO_KIND,
		};
	*out = &w->threads[thread];
	return 0;
}

bool wait_times_was_preempted(uint16_t state)
{
	return !state || state & SCHED_EVENT_PREEMPTED;
}

enum wait_kind wait_times_kind_of(const struct thread_states_out *out)
{
	if (out->kind != SCHED_EVENT_SWITCH)
		return WAIT_RUN_QUEUE; /* a new thread */
	if (wait_times_was_preempted(out->state))
		return WAIT_PREEMPTED;
	if (out->state & SCHED_EVENT_DISK)
		return WAIT_BLOCK;
	return out->state & (SCHED_EVENT_STOPPED | SCHED_EVENT_TRACED) ? WAIT_STOP : WAIT_SLEEP;
}

/* ---- kinds of waits ---- */

#define SHORTER_MAX 2 /* strata: a wait is up to 64 times as long as those that it is taken for */

/* The first of them; the one used last stands first: a thread waits in the same call again and again. */
static uint32_t find_kind(struct wait_times *w, struct wait_times_thread *th, enum wait_kind kind,
			  uint16_t syscall)
{
	uint32_t before = WAIT_TIMES_NO_KIND, id = th->kinds;

	for (; id != WAIT_TIMES_NO_KIND; before = id, id = w->kinds[id].next)
		if (w->kinds[id].kind == kind && w->kinds[id].syscall == syscall)
			break;
	if (id != WAIT_TIMES_NO_KIND && before != WAIT_TIMES_NO_KIND) {
		w->kinds[before].next = w->kinds[id].next;
		w->kinds[id].next = th->kinds;
		th->kinds = id;
	}
	return id;
}

/* out: with which one of them began; NULL: none did. */
static int kind_at(struct wait_times *w, uint32_t thread, enum wait_kind kind, uint8_t stratum,
		   const struct thread_states_out *out, uint32_t *id)
{
	struct wait_times_thread *th = &w->threads[thread];
	uint16_t syscall = out ? out->syscall : 0;
	uint32_t first = find_kind(w, th, kind, syscall);

	for (*id = first; *id != WAIT_TIMES_NO_KIND; *id = w->kinds[*id].same)
		if (w->kinds[*id].stratum == stratum)
			return 0;
	if (w->kind_count >= WAIT_TIMES_NO_KIND)
		return -EOVERFLOW;
	if (vec_reserve(&w->kinds, &w->kind_capacity, w->kind_count + 1))
		return -ENOMEM;
	*id = (uint32_t)w->kind_count++;
	w->kinds[*id] = (struct wait_times_kind){
		.thread = thread,
		.syscall = syscall,
		.kind = (uint8_t)kind,
		.stratum = stratum,
		.next = th->kinds,
		.same = WAIT_TIMES_NO_KIND,
		.began = out != NULL,
		.cpu = out ? out->cpu : 0,
		.first_ns = out ? out->time_ns : 0,
	};
	if (first == WAIT_TIMES_NO_KIND) {
		th->kinds = *id;
	} else {
		w->kinds[*id].same = w->kinds[first].same;
		w->kinds[first].same = *id;
	}
	return 0;
}

static int add_to_kind(struct wait_times *w, const struct wait_times_open *o, enum wait_kind kind,
		       uint64_t ns, uint32_t *id)
{
	struct wait_times_kind *k;
	double d = (double)ns;
	uint32_t weight = o->out.weight;
	int err = kind_at(w, o->thread, kind, wait_times_stratum(ns), &o->out, id);

	if (err)
		return err;
	k = &w->kinds[*id];
	k->exact_ns += ns;
	k->count++;
	k->longest_ns = ns > k->longest_ns ? ns : k->longest_ns;
	k->stacks += weight != 0;
	k->weights += weight;
	k->sampled += weight * d;
	if (weight)
		k->own_ns += ns;
	if (weight > 1) {
		k->others += (weight - 1) * d;
		k->variance += (double)weight * (weight - 1) * d * d;
	}
	return 0;
}

/* ---- waits ---- */

static int stack_at(struct wait_times *w, uint32_t stack, struct wait_times_stack **out)
{
	if (vec_reserve(&w->stacks, &w->stack_capacity, (size_t)stack + 1) ||
	    (w->with_ends && vec_reserve(&w->ends, &w->end_capacity, (size_t)stack + 1)))
		return -ENOMEM;
	for (; w->stack_count <= stack; w->stack_count++)
		w->stacks[w->stack_count] = (struct wait_times_stack){
			.kind = WAIT_TIMES_NO_KIND,
			.queue_kind = WAIT_TIMES_NO_KIND,
		};
	*out = &w->stacks[stack];
	return 0;
}

/* It is over. */
static int sort_wait(struct wait_times *w, const struct wait_times_open *o)
{
	struct wait_times_thread *th = &w->threads[o->thread];
	struct wait_times_stack *stack, unseen;
	int err = 0;

	if (!o->ns && !o->queue_ns)
		return 0;
	th->waits++;
	th->stacks += o->out.weight != 0;
	stack = &unseen;
	if (o->out.stack != SCHED_EVENT_NONE)
		err = stack_at(w, o->out.stack, &stack);
	if (!err && o->ns)
		err = add_to_kind(w, o, wait_times_kind_of(&o->out), o->ns, &stack->kind);
	if (!err && o->queue_ns)
		err = add_to_kind(w, o, WAIT_RUN_QUEUE, o->queue_ns, &stack->queue_kind);
	stack->ns = o->ns;
	stack->queue_ns = o->queue_ns;
	if (!err && w->with_ends && stack != &unseen)
		w->ends[o->out.stack] = o->end_ns;
	return err;
}

static int end_wait(struct wait_times *w, struct wait_times_thread *th)
{
	struct wait_times_open last;
	uint32_t at = th->open;
	int err;

	if (at == WAIT_TIMES_NO_KIND)
		return 0;
	err = sort_wait(w, &w->open[at]);
	th->open = WAIT_TIMES_NO_KIND;
	last = w->open[--w->open_count];
	if (at < w->open_count) {
		w->open[at] = last;
		w->threads[last.thread].open = at;
	}
	return err;
}

/* The wait that began so: the thread's last one, or one that begins now. */
static int wait_at(struct wait_times *w, uint32_t thread, const struct thread_states_out *out,
		   struct wait_times_open **wait)
{
	struct wait_times_thread *th = &w->threads[thread];
	int err;

	if (th->open != WAIT_TIMES_NO_KIND && w->open[th->open].out.number == out->number) {
		*wait = &w->open[th->open];
		return 0;
	}
	err = end_wait(w, th);
	if (err)
		return err;
	if (vec_reserve(&w->open, &w->open_capacity, w->open_count + 1))
		return -ENOMEM;
	th->open = (uint32_t)w->open_count++;
	w->open[th->open] = (struct wait_times_open){ .out = *out, .thread = thread };
	*wait = &w->open[th->open];
	return 0;
}

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct wait_times *w = ctx;
	const struct sched_replay *run = w->run;
	uint64_t from_ns = i->from_ns < run->start_ns ? run->start_ns : i->from_ns;
	uint64_t to_ns = i->to_ns > run->end_ns ? run->end_ns : i->to_ns, ns;
	struct wait_times_thread *th;
	struct wait_times_open *wait;
	int err;

	/* The next event of a running thread is another one. */
	if (i->state == THREAD_STATES_RUN && i->thread < w->thread_count) {
		err = end_wait(w, &w->threads[i->thread]);
		if (err)
			return err;
	}
	if ((i->state == THREAD_STATES_RUN && !w->all && !w->with_busy) || to_ns <= from_ns)
		return 0;
	ns = filter_overlap_ns(w->filter, from_ns, to_ns);
	if (!ns)
		return 0;
	err = thread_at(w, i->thread, &th);
	if (err)
		return err;
	if (i->state == THREAD_STATES_RUN) {
		th->on_ns += ns;
		return 0;
	}
	if (i->state == THREAD_STATES_UNKNOWN) {
		th->unknown_ns += ns;
		return 0;
	}
	if (!i->out) {
		th->before_ns += ns;
		return 0;
	}
	err = wait_at(w, i->thread, i->out, &wait);
	if (err)
		return err;
	if (i->state == THREAD_STATES_WAIT && !wait_times_was_preempted(i->out->state))
		wait->queue_ns += ns;
	else
		wait->ns += ns, wait->end_ns = i->to_ns;
	return 0;
}

/* ---- all ---- */

/*
 * Adds the time that is no wait with a recorded begin: a thread's time on a CPU, before the
 * recording, and unknown.
 */
static int add_rest(struct wait_times *w, uint32_t thread)
{
	const struct {
		enum wait_kind kind;
		uint64_t ns;
	} rest[] = {
		{ WAIT_ON_CPU, w->threads[thread].on_ns },
		{ WAIT_BEFORE, w->threads[thread].before_ns },
		{ WAIT_UNKNOWN, w->threads[thread].unknown_ns },
	};
	uint32_t kind;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(rest) / sizeof(rest[0]); i++) {
		if (!rest[i].ns)
			continue;
		err = kind_at(w, thread, rest[i].kind, 0, NULL, &kind);
		if (!err) {
			w->kinds[kind].exact_ns += rest[i].ns;
			w->kinds[kind].wanted = true;
		}
	}
	return err;
}

/* The waits with a stack that those of k are taken for; NULL: none are. */
static struct wait_times_kind *like_it(struct wait_times *w, uint32_t first,
				       const struct wait_times_kind *k)
{
	struct wait_times_kind *below = NULL, *above = NULL;

	for (uint32_t id = first; id != WAIT_TIMES_NO_KIND; id = w->kinds[id].same) {
		struct wait_times_kind *other = &w->kinds[id];

		if (!other->stacks)
			continue;
		if (other->stratum > k->stratum) {
			if (!above || other->stratum < above->stratum)
				above = other;
		} else if (k->stratum - other->stratum <= SHORTER_MAX &&
			   (!below || other->stratum > below->stratum)) {
			below = other;
		}
	}
	return below ? below : above;
}

/* Gives waits without a stack to those that they are taken for. */
static void join_strata(struct wait_times *w, uint32_t first)
{
	for (uint32_t id = first; id != WAIT_TIMES_NO_KIND; id = w->kinds[id].same) {
		struct wait_times_kind *k = &w->kinds[id], *to;

		to = k->stacks ? NULL : like_it(w, first, k);
		if (!to)
			continue;
		to->exact_ns += k->exact_ns;
		to->count += k->count;
		to->longest_ns = k->longest_ns > to->longest_ns ? k->longest_ns : to->longest_ns;
		k->exact_ns = k->count = k->longest_ns = 0;
	}
}

static double add_up_kind(struct wait_times *w, struct wait_times_kind *k)
{
	double scale;

	k->wanted = true;
	w->sums.total_ns = saturate_add(w->sums.total_ns, k->exact_ns);
	if (!(k->sampled > 0))
		return 0;
	w->sums.with_stack_ns = saturate_add(w->sums.with_stack_ns, k->exact_ns);
	scale = k->others > 0 ? (double)(k->exact_ns - k->own_ns) / k->others : 0;
	return scale * scale * k->variance;
}

/* The sum of the kinds of a chosen thread that were seen to begin. */
static double add_up_kinds(struct wait_times *w, uint32_t thread)
{
	double variance = 0;

	for (uint32_t first = w->threads[thread].kinds; first != WAIT_TIMES_NO_KIND;
	     first = w->kinds[first].next) {
		join_strata(w, first);
		for (uint32_t id = first; id != WAIT_TIMES_NO_KIND; id = w->kinds[id].same)
			variance += add_up_kind(w, &w->kinds[id]);
	}
	return variance;
}

/* The share of its time within the span that a thread ran. */
static void find_busy(struct wait_times *w, const struct wait_times_thread *th)
{
	double all = (double)th->on_ns + (double)th->before_ns + (double)th->unknown_ns;
	uint32_t first, id;

	for (first = th->kinds; first != WAIT_TIMES_NO_KIND; first = w->kinds[first].next)
		for (id = first; id != WAIT_TIMES_NO_KIND; id = w->kinds[id].same)
			all += (double)w->kinds[id].exact_ns;
	for (first = th->kinds; first != WAIT_TIMES_NO_KIND; first = w->kinds[first].next)
		for (id = first; id != WAIT_TIMES_NO_KIND; id = w->kinds[id].same)
			w->kinds[id].busy = all > 0 ? (double)th->on_ns / all : 0;
}

int wait_times_finish(struct wait_times *w)
{
	const struct thread_states_thread *threads;
	double variance = 0;
	size_t count;
	int err = 0;

	threads = thread_states_threads(w->run->timeline, &count);
	while (!err && w->open_count)
		err = end_wait(w, &w->threads[w->open[w->open_count - 1].thread]);
	for (size_t i = 0; i < w->thread_count && !err; i++) {
		if (!sched_replay_wants(w->run, w->filter, &threads[i]))
			continue;
		variance += add_up_kinds(w, (uint32_t)i);
		if (w->with_busy)
			find_busy(w, &w->threads[i]);
		w->sums.switches += w->threads[i].waits;
		w->sums.stacks += w->threads[i].stacks;
		w->sums.before_ns = saturate_add(w->sums.before_ns, w->threads[i].before_ns);
		w->sums.unknown_ns = saturate_add(w->sums.unknown_ns, w->threads[i].unknown_ns);
		w->sums.on_ns = saturate_add(w->sums.on_ns, w->threads[i].on_ns);
		if (w->all)
			err = add_rest(w, (uint32_t)i);
	}
	if (w->sums.with_stack_ns)
		w->sums.error_share = sqrt(variance) / (double)w->sums.with_stack_ns;
	for (size_t i = 0; i < w->kind_count; i++)
		w->kinds[i].seen = 0;
	free(w->open);
	w->open = NULL;
	w->open_capacity = 0;
	if (!w->all) { /* the time of a thread on a CPU is not needed any more */
		free(w->threads);
		w->threads = NULL;
		w->thread_count = w->thread_capacity = 0;
	}
	return err;
}

struct wait_times_kind *wait_times_on_cpu(struct wait_times *w, uint32_t thread)
{
	uint32_t kind;

	if (thread >= w->thread_count || !w->threads[thread].on_ns)
		return NULL;
	kind = find_kind(w, &w->threads[thread], WAIT_ON_CPU, 0);
	return kind == WAIT_TIMES_NO_KIND ? NULL : &w->kinds[kind];
}

uint64_t wait_times_share(struct wait_times_kind *k, uint64_t ns, uint32_t weight)
{
	const uint64_t rest_ns = k->exact_ns - k->own_ns;
	const double all = k->others > 0 ? k->others : k->sampled;
	uint64_t own_ns = k->own_ns ? ns : 0, upto_ns;
	double upto;

	if (own_ns > k->own_ns - k->given_own_ns)
		own_ns = k->own_ns - k->given_own_ns;
	k->given_own_ns += own_ns;
	k->seen += (k->others > 0 ? (double)weight - 1 : (double)weight) * (double)ns;
	upto = (double)rest_ns * (k->seen / all) + 0.5;
	/* Rounding may make more of it. */
	upto_ns = k->seen >= all ? rest_ns : saturate_part(upto, rest_ns);
	if (upto_ns > k->given_rest_ns) {
		own_ns += upto_ns - k->given_rest_ns;
		k->given_rest_ns = upto_ns;
	}
	return own_ns;
}

uint64_t wait_times_left_ns(const struct wait_times_kind *k)
{
	return k->exact_ns - k->given_own_ns - k->given_rest_ns;
}

uint64_t wait_times_share_count(struct wait_times_kind *k, uint32_t weight)
{
	const uint64_t rest = k->count - k->stacks;
	const bool others = k->weights > k->stacks;
	const uint64_t all = others ? k->weights - k->stacks : k->weights;
	uint64_t before, after;

	if (!weight || !all)
		return 0;
	before = (uint64_t)((unsigned __int128)rest * k->seen_weights / all);
	k->seen_weights += others ? weight - 1 : weight;
	after = (uint64_t)((unsigned __int128)rest * k->seen_weights / all);
	k->given_count += 1 + after - before;
	return 1 + after - before;
}

static int begin(void *ctx, const struct sched_replay *run)
{
	struct wait_times *w = ctx;

	w->run = run;
	w->kind_count = w->stack_count = w->thread_count = w->open_count = 0;
	return 0;
}

struct sched_replay_user wait_times_user(struct wait_times *w, const struct filter *filter,
					 bool all, bool with_ends)
{
	w->filter = filter;
	w->all = all;
	w->with_ends = with_ends;
	return (struct sched_replay_user){ begin, on_interval, NULL, w };
}

void wait_times_done(struct wait_times *w)
{
	free(w->kinds);
	free(w->stacks);
	free(w->ends);
	free(w->threads);
	free(w->open);
	*w = (struct wait_times){ 0 };
}
