/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/stats.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/sched/replay.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

/* ---- adding up ---- */

static int thread_at(struct sched_stats *s, size_t index, struct sched_stats_thread **out)
{
	if (vec_reserve(&s->threads, &s->capacity, index + 1))
		return -ENOMEM;
	while (s->thread_count <= index)
		s->threads[s->thread_count++] = (struct sched_stats_thread){ 0 };
	*out = &s->threads[index];
	return 0;
}

static int begin(void *ctx, const struct sched_replay *run)
{
	struct sched_stats *s = ctx;

	s->run = run;
	s->start_ns = run->start_ns;
	s->end_ns = run->end_ns;
	s->switches = s->wakeups = 0;
	s->thread_count = s->latency.count = s->on_cpu.count = 0;
	s->latency.sum_ns = s->on_cpu.sum_ns = 0;
	return 0;
}

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct sched_stats *s = ctx;
	struct sched_stats_thread *th;
	const struct thread_states_thread *of;
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
	th->runs += i->state == THREAD_STATES_RUN && filter_has_time(s->filter, to_ns);
	if (!s->has_durations || !i->is_complete || to_ns > s->end_ns ||
	    !filter_has_time(s->filter, to_ns) ||
	    (i->state != THREAD_STATES_RUN && i->state != THREAD_STATES_WAIT))
		return 0;
	of = thread_states_threads(s->run->timeline, &count);
	if (!sched_replay_wants(s->run, s->filter, &of[i->thread]))
		return 0;
	return percentiles_add(i->state == THREAD_STATES_RUN ? &s->on_cpu : &s->latency,
			       i->to_ns - i->from_ns);
}

/* Counts the events that have no duration. */
static int count_event(void *ctx, const struct sched_event *e)
{
	struct sched_stats *s = ctx;
	struct sched_stats_thread *th;
	uint32_t thread;
	int err;

	if (!filter_has_time(s->filter, e->time_ns))
		return 0;
	s->switches += e->kind == SCHED_EVENT_SWITCH;
	s->wakeups += e->kind == SCHED_EVENT_WAKEUP || e->kind == SCHED_EVENT_WAKEUP_NEW;
	thread = e->tid ? thread_states_current(s->run->timeline, e->tid) : UINT32_MAX;
	if (thread == UINT32_MAX)
		return 0;
	err = thread_at(s, thread, &th);
	if (err)
		return err;
	if (e->kind == SCHED_EVENT_SWITCH) {
		th->voluntary += e->state && !(e->state & SCHED_EVENT_PREEMPTED);
		th->involuntary += !e->state || e->state & SCHED_EVENT_PREEMPTED;
	}
	th->wakeups += e->kind == SCHED_EVENT_WAKEUP || e->kind == SCHED_EVENT_WAKEUP_NEW;
	th->migrations += e->kind == SCHED_EVENT_MIGRATE;
	return 0;
}

/* ---- statistics ---- */

static void describe(const struct sched_stats *s, const struct thread_states_thread *from,
		     struct sched_stats_thread *to)
{
	const struct tasks_life *e = sched_replay_known(s->run, from);

	to->tid = from->tid;
	to->pid = sched_replay_pid(s->run, from);
	to->ppid = from->ppid == UINT32_MAX && e ? e->ppid : from->ppid;
	to->comm = sched_replay_comm(s->run, from);
	to->prio = from->prio;
	to->policy = from->policy;
	to->ended = from->ended && from->end_ns <= s->end_ns;
	to->start_ns = from->start_ns < s->start_ns ? s->start_ns : from->start_ns;
	to->end_ns = from->end_ns > s->end_ns ? s->end_ns : from->end_ns;
	to->elapsed_ns = filter_overlap_ns(s->filter, to->start_ns, to->end_ns);
}

