/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/cpu_hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int read_inodes(const char *dir, const struct cpuset_list *cpus, uint64_t **out)
{
	uint64_t *inodes = calloc(cpus->count + 1, sizeof(*inodes));
	char *path = NULL;
	struct stat st;

	if (!inodes)
		return -ENOMEM;
	for (size_t i = 0; i < cpus->count; i++) {
		if (asprintf(&path, "%s/cpu%u/topology", dir, cpus->ids[i]) < 0) {
			free(inodes);
			return -ENOMEM;
		}
		inodes[i] = stat(path, &st) ? 0 : st.st_ino;
		free(path);
	}
	*out = inodes;
	return 0;
}

/* Finds the CPUs of `now` that are not in `before`, or came back.  Both are sorted. */
static int compare(const struct cpu_hotplug *before, const struct cpu_hotplug *now,
		   struct cpuset_list *out)
{
	uint32_t *ids = calloc(now->online.count + 1, sizeof(*ids));
	size_t at = 0, count = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < now->online.count; i++) {
		uint32_t id = now->online.ids[i];

		while (at < before->online.count && before->online.ids[at] < id)
			at++;
		if (at == before->online.count || before->online.ids[at] != id ||
		    before->inodes[at] != now->inodes[i])
			ids[count++] = id;
	}
	*out = (struct cpuset_list){ .ids = ids, .count = count };
	return 0;
}

int cpu_hotplug_look(struct cpu_hotplug *w, const char *dir, struct cpu_hotplug_news *out)
{
	struct cpu_hotplug_news news = { .came = { 0 } };
	struct cpu_hotplug now = { .inodes = NULL };
	int err = cpuset_list_read(dir, "online", &now.online);

	if (!err)
		err = read_inodes(dir, &now.online, &now.inodes);
	if (!err)
		err = compare(w->inodes ? w : &now, &now, &news.came);
	if (!err)
		err = compare(&now, w->inodes ? w : &now, &news.went);
	if (err) {
		cpu_hotplug_news_done(&news);
		cpu_hotplug_done(&now);
		return err;
	}
	cpu_hotplug_done(w);
	*w = now;
	*out = news;
	return 0;
}

bool cpu_hotplug_is_stale(const struct cpu_hotplug *w, const char *dir)
{
	struct cpuset_list now = { 0 };
	bool stale;

	if (cpuset_list_read(dir, "online", &now))
		return false;
	stale = now.count != w->online.count ||
		memcmp(now.ids, w->online.ids, now.count * sizeof(*now.ids)) != 0;
	cpuset_list_done(&now);
	return stale;
}

bool cpu_hotplug_has(const struct cpu_hotplug *w, uint32_t cpu)
{
	for (size_t i = 0; i < w->online.count; i++) {
		if (w->online.ids[i] == cpu)
			return true;
	}
	return false;
}

void cpu_hotplug_news_done(struct cpu_hotplug_news *n)
{
	cpuset_list_done(&n->came);
	cpuset_list_done(&n->went);
}

void cpu_hotplug_done(struct cpu_hotplug *w)
{
	cpuset_list_done(&w->online);
	free(w->inodes);
	*w = (struct cpu_hotplug){ .inodes = NULL };
}
