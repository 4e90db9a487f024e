/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/target_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/events.h"
#include "format/base/cursor.h"

#define TICK_SHIFT 24 /* of ns */

static int make_map(const char *name, uint32_t key_bytes, uint32_t count, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);

	return bpf_map_create(BPF_MAP_TYPE_HASH, name, key_bytes, 4, count, &opts);
}

int targets_init(struct targets *t, bool all, bool selects, bool bpf)
{
	*t = TARGETS_NONE;
	t->all = all;
	t->selects = selects;
	if (!bpf)
		return selects ? -ENOTSUP : 0;
	/* The programs have the map even when they never look into it. */
	t->map_fd = make_map("ebprec_targets", 4, all ? 1 : TARGETS_MAX, 0);
	if (t->map_fd < 0)
		return -errno;
	if (!selects)
		return 0;
	t->cgroups_fd = make_map("ebprec_cgroups", 8, TARGET_CGROUPS_MAX, BPF_F_NO_PREALLOC);
	t->comms_fd = make_map("ebprec_comms", 16, TARGET_COMMS_MAX, 0);
	return t->cgroups_fd < 0 || t->comms_fd < 0 ? -errno : 0;
}

void targets_done(struct targets *t)
{
	const int fds[] = { t->map_fd, t->cgroups_fd, t->comms_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	u64map_done(&t->pids);
	*t = TARGETS_NONE;
}

int targets_add(struct targets *t, uint32_t pid)
{
	uint32_t alive = 1;

	if (t->map_fd >= 0 && bpf_map_update_elem(t->map_fd, &pid, &alive, BPF_ANY))
		return -errno;
	return u64map_put(&t->pids, pid, 0, 0);
}

int targets_note_selected(struct targets *t, uint32_t pid, uint64_t time_ns)
{
	return u64map_put(&t->pids, pid, 0, (uint32_t)(time_ns >> TICK_SHIFT));
}

int targets_add_running(struct targets *t, uint32_t pid, uint64_t time_ns)
{
	uint32_t alive = 1;
	char path[32];

	if (bpf_map_update_elem(t->map_fd, &pid, &alive, BPF_ANY))
		return -errno;
	/* Had it ended before, nothing would take its id out of the map. */
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (access(path, F_OK))
		(void)bpf_map_delete_elem(t->map_fd, &pid);
	return targets_note_selected(t, pid, time_ns);
}

int targets_add_cgroup(const struct targets *t, uint64_t id)
{
	uint32_t one = 1;

	return bpf_map_update_elem(t->cgroups_fd, &id, &one, BPF_ANY) ? -errno : 0;
}

int targets_add_comm(const struct targets *t, const char *comm)
{
	char name[16] = "";
	uint32_t one = 1;

	memcpy(name, comm, strnlen(comm, sizeof(name) - 1)); /* the kernel cuts names, too */
	return bpf_map_update_elem(t->comms_fd, name, &one, BPF_ANY) ? -errno : 0;
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

/* A new process has an id that an earlier one had which was selected; one that is selected may be read earlier. */
static void forget_earlier(struct targets *t, uint32_t pid, uint64_t time_ns)
{
	const uint32_t *since = u64map_get(&t->pids, pid, 0);

	if (since && (int32_t)(*since - (uint32_t)(time_ns >> TICK_SHIFT)) < 0)
		u64map_remove(&t->pids, pid, 0);
}

bool targets_want(struct targets *t, const struct perf_event_header *record, uint64_t time_ns)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	uint32_t pid, ppid;

	if (t->all)
		return true;
	switch (record->type) {
	case PERF_RECORD_FORK:
		pid = le32_load(body);
		ppid = le32_load(body + 4);
		if (pid != ppid && t->selects)
			forget_earlier(t, pid, time_ns);
		else if (pid != ppid && targets_has(t, ppid))
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
