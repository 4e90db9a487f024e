/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/cgroup_age.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/process/container/cgroup_paths.h"
#include "format/os/clock.h"
#include "format/os/slurp.h"

#define LOOK_NS    10000000000ULL
#define SECOND_NS  1000000000ULL
#define AFTER_S    2 /* an exiting task is in one for a moment after it was removed */
#define ROOT_INODE 1

void cgroup_age_done(struct cgroup_age *a)
{
	free(a->mount);
	u64map_done(&a->gone);
	*a = (struct cgroup_age){ 0 };
}

/*
 * Paths start at the root of all cgroups, which is not ours in a cgroup namespace, and are those of
 * cgroup v1's tree of perf events, where there is one.
 */
static void find_mount(struct cgroup_age *a)
{
	struct outbuf mounts = { 0 }, own = { 0 };
	char path[PATH_MAX];
	struct stat st;
	bool found = !slurp("/proc/self/cgroup", &own) &&
		     !strstr((const char *)own.data, "perf_event") &&
		     !slurp("/proc/self/mountinfo", &mounts) &&
		     cgroup_paths_mount((const char *)mounts.data, path, sizeof(path)) &&
		     !stat(path, &st) && st.st_ino == ROOT_INODE;

	outbuf_done(&own);
	outbuf_done(&mounts);
	a->mount = strdup(found ? path : "");
}

bool cgroup_age_begin(struct cgroup_age *a, size_t count, uint64_t from_ns, uint64_t now_ns)
{
	if (count < CGROUP_AGE_MANY || !clock_is_due(&a->looked_ns, now_ns, LOOK_NS))
		return false;
	if (!a->mount)
		find_mount(a);
	a->from_ns = from_ns;
	a->now_ns = now_ns;
	return a->mount && *a->mount;
}

bool cgroup_age_may_go(void *arg, uint64_t id, const char *path)
{
	struct cgroup_age *a = arg;
	const uint32_t *since = u64map_get(&a->gone, id, 0);
	char full[PATH_MAX];
	struct stat st;

	if (snprintf(full, sizeof(full), "%s%s", a->mount, path) >= (int)sizeof(full))
		return false;
	if (!stat(full, &st) && st.st_ino == id) {
		if (since)
			u64map_remove(&a->gone, id, 0);
		return false;
	}
	if (!since) /* without memory it is found gone again */
		(void)u64map_put(&a->gone, id, 0, (uint32_t)(a->now_ns / SECOND_NS));
	if (!since || a->from_ns / SECOND_NS < (uint64_t)*since + AFTER_S)
		return false;
	u64map_remove(&a->gone, id, 0);
	return true;
}
