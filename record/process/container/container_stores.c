/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/container_stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/payload/container_record.h"
#include "record/privsep/path_below.h"

/* ---- where they are ---- */

static const char *const oci_folders[] = {
	"/run/containerd/io.containerd.runtime.v2.task/k8s.io",
	"/run/containerd/io.containerd.runtime.v2.task/default",
	"/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io",
};

/* The storage drivers in the paths of lists of containers. */
static const char *const drivers[] = { "overlay", "vfs", "btrfs" };

struct look {
	struct elf_reader *reader;
	int root_fd;
	const char *id, *home;
	store_file_fn fn;
	void *ctx;
};

/* For reading, what is a regular file below the root. */
static int open_regular(int root_fd, const char *path)
{
	int at = path_below(root_fd, path, true);
	struct stat st;

	return at < 0 ? at : path_below_read(at, &st);
}

/* Reports the names in a file to fn; the process that parses it may do nothing but read it. */
static void read_file(const struct look *l, enum store_file form, const char *path, const char *key,
		      store_file_fn fn, void *ctx)
{
	int fd = open_regular(l->root_fd, path);

	if (fd < 0)
		return;
	(void)elf_reader_store_file(l->reader, fd, form, key, fn, ctx);
	close(fd);
}

static void __attribute__((format(printf, 3, 4)))
look_below(const struct look *l, enum store_file form, const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	if (path)
		read_file(l, form, path, l->id, l->fn, l->ctx);
	free(path);
}

static void look_in_graphroot(const struct look *l, const char *base, const char *root)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		look_below(l, STORE_FILE_LIST, "%s%s/%s-containers/containers.json", base, root,
			   drivers[i]);
}

static void on_graphroot(void *ctx, const char *id, const char *text, size_t text_bytes)
{
	char root[STORE_PATH_MAX];

	snprintf(root, sizeof(root), "%.*s", (int)text_bytes, text);
	look_in_graphroot(ctx, "", root);
}

static void look_in_conf(struct look *l, const char *base, const char *path)
{
	char *conf;

	if (asprintf(&conf, "%s%s", base, path) < 0)
		return;
	read_file(l, STORE_FILE_CONF, conf, "", on_graphroot, l);
	free(conf);
}

static void on_data_root(void *ctx, const char *id, const char *text, size_t text_bytes)
{
	const struct look *l = ctx;

	look_below(l, STORE_FILE_DOCKER, "%.*s/containers/%.*s/config.v2.json", (int)text_bytes,
		   text, CONTAINER_RECORD_DIGITS, l->id);
}

static void look_in_lists(struct look *l)
{
	look_in_graphroot(l, "", "/var/lib/containers/storage");
	look_below(l, STORE_FILE_LIST, "%s/%s", "/run/containers/storage",
		   "overlay-containers/volatile-containers.json");
	look_in_conf(l, "", "/etc/containers/storage.conf");
	look_in_conf(l, "", "/usr/share/containers/storage.conf");
	if (l->home) {
		look_in_graphroot(l, l->home, "/.local/share/containers/storage");
		look_in_conf(l, l->home, "/.config/containers/storage.conf");
	}
}

static void on_home(void *ctx, const char *id, const char *text, size_t text_bytes)
{
	char **home = ctx;

	if (!*home)
		*home = strndup(text, text_bytes);
}

static char *home_of(const struct look *l, uint32_t uid)
{
	char key[16], *home = NULL;

	snprintf(key, sizeof(key), "%u", uid);
	read_file(l, STORE_FILE_PASSWD, "/etc/passwd", key, on_home, &home);
	return home;
}

void container_stores_look(struct elf_reader *reader, int root_fd, uint32_t home_of_uid,
			   const char *id, enum container_stores_which which, store_file_fn fn,
			   void *ctx)
{
	struct look l = { .reader = reader, .root_fd = root_fd, .id = id, .fn = fn, .ctx = ctx };
	char *home = home_of_uid == CONTAINERSTORES_NO_HOME ? NULL : home_of(&l, home_of_uid);

	l.home = home;
	if (which == CONTAINER_STORES_ALL)
		look_in_lists(&l);
	for (size_t i = 0; i < sizeof(oci_folders) / sizeof(oci_folders[0]); i++)
		look_below(&l, STORE_FILE_OCI, "%s/%.*s/config.json", oci_folders[i],
			   CONTAINER_RECORD_DIGITS, id);
	look_below(&l, STORE_FILE_DOCKER, "/var/lib/docker/containers/%.*s/config.v2.json",
		   CONTAINER_RECORD_DIGITS, id);
	read_file(&l, STORE_FILE_DAEMON, "/etc/docker/daemon.json", "", on_data_root, &l);
	if (home)
		look_below(&l, STORE_FILE_DOCKER,
			   "%s/.local/share/docker/containers/%.*s/config.v2.json", home,
			   CONTAINER_RECORD_DIGITS, id);
	free(home);
}
