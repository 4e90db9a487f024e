/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The look-ups in a sealed model: nothing here changes it, so that any thread may ask. */
#include <assert.h>

#include "format/base/lower_bound.h"

#include "analyze/process/process_model_priv.h"

uint32_t process_model_find_thread(const struct process_model *m, uint32_t tid)
{
	uint64_t hash = hash_index_pair(&m->thread_index, tid, 0);
	uint32_t pos = hash_index_start(&m->thread_index, hash), id;

	if (!m->threads)
		return PROCESS_MODEL_NONE;
	while ((id = hash_index_match(&m->thread_index, hash, &pos)) != HASH_INDEX_NONE)
		if (m->threads[id].tid == tid)
			return id;
	return PROCESS_MODEL_NONE;
}

/* For which times an answer holds: both included. */
struct while_ns {
	uint64_t from_ns, to_ns;
};

static void not_before(struct while_ns *w, uint64_t since_ns)
{
	if (since_ns > w->from_ns)
		w->from_ns = since_ns;
}

static void before(struct while_ns *w, uint64_t next_ns)
{
	if (next_ns - 1 < w->to_ns)
		w->to_ns = next_ns - 1;
}

/* The last of the thread's states that began by time_ns; the first when none had. */
static const struct state *state_at(const struct process_model *m, uint32_t thread,
				    uint64_t time_ns, struct while_ns *w)
{
	const struct state *states = &m->states[m->threads[thread].first];
	uint32_t count = m->threads[thread].count,
		 lo = (uint32_t)lower_bound(i, 1, count, states[i].since_ns <= time_ns) - 1;

	if (lo)
		not_before(w, states[lo].since_ns);
	if (lo + 1 < count)
		before(w, states[lo + 1].since_ns);
	return &states[lo];
}

static uint32_t space_at(const struct process_model *m, uint32_t epoch, uint64_t time_ns,
			 struct while_ns *w)
{
	uint32_t first = m->epochs[epoch].first, end = first + m->epochs[epoch].count;
	uint32_t lo = (uint32_t)lower_bound(i, first + 1, end, m->spaces[i].since_ns <= time_ns) -
		      1;

	if (lo > first)
		not_before(w, m->spaces[lo].since_ns);
	if (lo + 1 < end)
		before(w, m->spaces[lo + 1].since_ns);
	return lo;
}

static void thread_at(const struct process_model *m, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      struct process_model_where *out, struct while_ns *w)
{
	uint32_t thread = process_model_find_thread(m, tid);
	const struct state *state;

	assert(m->sealed);
	*out = (struct process_model_where){ PROCESS_MODEL_NONE, EMPTY_SPACE, PROCESS_MODEL_NONE };
	if (thread != PROCESS_MODEL_NONE) {
		state = state_at(m, thread, time_ns, w);
		if (m->epochs[state->epoch].pid == pid) {
			out->epoch = state->epoch;
			out->comm = state->comm;
		}
	}
	if (out->epoch == PROCESS_MODEL_NONE &&
	    tid != pid) { /* its FORK is missing: borrow the maps */
		thread = process_model_find_thread(m, pid);
		if (thread == PROCESS_MODEL_NONE)
			return;
		state = state_at(m, thread, time_ns, w);
		if (m->epochs[state->epoch].pid == pid)
			out->epoch = state->epoch;
	}
	if (out->epoch != PROCESS_MODEL_NONE)
		out->space = space_at(m, out->epoch, time_ns, w);
}

void process_model_thread(const struct process_model *m, uint32_t pid, uint32_t tid,
			  uint64_t time_ns, struct process_model_where *out)
{
	struct while_ns w = { 0, UINT64_MAX };

	thread_at(m, pid, tid, time_ns, out, &w);
}

void process_model_thread_while(const struct process_model *m, uint32_t pid, uint32_t tid,
				uint64_t time_ns, struct process_model_where *out,
				uint64_t *from_ns, uint64_t *to_ns)
{
	struct while_ns w = { 0, UINT64_MAX };

	thread_at(m, pid, tid, time_ns, out, &w);
	*from_ns = w.from_ns;
	*to_ns = w.to_ns;
}

