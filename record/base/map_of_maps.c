/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/map_of_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

int map_of_maps_put(int map_fd, uint32_t first, const int *fds, uint32_t count)
{
	uint32_t *keys = calloc(count, sizeof(*keys)), i, done = count;
	int err = 0;

	if (!keys)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		keys[i] = first + i;
	if (bpf_map_update_batch(map_fd, keys, fds, &done, NULL)) {
		for (i = 0; !err && i < count; i++)
			err = bpf_map_update_elem(map_fd, &keys[i], &fds[i], BPF_ANY) ? -errno : 0;
	}
	free(keys);
	return err;
}
