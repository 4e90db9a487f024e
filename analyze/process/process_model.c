/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/process_model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "analyze/sym/locate/file_search.h"
#include "analyze/process/process_model_priv.h"
#include "format/base/interpreted_code.h"
#include "format/base/vec.h"

#define EXEC_MAPS 3 /* an exec maps the program, its interpreter and the vdso, in this order */

/* ---- threads and epochs, while building ---- */

static int add_state(struct process_model *m, uint32_t tid, uint64_t time_ns, uint32_t epoch,
		     uint32_t comm)
{
	uint32_t thread = process_model_find_thread(m, tid);
	uint64_t hash;
	uint32_t pos;
	int err;

	if (thread == PROCESS_MODEL_NONE) {
		err = hash_index_reserve(&m->thread_index);
		if (err)
			return err;
		err = vec_reserve(&m->threads, &m->thread_cap, m->thread_count + 1);
		if (err)
			return err;
		hash = hash_index_pair(&m->thread_index, tid, 0);
		pos = hash_index_start(&m->thread_index, hash);
		while (hash_index_match(&m->thread_index, hash, &pos) != HASH_INDEX_NONE)
			;
		thread = (uint32_t)m->thread_count++;
		m->threads[thread] = (struct thread){ .tid = tid };
		hash_index_put(&m->thread_index, hash, pos, thread);
	}
	if (m->state_count >= PROCESS_MODEL_NONE)
		return -ENOMEM;
	err = vec_reserve(&m->states, &m->state_cap, m->state_count + 1);
	if (err)
		return err;
	assert(m->threads);
	m->threads[thread].last = (uint32_t)m->state_count;
	m->states[m->state_count++] = (struct state){
		.since_ns = time_ns, .thread = thread, .epoch = epoch, .comm = comm
	};
	return 0;
}

static const struct state *current(const struct process_model *m, uint32_t tid)
{
	uint32_t thread = process_model_find_thread(m, tid);

	return thread == PROCESS_MODEL_NONE ? NULL : &m->states[m->threads[thread].last];
}

static int add_space(struct process_model *m, uint32_t epoch, uint64_t time_ns, uint32_t root)
{
	int err;

	if (m->space_count >= PROCESS_MODEL_NONE)
		return -ENOMEM;
	err = vec_reserve(&m->spaces, &m->space_cap, m->space_count + 1);
	if (err)
		return err;
	m->epochs[epoch].space = (uint32_t)m->space_count;
	m->spaces[m->space_count++] =
		(struct space){ .since_ns = time_ns, .epoch = epoch, .root = root };
	return 0;
}

/* Without states: the caller that starts an epoch knows its threads. */
static int add_epoch(struct process_model *m, uint32_t pid, uint64_t time_ns, uint32_t root,
		     uint32_t *out)
{
	uint32_t epoch = (uint32_t)m->epoch_count;
	int err;

	if (m->epoch_count >= PROCESS_MODEL_NONE)
		return -ENOMEM;
	err = vec_reserve(&m->epochs, &m->epoch_cap, m->epoch_count + 1);
	if (err)
		return err;
	m->epochs[m->epoch_count++] = (struct epoch){ .pid = pid };
	*out = epoch;
	return add_space(m, epoch, time_ns, root);
}

/* The epoch a pid is in; one begins when the pid was never heard of. */
static int epoch_of(struct process_model *m, uint32_t pid, uint64_t time_ns, uint32_t *out)
{
	const struct state *leader = current(m, pid);
	int err;

	if (leader && m->epochs[leader->epoch].pid == pid) {
		*out = leader->epoch;
		return 0;
	}
	err = add_epoch(m, pid, time_ns, 0, out);
	return err ? err : add_state(m, pid, time_ns, *out, PROCESS_MODEL_NONE);
}

/* ---- events ---- */

