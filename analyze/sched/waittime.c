/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/waittime.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/vec.h"
#include "analyze/sched/waitreason.h"

static int thread_at(struct waittime *w, uint32_t thread)
{
	size_t old = w->thread_count;

	if (thread < old)
		return 0;
	if (vec_reserve(&w->before_ns, &w->before_capacity, (size_t)thread + 1) ||
	    vec_reserve(&w->unknown_ns, &w->unknown_capacity, (size_t)thread + 1) ||
	    vec_reserve(&w->on_ns, &w->on_capacity, (size_t)thread + 1))
		return -ENOMEM;
	for (; old <= thread; old++)
		w->before_ns[old] = w->unknown_ns[old] = w->on_ns[old] = 0;
	w->thread_count = (size_t)thread + 1;
	return 0;
}

bool waittime_was_preempted(const struct sched_event *e)
{
	return !e->state || e->state & SCHEDEV_PREEMPTED;
}

static int on_interval(void *ctx, const struct timeline_interval *i)
{
	struct waittime *w = ctx;
	const struct schedrun *run = &w->run;
	uint64_t from_ns = i->from_ns < run->start_ns ? run->start_ns : i->from_ns;
	uint64_t to_ns = i->to_ns > run->end_ns ? run->end_ns : i->to_ns, ns;
	struct waittime_wait *wait;
	int err;

	if ((i->state == TIMELINE_RUN && !w->whole) || to_ns <= from_ns)
		return 0;
	ns = filter_overlap_ns(w->filter, from_ns, to_ns);
	if (!ns)
		return 0;
	err = thread_at(w, i->thread);
	if (err)
		return err;
	if (i->state == TIMELINE_RUN) {
		w->on_ns[i->thread] += ns;
		return 0;
	}
	if (i->state == TIMELINE_UNKNOWN) {
		w->unknown_ns[i->thread] += ns;
		return 0;
	}
	if (i->out == SCHEDEV_NONE) {
		w->before_ns[i->thread] += ns;
		return 0;
	}
	wait = &w->waits[i->out];
	wait->thread = i->thread;
	if (i->state == TIMELINE_WAIT && !waittime_was_preempted(&run->events.events[i->out]))
		wait->queue_ns += ns;
	else
		wait->ns += ns, wait->end_ns = i->to_ns;
	return 0;
}

static enum wait_kind kind_of_state(const struct sched_event *e)
{
	if (e->kind != SCHEDEV_SWITCH)
		return WAIT_RUN_QUEUE; /* a new thread */
	if (waittime_was_preempted(e))
		return WAIT_PREEMPTED;
	if (e->state & SCHEDEV_DISK)
		return WAIT_BLOCK;
	return e->state & (SCHEDEV_STOPPED | SCHEDEV_TRACED) ? WAIT_STOP : WAIT_SLEEP;
}

/* ---- kinds of waits ---- */

/* event: with which one of them began; SCHEDEV_NONE: none did. */
static int kind_at(struct waittime *w, uint32_t thread, enum wait_kind kind, uint32_t event,
		   uint32_t *out)
{
	uint16_t syscall = event == SCHEDEV_NONE ? 0 : w->run.events.events[event].syscall;
	uint64_t hash = hash_pair(thread, (uint64_t)kind << 16 | syscall);
	uint32_t pos, id;

	if (hashidx_reserve(&w->index))
		return -ENOMEM;
	pos = hashidx_start(&w->index, hash);
	while ((id = hashidx_match(&w->index, hash, &pos)) != HASHIDX_NONE) {
		if (w->kinds[id].thread == thread && w->kinds[id].kind == kind &&
		    w->kinds[id].syscall == syscall) {
			*out = id;
			return 0;
		}
	}
	if (vec_reserve(&w->kinds, &w->kind_capacity, w->kind_count + 1))
		return -ENOMEM;
	id = (uint32_t)w->kind_count++;
	w->kinds[id] = (struct waittime_kind){
		.thread = thread,
		.syscall = syscall,
		.kind = (uint8_t)kind,
		.first = event,
	};
	hashidx_put(&w->index, hash, pos, id);
	*out = id;
	return 0;
}

static void add_to_kind(struct waittime *w, uint32_t kind, uint64_t ns, uint32_t weight)
{
	struct waittime_kind *k = &w->kinds[kind];
	double d = (double)ns;

	k->exact_ns += ns;
	k->sampled += weight * d;
	if (weight > 1)
		k->variance += (double)weight * (weight - 1) * d * d;
	w->sums.total_ns += ns;
}

