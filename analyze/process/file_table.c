/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/file_table.h"

#include <assert.h>

#include "format/base/vec.h"

static bool same_file(const struct process_model_file *a, const struct process_model_file *b)
{
	return a->is_ksymbol == b->is_ksymbol && a->jit_pid == b->jit_pid &&
	       file_id_same_inode(&a->id, &b->id) &&
	       a->id.inode_generation == b->id.inode_generation &&
	       buildid_same(&a->id.build_id, &b->id.build_id);
}

static uint64_t hash_file(const struct file_table *t, const struct process_model_file *file,
			  uint32_t path)
{
	const struct hash_index *x = &t->index;
	uint64_t hash = hash_index_pair(x, path, file->id.inode);

	hash = hash_index_pair(x, hash, file_id_device(&file->id));
	hash = hash_index_pair(x, hash, file->id.inode_generation);
	hash = hash_index_pair(x, hash, (uint64_t)file->jit_pid << 1 | file->is_ksymbol);
	return hash_index_pair(
		x, hash,
		hash_index_bytes(x, file->id.build_id.bytes, file->id.build_id.size_bytes));
}

static int make_room(struct file_table *t)
{
	int err;

	if (t->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = hash_index_reserve(&t->index);
	if (!err)
		err = vec_reserve(&t->list, &t->list_capacity, t->count + 1);
	if (!err)
		err = vec_reserve(&t->paths, &t->paths_capacity, t->count + 1);
	if (!err)
		err = vec_reserve(&t->nameless, &t->nameless_capacity, t->count + 1);
	if (!err)
		err = hash_index_reserve(&t->by_path);
	return err;
}

/* The last file of the path without a build-id; HASH_INDEX_NONE: *pos is at a free slot. */
static uint32_t last_nameless(const struct file_table *t, uint32_t path, uint64_t hash,
			      uint32_t *pos)
{
	uint32_t id;

	*pos = hash_index_start(&t->by_path, hash);
	while ((id = hash_index_match(&t->by_path, hash, pos)) != HASH_INDEX_NONE)
		if (t->paths[id] == path)
			break;
	return id;
}

/* The file is the last of its path that a build-id can be given to. */
static void link_nameless(struct file_table *t, uint32_t id)
{
	uint64_t hash = hash_index_pair(&t->by_path, t->paths[id], 0);
	uint32_t pos, last = last_nameless(t, t->paths[id], hash, &pos);

	t->nameless[id] = HASH_INDEX_NONE;
	if (last == HASH_INDEX_NONE) {
		hash_index_put(&t->by_path, hash, pos, id);
		return;
	}
	if (!t->list[last].id.build_id.size_bytes)
		t->nameless[id] = last;
	hash_index_replace(&t->by_path, pos, id);
}

int file_table_add(struct file_table *t, struct string_table *names,
		   const struct process_model_file *file, const char *path, uint32_t *out)
{
	uint32_t path_id, pos, id;
	uint64_t hash;
	int err;

	err = string_table_add(names, path, strlen(path), &path_id);
	if (!err)
		err = make_room(t);
	if (err)
		return err;
	hash = hash_file(t, file, path_id);
	pos = hash_index_start(&t->index, hash);
	while ((id = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE) {
		assert(id < t->count);
		if (t->paths[id] == path_id && same_file(&t->list[id], file)) {
			*out = id;
			return 0;
		}
	}
	id = (uint32_t)t->count++;
	t->list[id] = *file;
	t->list[id].path = string_table_text(names, path_id);
	t->paths[id] = path_id;
	hash_index_put(&t->index, hash, pos, id);
	if (!file->id.build_id.size_bytes && !file->is_ksymbol)
		link_nameless(t, id);
	*out = id;
	return 0;
}

void file_table_add_build_id(struct file_table *t, uint32_t path, const struct buildid *id)
{
	uint64_t hash = hash_index_pair(&t->by_path, path, 0);
	uint32_t pos, file = last_nameless(t, path, hash, &pos);

	if (file == HASH_INDEX_NONE || t->list[file].id.build_id.size_bytes)
		return; /* each of them got one before */
	for (; file != HASH_INDEX_NONE; file = t->nameless[file])
		t->list[file].id.build_id = *id;
}

int file_table_choose(struct file_table *t, struct string_table *names, const uint32_t *order,
		      size_t count, uint32_t *numbers)
{
	struct file_table chosen = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = file_table_add(&chosen, names, &t->list[order[i]], t->list[order[i]].path,
				     &numbers[order[i]]);
	if (err) {
		file_table_done(&chosen);
		return err;
	}
	file_table_done(t);
	*t = chosen;
	return 0;
}

void file_table_done(struct file_table *t)
{
	free(t->list);
	free(t->paths);
	free(t->nameless);
	hash_index_done(&t->index);
	hash_index_done(&t->by_path);
	*t = (struct file_table){ 0 };
}
