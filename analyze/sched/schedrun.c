/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/schedrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rewrite/merge.h"
#include "analyze/metatext.h"

/* ---- who is asked for ---- */

uint32_t schedrun_pid(const struct schedrun *run, const struct timeline_thread *th)
{
	const struct threadlist_entry *e;

	if (th->pid != UINT32_MAX)
		return th->pid;
	e = threadlist_find(&run->known, th->tid);
	return e ? e->pid : UINT32_MAX;
}

uint32_t schedrun_comm(const struct schedrun *run, const struct timeline_thread *th)
{
	const struct threadlist_entry *e;

	if (th->comm != SCHEDEV_NONE)
		return th->comm;
	e = threadlist_find(&run->known, th->tid);
	return e && e->comm != UINT32_MAX ? e->comm : SCHEDEV_NONE;
}

bool schedrun_wants(const struct schedrun *run, const struct filter *filter,
		    const struct timeline_thread *th)
{
	uint32_t comm = schedrun_comm(run, th);
	char unknown[16];

	if (run->has_strangers && !th->known)
		return false;
	if (!filter_passes(filter, schedrun_pid(run, th), th->tid, -1, filter->span.from_ns))
		return false;
	if (comm != SCHEDEV_NONE)
		return filter_passes_comm(filter, strings_text(run->names, comm));
	snprintf(unknown, sizeof(unknown), ":%u", th->tid);
	return filter_passes_comm(filter, unknown);
}

/* ---- the events ---- */

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

/* Whether only some processes were to be recorded: the capture's own words about itself. */
static bool is_partial(const struct capture *c)
{
	char *text = metatext_read(c, EBX_META_START);
	bool partial = text && metatext_is(text, "system_wide", "false");

	free(text);
	return partial;
}

int schedrun_open(const struct capture *c, struct strings *names, const struct filter *filter,
		  int (*interval)(void *ctx, const struct timeline_interval *i), void *ctx,
		  struct schedrun *run)
{
	struct timeline_opts opts = { .interval = interval, .ctx = ctx };
	struct schedrun fresh = { .names = names };
	int err;

	err = schedev_load(c, names, &fresh.events);
	if (!err)
		err = recorded_span(&fresh.events, &opts.start_ns, &opts.end_ns);
	if (!err)
		err = threadlist_load(c, names, &fresh.known);
	opts.lossy = fresh.events.lost || fresh.events.broken;
	opts.no_wakeups = !fresh.events.has_wakeups;
	opts.has_strangers = is_partial(c);
	if (!err)
		err = timeline_new(&opts, &fresh.timeline);
	if (err) {
		schedrun_done(&fresh);
		return err;
	}
	fresh.recorded_end_ns = opts.end_ns;
	fresh.start_ns = filter->span.from_ns > opts.start_ns ? filter->span.from_ns
							      : opts.start_ns;
	fresh.end_ns = filter->span.to_ns < opts.end_ns ? filter->span.to_ns : opts.end_ns;
	if (fresh.end_ns < fresh.start_ns)
		fresh.end_ns = fresh.start_ns;
	fresh.has_strangers = opts.has_strangers;
	fresh.gap_count = merge_gaps(c, fresh.gaps, SCHEDRUN_GAPS_MAX);
	*run = fresh;
	return 0;
}

int schedrun_play(struct schedrun *run, int (*event)(void *ctx, const struct sched_event *e),
		  void *ctx)
{
	const struct sched_event *e;
	size_t gap = 0;
	int err = 0;

	for (size_t i = 0; !err && i < run->known.count; i++) {
		const struct threadlist_entry *k = &run->known.list[i];

		if (k->ppid != UINT32_MAX)
			err = timeline_know(run->timeline, k->pid, k->tid, k->ppid, k->time_ns);
	}
	for (size_t i = 0; !err && i < run->events.count; i++) {
		e = &run->events.events[i];
		if (e->time_ns > run->recorded_end_ns)
			break;
		for (; !err && gap < run->gap_count && run->gaps[gap].to_ns <= e->time_ns; gap++)
			err = timeline_gap(run->timeline, run->gaps[gap].from_ns,
					   run->gaps[gap].to_ns);
		if (!err)
			err = timeline_add(run->timeline, e, (uint32_t)i);
		if (!err && event && e->time_ns >= run->start_ns && e->time_ns <= run->end_ns)
			err = event(ctx, e);
	}
	return err ? err : timeline_finish(run->timeline);
}

void schedrun_done(struct schedrun *run)
{
	timeline_free(run->timeline);
	threadlist_done(&run->known);
	schedev_done(&run->events);
	*run = (struct schedrun){ 0 };
}
