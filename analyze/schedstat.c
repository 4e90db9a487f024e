/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/schedstat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threadlist.h"
#include "analyze/vec.h"

struct maker {
	const struct filter *filter;
	struct strings *names;
	struct schedev events;
	struct threadlist known;
	struct timeline *timeline;
	struct schedstat *out;
	size_t capacity; /* of out->threads */
	bool strangers;  /* there are threads that were not to be recorded */
};

/* ---- who is asked for ---- */

static uint32_t pid_of(const struct maker *m, const struct timeline_thread *th)
{
	const struct threadlist_entry *e;

	if (th->pid != UINT32_MAX)
		return th->pid;
	e = threadlist_find(&m->known, th->tid);
	return e ? e->pid : UINT32_MAX;
}

static uint32_t comm_of(const struct maker *m, const struct timeline_thread *th)
{
	const struct threadlist_entry *e;

	if (th->comm != SCHEDEV_NONE)
		return th->comm;
	e = threadlist_find(&m->known, th->tid);
	return e && e->comm != UINT32_MAX ? e->comm : SCHEDEV_NONE;
}

static bool is_wanted(const struct maker *m, const struct timeline_thread *th)
{
	uint32_t comm = comm_of(m, th);
	char unknown[16];

	if (m->strangers && !th->known)
		return false;
	if (!filter_passes(m->filter, pid_of(m, th), th->tid, -1, m->filter->span.from_ns))
		return false;
	if (comm != SCHEDEV_NONE)
		return filter_passes_comm(m->filter, strings_text(m->names, comm));
	snprintf(unknown, sizeof(unknown), ":%u", th->tid);
	return filter_passes_comm(m->filter, unknown);
}

/* ---- adding up ---- */

static int add_duration(struct schedstat_dist *d, uint64_t ns)
{
	if (vec_reserve(&d->ns, &d->capacity, d->count + 1))
		return -ENOMEM;
	d->ns[d->count++] = ns;
	d->sum_ns += ns;
	return 0;
}

static int thread_at(struct maker *m, size_t index, struct schedstat_thread **out)
{
	struct schedstat *s = m->out;

	if (vec_reserve(&s->threads, &m->capacity, index + 1))
		return -ENOMEM;
	while (s->thread_count <= index)
		s->threads[s->thread_count++] = (struct schedstat_thread){ 0 };
	*out = &s->threads[index];
	return 0;
}

static int on_interval(void *ctx, const struct timeline_interval *i)
{
	struct maker *m = ctx;
	struct schedstat *s = m->out;
	struct schedstat_thread *th;
	const struct timeline_thread *of;
	uint64_t from_ns = i->from_ns, to_ns = i->to_ns;
	size_t count;
	int err;

	if (to_ns < s->start_ns || from_ns > s->end_ns)
		return 0;
	err = thread_at(m, i->thread, &th);
	if (err)
		return err;
	from_ns = from_ns < s->start_ns ? s->start_ns : from_ns;
	th->ns[i->state] += (to_ns > s->end_ns ? s->end_ns : to_ns) - from_ns;
	th->runs += i->state == TIMELINE_RUN;
	if (!i->is_whole || to_ns > s->end_ns ||
	    (i->state != TIMELINE_RUN && i->state != TIMELINE_WAIT))
		return 0;
	of = timeline_threads(m->timeline, &count);
	if (!is_wanted(m, &of[i->thread]))
		return 0;
	return add_duration(i->state == TIMELINE_RUN ? &s->on_cpu : &s->latency,
			    i->to_ns - i->from_ns);
}

/* What is counted and not timed. */
static int count_event(struct maker *m, const struct sched_event *e)
{
	struct schedstat *s = m->out;
	struct schedstat_thread *th;
	uint32_t thread;
	int err;

	if (e->time_ns < s->start_ns || e->time_ns > s->end_ns)
		return 0;
	s->switches += e->kind == SCHEDEV_SWITCH;
	s->wakeups += e->kind == SCHEDEV_WAKEUP || e->kind == SCHEDEV_WAKEUP_NEW;
	thread = e->tid ? timeline_current(m->timeline, e->tid) : UINT32_MAX;
	if (thread == UINT32_MAX)
		return 0;
	err = thread_at(m, thread, &th);
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

static int replay(struct maker *m, uint64_t end_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->known.count; i++) {
		const struct threadlist_entry *k = &m->known.list[i];

		if (k->ppid != UINT32_MAX)
			err = timeline_know(m->timeline, k->pid, k->tid, k->ppid, k->time_ns);
	}
	for (size_t i = 0; !err && i < m->events.count; i++) {
		if (m->events.events[i].time_ns > end_ns)
			break;
		err = timeline_add(m->timeline, &m->events.events[i], (uint32_t)i);
		if (!err)
			err = count_event(m, &m->events.events[i]);
	}
	return err ? err : timeline_finish(m->timeline);
}

/* ---- the whole ---- */

