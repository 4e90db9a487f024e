/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/target_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "format/base/cursor.h"

int targets_init(struct targets *t, bool all, bool bpf)
{
	*t = (struct targets){ .all = all, .map_fd = -1 };
	if (!bpf)
		return 0;
	/* The programs have the map even when they never look into it. */
	t->map_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "ebprec_targets", 4, 4, all ? 1 : TARGETS_MAX,
				   NULL);
	return t->map_fd < 0 ? -errno : 0;
}

void targets_done(struct targets *t)
{
	if (t->map_fd >= 0)
		close(t->map_fd);
	t->map_fd = -1;
	u64map_done(&t->pids);
}

int targets_add(struct targets *t, uint32_t pid)
{
	uint32_t alive = 1;

	if (t->map_fd >= 0 && bpf_map_update_elem(t->map_fd, &pid, &alive, BPF_ANY))
		return -errno;
	return u64map_put(&t->pids, pid, 0, 0);
}

int targets_share(const struct targets *t, struct bpf_map *map)
{
	return bpf_map__reuse_fd(map, t->map_fd);
}

bool targets_has(const struct targets *t, uint32_t pid)
{
	return t->all || u64map_get(&t->pids, pid, 0);
}

bool targets_has_now(const struct targets *t, uint32_t pid)
{
	uint32_t state;

	return t->all || !bpf_map_lookup_elem(t->map_fd, &pid, &state);
}

bool targets_want(struct targets *t, const struct perf_event_header *record)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	uint32_t pid, ppid;

	if (t->all)
		return true;
	switch (record->type) {
	case PERF_RECORD_FORK:
		pid = le32_load(body);
		ppid = le32_load(body + 4);
		if (pid != ppid && targets_has(t, ppid))
			(void)u64map_put(&t->pids, pid, 0, 0);
		else if (pid != ppid)
			u64map_remove(&t->pids, pid, 0); /* an id that is used again */
		return targets_has(t, pid);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
		return targets_has(t, le32_load(body));
	default:
		return true; /* of the machine, not of a process */
	}
}
