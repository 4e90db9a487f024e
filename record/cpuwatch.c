/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/cpuwatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int read_inodes(const char *dir, const struct cpulist *cpus, uint64_t **out)
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

/* Both lists are in order. */
static int compare(const struct cpuwatch *last, const struct cpuwatch *now, struct cpulist *came)
{
	uint32_t *ids = calloc(now->online.count + 1, sizeof(*ids));
	size_t at = 0, count = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < now->online.count; i++) {
		uint32_t id = now->online.ids[i];

		while (at < last->online.count && last->online.ids[at] < id)
			at++;
		if (at == last->online.count || last->online.ids[at] != id ||
		    last->inodes[at] != now->inodes[i])
			ids[count++] = id;
	}
	*came = (struct cpulist){ .ids = ids, .count = count };
	return 0;
}

int cpuwatch_look(struct cpuwatch *w, const char *dir, struct cpulist *came)
{
	struct cpuwatch now = { .inodes = NULL };
	int err = cpulist_read(dir, "online", &now.online);

	if (!err)
		err = read_inodes(dir, &now.online, &now.inodes);
	if (!err)
		err = compare(w->inodes ? w : &now, &now, came);
	if (err) {
		cpuwatch_done(&now);
		return err;
	}
	cpuwatch_done(w);
	*w = now;
	return 0;
}

void cpuwatch_done(struct cpuwatch *w)
{
	cpulist_done(&w->online);
	free(w->inodes);
	*w = (struct cpuwatch){ .inodes = NULL };
}
