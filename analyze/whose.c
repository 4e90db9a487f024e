/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/whose.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/hashidx.h"

#define GROUP_SLOTS  1024u
#define THREAD_SLOTS 256u

struct group_slot {
	struct group group;
	uint32_t number; /* + 1; 0: free */
};

/* What the model said of a thread, and when that holds. */
struct thread_slot {
	uint32_t pid, tid;
	uint64_t from_ns, to_ns; /* from > to: free */
	struct model_where where;
};

struct whose {
	const struct model *model;
	struct groups *groups;
	struct group_slot *last_group;         /* mostly that of the next sample */
	uint64_t kernel_from_ns, kernel_to_ns; /* when the space of the kernel is this one */
	uint32_t kernel_space;
	struct group_slot group_slots[GROUP_SLOTS];
	struct thread_slot thread_slots[THREAD_SLOTS];
};

int whose_new(const struct model *model, struct groups *groups, struct whose **out)
{
	struct whose *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->model = model;
	w->groups = groups;
	w->last_group = w->group_slots;
	w->kernel_from_ns = 1; /* > to: not asked yet */
	for (size_t i = 0; i < THREAD_SLOTS; i++)
		w->thread_slots[i].from_ns = 1;
	*out = w;
	return 0;
}

void whose_free(struct whose *w)
{
	free(w);
}

void whose_where(struct whose *w, const struct perf_sample *sample, struct model_where *out)
{
	struct thread_slot *slot = &w->thread_slots[sample->tid % THREAD_SLOTS];

	if (slot->tid != sample->tid || slot->pid != sample->pid ||
	    sample->time_ns < slot->from_ns || sample->time_ns > slot->to_ns) {
		slot->pid = sample->pid;
		slot->tid = sample->tid;
		model_thread_while(w->model, sample->pid, sample->tid, sample->time_ns,
				   &slot->where, &slot->from_ns, &slot->to_ns);
	}
	*out = slot->where;
}

uint32_t whose_kernel_space(struct whose *w, uint64_t time_ns)
{
	if (time_ns < w->kernel_from_ns || time_ns > w->kernel_to_ns)
		w->kernel_space = model_kernel_while(w->model, time_ns, &w->kernel_from_ns,
						     &w->kernel_to_ns);
	return w->kernel_space;
}

static uint64_t group_hash(const struct group *g)
{
	return hash_pair((uint64_t)g->comm << 32 | g->pid,
			 g->time_ns ^ g->cgroup ^ ((uint64_t)g->tid << 32 | (uint32_t)g->cpu));
}

static bool is_of(const struct group_slot *slot, const struct group *group)
{
	return slot->number && !memcmp(&slot->group, group, sizeof(*group));
}

int whose_group(struct whose *w, const struct perf_sample *sample, uint32_t comm, uint32_t *out)
{
	struct group group = {
		.cgroup = sample->cgroup,
		.time_ns = sample->time_ns,
		.comm = comm,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
	};
	struct group_slot *slot = w->last_group;
	uint32_t number;
	int err;

	if (!w->groups) {
		*out = comm;
		return 0;
	}
	groups_trim(w->groups, &group);
	if (!is_of(slot, &group))
		slot = &w->group_slots[group_hash(&group) % GROUP_SLOTS];
	if (!is_of(slot, &group)) {
		err = groups_add(w->groups, &group, &number);
		if (err)
			return err;
		*slot = (struct group_slot){ group, number + 1 };
	}
	w->last_group = slot;
	*out = slot->number - 1;
	return 0;
}