static int sort_wait(struct waittime *w, uint32_t event)
{
	const struct sched_event *e = &w->run.events.events[event];
	struct waittime_wait *wait = &w->waits[event];
	const struct timeline_thread *threads;
	size_t count;
	int err = 0;

	wait->kind = wait->queue_kind = WAITTIME_NO_KIND;
	if (!wait->ns && !wait->queue_ns)
		return 0;
	threads = timeline_threads(w->run.timeline, &count);
	if (!schedrun_wants(&w->run, w->filter, &threads[wait->thread]))
		return 0;
	w->sums.switches++;
	w->sums.stacks += e->weight != 0;
	if (wait->ns)
		err = kind_at(w, wait->thread, kind_of_state(e), event, &wait->kind);
	if (!err && wait->ns)
		add_to_kind(w, wait->kind, wait->ns, e->weight);
	if (!err && wait->queue_ns)
		err = kind_at(w, wait->thread, WAIT_RUN_QUEUE, event, &wait->queue_kind);
	if (!err && wait->queue_ns)
		add_to_kind(w, wait->queue_kind, wait->queue_ns, e->weight);
	return err;
}

/* What is no wait that somebody saw begin: a thread's time on a CPU, before, and in the dark. */
static int add_rest(struct waittime *w, uint32_t thread)
{
	const struct {
		enum wait_kind kind;
		uint64_t ns;
	} rest[] = {
		{ WAIT_ON_CPU, w->on_ns[thread] },
		{ WAIT_BEFORE, w->before_ns[thread] },
		{ WAIT_UNKNOWN, w->unknown_ns[thread] },
	};
	uint32_t kind;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(rest) / sizeof(rest[0]); i++) {
		if (!rest[i].ns)
			continue;
		err = kind_at(w, thread, rest[i].kind, SCHEDEV_NONE, &kind);
		if (!err)
			w->kinds[kind].exact_ns += rest[i].ns;
	}
	return err;
}

static int sort_waits(struct waittime *w)
{
	const struct timeline_thread *threads;
	double variance = 0, scale;
	size_t count;
	int err = 0;

	for (size_t i = 0; !err && i < w->run.events.count; i++)
		err = sort_wait(w, (uint32_t)i);
	if (err)
		return err;
	for (size_t i = 0; i < w->kind_count; i++) {
		if (!(w->kinds[i].sampled > 0))
			continue;
		w->sums.with_stack_ns += w->kinds[i].exact_ns;
		scale = (double)w->kinds[i].exact_ns / w->kinds[i].sampled;
		variance += scale * scale * w->kinds[i].variance;
	}
	if (w->sums.with_stack_ns)
		w->sums.error_share = sqrt(variance) / (double)w->sums.with_stack_ns;
	threads = timeline_threads(w->run.timeline, &count);
	for (size_t i = 0; i < w->thread_count && !err; i++) {
		if (!schedrun_wants(&w->run, w->filter, &threads[i]))
			continue;
		w->sums.before_ns += w->before_ns[i];
		w->sums.unknown_ns += w->unknown_ns[i];
		w->sums.on_ns += w->on_ns[i];
		if (w->whole)
			err = add_rest(w, (uint32_t)i);
	}
	return err;
}

struct waittime_kind *waittime_on_cpu(struct waittime *w, uint32_t thread)
{
	uint32_t kind;

	if (thread >= w->thread_count || !w->on_ns[thread] ||
	    kind_at(w, thread, WAIT_ON_CPU, SCHEDEV_NONE, &kind) || !w->kinds[kind].exact_ns)
		return NULL;
	return &w->kinds[kind];
}

uint64_t waittime_share(struct waittime_kind *k, uint64_t ns, uint32_t weight)
{
	uint64_t upto_ns, share_ns;

	k->seen += (double)weight * (double)ns;
	upto_ns = (uint64_t)((double)k->exact_ns * (k->seen / k->sampled) + 0.5);
	if (upto_ns > k->exact_ns || k->seen >= k->sampled)
		upto_ns = k->exact_ns;
	share_ns = upto_ns > k->given_ns ? upto_ns - k->given_ns : 0;
	k->given_ns += share_ns;
	return share_ns;
}

int waittime_load(struct waittime *w, const struct capture *c, struct strings *names,
		  const struct filter *filter, bool whole)
{
	int err;

	w->filter = filter;
	w->whole = whole;
	err = schedrun_open(c, names, filter, on_interval, w, &w->run);
	if (err)
		return err;
	w->waits = calloc(w->run.events.count + 1, sizeof(*w->waits));
	if (!w->waits)
		return -ENOMEM;
	err = schedrun_play(&w->run, NULL, NULL);
	return err ? err : sort_waits(w);
}

void waittime_done(struct waittime *w)
{
	schedrun_done(&w->run);
	hashidx_done(&w->index);
	free(w->waits);
	free(w->kinds);
	free(w->before_ns);
	free(w->unknown_ns);
	free(w->on_ns);
	*w = (struct waittime){ 0 };
}
