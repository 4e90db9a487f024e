/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/liveness/liveness.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/vec.h"

#define NONE HASH_INDEX_NONE

static uint32_t find(const struct liveness *k, uint32_t id, uint32_t *pos)
{
	uint64_t hash = hash_index_pair(&k->index, id, 0);
	uint32_t number;

	*pos = hash_index_start(&k->index, hash);
	while ((number = hash_index_match(&k->index, hash, pos)) != NONE)
		if (k->members[number].id == id)
			return number;
	return NONE;
}

static struct liveness_member *member(struct liveness *k, uint32_t id)
{
	uint32_t pos, number = find(k, id, &pos);

	return number == NONE ? NULL : &k->members[number];
}

bool liveness_knows(const struct liveness *k, uint32_t id)
{
	uint32_t pos;

	return find(k, id, &pos) != NONE;
}

static int member_of(struct liveness *k, uint32_t id, uint32_t *out)
{
	uint32_t pos, number;
	int err = hash_index_reserve(&k->index);

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
		k->members[number] = (struct liveness_member){
			.id = id,
			.process = NONE,
			.first_ns = UINT64_MAX,
		};
		hash_index_put(&k->index, hash_index_pair(&k->index, id, 0), pos, number);
	}
	*out = number;
	return 0;
}

/* ---- numbers of records ---- */

/* Room for each number is there before it is given, so that giving back cannot fail. */
static int take(struct liveness *k, uint32_t *number)
{
	int err;

	if (k->free_count) {
		*number = k->free[--k->free_count];
		k->next[*number] = 0;
		return 1;
	}
	if (k->record_count >= NONE - 1)
		return -EOVERFLOW;
	err = vec_reserve(&k->next, &k->next_capacity, k->record_count + 1);
	if (!err)
		err = vec_reserve(&k->free, &k->free_capacity, k->record_count + 1);
	if (err)
		return err;
	*number = (uint32_t)k->record_count++;
	k->next[*number] = 0;
	return 1;
}

static void give_back(struct liveness *k, uint32_t number)
{
	k->free[k->free_count++] = number;
}

/* ---- samples ---- */

int liveness_expect(struct liveness *k, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const uint32_t ids[] = { pid, tid };
	uint32_t number;
	int err = 0;

	for (int i = 0; !err && i < 2; i++) {
		err = member_of(k, ids[i], &number);
		if (!err && time_ns < k->members[number].first_ns)
			k->members[number].first_ns = time_ns;
	}
	return err;
}

int liveness_keep(struct liveness *k, uint32_t pid)
{
	uint32_t number;
	int err = member_of(k, pid, &number);

	if (!err)
		k->members[number].wanted = k->members[number].retained = true;
	return err;
}

static void want_sample(struct liveness_member *m)
{
	m->wanted = true;
	m->unheard = m->id != 0; /* the idle task is in no record, and known */
	m->maybe = 0;
}

int liveness_ask(struct liveness *k, uint32_t pid, uint32_t tid)
{
	uint32_t p, t;
	int err = member_of(k, pid, &p);

	if (!err)
		err = member_of(k, tid, &t);
	if (err)
		return err;
	want_sample(&k->members[p]);
	want_sample(&k->members[t]);
	if (p == t || k->members[t].process == p)
		return 0;
	if (k->members[t].process == NONE) {
		k->members[t].process = p;
		k->members[p].pins++;
	} else { /* its records decide to which of the two it belongs at a moment */
		k->members[t].retained = k->members[p].retained = true;
	}
	return 0;
}

/* ---- records ---- */

static int want(struct liveness *k, uint32_t id)
{
	uint32_t number;
	int err = member_of(k, id, &number);

	if (!err)
		k->members[number].wanted = true;
	return err;
}

/*
 * Its creation has been found; its state before does not matter.  Unless a thread is asked for that
 * may have begun before that: it would be of what the process was then.
 */
static void let_go(struct liveness *k, struct liveness_member *m)
{
	if (m->retained || m->pins)
		return;
	m->wanted = false;
	if (m->process != NONE)
		k->members[m->process].pins--;
	m->process = NONE;
}

/* Drops its mappings since then: no sample needs them. */
static void drop_maybe(struct liveness *k, struct liveness_member *m)
{
	uint32_t next;

	for (uint32_t at = m ? m->maybe : 0; at; at = next) {
		next = k->next[at - 1];
		give_back(k, at - 1);
	}
	if (m)
		m->maybe = 0;
}

static bool is_wanted(const struct liveness_member *m)
{
	return m && m->wanted;
}

