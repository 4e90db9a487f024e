/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_meta.h"

/* ---- chosen threads ---- */

const struct tasks_life *sched_replay_known(const struct sched_replay *run,
					    const struct thread_states_thread *th)
{
	return tasks_at(run->known, th->tid, th->start_ns);
}

uint32_t sched_replay_pid(const struct sched_replay *run, const struct thread_states_thread *th)
{
	const struct tasks_life *e;

	if (th->pid != UINT32_MAX)
		return th->pid;
	e = sched_replay_known(run, th);
	return e ? e->pid : UINT32_MAX;
}

uint32_t sched_replay_comm(const struct sched_replay *run, const struct thread_states_thread *th)
{
	const struct tasks_life *e;

	if (th->comm != SCHED_EVENT_NONE)
		return th->comm;
	e = sched_replay_known(run, th);
	return e && e->comm != TASKS_NONE ? e->comm : SCHED_EVENT_NONE;
}

bool sched_replay_wants(const struct sched_replay *run, const struct filter *filter,
			const struct thread_states_thread *th)
{
	uint32_t comm = sched_replay_comm(run, th);
	char unknown[16];

	if (run->has_strangers && !th->known)
		return false;
	if (filter->no_kernel_threads) {
		const struct tasks_life *e = sched_replay_known(run, th);

		if (e && e->is_kernel)
			return false;
	}
	if (!filter_passes(filter, sched_replay_pid(run, th), th->tid, -1, filter->span.from_ns))
		return false;
	if (comm != SCHED_EVENT_NONE)
		return filter_passes_comm(filter, string_table_text(run->names, comm));
	snprintf(unknown, sizeof(unknown), ":%u", th->tid);
	return filter_passes_comm(filter, unknown);
}

/* ---- the events ---- */

/* Whether only some processes were to be recorded: the capture's own words about itself. */
static bool is_partial(const struct capture *c, const struct tasks *known)
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_START);
	bool partial = capture_meta_is(text, "system_wide", "false");

	capture_meta_free(text);
	for (size_t i = 0; !partial && i < known->part_count; i++)
		partial = known->parts[i].is_partial;
	return partial;
}

/* One that is played. */
struct play {
	struct sched_replay *run;
	const struct sched_replay_user *users;
	size_t user_count;
	size_t part;     /* of a merged capture, that begins next */
	uint64_t end_ns; /* of those before */
};

static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	const struct play *p = ctx;
	int err = 0;

	for (size_t k = 0; !err && k < p->user_count; k++)
		err = p->users[k].interval(p->users[k].ctx, i);
	return err;
}

/* From the beginning, where it is known, else the first switch: before it, other events may be missing. */
static int open_run(struct play *p, const struct capture *c, struct string_table *names,
		    const struct tasks *known, const struct filter *filter, bool all)
{
	struct thread_states_opts opts = { .interval = on_interval, .ctx = p };
	struct sched_replay *run = p->run;
	const struct sched_order_facts *facts;
	int err;

	*run = (struct sched_replay){ .names = names };
	err = sched_order_open(c, names, all, &run->flow);
	if (err)
		return err;
	facts = sched_order_facts(run->flow);
	if (!facts->has_switches)
		return -ENODATA;
	run->known = known ? known : &run->own;
	err = known ? 0 : tasks_load(c, names, &run->own);
	if (err)
		return err;
	run->lost = facts->has_all ? facts->lost : sched_order_lost_of(run->flow, run->known->lost);
	run->broken = facts->broken;
	run->has_wakeups = facts->has_wakeups;
	run->has_strangers = is_partial(c, run->known);
	/* A thread that waits or runs at the last event goes on until the end. */
	run->recorded_end_ns = capture_meta_end_ns(c);
	if (run->recorded_end_ns < facts->end_ns)
		run->recorded_end_ns = facts->end_ns;
	run->start_ns = filter->span.from_ns > facts->start_ns ? filter->span.from_ns
							       : facts->start_ns;
	run->end_ns = filter->span.to_ns < run->recorded_end_ns ? filter->span.to_ns
								: run->recorded_end_ns;
	if (run->start_ns < facts->complete.from_ns)
		run->start_ns = facts->complete.from_ns;
	if (run->end_ns > facts->complete.to_ns)
		run->end_ns = facts->complete.to_ns;
	if (run->end_ns < run->start_ns)
		run->end_ns = run->start_ns;
	opts.start_ns = facts->start_ns;
	opts.end_ns = run->recorded_end_ns;
	opts.lossy = run->lost || run->broken;
	opts.no_wakeups = !run->has_wakeups;
	opts.has_strangers = run->has_strangers;
	opts.complete = facts->complete;
	return thread_states_new(&opts, &run->timeline);
}

