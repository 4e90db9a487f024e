/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/process_state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "record/base/u64map.h"
#include "record/events/side_record.h"
#include "record/output/snapshot/process_state_records.h"

#define KERNEL_PID   UINT32_MAX
#define MMAP2_FIXED  72 /* of an MMAP2 record, up to the path */
#define CGROUP_FIXED 16 /* of a CGROUP record */
#define NONE         UINT32_MAX
#define HEADER_BYTES sizeof(struct perf_event_header)

struct process {
	uint32_t pid; /* 0 when the slot is free */
	uint32_t first_thread;
	struct process_state_records maps; /* in order of arrival: the later one wins */
};

struct thread {
	uint32_t pid, tid;
	uint32_t ppid, ptid;
	uint32_t next; /* of the process, or of the free ones */
	uint64_t start_ns;
	uint64_t exit_ns; /* 0: it runs */
	struct process_state_records_one *comm, *namespaces;
};

struct process_state {
	uint64_t side_id;
	struct u64map by_pid, by_tid;
	struct process *processes;
	size_t process_count, process_room; /* count: up to here, with free places */
	uint32_t *free_processes;
	size_t free_count, free_room;
	struct thread *threads;
	size_t thread_count, thread_room;
	uint32_t free_thread;  /* chain */
	struct u64map by_what; /* cgroups, code, BPF programs: kind and number -> index in global */
	struct process_state_records global;
	size_t cgroup_count; /* of these */
	uint32_t *exited;    /* tids whose exit is still to be settled */
	size_t exited_count, exited_room;
};

/* ---- processes and threads ---- */

static struct process *find_process(const struct process_state *s, uint32_t pid)
{
	const uint32_t *at = u64map_get(&s->by_pid, pid, 0);

	return at ? &s->processes[*at] : NULL;
}

static struct thread *find_thread(const struct process_state *s, uint32_t tid)
{
	const uint32_t *at = u64map_get(&s->by_tid, tid, 0);

	return at ? &s->threads[*at] : NULL;
}

static int get_process(struct process_state *s, uint32_t pid, struct process **out)
{
	struct process *p = find_process(s, pid);
	uint32_t at;

	if (p) {
		*out = p;
		return 0;
	}
	if (s->free_count) {
		at = s->free_processes[s->free_count - 1];
	} else {
		if (vec_reserve(&s->processes, &s->process_room, s->process_count + 1))
			return -ENOMEM;
		at = (uint32_t)s->process_count;
	}
	if (u64map_put(&s->by_pid, pid, 0, at))
		return -ENOMEM;
	if (s->free_count)
		s->free_count--;
	else
		s->process_count++;
	s->processes[at] = (struct process){ .pid = pid, .first_thread = NONE };
	*out = &s->processes[at];
	return 0;
}

static void remove_process(struct process_state *s, struct process *p)
{
	uint32_t at = (uint32_t)(p - s->processes);

	process_state_records_done(&p->maps);
	u64map_remove(&s->by_pid, p->pid, 0);
	p->pid = 0;
	/* Without memory the place is lost until the end, and that is all. */
	if (!vec_reserve(&s->free_processes, &s->free_room, s->free_count + 1))
		s->free_processes[s->free_count++] = at;
}

static void remove_thread(struct process_state *s, struct thread *t)
{
	uint32_t at = (uint32_t)(t - s->threads);
	struct process *p = find_process(s, t->pid);
	uint32_t *link = p ? &p->first_thread : NULL;

	while (link && *link != NONE && *link != at)
		link = &s->threads[*link].next;
	if (link && *link == at)
		*link = t->next;
	u64map_remove(&s->by_tid, t->tid, 0);
	process_state_records_let_go(t->comm);
	process_state_records_let_go(t->namespaces);
	*t = (struct thread){ .next = s->free_thread };
	s->free_thread = at;
}

/* The thread, made when it is not known; one of another process with this number is forgotten. */
static int get_thread(struct process_state *s, uint32_t pid, uint32_t tid, struct thread **out)
{
	struct thread *t = find_thread(s, tid);
	struct process *p;
	uint32_t at;

	if (t && t->pid == pid) {
		*out = t;
		return 0;
	}
	if (t)
		remove_thread(s, t);
	if (get_process(s, pid, &p))
		return -ENOMEM;
	at = s->free_thread;
	if (at == NONE) {
		if (vec_reserve(&s->threads, &s->thread_room, s->thread_count + 1))
			return -ENOMEM;
		at = (uint32_t)s->thread_count;
	}
	if (u64map_put(&s->by_tid, tid, 0, at))
		return -ENOMEM;
	if (at == s->free_thread)
		s->free_thread = s->threads[at].next;
	else
		s->thread_count++;
	s->threads[at] = (struct thread){
		.pid = pid, .tid = tid, .ppid = pid, .ptid = pid, .next = p->first_thread
	};
	p->first_thread = at;
	*out = &s->threads[at];
	return 0;
}

