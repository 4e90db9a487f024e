/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_mountinfo - any bytes as the mounts of a process and of its host */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/mount_paths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int count(void *ctx, const char *path)
{
	unsigned *n = ctx;

	if (!*path)
		abort();
	return ++*n > 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const char *const paths[] = { "/", "/usr/bin/app", "/a b/c", "/m/x" };
	const struct mount *mount;
	struct mount_paths *m;
	unsigned n = 0;
	char *inside;
	size_t i;

	if (mount_paths_parse((const char *)data, size_bytes, &m))
		return 0;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		mount = mount_paths_find(m, paths[i], &inside);
		if (!mount)
			continue;
		mount_paths_seen(m, mount, inside, count, &n);
		mount_paths_layers(mount, inside, count, &n);
		mount_paths_any_layers(m, inside, count, &n);
		free(inside);
	}
	mount_paths_free(m);
	return 0;
}
