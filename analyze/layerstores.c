/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/layerstores.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct store {
	const char *folder; /* whose folders are the layers */
	const char *inside; /* where in a layer its files are */
	int below_home;
};

static const struct store stores[] = {
	{ "/var/lib/containers/storage/overlay", "diff", 0 },
	{ "/.local/share/containers/storage/overlay", "diff", 1 },
	{ "/var/lib/docker/overlay2", "diff", 0 },
	{ "/.local/share/docker/overlay2", "diff", 1 },
	{ "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots", "fs", 0 },
};

static int each_layer(const struct store *s, const char *home, const char *path, layerstores_fn fn,
		      void *ctx)
{
	struct dirent *entry;
	unsigned left = LAYERSTORES_LAYERS_MAX;
	char *folder, *file;
	DIR *dir = NULL;
	int stop = 0;

	if (asprintf(&folder, "%s%s", s->below_home ? home : "", s->folder) < 0)
		return 0;
	dir = opendir(folder);
	while (dir && !stop && left-- && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "l") ||
		    asprintf(&file, "%s/%s/%s%s", folder, entry->d_name, s->inside, path) < 0)
			continue;
		if (!access(file, F_OK))
			stop = fn(ctx, file);
		free(file);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return stop;
}

int layerstores_each(const char *path, layerstores_fn fn, void *ctx)
{
	const char *home = getenv("HOME");
	int stop = 0;

	if (*path != '/' || strstr(path, "/../"))
		return 0;
	for (size_t i = 0; !stop && i < sizeof(stores) / sizeof(stores[0]); i++)
		if (!stores[i].below_home || (home && *home == '/'))
			stop = each_layer(&stores[i], home, path, fn, ctx);
	return stop;
}