static void remove_threads(struct process_state *s, struct process *p, uint32_t but_tid)
{
	uint32_t at = p->first_thread, next;

	for (; at != NONE; at = next) {
		next = s->threads[at].next; /* NOLINT: a process has its threads in the list */
		if (s->threads[at].tid != but_tid)
			remove_thread(s, &s->threads[at]);
	}
}

/* ---- records ---- */

/* A child has its parent's mappings and name as of now. */
static int inherit(struct process_state *s, uint32_t from_pid, struct process *to)
{
	const struct process *from = find_process(s, from_pid);

	if (!from || from == to)
		return 0;
	for (size_t i = 0; i < from->maps.count; i++) {
		if (process_state_records_add(&to->maps, from->maps.items[i]))
			return -ENOMEM;
		from->maps.items[i]->refs++;
	}
	return 0;
}

static int on_fork(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	uint32_t pid = le32_load(rec + 8), ppid = le32_load(rec + 12);
	uint32_t tid = le32_load(rec + 16), ptid = le32_load(rec + 20);
	bool has_exec = le16_load(rec + 4) & PERF_RECORD_MISC_FORK_EXEC;
	struct thread *t = find_thread(s, tid), *parent;
	struct process *p;

	if (size_bytes < HEADER_BYTES + 24 + SIDE_RECORD_TAIL_BYTES)
		return 0;
	if (t)
		remove_thread(s, t);
	p = find_process(s, pid);
	if (p && pid == tid) { /* the number is used again */
		remove_threads(s, p, NONE);
		process_state_records_done(&p->maps);
	}
	if (get_thread(s, pid, tid, &t))
		return -ENOMEM;
	t->ppid = ppid;
	t->ptid = ptid;
	t->start_ns = le64_load(rec + 24);
	parent = find_thread(s, ptid);
	if (parent && parent->comm && !has_exec) {
		t->comm = parent->comm;
		t->comm->refs++;
	}
	if (pid == ppid || has_exec)
		return 0;
	p = find_process(s, pid);
	return p ? inherit(s, ppid, p) : 0;
}

static int on_exit_record(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	struct thread *t;

	if (size_bytes < HEADER_BYTES + 24 + SIDE_RECORD_TAIL_BYTES)
		return 0;
	t = find_thread(s, le32_load(rec + 16));
	if (!t || t->pid != le32_load(rec + 8))
		return 0;
	t->exit_ns = le64_load(rec + 24);
	if (vec_reserve(&s->exited, &s->exited_room, s->exited_count + 1))
		return -ENOMEM;
	s->exited[s->exited_count++] = t->tid;
	return 0;
}

static int on_comm(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	uint32_t pid = le32_load(rec + 8), tid = le32_load(rec + 12);
	struct thread *t;
	struct process *p;
	struct process_state_records_one *k;

	if (get_thread(s, pid, tid, &t))
		return -ENOMEM;
	p = find_process(s, pid);
	if (p && le16_load(rec + 4) & PERF_RECORD_MISC_COMM_EXEC) {
		/*
		 * The thread that execs is the leader from then on, alone, and nothing of its own
		 * is mapped.
		 */
		remove_threads(s, p, tid);
		process_state_records_done(&p->maps);
		t->exit_ns = 0;
	}
	k = process_state_records_keep(rec, size_bytes);
	if (!k)
		return -ENOMEM;
	/* A thread that inherits the name did not exec, so no mapping is dropped. */
	le16_store(k->bytes + 4, le16_load(k->bytes + 4) & (uint16_t)~PERF_RECORD_MISC_COMM_EXEC);
	process_state_records_let_go(t->comm);
	t->comm = k;
	return 0;
}

static int on_namespaces(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	struct thread *t;
	struct process_state_records_one *k;

	if (get_thread(s, le32_load(rec + 8), le32_load(rec + 12), &t))
		return -ENOMEM;
	k = process_state_records_keep(rec, size_bytes);
	if (!k)
		return -ENOMEM;
	process_state_records_let_go(t->namespaces);
	t->namespaces = k;
	return 0;
}

static bool covers(uint64_t start, uint64_t end, const struct process_state_records_one *old)
{
	uint64_t at = le64_load(old->bytes + 16);

	return at >= start && at + le64_load(old->bytes + 24) <= end;
}

