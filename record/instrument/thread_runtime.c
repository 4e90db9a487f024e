/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/thread_runtime.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "record/base/u64map.h"

/* The thread that is on a CPU. */
struct on_cpu {
	bool wanted;
	uint32_t pid, tid;
	uint64_t since_ns; /* the CPU's last switch */
	char comm[16];
};

/*
 * A thread that ended stays until it was reported twice: switches of other CPUs that are older may
 * be handed over after its last one, and must not make it anew.
 */
enum { THREAD_LIVES, THREAD_ENDED, THREAD_REPORTED };

struct thread {
	uint64_t base_ns, known_ns; /* of its CPU time, what is counted: from here to there */
	uint64_t base_at_ns;        /* when base_ns was seen */
	int end;
	struct runtime fresh;
};

struct thread_runtimes {
	struct u64map index; /* tid -> place in threads */
	struct thread *threads;
	size_t count, room;
	struct runtime *reported;
	uint32_t cpu_end;
	struct on_cpu cpus[];
};

int thread_runtimes_new(uint32_t cpu_end, uint64_t from_ns, struct thread_runtimes **out)
{
	struct thread_runtimes *r = calloc(1, sizeof(*r) + cpu_end * sizeof(r->cpus[0]));
	uint32_t cpu;

	if (!r)
		return -ENOMEM;
	r->cpu_end = cpu_end;
	for (cpu = 0; cpu < cpu_end; cpu++)
		r->cpus[cpu].since_ns = from_ns;
	*out = r;
	return 0;
}

void thread_runtimes_free(struct thread_runtimes *r)
{
	if (!r)
		return;
	u64map_done(&r->index);
	free(r->threads);
	free(r->reported);
	free(r);
}

static void begin_earlier(struct thread *t, uint64_t known_ns, uint64_t at_ns)
{
	if (at_ns >= t->base_at_ns)
		return;
	t->base_at_ns = at_ns;
	if (known_ns >= t->base_ns)
		return;
	t->fresh.sum_ns += t->base_ns - known_ns;
	t->base_ns = known_ns;
}

/*
 * The thread, which had run known_ns before the switch at at_ns.  Another CPU may have reported a
 * later run before this one: then the time between is counted, too.
 */
static int find(struct thread_runtimes *r, uint32_t tid, uint64_t known_ns, uint64_t at_ns,
		struct thread **out)
{
	const uint32_t *at = u64map_get(&r->index, tid, 0);
	int err;

	if (at) {
		begin_earlier(&r->threads[*at], known_ns, at_ns);
		*out = &r->threads[*at];
		return 0;
	}
	if (vec_reserve(&r->threads, &r->room, r->count + 1))
		return -ENOMEM;
	err = u64map_put(&r->index, tid, 0, (uint32_t)r->count);
	if (err)
		return err;
	*out = &r->threads[r->count++];
	**out = (struct thread){
		.base_ns = known_ns, .known_ns = known_ns, .base_at_ns = at_ns, .fresh.tid = tid
	};
	return 0;
}

static void count_until(struct thread *t, uint64_t ran_ns)
{
	if (ran_ns <= t->known_ns)
		return;
	t->fresh.sum_ns += ran_ns - t->known_ns;
	t->known_ns = ran_ns;
}

/* A thread that find() returned may have time already, which begin_earlier() counted: it is described, too. */
static void describe(struct thread *t, const struct on_cpu *on, uint32_t cpu)
{
	if (on->since_ns < t->fresh.from_ns)
		return;
	t->fresh.from_ns = on->since_ns;
	t->fresh.pid = on->pid;
	t->fresh.cpu = cpu;
	memcpy(t->fresh.comm, on->comm, sizeof(on->comm));
}

static int switch_from(struct thread_runtimes *r, const struct switch_event *ev)
{
	struct on_cpu *on = &r->cpus[ev->h.cpu];
	uint64_t most_ns = ev->h.time_ns > on->since_ns ? ev->h.time_ns - on->since_ns : 0;
	struct thread *t;
	int err;

	if (!ev->prev_tid || !(ev->wanted & SWITCH_WANTS_PREV))
		return 0;
	/* A thread that was on a CPU from the beginning is first seen here. */
	err = find(r, ev->prev_tid, ev->prev_ran_ns > most_ns ? ev->prev_ran_ns - most_ns : 0,
		   ev->h.time_ns, &t);
	if (err)
		return err;
	on->pid = ev->prev_pid;
	memcpy(on->comm, ev->prev_comm, sizeof(on->comm)); /* after an exec it has another name */
	count_until(t, ev->prev_ran_ns);
	describe(t, on, ev->h.cpu);
	if (ev->prev_state & TASK_DEAD && !t->end)
		t->end = THREAD_ENDED;
	return 0;
}

int thread_runtimes_switch(struct thread_runtimes *r, const struct switch_event *ev)
{
	struct on_cpu *on;
	struct thread *t;
	int err;

	if (ev->h.cpu >= r->cpu_end)
		return -EBADMSG;
	err = switch_from(r, ev);
	if (err)
		return err;
	on = &r->cpus[ev->h.cpu];
	on->pid = ev->next_pid;
	on->tid = ev->next_tid;
	on->wanted = ev->next_tid && ev->wanted & SWITCH_WANTS_NEXT;
	on->since_ns = ev->h.time_ns;
	memcpy(on->comm, ev->next_comm, sizeof(on->comm));
	if (!on->wanted)
		return 0;
	err = find(r, on->tid, ev->next_ran_ns, ev->h.time_ns, &t);
	if (!err)
		describe(t, on, ev->h.cpu);
	return err;
}

int thread_runtimes_until(struct thread_runtimes *r, uint64_t now_ns)
{
	struct thread *t;
	uint32_t cpu;
	int err;

	for (cpu = 0; cpu < r->cpu_end; cpu++) {
		struct on_cpu *on = &r->cpus[cpu];

		if (!on->wanted || now_ns <= on->since_ns)
			continue;
		err = find(r, on->tid, 0, now_ns, &t);
		if (err)
			return err;
		count_until(t, t->known_ns + (now_ns - on->since_ns));
		describe(t, on, cpu);
	}
	return 0;
}

/* Closes the gap that a forgotten thread leaves. */
static int forget(struct thread_runtimes *r, size_t i)
{
	u64map_remove(&r->index, r->threads[i].fresh.tid, 0);
	r->threads[i] = r->threads[--r->count];
	return i == r->count ? 0 : u64map_put(&r->index, r->threads[i].fresh.tid, 0, (uint32_t)i);
}

int thread_runtimes_take(struct thread_runtimes *r, const struct runtime **out, size_t *count)
{
	struct runtime *reported = realloc(r->reported, (r->count + 1) * sizeof(*reported));
	struct thread *t;
	size_t i, n = 0;
	int err;

	if (!reported)
		return -ENOMEM;
	r->reported = reported;
	for (i = 0; i < r->count;) {
		t = &r->threads[i];
		if (t->fresh.sum_ns)
			reported[n++] = t->fresh;
		t->fresh.sum_ns = 0;
		if (t->end == THREAD_ENDED) {
			t->end = THREAD_REPORTED;
		} else if (t->end == THREAD_REPORTED) {
			err = forget(r, i);
			if (err)
				return err;
			continue;
		}
		i++;
	}
	*out = reported;
	*count = n;
	return 0;
}