static int apply_fork(struct process_model *m, const struct side_event *e)
{
	const struct state *parent = current(m, e->ptid);
	uint32_t comm, epoch, parent_epoch, root = 0;
	int err;

	if (!parent)
		parent = current(m, e->ppid);
	comm = parent ? parent->comm : PROCESS_MODEL_NONE;
	if (e->pid == e->ppid) {
		err = epoch_of(m, e->pid, e->time_ns, &epoch);
		/* The leader's own record, as written for processes that were there before. */
		if (!err && e->tid == e->pid)
			return 0;
		return err ? err : add_state(m, e->tid, e->time_ns, epoch, comm);
	}
	err = epoch_of(m, e->ppid, e->time_ns, &parent_epoch);
	if (err)
		return err;
	if (!e->flag) {
		root = m->spaces[m->epochs[parent_epoch].space].root;
		m->epochs[parent_epoch].token = 0; /* shared from here on: copy before writing */
	}
	err = add_epoch(m, e->pid, e->time_ns, root, &epoch);
	if (err)
		return err;
	err = add_state(m, e->pid, e->time_ns, epoch, comm);
	return err || e->tid == e->pid ? err : add_state(m, e->tid, e->time_ns, epoch, comm);
}

/*
 * The comm changes in the middle of the exec.  Until the kernel has mapped the new program, the
 * thread's user stack is still the one that called exec, so the old maps stay for that while.
 */
static int apply_exec(struct process_model *m, const struct side_event *e, uint32_t *epoch)
{
	const struct state *leader = current(m, e->pid);
	const struct space *space;
	uint32_t before = 0;
	int err;

	if (leader && m->epochs[leader->epoch].pid == e->pid) {
		space = &m->spaces[m->epochs[leader->epoch].space];
		/* Recorded twice, where two recorders ran: nothing is mapped yet. */
		before = space->root ? space->root : space->before_exec;
		m->epochs[leader->epoch].token = 0;
	}
	err = add_epoch(m, e->pid, e->time_ns, 0, epoch);
	if (err)
		return err;
	m->spaces[m->epochs[*epoch].space].before_exec = before;
	return e->tid == e->pid ? 0 : add_state(m, e->pid, e->time_ns, *epoch, e->id);
}

static int apply_comm(struct process_model *m, const struct side_event *e)
{
	uint32_t epoch;
	int err;

	if (e->flag)
		err = apply_exec(m, e, &epoch);
	else
		err = epoch_of(m, e->pid, e->time_ns, &epoch);
	return err ? err : add_state(m, e->tid, e->time_ns, epoch, e->id);
}

/* Where the maps of an epoch may be changed from time_ns on; fresh: earlier samples see the old. */
static int edit_space(struct process_model *m, uint32_t epoch, uint64_t time_ns, bool fresh)
{
	uint32_t space = m->epochs[epoch].space;
	int err = 0;

	if (fresh && m->spaces[space].since_ns != time_ns) {
		err = add_space(m, epoch, time_ns, m->spaces[space].root);
		m->spaces[m->epochs[epoch].space].before_exec = m->spaces[space].before_exec;
		m->epochs[epoch].token = 0;
	}
	if (!m->epochs[epoch].token)
		m->epochs[epoch].token = ++m->token;
	return err;
}

/* All mappings after the vdso are those of the new program. */
static int pass_exec(struct process_model *m, const struct side_event *e, uint32_t epoch)
{
	struct epoch *p = &m->epochs[epoch];
	uint32_t space = p->space;
	int err;

	if (!m->spaces[space].before_exec)
		return 0;
	if (p->exec_maps < EXEC_MAPS) {
		p->exec_maps++;
		if (!strcmp(m->log.files.list[e->id].path, "[vdso]"))
			p->exec_maps = EXEC_MAPS;
		return 0;
	}
	err = add_space(m, epoch, e->time_ns, m->spaces[space].root);
	m->epochs[epoch].token = 0;
	return err;
}

static bool is_mapped_so(const struct process_model *m, const struct side_event *e, uint32_t epoch)
{
	const struct mappings_range *hit;
	const struct mapping *old;

	hit = mappings_overlap(&m->maps, m->spaces[m->epochs[epoch].space].root, e->start, e->end);
	if (!hit || hit->start != e->start || hit->end != e->end)
		return false;
	old = &m->mappings[hit->value];
	return old->start == e->start && old->file == e->id &&
	       old->file_off_bytes == e->file_off_bytes;
}