static int on_mmap2(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	uint64_t start = le64_load(rec + 16), end = start + le64_load(rec + 24);
	struct process *p;
	struct process_state_records_one *k;
	size_t i, left = 0;

	if (size_bytes < MMAP2_FIXED + 8 + SIDE_RECORD_TAIL_BYTES || end < start)
		return 0;
	if (get_process(s, le32_load(rec + 8), &p))
		return -ENOMEM;
	k = process_state_records_keep(rec, size_bytes);
	if (!k)
		return -ENOMEM;
	for (i = 0; i < p->maps.count; i++) {
		if (covers(start, end, p->maps.items[i]))
			process_state_records_let_go(p->maps.items[i]);
		else
			p->maps.items[left++] = p->maps.items[i];
	}
	p->maps.count = left;
	if (process_state_records_add(&p->maps, k)) {
		process_state_records_let_go(k);
		return -ENOMEM;
	}
	return 0;
}

/* A record that belongs to no process is identified by its type and a number. */
static void forget_global(struct process_state *s, uint32_t type, uint64_t number)
{
	uint32_t *at = u64map_get(&s->by_what, type, number);
	struct process_state_records_one *k;

	if (!at)
		return;
	process_state_records_let_go(s->global.items[*at]);
	s->cgroup_count -= type == PERF_RECORD_CGROUP;
	/* The last one takes its place. */
	k = s->global.items[--s->global.count];
	if (*at < s->global.count) {
		uint64_t moved = le32_load(k->bytes) == PERF_RECORD_BPF_EVENT
					 ? le32_load(k->bytes + 12)
					 : le64_load(k->bytes + 8);

		s->global.items[*at] = k;
		*u64map_get(&s->by_what, le32_load(k->bytes), moved) = *at;
	}
	u64map_remove(&s->by_what, type, number);
}

/* gone: it is taken back. */
static int on_global(struct process_state *s, const uint8_t *rec, size_t size_bytes,
		     uint64_t number, bool gone)
{
	uint32_t type = le32_load(rec), *at = u64map_get(&s->by_what, type, number);
	struct process_state_records_one *k;

	if (gone) {
		forget_global(s, type, number);
		return 0;
	}
	k = process_state_records_keep(rec, size_bytes);
	if (!k)
		return -ENOMEM;
	if (at) {
		process_state_records_let_go(s->global.items[*at]);
		s->global.items[*at] = k;
		return 0;
	}
	if (process_state_records_add(&s->global, k)) {
		process_state_records_let_go(k);
		return -ENOMEM;
	}
	if (!u64map_put(&s->by_what, type, number, (uint32_t)s->global.count - 1)) {
		s->cgroup_count += type == PERF_RECORD_CGROUP;
		return 0;
	}
	process_state_records_let_go(s->global.items[--s->global.count]);
	return -ENOMEM;
}

int process_state_record(struct process_state *s, const uint8_t *rec, size_t size_bytes)
{
	if (size_bytes < HEADER_BYTES + 16 + SIDE_RECORD_TAIL_BYTES)
		return 0;
	switch (le32_load(rec)) {
	case PERF_RECORD_FORK:
		return on_fork(s, rec, size_bytes);
	case PERF_RECORD_EXIT:
		return on_exit_record(s, rec, size_bytes);
	case PERF_RECORD_COMM:
		return on_comm(s, rec, size_bytes);
	case PERF_RECORD_NAMESPACES:
		return on_namespaces(s, rec, size_bytes);
	case PERF_RECORD_MMAP2:
		return on_mmap2(s, rec, size_bytes);
	case PERF_RECORD_CGROUP:
		return on_global(s, rec, size_bytes, le64_load(rec + 8), false);
	case PERF_RECORD_KSYMBOL:
		return on_global(s, rec, size_bytes, le64_load(rec + 8),
				 le16_load(rec + 22) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	case PERF_RECORD_BPF_EVENT:
		return on_global(s, rec, size_bytes, le32_load(rec + 12),
				 le16_load(rec + 8) == PERF_BPF_EVENT_PROG_UNLOAD);
	default:
		return 0;
	}
}

/* A leader stays until its last thread is gone: the process has its number. */
static bool may_go(const struct process_state *s, const struct thread *t)
{
	const struct process *p = find_process(s, t->pid);
	const struct thread *first;

	if (t->tid != t->pid || !p || p->first_thread == NONE)
		return true;
	first = &s->threads[p->first_thread];
	return first == t && first->next == NONE;
}

void process_state_settle(struct process_state *s, uint64_t before_ns)
{
	size_t i, left = 0;
	struct process *p;
	struct thread *t;
	uint32_t pid;

	for (i = 0; i < s->exited_count; i++) {
		t = find_thread(s, s->exited[i]);
		if (!t || !t->exit_ns)
			continue; /* its number is used again, or it was the leader that an exec replaced */
		if (t->exit_ns >= before_ns || !may_go(s, t)) {
			s->exited[left++] = s->exited[i];
			continue;
		}
		pid = t->pid;
		remove_thread(s, t);
		p = find_process(s, pid);
		if (p && p->first_thread == NONE)
			remove_process(s, p);
	}
	s->exited_count = left;
}

void process_state_drop_cgroups(struct process_state *s,
				bool (*drop)(void *arg, uint64_t id, const char *path), void *arg)
{
	size_t at = 0;

	while (at < s->global.count) {
		const struct process_state_records_one *k = s->global.items[at];
		uint64_t id = le64_load(k->bytes + 8);

		if (le32_load(k->bytes) != PERF_RECORD_CGROUP ||
		    !memchr(k->bytes + CGROUP_FIXED, 0, k->size_bytes - CGROUP_FIXED) ||
		    !drop(arg, id, (const char *)k->bytes + CGROUP_FIXED))
			at++;
		else /* the last one takes its place */
			forget_global(s, PERF_RECORD_CGROUP, id);
	}
}

/* ---- the state as records ---- */

struct emission {
	int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes);
	void *arg;
	struct side_record rec;
};

