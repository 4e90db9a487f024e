/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/container_layers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/contract/container_paths.h"

#define CONFIG_LINE_BYTES 4096
#define CONFIG_LINES_MAX  10000

struct store {
	const char *folder; /* its folders are the layers; or a file that names it */
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

/*
 * Configuration files with the folders of podman's and CRI-O's layers, besides or in place of the
 * usual folder.
 */
static const struct store configs[] = {
	{ "/etc/containers/storage.conf", NULL, 0 },
	{ "/usr/share/containers/storage.conf", NULL, 0 },
	{ "/.config/containers/storage.conf", NULL, 1 },
};

/* Called with a folder, and where in a layer of it its files are. */
typedef int (*folder_fn)(void *ctx, const char *folder, const char *inside);

static int each_configured(const char *config, folder_fn fn, void *ctx)
{
	FILE *f = fopen(config, "re");
	char line[CONFIG_LINE_BYTES], *root, *folder;
	int stop = 0;

	for (unsigned n = 0; f && !stop && n < CONFIG_LINES_MAX && fgets(line, sizeof(line), f);
	     n++) {
		root = container_paths_graphroot(line);
		if (!root || asprintf(&folder, "%s/overlay", root) < 0)
			continue;
		stop = fn(ctx, folder, "diff");
		free(folder);
	}
	if (f)
		fclose(f);
	return stop;
}

static int each_folder(folder_fn fn, void *ctx)
{
	const size_t store_count = sizeof(stores) / sizeof(stores[0]);
	const size_t config_count = sizeof(configs) / sizeof(configs[0]);
	const char *home = getenv("HOME");
	int stop = 0;

	for (size_t i = 0; !stop && i < store_count + config_count; i++) {
		const struct store *s = i < store_count ? &stores[i] : &configs[i - store_count];
		char *at;

		if ((s->below_home && (!home || *home != '/')) ||
		    asprintf(&at, "%s%s", s->below_home ? home : "", s->folder) < 0)
			continue;
		stop = s->inside ? fn(ctx, at, s->inside) : each_configured(at, fn, ctx);
		free(at);
	}
	return stop;
}

struct folder_walk {
	container_layers_fn fn;
	void *ctx;
	const char *path; /* in a layer */
};

static int pass_folder(void *ctx, const char *folder, const char *inside)
{
	const struct folder_walk *w = ctx;

	return w->fn(w->ctx, folder);
}

int container_layers_folders(container_layers_fn fn, void *ctx)
{
	struct folder_walk w = { .fn = fn, .ctx = ctx };

	return each_folder(pass_folder, &w);
}

static int each_layer(void *ctx, const char *folder, const char *inside)
{
	const struct folder_walk *w = ctx;
	unsigned left = CONTAINER_LAYERS_DEPTH_MAX;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int stop = 0;
	char *file;

	while (dir && !stop && left-- && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "l") ||
		    asprintf(&file, "%s/%s/%s%s", folder, entry->d_name, inside, w->path) < 0)
			continue;
		if (!access(file, F_OK))
			stop = w->fn(w->ctx, file);
		free(file);
	}
	if (dir)
		closedir(dir);
	return stop;
}

int container_layers_each(const char *path, container_layers_fn fn, void *ctx)
{
	struct folder_walk w = { .fn = fn, .ctx = ctx, .path = path };

	if (*path != '/' || strstr(path, "/../"))
		return 0;
	return each_folder(each_layer, &w);
}