/* fresh: what was there before is in an earlier space. */
static int add_mapping(struct process_model *m, const struct side_event *e, uint32_t epoch,
		       bool fresh)
{
	struct mappings_range range = { .start = e->start,
					.end = e->end,
					.value = (uint32_t)m->mapping_count };
	struct space *space;
	int err;

	if (m->mapping_count >= PROCESS_MODEL_NONE)
		return -ENOMEM;
	err = vec_reserve(&m->mappings, &m->mapping_cap, m->mapping_count + 1);
	if (!err)
		err = edit_space(m, epoch, e->time_ns, fresh);
	if (err)
		return err;
	m->mappings[m->mapping_count++] = (struct mapping){ .start = e->start,
							    .file_off_bytes = e->file_off_bytes,
							    .file = e->id };
	space = &m->spaces[m->epochs[epoch].space];
	return mappings_put(&m->maps, space->root, &range, m->epochs[epoch].token, &space->root);
}

static int apply_map(struct process_model *m, const struct side_event *e, uint32_t epoch)
{
	const struct mappings_range *hit;
	const struct space *space;
	bool fresh;
	int err;

	if (is_mapped_so(m, e, epoch))
		return 0; /* recorded twice: by the list at start and by the kernel */
	err = pass_exec(m, e, epoch);
	if (err)
		return err;
	space = &m->spaces[m->epochs[epoch].space];
	fresh = mappings_overlap(&m->maps, space->before_exec, e->start, e->end);
	hit = mappings_overlap(&m->maps, space->root, e->start, e->end);
	return add_mapping(m, e, epoch, hit || fresh);
}

static int apply_ksymbol(struct process_model *m, const struct side_event *e)
{
	struct space *space;
	int err;

	if (!e->flag)
		return apply_map(m, e, KERNEL_EPOCH);
	err = edit_space(m, KERNEL_EPOCH, e->time_ns, true);
	if (err)
		return err;
	space = &m->spaces[m->epochs[KERNEL_EPOCH].space];
	return mappings_cut(&m->maps, space->root, e->start, e->end, m->epochs[KERNEL_EPOCH].token,
			    &space->root);
}

static struct jit *jit_of(const struct process_model *m, uint32_t pid)
{
	uint64_t hash = hash_index_pair(&m->jit_index, pid, 0);
	uint32_t pos = hash_index_start(&m->jit_index, hash), id;

	while ((id = hash_index_match(&m->jit_index, hash, &pos)) != HASH_INDEX_NONE)
		if (m->jits[id].pid == pid) /* NOLINT: what the index finds is in the array */
			return &m->jits[id];
	return NULL;
}

static bool is_jit_at(const struct process_model *m, uint32_t root, uint64_t addr, uint32_t file)
{
	const struct mappings_range *r = mappings_find(&m->maps, root, addr);

	return r && m->mappings[r->value].file == file;
}

/* Interpreted code has its names from the recorder, not from a compiler's file. */
static bool is_made(const char *path)
{
	return file_search_is_anonymous(path) && !interpreted_code_is_file(path);
}

/*
 * Memory in which a process made code that has names.  A compiler changes the protection of this
 * memory all the time, and each change is recorded as a mapping: it does not hide the code.
 */
static int apply_user_map(struct process_model *m, const struct side_event *e)
{
	const struct jit *jit = jit_of(m, e->pid);
	struct side_event map = *e;
	uint32_t epoch, root;
	int err;

	err = epoch_of(m, e->pid, e->time_ns, &epoch);
	if (err || !jit || !is_made(m->log.files.list[e->id].path))
		return err ? err : apply_map(m, e, epoch);
	root = m->spaces[m->epochs[epoch].space].root;
	if (jit->timed && is_jit_at(m, root, e->start, jit->file) &&
	    is_jit_at(m, root, e->end - 1, jit->file))
		return 0;
	map.id = jit->file;
	map.file_off_bytes = e->start;
	return apply_map(m, &map, epoch);
}

