/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/map_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/outbuf.h"
#include "record/process/proc/proc_maps.h"
#include "format/os/slurp.h"

#define STEP_BYTES (64u << 10)
#define OFFSET_MAX (1ULL << 40) /* of a file: no program is as large */

struct copy {
	int mem, to;
	uint64_t left_bytes; /* that may still be copied */
	uint8_t *step;
};

/* Memory that cannot be read stays a hole: pages behind the file's end, above all. */
static void copy_mapping(struct copy *c, const struct proc_map *map, uint64_t most_bytes)
{
	uint64_t size_bytes = map->end - map->start, done = 0;
	ssize_t n = 1;

	if (size_bytes > most_bytes)
		size_bytes = most_bytes;
	if (size_bytes > c->left_bytes)
		size_bytes = c->left_bytes;
	if (map->file_off_bytes > OFFSET_MAX)
		return;
	while (n > 0 && done < size_bytes) {
		uint64_t want = size_bytes - done < STEP_BYTES ? size_bytes - done : STEP_BYTES;

		n = pread(c->mem, c->step, want, (off_t)(map->start + done));
		if (n > 0)
			n = pwrite(c->to, c->step, (size_t)n, (off_t)(map->file_off_bytes + done));
		if (n > 0)
			done += (uint64_t)n;
	}
	c->left_bytes -= done;
}

/* Writable mappings have what the process made of them. */
static bool is_of(const struct proc_map *map, const struct mapping *m)
{
	return file_id_same_inode(&map->id, &m->id) && !(map->prot & PROT_WRITE);
}

static int copy_all(struct copy *c, const struct mapping *m, const char *maps, uint64_t most_bytes)
{
	struct proc_map *map = malloc(sizeof(*map));
	char magic[SELFMAG];
	int more;

	if (!map)
		return -ENOMEM;
	while ((more = proc_maps_next(&maps, map)) != 0)
		if (more > 0 && is_of(map, m))
			copy_mapping(c, map, most_bytes);
	free(map);
	if (c->left_bytes == MAP_COPY_ALL)
		return -ESTALE;
	if (pread(c->to, magic, SELFMAG, 0) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	return fchmod(c->to, 0666) ? -errno : 0;
}

int map_copy_open(const struct mapping *m, uint64_t most_bytes)
{
	struct copy c = { .mem = -1, .to = -1, .left_bytes = MAP_COPY_ALL };
	struct outbuf maps = { 0 };
	int err = -ESTALE;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/mem", m->pid);
	c.mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%u/maps", m->pid);
	if (c.mem < 0 || slurp(path, &maps) || !maps.size_bytes)
		goto out;
	err = -ENOMEM;
	c.step = malloc(STEP_BYTES);
	c.to = c.step ? memfd_create("mapped", MFD_CLOEXEC) : -1;
	if (c.to >= 0)
		err = copy_all(&c, m, (const char *)maps.data, most_bytes);
	if (!err) {
		err = c.to;
		c.to = -1; /* the caller's */
	}
out:
	if (c.to >= 0)
		close(c.to);
	if (c.mem >= 0)
		close(c.mem);
	free(c.step);
	outbuf_done(&maps);
	return err;
}
