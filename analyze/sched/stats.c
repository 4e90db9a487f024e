/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/stats.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/sched/replay.h"
#include "format/base/vec.h"

/* ---- adding up ---- */

static int thread_at(struct schedstat *s, size_t index, struct schedstat_thread **out)
{
	if (vec_reserve(&s->threads, &s->capacity, index + 1))
		return -ENOMEM;
	while (s->thread_count <= index)
		s->threads[s->thread_count++] = (struct schedstat_thread){ 0 };
	*out = &s->threads[index];
	return 0;
}

static int begin(void *ctx, const struct schedrun *run)
{
	struct schedstat *s = ctx;

	s->run = run;
	s->start_ns = run->start_ns;
	s->end_ns = run->end_ns;
	s->switches = s->wakeups = 0;
	s->thread_count = s->latency.count = s->on_cpu.count = 0;
	s->latency.sum_ns = s->on_cpu.sum_ns = 0;
	return 0;
}

static int on_interval(void *ctx, const struct timeline_interval *i)
{
	struct schedstat *s = ctx;
	struct schedstat_thread *th;
	const struct timeline_thread *of;
	uint64_t from_ns = i->from_ns, to_ns = i->to_ns;
	size_t count;
	int err;

	if (to_ns < s->start_ns || from_ns > s->end_ns)
		return 0;
	err = thread_at(s, i->thread, &th);
	if (err)
		return err;
	from_ns = from_ns < s->start_ns ? s->start_ns : from_ns;
	th->ns[i->state] += filter_overlap_ns(s->filter, from_ns,
					      to_ns > s->end_ns ? s->end_ns : to_ns);
	th->runs += i->state == TIMELINE_RUN && filter_has_time(s->filter, to_ns);
	if (!s->has_durations || !i->is_whole || to_ns > s->end_ns ||
	    !filter_has_time(s->filter, to_ns) ||
	    (i->state != TIMELINE_RUN && i->state != TIMELINE_WAIT))
		return 0;
	of = timeline_threads(s->run->timeline, &count);
	if (!schedrun_wants(s->run, s->filter, &of[i->thread]))
		return 0;
	return durations_add(i->state == TIMELINE_RUN ? &s->on_cpu : &s->latency,
			     i->to_ns - i->from_ns);
}

/* What is counted and not timed. */
static int count_event(void *ctx, const struct sched_event *e)
{
	struct schedstat *s = ctx;
	struct schedstat_thread *th;
	uint32_t thread;
	int err;

	if (!filter_has_time(s->filter, e->time_ns))
		return 0;
	s->switches += e->kind == SCHEDEV_SWITCH;
	s->wakeups += e->kind == SCHEDEV_WAKEUP || e->kind == SCHEDEV_WAKEUP_NEW;
	thread = e->tid ? timeline_current(s->run->timeline, e->tid) : UINT32_MAX;
	if (thread == UINT32_MAX)
		return 0;
	err = thread_at(s, thread, &th);
	if (err)
		return err;
	if (e->kind == SCHEDEV_SWITCH) {
		th->voluntary += e->state && !(e->state & SCHEDEV_PREEMPTED);
		th->involuntary += !e->state || e->state & SCHEDEV_PREEMPTED;
	}
	th->wakeups += e->kind == SCHEDEV_WAKEUP || e->kind == SCHEDEV_WAKEUP_NEW;
	th->migrations += e->kind == SCHEDEV_MIGRATE;
	return 0;
}

/* ---- the whole ---- */

static void describe(const struct schedstat *s, const struct timeline_thread *from,
		     struct schedstat_thread *to)
{
	const struct threadlist_entry *e = schedrun_known(s->run, from);

	to->tid = from->tid;
	to->pid = schedrun_pid(s->run, from);
	to->ppid = from->ppid == UINT32_MAX && e ? e->ppid : from->ppid;
	to->comm = schedrun_comm(s->run, from);
	to->prio = from->prio;
	to->policy = from->policy;
	to->ended = from->ended && from->end_ns <= s->end_ns;
	to->start_ns = from->start_ns < s->start_ns ? s->start_ns : from->start_ns;
	to->end_ns = from->end_ns > s->end_ns ? s->end_ns : from->end_ns;
	to->elapsed_ns = filter_overlap_ns(s->filter, to->start_ns, to->end_ns);
}

static int by_run(const void *a, const void *b)
{
	const struct schedstat_thread *x = a, *y = b;

	if (x->ns[TIMELINE_RUN] != y->ns[TIMELINE_RUN])
		return x->ns[TIMELINE_RUN] > y->ns[TIMELINE_RUN] ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Keeps the threads that are asked for and lived within the span, with their names. */
int schedstat_finish(struct schedstat *s)
{
	struct schedstat_thread *th;
	const struct timeline_thread *of;
	size_t i, count, kept = 0;
	int err;

	of = timeline_threads(s->run->timeline, &count);
	err = count ? thread_at(s, count - 1, &th) : 0;
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		th = &s->threads[i];
		if (!schedrun_wants(s->run, s->filter, &of[i]))
			continue;
		describe(s, &of[i], th);
		/* NOLINTNEXTLINE: thread_at() filled all up to the last */
		if (th->end_ns > th->start_ns || th->voluntary || th->involuntary)
			s->threads[kept++] = *th;
	}
	s->thread_count = kept;
	if (kept)
		qsort(s->threads, kept, sizeof(*s->threads), by_run);
	durations_finish(&s->latency);
	durations_finish(&s->on_cpu);
	s->elapsed_ns = filter_overlap_ns(s->filter, s->start_ns, s->end_ns);
	s->lost = s->run->lost;
	s->broken = s->run->broken;
	s->gaps = timeline_gaps(s->run->timeline);
	s->has_wakeups = s->run->has_wakeups;
	return 0;
}

struct schedrun_user schedstat_user(struct schedstat *s, const struct filter *filter,
				    bool durations)
{
	*s = (struct schedstat){ .filter = filter, .has_durations = durations };
	return (struct schedrun_user){ begin, on_interval, count_event, s };
}

int schedstat_make(const struct capture *c, struct strings *names, const struct filter *filter,
		   struct schedstat *out)
{
	struct schedstat fresh;
	const struct schedrun_user user = schedstat_user(&fresh, filter, true);
	struct schedrun run = { 0 };
	int err = schedrun_make(c, names, filter, &user, 1, &run);

	if (!err)
		err = schedstat_finish(&fresh);
	schedrun_done(&run);
	if (err) {
		schedstat_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void schedstat_done(struct schedstat *s)
{
	free(s->threads);
	durations_done(&s->latency);
	durations_done(&s->on_cpu);
	*s = (struct schedstat){ 0 };
}
