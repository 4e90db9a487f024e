/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/schedrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	fresh.has_strangers = is_partial(c);
	*run = fresh;
	return 0;
}

int schedrun_play(struct schedrun *run, int (*event)(void *ctx, const struct sched_event *e),
		  void *ctx)
{
	const struct sched_event *e;
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