static void miss(struct liveness_member *m)
{
	if (m)
		m->missed = true;
}

/* The record makes a state of it, as a process or as a thread of another. */
static void hear(struct liveness *k, struct liveness_member *m, bool as_thread)
{
	if (!m)
		return;
	m->unheard = false;
	/* A thread of another process is no process; a fork may begin one of this id. */
	if (m->forked && !as_thread)
		give_back(k, m->forked - 1);
	m->forked = 0;
}

/* The state of each of made, where it matters, comes from those of from. */
static int depend(struct liveness *k, const uint32_t made[2], const uint32_t from[2])
{
	bool wanted = false;
	int err;

	for (int i = 0; i < 2; i++) {
		struct liveness_member *m = member(k, made[i]);

		if (is_wanted(m)) {
			wanted = true;
			let_go(k, m);
		}
	}
	if (!wanted)
		return 0;
	err = want(k, from[0]);
	return err ? err : want(k, from[1]);
}

int liveness_fork(struct liveness *k, const struct liveness_task *task, uint32_t *number)
{
	/* A thread is of its process as it is; of a new process nothing is as it was. */
	const bool is_thread = task->pid == task->ppid, is_other = task->tid != task->pid;
	const uint32_t made[] = { is_thread ? task->tid : task->pid, task->tid };
	const uint32_t from[] = { task->ppid, task->ptid };
	struct liveness_member *process = member(k, task->pid);
	struct liveness_member *thread = is_other ? member(k, task->tid) : NULL;
	struct liveness_member *parent = is_thread ? NULL : member(k, task->ppid);
	bool needed = is_wanted(process) || is_wanted(thread);
	int err;

	if (!is_thread)
		drop_maybe(k, process);
	drop_maybe(k, thread);
	if (!needed) { /* or only for as long as the parent is not known otherwise */
		miss(process);
		miss(thread);
	}
	if (!needed && !is_wanted(parent)) {
		miss(parent);
		return 0;
	}
	hear(k, thread, true);
	hear(k, process, false);
	hear(k, parent, false);
	err = take(k, number);
	if (err > 0 && !needed)
		parent->forked = *number + 1;
	if (err < 0 || !needed || (is_thread && !is_other))
		return err;
	err = depend(k, made, from);
	return err ? err : 1;
}

/* An exec is no other: until its program is mapped, what was mapped before still counts. */
int liveness_comm(struct liveness *k, uint32_t pid, uint32_t tid, bool exec, uint32_t *number)
{
	const uint32_t made[] = { tid, tid }, from[] = { pid, pid };
	struct liveness_member *process = member(k, pid);
	struct liveness_member *thread = tid == pid ? NULL : member(k, tid);
	int err;

	if (exec)
		drop_maybe(k, process);
	drop_maybe(k, thread);
	if (!is_wanted(process) && !is_wanted(thread)) {
		miss(process);
		miss(thread);
		return 0;
	}
	hear(k, thread, true);
	hear(k, process, false);
	err = take(k, number);
	if (err < 0 || !thread)
		return err;
	err = depend(k, made, from);
	return err ? err : 1;
}

int liveness_map(struct liveness *k, uint32_t pid, uint64_t time_ns, uint32_t *number)
{
	struct liveness_member *process = member(k, pid);
	int err;

	if (!process)
		return 0;
	if (process->wanted) {
		hear(k, process, false);
		return take(k, number);
	}
	process->missed = true;
	if (process->first_ns >= time_ns)
		return 0;
	err = take(k, number);
	if (err > 0) {
		k->next[*number] = process->maybe;
		process->maybe = *number + 1;
	}
	return err;
}

bool liveness_again(struct liveness *k)
{
	bool again = false;

	if (k->repeated)
		return false;
	for (size_t i = 0; i < k->count; i++)
		again |= k->members[i].unheard && k->members[i].missed;
	k->repeated = again;
	for (size_t i = 0; again && i < k->count; i++) {
		struct liveness_member *m = &k->members[i];
		bool retained = m->retained || (m->unheard && m->missed);

		*m = (struct liveness_member){
			.id = m->id,
			.process = NONE,
			.first_ns = m->first_ns,
			.wanted = retained,
			.retained = retained,
		};
	}
	if (again)
		k->record_count = k->free_count = 0;
	return again;
}

void liveness_done(struct liveness *k)
{
	free(k->members);
	free(k->next);
	free(k->free);
	hash_index_done(&k->index);
	*k = (struct liveness){ 0 };
}
