/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/pid_cgroups.h"

#include "analyze/input/event/event_iter.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"

struct reading {
	const struct capture_attr *attr;
	struct pid_cgroups *to;
};

static int put(struct pid_cgroups *p, uint32_t pid, uint64_t cgroup)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&p->index);

	if (err)
		return err;
	hash = hash_index_pair(&p->index, pid, 0);
	pos = hash_index_start(&p->index, hash);
	while ((id = hash_index_match(&p->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (p->list[id].pid == pid) {
			p->list[id].cgroup = cgroup;
			return 0;
		}
	}
	if (p->count == UINT32_MAX - 1 || vec_reserve(&p->list, &p->capacity, p->count + 1))
		return -ENOMEM;
	hash_index_put(&p->index, hash, pos, (uint32_t)p->count);
	p->list[p->count++] = (struct pid_cgroup){ .cgroup = cgroup, .pid = pid };
	return 0;
}

static int take_sample(void *ctx, const struct perf_event_header *header)
{
	const struct reading *r = ctx;
	struct perf_sample s;

	if (perfrec_sample(header, header->size, &r->attr->attr, &s, NULL) || !s.cgroup)
		return 0;
	return put(r->to, s.pid, s.cgroup);
}

/* The event that samples CPUs; NULL: none has cgroups. */
static const struct capture_attr *find_event(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (attrs[i].attr.sample_type & PERF_SAMPLE_CGROUP &&
		    attrs[i].attr.type != PERF_TYPE_TRACEPOINT)
			return &attrs[i];
	return NULL;
}

int pid_cgroups_read(const struct capture *c, struct pid_cgroups *out)
{
	struct pid_cgroups fresh = { 0 };
	struct reading r = { .attr = find_event(c), .to = &fresh };
	int err = r.attr ? event_iter_samples(c, 1u << EBX_STREAM_CPU, r.attr, take_sample, &r,
					      NULL)
			 : 0;

	if (err)
		pid_cgroups_done(&fresh);
	else
		*out = fresh;
	return err;
}

uint64_t pid_cgroups_of(const struct pid_cgroups *p, uint32_t pid)
{
	uint32_t pos, id;
	uint64_t hash;

	if (!p->count)
		return 0;
	hash = hash_index_pair(&p->index, pid, 0);
	pos = hash_index_start(&p->index, hash);
	while ((id = hash_index_match(&p->index, hash, &pos)) != HASH_INDEX_NONE)
		if (p->list[id].pid == pid)
			return p->list[id].cgroup;
	return 0;
}

void pid_cgroups_done(struct pid_cgroups *p)
{
	free(p->list);
	hash_index_done(&p->index);
	*p = (struct pid_cgroups){ 0 };
}