uint32_t process_model_kernel_while(const struct process_model *m, uint64_t time_ns,
				    uint64_t *from_ns, uint64_t *to_ns)
{
	struct while_ns w = { 0, UINT64_MAX };
	uint32_t space;

	assert(m->sealed);
	space = space_at(m, KERNEL_EPOCH, time_ns, &w);
	*from_ns = w.from_ns;
	*to_ns = w.to_ns;
	return space;
}

uint32_t process_model_kernel(const struct process_model *m, uint64_t time_ns)
{
	uint64_t from_ns, to_ns;

	return process_model_kernel_while(m, time_ns, &from_ns, &to_ns);
}

/* Where in its file the address is. */
static uint64_t file_off(const struct mapping *map, uint64_t addr)
{
	return addr - map->start + map->file_off_bytes;
}

bool process_model_place(const struct process_model *m, uint32_t space, uint64_t addr,
			 struct process_model_place *out)
{
	struct process_model_map map;

	if (!process_model_map_at(m, space, addr, &map))
		return false;
	out->file = map.file;
	out->file_off_bytes = addr - map.start + map.file_off_bytes;
	return true;
}

bool process_model_map_at(const struct process_model *m, uint32_t space, uint64_t addr,
			  struct process_model_map *out)
{
	const struct mappings_range *range;
	const struct mapping *map;
	uint64_t start, end;

	if (space == EMPTY_SPACE)
		return false;
	assert(space < m->space_count);
	range = mappings_find(&m->maps, m->spaces[space].root, addr);
	start = range ? range->start : addr;
	end = range ? range->end : addr + 1; /* what was before the exec may be covered beside */
	if (!range)
		range = mappings_find(&m->maps, m->spaces[space].before_exec, addr);
	if (!range)
		return false;
	map = &m->mappings[range->value];
	*out = (struct process_model_map){
		.start = start,
		.end = end,
		.file_off_bytes = file_off(map, start),
		.file = map->file,
	};
	return true;
}

bool process_model_next_map(const struct process_model *m, uint32_t space, uint64_t addr,
			    struct process_model_map *out)
{
	const struct mappings_range *range;
	const struct mapping *map;

	if (space == EMPTY_SPACE)
		return false;
	range = mappings_after(&m->maps, m->spaces[space].root, addr);
	if (!range)
		return false;
	map = &m->mappings[range->value];
	*out = (struct process_model_map){
		.start = range->start,
		.end = range->end,
		.file_off_bytes = file_off(map, range->start),
		.file = map->file,
	};
	return true;
}

bool process_model_has_maps(const struct process_model *m, uint32_t space)
{
	return space != EMPTY_SPACE && (m->spaces[space].root || m->spaces[space].before_exec);
}

uint32_t process_model_cgroup(const struct process_model *m, uint64_t id)
{
	return sidelog_cgroup(&m->log, id);
}

uint32_t process_model_context(const struct process_model *m, uint32_t pid, uint64_t time_ns)
{
	return process_contexts_at(&m->contexts, pid, time_ns);
}

const struct process_model_file *process_model_file(const struct process_model *m, uint32_t file)
{
	assert(file < m->log.files.count);
	return &m->log.files.list[file];
}

const struct hash_key *process_model_hash_key(const struct process_model *m)
{
	return &m->key;
}

uint32_t process_model_file_count(const struct process_model *m)
{
	return (uint32_t)m->log.files.count;
}

uint32_t process_model_epoch_count(const struct process_model *m)
{
	return (uint32_t)m->epoch_count;
}

uint64_t process_model_epoch_since(const struct process_model *m, uint32_t epoch)
{
	const struct epoch *e = &m->epochs[epoch];

	return e->count ? m->spaces[e->first].since_ns : 0;
}

uint32_t process_model_epoch_space(const struct process_model *m, uint32_t epoch)
{
	const struct epoch *e = &m->epochs[epoch];

	return e->count ? e->first + e->count - 1 : EMPTY_SPACE;
}

uint32_t process_model_epoch_pid(const struct process_model *m, uint32_t epoch)
{
	assert(epoch < m->epoch_count);
	return m->epochs[epoch].pid;
}

const struct process_model_counts *process_model_counts(const struct process_model *m)
{
	return &m->log.counts;
}
