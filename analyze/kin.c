/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/kin.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/vec.h"

#define NONE HASHIDX_NONE

static uint32_t find(const struct kin *k, uint32_t id, uint32_t *pos)
{
	uint64_t hash = hash_pair(id, 0);
	uint32_t number;

	*pos = hashidx_start(&k->index, hash);
	while ((number = hashidx_match(&k->index, hash, pos)) != NONE)
		if (k->members[number].id == id)
			return number;
	return NONE;
}

static struct kin_member *member(struct kin *k, uint32_t id)
{
	uint32_t pos, number = find(k, id, &pos);

	return number == NONE ? NULL : &k->members[number];
}

static int member_of(struct kin *k, uint32_t id, uint32_t *out)
{
	uint32_t pos, number;
	int err = hashidx_reserve(&k->index);

	if (err)
		return err;
	number = find(k, id, &pos);
	if (number == NONE) {
		if (k->count >= NONE - 1)
			return -EOVERFLOW;
		err = vec_reserve(&k->members, &k->capacity, k->count + 1);
		if (err)
			return err;
		number = (uint32_t)k->count++;
		k->members[number] = (struct kin_member){ .id = id, .process = NONE };
		hashidx_put(&k->index, hash_pair(id, 0), pos, number);
	}
	*out = number;
	return 0;
}

int kin_ask(struct kin *k, uint32_t pid, uint32_t tid)
{
	uint32_t p, t;
	int err = member_of(k, pid, &p);

	if (!err)
		err = member_of(k, tid, &t);
	if (err)
		return err;
	k->members[p].asked = k->members[t].asked = true;
	/* The idle task is in no record, and known. */
	k->members[p].heard |= !pid;
	k->members[t].heard |= !tid;
	if (p != t && k->members[t].process == NONE)
		k->members[t].process = p;
	else if (p != t && k->members[t].process != p)
		k->members[t].kept = k->members[p].kept = true;
	return 0;
}

static void pin_processes(struct kin *k)
{
	for (size_t i = 0; i < k->count; i++)
		k->members[i].pins = 0;
	for (size_t i = 0; i < k->count; i++) {
		k->members[i].let_go = false;
		if (k->members[i].process != NONE)
			k->members[k->members[i].process].pins++;
	}
}

void kin_begin(struct kin *k, uint64_t from_ns, uint64_t to_ns)
{
	k->from_ns = from_ns;
	k->to_ns = to_ns;
	pin_processes(k);
}

static void enter(struct kin *k, uint64_t time_ns)
{
	if (k->entered || time_ns > k->to_ns)
		return;
	k->entered = true;
	for (size_t i = 0; i < k->count; i++)
		k->members[i].wanted |= k->members[i].asked;
}

static int want(struct kin *k, uint32_t id)
{
	uint32_t number;
	int err = member_of(k, id, &number);

	if (!err)
		k->members[number].wanted = true;
	return err;
}

/*
 * What made it has been found; what it was before does not matter.  Unless a thread is asked for that
 * may have begun before that: it would be of what the process was then.
 */
static void let_go(struct kin *k, struct kin_member *m, uint64_t time_ns)
{
	if (time_ns >= k->from_ns || m->kept || m->pins)
		return;
	m->wanted = false;
	if (m->process != NONE && !m->let_go)
		k->members[m->process].pins--;
	m->let_go = true;
}

static bool matters(const struct kin *k, const struct kin_member *m)
{
	return m && (m->wanted || (m->asked && !k->entered));
}

enum hearing {
	HEARD_FORKING, /* it has to be a process for that */
	HEARD_OF,      /* as a process */
	HEARD_MADE,    /* the same, out of what others are */
	HEARD_THREAD,  /* made a thread of another */
};

/* The record makes a state of it. */
static void hear(const struct kin *k, struct kin_member *m, enum hearing how, uint32_t *number)
{
	if (!m)
		return;
	if (k->entered)
		m->heard = true;
	else
		m->made_later |= how >= HEARD_MADE;
	/* What a thread of another was is no process, and will be one anew by forking. */
	if (m->forked && how != HEARD_THREAD)
		*number = m->forked - 1;
	m->forked = 0;
}

/* The state of each of made, where it matters, comes from those of from. */
static int depend(struct kin *k, const uint32_t made[2], const uint32_t from[2], uint64_t time_ns)
{
	bool wanted = false;
	int err;

	for (int i = 0; i < 2; i++) {
		struct kin_member *m = member(k, made[i]);

		if (m && m->wanted) {
			wanted = true;
			let_go(k, m, time_ns);
		}
	}
	if (!wanted)
		return 0;
	err = want(k, from[0]);
	return err ? err : want(k, from[1]);
}

int kin_fork(struct kin *k, const struct kin_task *task, uint64_t time_ns, uint32_t *number)
{
	/* A thread is of its process as it is; of a new process nothing is as it was. */
	const bool is_thread = task->pid == task->ppid, is_other = task->tid != task->pid;
	const uint32_t made[] = { is_thread ? task->tid : task->pid, task->tid };
	const uint32_t from[] = { task->ppid, task->ptid };
	struct kin_member *process, *thread, *parent;
	bool needed;
	int err = 0;

	enter(k, time_ns);
	process = member(k, task->pid);
	thread = is_other ? member(k, task->tid) : NULL;
	parent = is_thread ? NULL : member(k, task->ppid);
	needed = matters(k, process) || matters(k, thread);
	if (!needed && !matters(k, parent))
		return 0;
	hear(k, thread, HEARD_THREAD, number);
	hear(k, process, is_thread ? HEARD_OF : HEARD_MADE, number);
	hear(k, parent, HEARD_FORKING, number);
	if (!needed)
		parent->forked = *number + 1;
	else if (!is_thread || is_other)
		err = depend(k, made, from, time_ns);
	return err ? err : 1;
}

/* An exec is no other: until its program is mapped, what was mapped before still counts. */
int kin_comm(struct kin *k, uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t *number)
{
	const uint32_t made[] = { tid, tid }, from[] = { pid, pid };
	struct kin_member *process, *thread;
	int err;

	enter(k, time_ns);
	process = member(k, pid);
	thread = tid == pid ? NULL : member(k, tid);
	if (!matters(k, process) && !matters(k, thread))
		return 0;
	hear(k, thread, HEARD_THREAD, number);
	hear(k, process, HEARD_OF, number);
	err = thread ? depend(k, made, from, time_ns) : 0;
	return err ? err : 1;
}

int kin_map(struct kin *k, uint32_t pid, uint64_t time_ns, uint32_t *number)
{
	struct kin_member *process;

	enter(k, time_ns);
	process = member(k, pid);
	if (!matters(k, process))
		return 0;
	hear(k, process, HEARD_OF, number);
	return 1;
}

bool kin_again(struct kin *k)
{
	bool again = false;

	if (k->repeated)
		return false;
	for (size_t i = 0; i < k->count; i++) {
		struct kin_member *m = &k->members[i];

		/* Wanted from the end on, and so are those that it turns out to depend on. */
		m->wanted = m->asked && !m->heard && m->made_later;
		m->made_later = false;
		m->forked = 0;
		again |= m->wanted;
	}
	pin_processes(k);
	k->entered = false;
	k->repeated = true;
	return again;
}

void kin_done(struct kin *k)
{
	free(k->members);
	hashidx_done(&k->index);
	*k = (struct kin){ 0 };
}
