/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/malloc_probes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/events.h"
#include "record/process/file/map_file.h"
#include "record/instrument/probe_file.h"
#include "record/process/proc/proc_maps.h"
#include "format/os/slurp.h"

static const struct heap_function {
	const char *name;
	enum heap_entry entry;
	bool leaves,
		needed; /* leaves: its return is probed, too; needed: a file without it is no allocator */
} functions[] = {
	{ "malloc", HEAP_MALLOC, true, true },
	{ "calloc", HEAP_CALLOC, true, false },
	{ "realloc", HEAP_REALLOC, true, false },
	{ "posix_memalign", HEAP_POSIX, true, false },
	{ "aligned_alloc", HEAP_ALIGNED, true, false },
	{ "memalign", HEAP_ALIGNED, true, false },
	{ "free", HEAP_FREE, false, true },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

struct heap_places {
	struct uprobe_multi_place in[FUNCTIONS], out[FUNCTIONS];
	size_t in_count, out_count;
};

/* aligned_alloc() and memalign() are one in glibc. */
static void add_place(struct uprobe_multi_place *places, size_t *count,
		      const struct uprobe_multi_place *place)
{
	for (size_t i = 0; i < *count; i++) {
		if (places[i].off_bytes == place->off_bytes && places[i].cookie == place->cookie)
			return;
	}
	places[(*count)++] = *place;
}

static int find_places(const struct instrument_ctx *c, int fd, const char *file_name,
		       struct heap_places *out)
{
	struct uprobe_multi_place place = { 0 };
	int err;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		const struct heap_function *f = &functions[i];

		err = probe_file_function(fd, c->reader, f->name, &place.off_bytes);
		if (err == -ENOENT && !f->needed)
			continue;
		if (err)
			return note_fail(c->notes, err,
					 err == -ENOENT
						 ? "name the allocator's file: --with heap:lib=FILE"
						 : probe_file_hint(err),
					 "cannot listen to '%s' in '%.200s'", f->name, file_name);
		place.cookie = f->entry;
		add_place(out->in, &out->in_count, &place);
		place.cookie = 0;
		if (f->leaves)
			add_place(out->out, &out->out_count, &place);
	}
	return 0;
}

/* pid -1: of all processes.  fd is borrowed. */
static int attach_file(struct metric_object *o, const struct instrument_ctx *c, int pid, int fd,
		       const char *file_name)
{
	const struct bpf_program *in = bpf_object__find_program_by_name(o->obj, "heap_enter");
	const struct bpf_program *out = bpf_object__find_program_by_name(o->obj, "heap_return");
	struct uprobe_multi_file file = { .fd = fd, .pid = pid };
	struct heap_places places = { 0 };
	int err = find_places(c, fd, file_name, &places);

	if (err)
		return err;
	err = in && out ? uprobe_multi_attach(&o->uprobes, in, &file, places.in, places.in_count)
			: -ENOENT;
	file.is_return = true;
	if (!err)
		err = uprobe_multi_attach(&o->uprobes, out, &file, places.out, places.out_count);
	return err ? note_fail(c->notes, err, NULL, "cannot listen to malloc() in '%.200s'",
			       file_name)
		   : 0;
}

static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (!strncmp(slash, "/libc.so", 8) || !strncmp(slash, "/libc-2.", 8) ||
			 !strncmp(slash, "/ld-musl-", 9));
}

static int attach_named(struct metric_object *o, const struct instrument_ctx *c,
			const struct record_file *file)
{
	char name[PATH_MAX];
	int err, fd;

	snprintf(name, sizeof(name), "%.*s", (int)file->bytes, file->name);
	fd = file->bytes < sizeof(name) ? probe_file_open(name) : -ENAMETOOLONG;
	if (fd < 0)
		return note_fail(c->notes, fd, fd == -EINVAL ? probe_file_hint(fd) : NULL,
				 "cannot open '%.200s'", name);
	err = attach_file(o, c, -1, fd, name);
	close(fd);
	return err;
}

/* The C library of a process; "": it has none. */
static int find_library(uint32_t pid, struct proc_map *map)
{
	struct outbuf text = { 0 };
	const char *line;
	char path[32];
	int err, more;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	err = slurp(path, &text);
	line = (const char *)text.data;
	while (!err && (more = proc_maps_next(&line, map)) != 0) {
		if (more > 0 && map->prot & PROT_EXEC && is_c_library(map->path))
			goto out;
	}
	map->path[0] = '\0';
out:
	outbuf_done(&text);
	return err;
}

static int attach_process(struct metric_object *o, const struct instrument_ctx *c, uint32_t pid,
			  struct proc_map *map)
{
	struct mapping file = { .pid = pid, .path = map->path };
	int fd, err = find_library(pid, map);

	if (err)
		return note_fail(c->notes, err, NULL, "cannot read the mappings of process %u",
				 pid);
	if (!map->path[0])
		return note_fail(c->notes, -ENOENT,
				 "name the allocator's file: --with heap:lib=FILE",
				 "process %u has no C library mapped", pid);
	file.start = map->start;
	file.size_bytes = map->end - map->start;
	file.id = map->id;
	fd = map_file_open(&file);
	if (fd < 0)
		return note_fail(c->notes, fd, "name the allocator's file: --with heap:lib=FILE",
				 "cannot open '%.200s' of process %u", map->path, pid);
	err = attach_file(o, c, (int)pid, fd, map->path);
	close(fd);
	return err;
}

int malloc_probes_attach(struct metric_object *o, const struct instrument_ctx *c)
{
	const struct u64map_slot *process;
	struct proc_map *map;
	size_t at = 0;
	int err = 0;

	if (!bpf_object__find_program_by_name(o->obj, "heap_enter"))
		return 0;
	for (unsigned i = 0; i < c->opts->heap_lib_count && !err; i++)
		err = attach_named(o, c, &c->opts->heap_libs[i]);
	if (c->opts->heap_lib_count)
		return err;
	map = malloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	while (!err && (process = u64map_next(&c->targets->pids, &at)) != NULL)
		err = attach_process(o, c, (uint32_t)process->a, map);
	free(map);
	return err;
}
