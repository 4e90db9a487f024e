/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/thread_cache.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/hash_index.h"

#define GROUP_SLOTS  4096u
#define THREAD_SLOTS 256u

struct group_slot {
	struct group group;
	uint32_t number; /* + 1; 0: free */
};

/* The model's answer for a thread, and when that holds. */
struct thread_slot {
	uint32_t pid, tid;
	uint64_t from_ns, to_ns; /* from > to: free */
	struct process_model_where where;
};

struct thread_cache {
	const struct process_model *model;
	struct groups *groups;
	struct groups_key key;                 /* of the groups */
	uint64_t kernel_from_ns, kernel_to_ns; /* when the space of the kernel is this one */
	uint32_t kernel_space;
	struct group_slot group_slots[GROUP_SLOTS];
	struct thread_slot thread_slots[THREAD_SLOTS];
};

int thread_cache_new(const struct process_model *model, struct groups *groups,
		     struct thread_cache **out)
{
	struct thread_cache *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->model = model;
	w->groups = groups;
	if (groups)
		w->key = groups_key(groups);
	w->kernel_from_ns = 1; /* > to: not asked yet */
	for (size_t i = 0; i < THREAD_SLOTS; i++)
		w->thread_slots[i].from_ns = 1;
	*out = w;
	return 0;
}

void thread_cache_free(struct thread_cache *w)
{
	free(w);
}

void thread_cache_where(struct thread_cache *w, const struct perf_sample *sample,
			struct process_model_where *out)
{
	struct thread_slot *slot = &w->thread_slots[sample->tid % THREAD_SLOTS];

	if (slot->tid != sample->tid || slot->pid != sample->pid ||
	    sample->time_ns < slot->from_ns || sample->time_ns > slot->to_ns) {
		slot->pid = sample->pid;
		slot->tid = sample->tid;
		process_model_thread_while(w->model, sample->pid, sample->tid, sample->time_ns,
					   &slot->where, &slot->from_ns, &slot->to_ns);
	}
	*out = slot->where;
}

uint32_t thread_cache_kernel_space(struct thread_cache *w, uint64_t time_ns)
{
	if (time_ns < w->kernel_from_ns || time_ns > w->kernel_to_ns)
		w->kernel_space = process_model_kernel_while(w->model, time_ns, &w->kernel_from_ns,
							     &w->kernel_to_ns);
	return w->kernel_space;
}

/*
 * Numbers in registers: a struct that has just been written in parts and is read at once makes the
 * CPU wait.
 */
static bool is_of(const struct group_slot *slot, const struct groups_key *key,
		  const struct perf_sample *sample, uint32_t comm, uint32_t context)
{
	const struct group *g = &slot->group;

	return slot->number && (!(key->fields & GROUP_COMM) || g->comm == comm) &&
	       (!(key->fields & GROUP_PID) || g->pid == sample->pid) &&
	       (!(key->fields & GROUP_TID) || g->tid == sample->tid) &&
	       (!(key->fields & GROUP_CPU) || g->cpu == sample->cpu) &&
	       (!(key->fields & GROUP_CGROUP) || g->cgroup == sample->cgroup) &&
	       g->context == context &&
	       (!(key->fields & GROUP_TIME) || sample->time_ns - g->time_ns < key->quantum_ns);
}

static struct group_slot *slot_of(struct thread_cache *w, const struct perf_sample *sample,
				  uint32_t comm, uint32_t context)
{
	unsigned fields = w->key.fields;
	uint64_t hash = fields & GROUP_COMM ? comm : 0;

	if (context)
		hash = hash_fold(hash, context);
	if (fields & (GROUP_PID | GROUP_TID))
		hash = hash_fold(hash, fields & GROUP_TID ? sample->tid : sample->pid);
	if (fields & GROUP_CPU)
		hash = hash_fold(hash, (uint32_t)sample->cpu);
	if (fields & GROUP_CGROUP)
		hash = hash_fold(hash, sample->cgroup);
	if (fields & GROUP_TIME)
		hash = hash_fold(hash, sample->time_ns / w->key.quantum_ns);
	return &w->group_slots[hash % GROUP_SLOTS];
}

/*
 * For any fields: in its slot, or from the groups.  Not inlined, so that the common path is short.
 */
static int __attribute__((noinline))
find_group(struct thread_cache *w, const struct perf_sample *sample, uint32_t comm, uint32_t *out)
{
	uint32_t context = w->key.fields & GROUP_CONTEXT
				   ? process_model_context(w->model, sample->pid, sample->time_ns)
				   : 0;
	struct group_slot *slot;
	struct group group;
	int err;

	slot = slot_of(w, sample, comm, context);
	if (!is_of(slot, &w->key, sample, comm, context)) {
		group = (struct group){ .cgroup = sample->cgroup,
					.time_ns = sample->time_ns,
					.comm = comm,
					.pid = sample->pid,
					.tid = sample->tid,
					.cpu = sample->cpu,
					.context = context };
		groups_trim(&w->key, &group);
		err = groups_add(w->groups, &group, out);
		if (err)
			return err;
		*slot = (struct group_slot){ group, *out + 1 };
	}
	*out = slot->number - 1;
	return 0;
}

int thread_cache_group(struct thread_cache *w, const struct perf_sample *sample, uint32_t comm,
		       uint32_t *out)
{
	const struct group_slot *slot = &w->group_slots[comm % GROUP_SLOTS];

	if (!w->groups) {
		*out = comm;
		return 0;
	}
	if (w->key.fields != GROUP_COMM || !slot->number || slot->group.comm != comm)
		return find_group(w, sample, comm, out);
	*out = slot->number - 1;
	return 0;
}
