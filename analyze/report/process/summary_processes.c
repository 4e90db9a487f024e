/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/process/summary_processes.h"

#include <errno.h>

#include "analyze/input/event/sample_time.h"
#include "analyze/sched/replay.h"

/* Switches count entire threads: not one CPU, nor some functions or cgroups. */
static bool can_use_switches(const struct report_query *q)
{
	return !q->filter->cpu_pair_count && !(q->pick && q->pick->count);
}

/* The scheduler events of a long capture are most of it: all is asked of them at once. */
static int read_switches(struct report *r, const struct filter *filter, struct sched_stats *runs,
			 struct offcpu_times *times)
{
	struct offcpu_times own = { 0 }, *t = times ? times : &own;
	const struct sched_replay_user users[] = {
		sched_stats_user(runs, filter, false),
		wait_times_user(&t->waits, filter, false, false),
	};
	int err;

	t->waits.with_busy = true;
	err = sched_replay_make_with(r->capture, r->names, &r->tasks, filter, users, times ? 2 : 1,
				     &t->run);

	if (!err)
		err = sched_stats_finish(runs);
	if (!err && times)
		err = wait_times_finish(&t->waits);
	if (err && times)
		offcpu_times_done(times);
	offcpu_times_done(&own);
	return err;
}

static int add_runs(struct summary_processes *w, struct report *r, const struct report_query *q,
		    struct summary *s, struct offcpu_times *times)
{
	struct sched_stats runs;
	int err;

	if (!can_use_switches(q))
		return 0;
	err = read_switches(r, q->filter, &runs, times);
	if (!err && !runs.lost && !runs.broken) {
		w->by = SUMMARY_TIME_SWITCHES;
		err = summary_add_runs(s, &runs, w->known);
	}
	sched_stats_done(&runs);
	return err == -ENODATA ? 0 : err;
}

uint64_t summary_processes_sampled_ns(const struct summary_processes *w, uint64_t samples,
				      uint64_t period)
{
	if (w->by != SUMMARY_TIME_SAMPLES)
		return 0;
	return w->sample_ns ? samples * w->sample_ns : period;
}

/* Where switches do not have the time, it is that of samples. */
static void take_time_of_samples(const struct summary_processes *w, struct summary *s)
{
	if (w->by != SUMMARY_TIME_SAMPLES)
		return;
	for (size_t i = 0; i < s->count; i++)
		s->rows[i].run_ns = summary_processes_sampled_ns(w, s->rows[i].samples,
								 s->rows[i].period);
	summary_sort(s);
}

/*
 * In a recording of some processes others have names, too: those that woke them, or ran in their
 * place. Such a name alone is no process of it.
 */
static void count_processes(struct summary_processes *w, const struct filter *filter,
			    const struct summary *s)
{
	const struct tasks_life *e;
	bool started;

	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].life < w->known->count)
			w->known->lives[s->rows[i].life].named_only = false;
	for (size_t i = 0; i < w->known->count; i++) {
		e = &w->known->lives[i];
		if (filter->no_kernel_threads && e->is_kernel)
			continue;
		started = e->start_ns && !e->was_there;
		if ((e->end_ns && e->end_ns < filter->span.from_ns) ||
		    (started && e->start_ns > filter->span.to_ns))
			continue;
		w->thread_count += !e->named_only;
		if (!tasks_is_process(e))
			continue;
		w->process_count += !e->named_only;
		w->started_count += started && filter_has_time(filter, e->start_ns);
		w->ended_count += e->end_ns && filter_has_time(filter, e->end_ns);
	}
}

int summary_processes_load(struct report *r, const struct report_query *q,
			   const struct time_span *recorded, struct summary *s,
			   struct offcpu_times *times, struct summary_processes *out)
{
	struct summary_processes w = { .known = &r->tasks,
				       .origin_ns = r->scan.span_known ? r->scan.span.from_ns : 0 };
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);
	int err = cmdlines_load(r->capture, &w.cmdlines);

	if (err)
		return err;
	w.by = sample_time_is_known(&attrs[q->attr].attr, &w.sample_ns) ? SUMMARY_TIME_SAMPLES
									: SUMMARY_TIME_UNKNOWN;
	if (!err && recorded)
		err = summary_make(r, recorded, w.known, s);
	if (!err)
		err = add_runs(&w, r, q, s, times);
	if (!err) {
		take_time_of_samples(&w, s);
		count_processes(&w, q->filter, s);
	}
	if (!err && recorded)
		err = summary_group(s, w.known);
	if (err)
		summary_processes_done(&w);
	else
		*out = w;
	return err;
}

void summary_processes_done(struct summary_processes *w)
{
	cmdlines_done(&w->cmdlines);
}
