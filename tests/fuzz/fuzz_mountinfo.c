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
	struct mountinfo *m;
	unsigned n = 0;
	char *inside;
	size_t i;

	if (mountinfo_parse((const char *)data, size_bytes, &m))
		return 0;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		mount = mountinfo_find(m, paths[i], &inside);
		if (!mount)
			continue;
		mountinfo_seen(m, mount, inside, count, &n);
		mountinfo_layers(mount, inside, count, &n);
		mountinfo_any_layers(m, inside, count, &n);
		free(inside);
	}
	mountinfo_free(m);
	return 0;
}
