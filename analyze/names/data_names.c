/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/data_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/function_table.h"
#include "analyze/sym/function_label.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define KERNEL_FROM (1ULL << 63)

struct known_map {
	uint32_t pid;
	uint64_t address;
	struct data_map map;
};

/* An answer: rows of all intervals ask for the same ones. */
struct known_name {
	uint32_t pid, space;
	uint64_t address;
	char *text; /* owned */
};

struct data_names {
	const struct process_model *model;
	struct resolver *resolver;
	struct known_map *maps;
	size_t count, capacity;
	struct hash_index by_address;
	struct known_name *names;
	size_t name_count, name_capacity;
	struct hash_index by_place;
};

int data_names_new(const struct process_model *model, struct resolver *resolver,
		   struct data_names **out)
{
	struct data_names *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->model = model;
	d->resolver = resolver;
	*out = d;
	return 0;
}

void data_names_free(struct data_names *d)
{
	if (!d)
		return;
	free(d->maps);
	hash_index_done(&d->by_address);
	for (size_t i = 0; i < d->name_count; i++)
		free(d->names[i].text);
	free(d->names);
	hash_index_done(&d->by_place);
	free(d);
}

/* NULL with *pos and *hash for a new one; there is room for it. */
static struct known_map *find_map(const struct data_names *d, uint32_t pid, uint64_t address,
				  uint64_t *hash, uint32_t *pos)
{
	uint32_t id;

	*hash = hash_index_pair(&d->by_address, address, pid);
	*pos = hash_index_start(&d->by_address, *hash);
	while ((id = hash_index_match(&d->by_address, *hash, pos)) != HASH_INDEX_NONE)
		if (d->maps[id].pid == pid && d->maps[id].address == address)
			return &d->maps[id];
	return NULL;
}

int data_names_add_map(struct data_names *d, uint32_t pid, uint64_t address,
		       const struct data_map *map)
{
	struct known_map *known;
	uint64_t hash;
	uint32_t pos;

	if (hash_index_reserve(&d->by_address) || vec_reserve(&d->maps, &d->capacity, d->count + 1))
		return -ENOMEM;
	known = find_map(d, pid, address, &hash, &pos);
	if (!known) {
		hash_index_put(&d->by_address, hash, pos, (uint32_t)d->count);
		known = &d->maps[d->count++];
	}
	*known = (struct known_map){ pid, address, *map };
	return 0;
}

/* ---- variables ---- */

/* The code that begins next below the address. */
static bool find_code_below(const struct process_model *m, uint32_t space, uint64_t address,
			    struct process_model_map *out)
{
	struct process_model_map map;
	uint64_t from = 0;
	bool found = false;

	while (process_model_next_map(m, space, from, &map) && map.start <= address) {
		*out = map;
		found = true;
		from = map.end;
	}
	return found;
}

/* *path: the file that has it, as the process had mapped it. */
static const struct resolved *find_variable(struct data_names *d,
					    const struct process_model_where *where,
					    uint64_t address, const char **path)
{
	const struct resolved *answer;
	struct process_model_map code;
	uint32_t file;

	if (where->epoch == PROCESS_MODEL_NONE ||
	    !find_code_below(d->model, where->space, address, &code) || address < code.end)
		return NULL;
	file = function_table_file(d->model, code.file, d->resolver);
	if (file == UINT32_MAX || resolver_want(d->resolver, file, code.file_off_bytes, false))
		return NULL;
	answer = resolver_variable(d->resolver, file, code.file_off_bytes,
				   code.file_off_bytes + (address - code.start));
	*path = process_model_file(d->model, code.file)->path;
	return answer->reason == NAME_FOUND ? answer : NULL;
}

/* ---- texts ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether the mapping may be of the program or library that has the variable. */
static bool may_be_variable(const struct data_map *map, const char *path)
{
	const char *file = base_name(path);
	size_t bytes = strlen(map->file);

	if (map->kind != DATA_MAP_FILE || !bytes) /* a scrubbed one has no name */
		return true;
	if (strncmp(map->file, file, bytes) != 0)
		return false;
	return bytes == DATA_MAP_FILE_MOST || !file[bytes] || !strcmp(file + bytes, " (deleted)");
}