/* When a thread that a part knows began; 0: not known, or before the recording. */
static uint64_t began_ns(const struct tasks *known, const struct tasks_life *k, size_t part)
{
	bool is_unknown = part && k->start_ns == known->parts[part].records.from_ns;

	return k->was_there || is_unknown ? 0 : k->start_ns;
}

/* The threads that a part knows, which had begun by then. */
static int know_part(struct play *p, size_t part, uint64_t begin_ns)
{
	const struct tasks *known = p->run->known;
	int err = 0;

	for (size_t i = 0; !err && i < known->count; i++) {
		const struct tasks_life *k = &known->lives[i];

		/* One that ended before would be there to the end where its last switch is not: before a slice. */
		if (tasks_is_in_part(known, k, part, begin_ns))
			err = thread_states_know(p->run->timeline, k->pid, k->tid, k->ppid,
						 began_ns(known, k, part));
	}
	return err;
}

/* Whether the next part has begun by then, behind the end of those before. */
static bool is_behind_gap(const struct play *p, uint64_t time_ns)
{
	const struct tasks *known = p->run->known;

	return p->part && p->part < known->part_count &&
	       known->parts[p->part].switches.from_ns <= time_ns &&
	       known->parts[p->part].switches.from_ns > p->end_ns;
}

/* The parts that begin by then: what threads did between two is not known. */
static int begin_parts(struct play *p, uint64_t time_ns)
{
	const struct tasks *known = p->run->known;
	const struct time_span *s;
	uint64_t begin_ns;
	int err = 0;

	for (; !err && p->part < known->part_count; p->part++) {
		s = &known->parts[p->part].switches;
		if (s->from_ns > time_ns)
			break;
		if (p->part && s->to_ns) {
			begin_ns = is_behind_gap(p, time_ns) ? time_ns : s->from_ns;
			err = thread_states_gap(p->run->timeline, p->end_ns, begin_ns);
			if (!err)
				err = know_part(p, p->part, begin_ns);
		}
		p->end_ns = s->to_ns > p->end_ns ? s->to_ns : p->end_ns;
	}
	return err;
}

/* A recording begins with its first switch: what came before decides nothing. */
static int add_event(struct play *p, const struct sched_event *e, uint32_t number)
{
	int err;

	if (e->kind != SCHED_EVENT_SWITCH && is_behind_gap(p, e->time_ns))
		return 0;
	err = p->part < p->run->known->part_count ? begin_parts(p, e->time_ns) : 0;
	return err ? err : thread_states_add(p->run->timeline, e, number);
}

static int on_event(void *ctx, const struct sched_event *e, uint32_t number)
{
	struct play *p = ctx;
	struct sched_replay *run = p->run;
	int err;

	if (e->time_ns > run->recorded_end_ns)
		return 0;
	err = add_event(p, e, number);
	if (e->time_ns < run->start_ns || e->time_ns > run->end_ns)
		return err;
	for (size_t k = 0; !err && k < p->user_count; k++)
		if (p->users[k].event)
			err = p->users[k].event(p->users[k].ctx, e);
	return err;
}

static int play(struct play *p)
{
	struct sched_replay *run = p->run;
	const struct sched_order_facts *facts = sched_order_facts(run->flow);
	int err = 0;

	for (size_t k = 0; !err && k < p->user_count; k++)
		err = p->users[k].begin(p->users[k].ctx, run);
	/* As of the first event, whatever part of the time is asked for: parts add up to all of it. */
	if (!err)
		err = know_part(p, 0,
				facts->complete.from_ns > facts->start_ns ? facts->complete.from_ns
									  : facts->start_ns);
	if (!err)
		err = sched_order_walk(run->flow, on_event, p);
	return err ? err : thread_states_finish(run->timeline);
}

int sched_replay_make(const struct capture *c, struct string_table *names,
		      const struct filter *filter, const struct sched_replay_user *users,
		      size_t user_count, struct sched_replay *run)
{
	return sched_replay_make_with(c, names, NULL, filter, users, user_count, run);
}

int sched_replay_make_with(const struct capture *c, struct string_table *names,
			   const struct tasks *known, const struct filter *filter,
			   const struct sched_replay_user *users, size_t user_count,
			   struct sched_replay *run)
{
	struct play p = { .run = run, .users = users, .user_count = user_count };
	int err = open_run(&p, c, names, known, filter, false);

	if (!err)
		err = play(&p);
	if (err == -EAGAIN) {
		sched_replay_done(run);
		p.part = 0;
		p.end_ns = 0;
		err = open_run(&p, c, names, known, filter, true);
		if (!err)
			err = play(&p);
	}
	return err;
}

void sched_replay_done(struct sched_replay *run)
{
	thread_states_free(run->timeline);
	tasks_done(&run->own);
	sched_order_free(run->flow);
	*run = (struct sched_replay){ 0 };
}
