/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/vdso.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/process/proc/proc_maps.h"
#include "format/os/slurp.h"

/* The size of our own mapping at start; 0: not there. */
static size_t mapping_bytes(uint64_t start)
{
	struct outbuf text = { 0 };
	struct proc_map *map = malloc(sizeof(*map));
	const char *line;
	size_t bytes = 0;
	int more;

	if (map && !slurp("/proc/self/maps", &text)) {
		line = (const char *)text.data;
		while (!bytes && (more = proc_maps_next(&line, map)) != 0) {
			if (more > 0 && map->start == start)
				bytes = map->end - map->start;
		}
	}
	free(map);
	outbuf_done(&text);
	return bytes;
}

void vdso_find(struct vdso *out)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	int fd;

	*out = (struct vdso){ 0 };
	out->size_bytes = start ? mapping_bytes(start) : 0;
	if (!out->size_bytes)
		return;
	out->image = (const uint8_t *)(uintptr_t)start;
	fd = memfd_create("vdso", MFD_CLOEXEC); /* the note's reader wants a file */
	if (fd < 0)
		return;
	if (write(fd, out->image, out->size_bytes) == (ssize_t)out->size_bytes)
		(void)buildid_from_fd(fd, &out->build_id); /* without an id it is still an image */
	close(fd);
}

bool vdso_is(const struct vdso *v, const char *path, uint64_t size_bytes)
{
	return v->image && size_bytes == v->size_bytes && !strcmp(path, "[vdso]");
}