/* Code where there was other code before makes a new space; in memory that had none it does not. */
static int apply_code(struct process_model *m, const struct side_event *e)
{
	const struct mappings_range *hit;
	uint32_t epoch;
	bool fresh;
	int err;

	err = epoch_of(m, e->pid, e->time_ns, &epoch);
	if (err)
		return err;
	hit = mappings_overlap(&m->maps, m->spaces[m->epochs[epoch].space].root, e->start, e->end);
	fresh = hit && (hit->start > e->start || hit->end < e->end ||
			m->mappings[hit->value].file != e->id ||
			m->mappings[hit->value].file_off_bytes != m->mappings[hit->value].start);
	return add_mapping(m, e, epoch, fresh);
}

static int apply(void *ctx, const struct side_event *e)
{
	struct process_model *m = ctx;

	switch (e->kind) {
	case SIDE_FORK:
		return apply_fork(m, e);
	case SIDE_COMM:
		return apply_comm(m, e);
	case SIDE_KSYMBOL:
		return apply_ksymbol(m, e);
	case SIDE_CODE:
		return apply_code(m, e);
	default:
		return e->pid == SIDE_QUEUE_KERNEL ? apply_map(m, e, KERNEL_EPOCH)
						   : apply_user_map(m, e);
	}
}

/* ---- records in ---- */

int process_model_add(struct process_model *m, const struct perfrec_side *side)
{
	return m->sealed ? -EALREADY : side_queue_add(&m->log, m->names, side);
}

int process_model_make_event(struct process_model *m, const struct perfrec_side *side,
			     struct side_event *out)
{
	return m->sealed ? -EALREADY : side_queue_make(&m->log, m->names, side, out);
}

int process_model_choose_files(struct process_model *m, const uint32_t *order, size_t count,
			       uint32_t *numbers)
{
	return m->sealed || m->log.count || m->mapping_count
		       ? -EALREADY
		       : file_table_choose(&m->log.files, m->names, order, count, numbers);
}

int process_model_add_event(struct process_model *m, const struct side_event *event)
{
	return m->sealed ? -EALREADY : side_queue_add_event(&m->log, event);
}

void process_model_add_unread(struct process_model *m, uint32_t type, bool broken)
{
	side_queue_add_unread(&m->log, type, broken);
}

int process_model_read_contexts(struct process_model *m, const struct capture *c)
{
	return process_contexts_read(c, m->names, &m->contexts);
}

int process_model_add_build_id(struct process_model *m, const char *path, const struct buildid *id)
{
	uint32_t path_id = string_table_find(m->names, path);

	if (m->sealed)
		return -EALREADY;
	if (path_id != UINT32_MAX)
		file_table_add_build_id(&m->log.files, path_id, id);
	return 0;
}

int process_model_add_jit(struct process_model *m, uint32_t pid)
{
	struct process_model_file file = { .jit_pid = pid };
	struct jit jit = { .pid = pid };
	uint32_t pos;
	uint64_t hash;
	char path[48];
	int err;

	if (m->sealed)
		return -EALREADY;
	if (jit_of(m, pid))
		return 0;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid); /* as perf calls it */
	err = file_table_add(&m->log.files, m->names, &file, path, &jit.file);
	if (!err)
		err = vec_reserve(&m->jits, &m->jit_cap, m->jit_count + 1);
	if (!err)
		err = hash_index_reserve(&m->jit_index);
	if (err)
		return err;
	hash = hash_index_pair(&m->jit_index, pid, 0);
	pos = hash_index_start(&m->jit_index, hash);
	while (hash_index_match(&m->jit_index, hash, &pos) != HASH_INDEX_NONE)
		;
	hash_index_put(&m->jit_index, hash, pos, (uint32_t)m->jit_count);
	m->jits[m->jit_count++] = jit;
	return 0;
}