static int emit_stored(struct emission *e, const struct process_state_records_one *k, uint32_t pid,
		       uint32_t tid)
{
	_Alignas(8) uint8_t copy[SIDE_RECORD_MAX_BYTES];

	if (k->size_bytes > sizeof(copy))
		return 0; /* no path is that long */
	memcpy(copy, k->bytes, k->size_bytes);
	if (pid) { /* an heir's: the numbers are its own */
		le32_store(copy + 8, pid);
		le32_store(copy + 12, tid);
		le32_store(copy + k->size_bytes - SIDE_RECORD_TAIL_BYTES, pid);
		le32_store(copy + k->size_bytes - SIDE_RECORD_TAIL_BYTES + 4, tid);
	}
	return e->on_record(e->arg, copy, k->size_bytes);
}

static int emit_maps(struct emission *e, const struct process *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->maps.count; i++)
		err = p->pid == KERNEL_PID ? emit_stored(e, p->maps.items[i], 0, 0)
					   : emit_stored(e, p->maps.items[i], p->pid, p->pid);
	return err;
}

static int emit_thread(struct emission *e, const struct thread *t)
{
	int err = e->on_record(
		e->arg, e->rec.bytes,
		side_record_fork(&e->rec, t->pid, t->tid, t->ppid, t->ptid, t->start_ns));

	if (!err && t->comm)
		err = emit_stored(e, t->comm, t->pid, t->tid);
	if (!err && t->namespaces)
		err = emit_stored(e, t->namespaces, t->pid, t->tid);
	return err;
}

/* The leader first, then what is mapped, then the other threads: as the scan of /proc has it. */
static int emit_process(const struct process_state *s, struct emission *e, const struct process *p)
{
	uint32_t at;
	int err = 0;

	for (at = p->first_thread; !err && at != NONE; at = s->threads[at].next) {
		if (s->threads[at].tid == p->pid)
			err = emit_thread(e, &s->threads[at]);
	}
	if (!err)
		err = emit_maps(e, p);
	for (at = p->first_thread; !err && at != NONE; at = s->threads[at].next) {
		if (s->threads[at].tid != p->pid)
			err = emit_thread(e, &s->threads[at]);
	}
	return err;
}

int process_state_each(struct process_state *s,
		       int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
		       void *arg)
{
	struct emission e = { .on_record = on_record, .arg = arg, .rec.id = s->side_id };
	const struct process *kernel = find_process(s, KERNEL_PID);
	int err = kernel ? emit_maps(&e, kernel) : 0;
	size_t i;

	for (i = 0; !err && i < s->global.count; i++)
		err = emit_stored(&e, s->global.items[i], 0, 0);
	for (i = 0; !err && i < s->process_count; i++) {
		/* NOLINTNEXTLINE: counted is what is there */
		if (s->processes[i].pid && s->processes[i].pid != KERNEL_PID)
			err = emit_process(s, &e, &s->processes[i]);
	}
	return err;
}

/* ---- all of it ---- */

int process_state_new(uint64_t side_id, struct process_state **out)
{
	struct process_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->side_id = side_id;
	s->free_thread = NONE;
	*out = s;
	return 0;
}

void process_state_free(struct process_state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->process_count; i++)
		process_state_records_done(&s->processes[i].maps);
	for (size_t i = 0; i < s->thread_count; i++) {
		process_state_records_let_go(s->threads[i].comm);
		process_state_records_let_go(s->threads[i].namespaces);
	}
	process_state_records_done(&s->global);
	u64map_done(&s->by_pid);
	u64map_done(&s->by_tid);
	u64map_done(&s->by_what);
	free(s->processes);
	free(s->free_processes);
	free(s->threads);
	free(s->exited);
	free(s);
}

size_t process_state_cgroup_count(const struct process_state *s)
{
	return s->cgroup_count;
}