static int by_run(const void *a, const void *b)
{
	const struct sched_stats_thread *x = a, *y = b;

	if (x->ns[THREAD_STATES_RUN] != y->ns[THREAD_STATES_RUN])
		return x->ns[THREAD_STATES_RUN] > y->ns[THREAD_STATES_RUN] ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Keeps the threads that are asked for and lived within the span, with their names. */
int sched_stats_finish(struct sched_stats *s)
{
	struct sched_stats_thread *th;
	const struct thread_states_thread *of;
	size_t i, count, n = 0;
	int err;

	of = thread_states_threads(s->run->timeline, &count);
	err = count ? thread_at(s, count - 1, &th) : 0;
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		th = &s->threads[i];
		if (!sched_replay_wants(s->run, s->filter, &of[i]))
			continue;
		describe(s, &of[i], th);
		/* NOLINTNEXTLINE: thread_at() filled all up to the last */
		if (th->end_ns > th->start_ns || th->voluntary || th->involuntary)
			s->threads[n++] = *th;
	}
	s->thread_count = n;
	if (n)
		qsort(s->threads, n, sizeof(*s->threads), by_run);
	percentiles_finish(&s->latency);
	percentiles_finish(&s->on_cpu);
	s->elapsed_ns = filter_overlap_ns(s->filter, s->start_ns, s->end_ns);
	s->lost = s->run->lost;
	s->broken = s->run->broken;
	s->gaps = thread_states_gaps(s->run->timeline);
	s->has_wakeups = s->run->has_wakeups;
	return 0;
}

struct sched_replay_user sched_stats_user(struct sched_stats *s, const struct filter *filter,
					  bool durations)
{
	*s = (struct sched_stats){ .filter = filter, .has_durations = durations };
	return (struct sched_replay_user){ begin, on_interval, count_event, s };
}

int sched_stats_make(const struct capture *c, struct string_table *names,
		     const struct filter *filter, struct sched_stats *out)
{
	struct sched_stats fresh;
	const struct sched_replay_user user = sched_stats_user(&fresh, filter, true);
	struct sched_replay run = { 0 };
	int err = sched_replay_make(c, names, filter, &user, 1, &run);

	if (!err)
		err = sched_stats_finish(&fresh);
	sched_replay_done(&run);
	if (err) {
		sched_stats_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void sched_stats_done(struct sched_stats *s)
{
	free(s->threads);
	percentiles_done(&s->latency);
	percentiles_done(&s->on_cpu);
	*s = (struct sched_stats){ 0 };
}

/* ---- unknown time ---- */

static int by_pid(const void *a, const void *b)
{
	const struct sched_stats_thread *const *x = a, *const *y = b;

	return (*x)->pid < (*y)->pid ? -1 : (*x)->pid > (*y)->pid;
}

static int by_unknown(const void *a, const void *b)
{
	const struct sched_stats_unknown *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void add_unknown(struct sched_stats_unknown *to, const struct sched_stats_thread *t)
{
	uint64_t ns = t->ns[THREAD_STATES_UNKNOWN];

	to->ns = saturate_add(to->ns, ns);
	to->all_ns = saturate_add(to->all_ns, t->elapsed_ns);
	to->thread_count += ns != 0;
	if (!to->most || ns > to->most->ns[THREAD_STATES_UNKNOWN])
		to->most = t;
}

int sched_stats_unknown_time(const struct sched_stats *s, struct sched_stats_unknown *all,
			     struct sched_stats_unknown **list, size_t *count)
{
	const struct sched_stats_thread **sorted = calloc(s->thread_count + 1, sizeof(*sorted));
	struct sched_stats_unknown *found = calloc(s->thread_count + 1, sizeof(*found));
	size_t n = 0;

	if (!sorted || !found) {
		free(sorted);
		free(found);
		return -ENOMEM;
	}
	*all = (struct sched_stats_unknown){ 0 };
	for (size_t i = 0; i < s->thread_count; i++) {
		sorted[i] = &s->threads[i];
		add_unknown(all, sorted[i]);
	}
	qsort(sorted, s->thread_count, sizeof(*sorted), by_pid);
	for (size_t i = 0; i < s->thread_count; i++) {
		n += !i || sorted[i]->pid != sorted[i - 1]->pid;
		add_unknown(&found[n - 1], sorted[i]);
	}
	qsort(found, n, sizeof(*found), by_unknown);
	free(sorted);
	*list = found;
	*count = n;
	return 0;
}
