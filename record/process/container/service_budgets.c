/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/service_budgets.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bpf/events.h"
#include "format/contract/service_unit.h"
#include "format/payload/container_record.h"
#include "record/process/container/cgroup_paths.h"

/* FNV-1a: two services in one budget are no harm. */
static uint64_t number_of(const char *text, size_t size_bytes)
{
	uint64_t hash = 14695981039346656037ULL;

	for (size_t i = 0; i < size_bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ULL;
	return hash ? hash : 1;
}

/* 0: the cgroup is of no service. */
static uint64_t service_number(const char *path)
{
	const char *container = container_record_in(path);
	char unit[SERVICE_UNIT_MAX];

	service_unit(path, container, unit);
	if (*unit)
		return number_of(unit, strlen(unit));
	return container ? number_of(container, CONTAINER_RECORD_DIGITS) : 0;
}

void service_budgets_cgroup(const struct service_budgets *b, uint64_t id, const char *path)
{
	uint64_t number = b->map_fd < 0 ? 0 : service_number(path);

	if (number)
		(void)bpf_map_update_elem(b->map_fd, &id, &number, BPF_ANY);
}

static int add_cgroup(void *arg, uint64_t id, const char *path, int fd)
{
	(void)fd;
	service_budgets_cgroup(arg, id, path);
	return 0;
}

int service_budgets_begin(struct service_budgets *b)
{
	/* A program that samples may not make entries, and looks at those that were made before. */
	b->map_fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "ebprec_services", 8, 8,
				   SERVICE_CGROUPS_MAX, NULL);
	return b->map_fd < 0 ? -errno : cgroup_paths_each(add_cgroup, b);
}

void service_budgets_done(struct service_budgets *b)
{
	if (b->map_fd >= 0)
		close(b->map_fd);
	b->map_fd = -1;
}
