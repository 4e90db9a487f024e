/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/heapprobes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/mapfile.h"
#include "record/probefile.h"
#include "record/procmaps.h"
#include "record/slurp.h"

/* A function, and the program at its entry; leaves: another one at its return. */
static const struct heap_function {
	const char *name, *program;
	bool leaves, needed; /* needed: a file without it is no allocator */
} functions[] = {
	{ "malloc", "heap_malloc", true, true },
	{ "calloc", "heap_calloc", true, false },
	{ "realloc", "heap_realloc", true, false },
	{ "posix_memalign", "heap_posix", true, false },
	{ "aligned_alloc", "heap_aligned", true, false },
	{ "memalign", "heap_aligned", true, false },
	{ "free", "heap_free", false, true },
};

static int attach_at(struct metricobj *o, const char *program, bool is_return, int pid, int fd,
		     uint64_t off_bytes)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = is_return);
	struct bpf_program *prog = bpf_object__find_program_by_name(o->obj, program);
	struct bpf_link *link;
	char path[32];

	if (!prog)
		return -ENOENT;
	if (o->link_count == METRICOBJ_LINKS_MAX)
		return -EOVERFLOW;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link = bpf_program__attach_uprobe_opts(prog, pid, path, off_bytes, &opts);
	if (!link)
		return -errno;
	o->links[o->link_count++] = link;
	return 0;
}

/* pid -1: of all processes.  fd is borrowed. */
static int attach_file(struct metricobj *o, const struct instrument_ctx *c, int pid, int fd,
		       const char *said)
{
	uint64_t off_bytes = 0;
	int err;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const struct heap_function *f = &functions[i];

		err = probefile_function(fd, c->reader, f->name, &off_bytes);
		if (err == -ENOENT && !f->needed)
			continue;
		if (!err)
			err = attach_at(o, f->program, false, pid, fd, off_bytes);
		if (!err && f->leaves)
			err = attach_at(o, "heap_return", true, pid, fd, off_bytes);
		if (err)
			return note_fail(c->notes, err,
					 err == -ENOENT ? "name the allocator's file: --heap-lib"
							: probefile_hint(err),
					 "cannot listen to '%s' in '%.200s'", f->name, said);
	}
	return 0;
}

static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (!strncmp(slash, "/libc.so", 8) || !strncmp(slash, "/libc-2.", 8) ||
			 !strncmp(slash, "/ld-musl-", 9));
}

static int attach_named(struct metricobj *o, const struct instrument_ctx *c, const char *name)
{
	int err, fd = probefile_open(name);

	if (fd < 0)
		return note_fail(c->notes, fd, fd == -EINVAL ? probefile_hint(fd) : NULL,
				 "cannot open '%.200s'", name);
	err = attach_file(o, c, -1, fd, name);
	close(fd);
	return err;
}

/* The C library of a process; "": it has none. */
static int find_library(uint32_t pid, struct procmap *map)
{
	struct outbuf text = { 0 };
	const char *line;
	char path[32];
	int err, more;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	err = slurp(path, &text);
	line = (const char *)text.data;
	while (!err && (more = procmaps_next(&line, map)) != 0) {
		if (more > 0 && map->prot & PROT_EXEC && is_c_library(map->path))
			goto out;
	}
	map->path[0] = '\0';
out:
	outbuf_done(&text);
	return err;
}

static int attach_process(struct metricobj *o, const struct instrument_ctx *c, uint32_t pid,
			  struct procmap *map)
{
	struct siderec_map file = { .pid = pid, .path = map->path };
	int fd, err = find_library(pid, map);

	if (err)
		return note_fail(c->notes, err, NULL, "cannot read the mappings of process %u",
				 pid);
	if (!map->path[0])
		return note_fail(c->notes, -ENOENT, "name the allocator's file: --heap-lib",
				 "process %u has no C library mapped", pid);
	file.start = map->start;
	file.size_bytes = map->end - map->start;
	file.dev_major = map->dev_major;
	file.dev_minor = map->dev_minor;
	file.inode = map->inode;
	fd = mapfile_open(&file);
	if (fd < 0)
		return note_fail(c->notes, fd, "name the allocator's file: --heap-lib",
				 "cannot open '%.200s' of process %u", map->path, pid);
	err = attach_file(o, c, (int)pid, fd, map->path);
	close(fd);
	return err;
}

int heapprobes_attach(struct metricobj *o, const struct instrument_ctx *c)
{
	const struct keymap_slot *process;
	struct procmap *map;
	size_t at = 0;
	int err = 0;

	if (!bpf_object__find_program_by_name(o->obj, "heap_malloc"))
		return 0;
	for (unsigned i = 0; i < c->opts->heap_libs.count && !err; i++)
		err = attach_named(o, c, c->opts->heap_libs.values[i]);
	if (c->opts->heap_libs.count)
		return err;
	map = malloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	while (!err && (process = keymap_next(&c->targets->pids, &at)) != NULL)
		err = attach_process(o, c, (uint32_t)process->a, map);
	free(map);
	return err;
}