/* From the first to the last switch: outside of them, other events may be missing. */
static int recorded_span(const struct schedev *events, uint64_t *start_ns, uint64_t *end_ns)
{
	size_t first = 0, last = events->count;

	if (!events->has_switches)
		return -ENODATA;
	while (events->events[first].kind != SCHEDEV_SWITCH)
		first++;
	while (events->events[last - 1].kind != SCHEDEV_SWITCH)
		last--;
	*start_ns = events->events[first].time_ns;
	*end_ns = events->events[last - 1].time_ns;
	return 0;
}

static void describe(const struct maker *m, const struct timeline_thread *from,
		     struct schedstat_thread *to)
{
	const struct schedstat *s = m->out;
	const struct threadlist_entry *e = threadlist_find(&m->known, from->tid);

	to->tid = from->tid;
	to->pid = pid_of(m, from);
	to->ppid = from->ppid == UINT32_MAX && e ? e->ppid : from->ppid;
	to->comm = comm_of(m, from);
	to->prio = from->prio;
	to->ended = from->ended && from->end_ns <= s->end_ns;
	to->start_ns = from->start_ns < s->start_ns ? s->start_ns : from->start_ns;
	to->end_ns = from->end_ns > s->end_ns ? s->end_ns : from->end_ns;
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

static int by_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Keeps the threads that are asked for and lived within the span, with their names. */
static int finish(struct maker *m)
{
	struct schedstat *s = m->out;
	struct schedstat_thread *th;
	const struct timeline_thread *of;
	size_t i, count, kept = 0;
	int err;

	of = timeline_threads(m->timeline, &count);
	err = count ? thread_at(m, count - 1, &th) : 0;
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		th = &s->threads[i];
		if (!is_wanted(m, &of[i]))
			continue;
		describe(m, &of[i], th);
		if (th->end_ns > th->start_ns || th->voluntary || th->involuntary)
			s->threads[kept++] = *th;
	}
	s->thread_count = kept;
	if (kept)
		qsort(s->threads, kept, sizeof(*s->threads), by_run);
	if (s->latency.count)
		qsort(s->latency.ns, s->latency.count, sizeof(uint64_t), by_ns);
	if (s->on_cpu.count)
		qsort(s->on_cpu.ns, s->on_cpu.count, sizeof(uint64_t), by_ns);
	s->lost = m->events.lost;
	s->broken = m->events.broken;
	s->gaps = timeline_gaps(m->timeline);
	s->has_wakeups = m->events.has_wakeups;
	return 0;
}

/* Whether only some processes were to be recorded: the capture's own words about itself. */
static bool is_partial(const struct capture *c)
{
	static const char key[] = "\"system_wide\":";
	size_t count, bytes;
	const struct capture_object *objects = capture_objects(c, &count);
	bool partial = false;
	uint8_t *text;
	const char *at;

	for (size_t i = 0; i < count; i++) {
		if (objects[i].kind != EBX_META || objects[i].object != EBX_META_START ||
		    capture_object_read(c, &objects[i], &text, &bytes))
			continue;
		at = memmem(text, bytes, key, sizeof(key) - 1);
		if (at) {
			bytes -= (size_t)(at + sizeof(key) - 1 - (const char *)text);
			at += sizeof(key) - 1;
			for (; bytes && *at == ' '; bytes--)
				at++;
			partial = bytes && *at == 'f';
		}
		free(text);
	}
	return partial;
}

static int make(struct maker *m, const struct capture *c)
{
	struct timeline_opts opts = { .interval = on_interval, .ctx = m };
	const struct timespan *span = &m->filter->span;
	struct schedstat *s = m->out;
	int err;

	err = schedev_load(c, m->names, &m->events);
	if (!err)
		err = recorded_span(&m->events, &opts.start_ns, &opts.end_ns);
	if (!err)
		err = threadlist_load(c, m->names, &m->known);
	if (err)
		return err;
	s->start_ns = span->from_ns > opts.start_ns ? span->from_ns : opts.start_ns;
	s->end_ns = span->to_ns < opts.end_ns ? span->to_ns : opts.end_ns;
	if (s->end_ns < s->start_ns)
		s->end_ns = s->start_ns;
	opts.lossy = m->events.lost || m->events.broken;
	opts.no_wakeups = !m->events.has_wakeups;
	m->strangers = is_partial(c);
	err = timeline_new(&opts, &m->timeline);
	if (!err)
		err = replay(m, opts.end_ns);
	return err ? err : finish(m);
}

int schedstat_make(const struct capture *c, struct strings *names, const struct filter *filter,
		   struct schedstat *out)
{
	struct schedstat fresh = { 0 };
	struct maker m = { .filter = filter, .names = names, .out = &fresh };
	int err = make(&m, c);

	timeline_free(m.timeline);
	threadlist_done(&m.known);
	schedev_done(&m.events);
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
	free(s->latency.ns);
	free(s->on_cpu.ns);
	*s = (struct schedstat){ 0 };
}

uint64_t schedstat_quantile(const struct schedstat_dist *d, double share)
{
	size_t rank;

	if (!d->count)
		return 0;
	rank = (size_t)(share * (double)d->count);
	if ((double)rank < share * (double)d->count)
		rank++; /* rounded up */
	return d->ns[rank ? rank - 1 : 0];
}