int process_model_add_jit_code(struct process_model *m, uint32_t pid, uint64_t time_ns,
			       uint64_t addr, uint64_t size_bytes, uint64_t off_bytes)
{
	struct side_event e = {
		.time_ns = time_ns,
		.kind = SIDE_CODE,
		.pid = pid,
		.tid = pid,
		.start = addr,
		.end = addr + size_bytes,
		.file_off_bytes = off_bytes,
	};
	struct jit *jit;

	if (m->sealed)
		return -EALREADY;
	jit = jit_of(m, pid);
	if (!jit)
		return 0;
	jit->timed = true;
	e.id = jit->file;
	return side_queue_add_event(&m->log, &e);
}

/* ---- sealing ---- */

bool process_model_is_full(const struct process_model *m)
{
	return side_queue_is_full(&m->log);
}

int process_model_settle(struct process_model *m, uint64_t open_ns)
{
	return m->sealed ? -EALREADY : side_queue_settle(&m->log, open_ns, apply, m);
}

/* Puts each thread's states side by side, in time order. */
static int group_states(struct process_model *m)
{
	struct state *sorted = calloc(m->state_count + 1, sizeof(*sorted));
	uint32_t at = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < m->state_count; i++)
		m->threads[m->states[i].thread].count++;
	for (size_t i = 0; i < m->thread_count; i++) {
		m->threads[i].first = at;
		at += m->threads[i].count;
		m->threads[i].count = 0;
	}
	for (size_t i = 0; i < m->state_count; i++) {
		struct thread *t = &m->threads[m->states[i].thread];

		sorted[t->first + t->count++] = m->states[i];
	}
	free(m->states);
	m->states = sorted;
	return 0;
}

static int group_spaces(struct process_model *m)
{
	struct space *sorted = calloc(m->space_count + 1, sizeof(*sorted));
	uint32_t at = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < m->space_count; i++)
		m->epochs[m->spaces[i].epoch].count++;
	for (size_t i = 0; i < m->epoch_count; i++) {
		m->epochs[i].first = at;
		at += m->epochs[i].count;
		m->epochs[i].count = 0;
	}
	for (size_t i = 0; i < m->space_count; i++) {
		struct epoch *e = &m->epochs[m->spaces[i].epoch];

		sorted[e->first + e->count++] = m->spaces[i];
	}
	free(m->spaces);
	m->spaces = sorted;
	return 0;
}

int process_model_seal(struct process_model *m)
{
	int err;

	if (m->sealed)
		return -EALREADY;
	err = side_queue_replay(&m->log, apply, m);
	if (!err)
		err = group_states(m);
	if (!err)
		err = group_spaces(m);
	if (!err)
		m->sealed = true;
	return err;
}

int process_model_new(struct string_table *names, struct process_model **out)
{
	struct process_model *m = calloc(1, sizeof(*m));
	uint32_t kernel, idle, comm;
	int err;

	if (!m)
		return -ENOMEM;
	m->names = names;
	err = hash_key_new(&m->key);
	if (!err)
		err = add_epoch(m, SIDE_QUEUE_KERNEL, 0, 0, &kernel);
	if (!err)
		err = add_epoch(m, 0, 0, 0, &idle);
	/* No record ever names the idle task; it is called what every tool calls it. */
	if (!err)
		err = string_table_add(names, "swapper", 7, &comm);
	if (!err)
		err = add_state(m, 0, 0, idle, comm);
	if (err) {
		process_model_free(m);
		return err;
	}
	assert(kernel == KERNEL_EPOCH);
	*out = m;
	return 0;
}

void process_model_free(struct process_model *m)
{
	if (!m)
		return;
	mappings_done(&m->maps);
	hash_index_done(&m->thread_index);
	hash_index_done(&m->jit_index);
	side_queue_done(&m->log);
	process_contexts_done(&m->contexts);
	free(m->mappings);
	free(m->jits);
	free(m->spaces);
	free(m->states);
	free(m->epochs);
	free(m->threads);
	free(m);
}