static int put_map(char **text, uint64_t address, const struct data_map *map)
{
	switch (map->kind) {
	case DATA_MAP_FILE:
		return asprintf(text, "%s+0x%" PRIx64, *map->file ? map->file : "[file]",
				address - map->start + map->off_bytes);
	case DATA_MAP_HEAP:
		return asprintf(text, "[heap]");
	case DATA_MAP_STACK:
		return asprintf(text, "[stack]");
	case DATA_MAP_THREAD_STACK:
		return asprintf(text, "stack of thread %" PRIu32, map->tid);
	case DATA_MAP_THREAD_END:
		return asprintf(text, "end of a thread");
	case DATA_MAP_ANONYMOUS:
		return asprintf(text, "[anon]");
	default:
		return asprintf(text, "%s", "");
	}
}

static bool is_memory_of_its_own(const struct data_map *map)
{
	return map->kind == DATA_MAP_HEAP || map->kind == DATA_MAP_STACK ||
	       map->kind == DATA_MAP_THREAD_STACK || map->kind == DATA_MAP_THREAD_END;
}

/* Owned; NULL: no memory. */
static char *make_name(struct data_names *d, uint32_t pid, const struct process_model_where *where,
		       uint64_t address)
{
	const struct data_map unknown = { .kind = DATA_MAP_UNKNOWN, .file = "" };
	const struct resolved *answer = NULL;
	const struct known_map *known;
	const struct data_map *map;
	const char *path = NULL;
	char *text = NULL;
	uint64_t hash;
	uint32_t pos;
	int bytes;

	known = find_map(d, pid, address, &hash, &pos);
	map = known ? &known->map : &unknown;
	if (!is_memory_of_its_own(map))
		answer = find_variable(d, where, address, &path);
	if (answer && may_be_variable(map, path))
		bytes = asprintf(&text, "%s: %s+0x%" PRIx64, base_name(path), answer->name,
				 answer->into_bytes);
	else
		bytes = put_map(&text, address, map);
	return bytes < 0 ? NULL : text;
}

const char *data_names_at(struct data_names *d, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct process_model_where where;
	struct known_name *n;
	uint32_t pos, id;
	uint64_t hash;
	char *text;

	if (address >= KERNEL_FROM)
		return "";
	if (hash_index_reserve(&d->by_place) ||
	    vec_reserve(&d->names, &d->name_capacity, d->name_count + 1))
		return NULL;
	process_model_thread(d->model, pid, pid, time_ns, &where);
	if (where.epoch == PROCESS_MODEL_NONE)
		where.space = PROCESS_MODEL_NONE;
	hash = hash_index_pair(&d->by_place, address, (uint64_t)pid << 32 | where.space);
	pos = hash_index_start(&d->by_place, hash);
	while ((id = hash_index_match(&d->by_place, hash, &pos)) != HASH_INDEX_NONE) {
		n = &d->names[id];
		if (n->address == address && n->pid == pid && n->space == where.space)
			return n->text;
	}
	text = make_name(d, pid, &where, address);
	if (!text)
		return NULL;
	hash_index_put(&d->by_place, hash, pos, (uint32_t)d->name_count);
	d->names[d->name_count++] = (struct known_name){ pid, where.space, address, text };
	return text;
}

/* ---- functions ---- */

/* The answer for a frame's code; NULL: no file is known there.  *path: its file's. */
static const struct resolved *find_function(struct data_names *d, uint32_t space, uint64_t address,
					    bool is_return, const char **path)
{
	struct process_model_place place;
	uint32_t file;

	if (!process_model_place(d->model, space, address - is_return, &place))
		return NULL;
	place.file_off_bytes += is_return;
	file = function_table_file(d->model, place.file, d->resolver);
	if (file == UINT32_MAX || resolver_want(d->resolver, file, place.file_off_bytes, is_return))
		return NULL;
	*path = process_model_file(d->model, place.file)->path;
	return resolver_user(d->resolver, file, place.file_off_bytes, is_return);
}

const char *data_names_function(struct data_names *d, uint32_t pid, uint64_t time_ns,
				const uint64_t *code, size_t count)
{
	struct process_model_where where;
	const struct resolved *answer;
	const char *path;

	process_model_thread(d->model, pid, pid, time_ns, &where);
	if (where.epoch == PROCESS_MODEL_NONE)
		return "";
	for (size_t i = 0; i < count && code[i]; i++) {
		answer = find_function(d, where.space, code[i], i > 0, &path);
		if (answer && !function_label_is_c_library(path))
			return answer->name ? answer->name : base_name(path);
	}
	return "";
}
