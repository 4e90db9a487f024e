/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/file_table.h"

#include <assert.h>

#include "format/base/vec.h"

static bool same_file(const struct model_file *a, const struct model_file *b)
{
	return a->is_ksymbol == b->is_ksymbol && a->jit_pid == b->jit_pid && a->inode == b->inode &&
	       a->inode_generation == b->inode_generation && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->build_id.size_bytes == b->build_id.size_bytes &&
	       !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.size_bytes);
}

static uint64_t hash_file(const struct filetab *t, const struct model_file *file, uint32_t path)
{
	const struct hashidx *x = &t->index;
	uint64_t device = (uint64_t)file->dev_major << 32 | file->dev_minor;
	uint64_t hash = hashidx_pair(x, path, file->inode);

	hash = hashidx_pair(x, hash, device);
	hash = hashidx_pair(x, hash, file->inode_generation);
	hash = hashidx_pair(x, hash, (uint64_t)file->jit_pid << 1 | file->is_ksymbol);
	return hashidx_pair(x, hash,
			    hashidx_bytes(x, file->build_id.bytes, file->build_id.size_bytes));
}

static int make_room(struct filetab *t)
{
	int err;

	if (t->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = hashidx_reserve(&t->index);
	if (!err)
		err = vec_reserve(&t->list, &t->list_capacity, t->count + 1);
	if (!err)
		err = vec_reserve(&t->paths, &t->paths_capacity, t->count + 1);
	return err;
}

int filetab_add(struct filetab *t, struct strings *names, const struct model_file *file,
		const char *path, uint32_t *out)
{
	uint32_t path_id, pos, id;
	uint64_t hash;
	int err;

	err = strings_add(names, path, strlen(path), &path_id);
	if (!err)
		err = make_room(t);
	if (err)
		return err;
	hash = hash_file(t, file, path_id);
	pos = hashidx_start(&t->index, hash);
	while ((id = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE) {
		assert(id < t->count);
		if (t->paths[id] == path_id && same_file(&t->list[id], file)) {
			*out = id;
			return 0;
		}
	}
	id = (uint32_t)t->count++;
	t->list[id] = *file;
	t->list[id].path = strings_text(names, path_id);
	t->paths[id] = path_id;
	hashidx_put(&t->index, hash, pos, id);
	*out = id;
	return 0;
}

void filetab_add_build_id(struct filetab *t, uint32_t path, const struct buildid *id)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->paths[i] == path && !t->list[i].build_id.size_bytes &&
		    !t->list[i].is_ksymbol)
			t->list[i].build_id = *id;
}

int filetab_choose(struct filetab *t, struct strings *names, const uint32_t *order, size_t count,
		   uint32_t *numbers)
{
	struct filetab chosen = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = filetab_add(&chosen, names, &t->list[order[i]], t->list[order[i]].path,
				  &numbers[order[i]]);
	if (err) {
		filetab_done(&chosen);
		return err;
	}
	filetab_done(t);
	*t = chosen;
	return 0;
}

void filetab_done(struct filetab *t)
{
	free(t->list);
	free(t->paths);
	hashidx_done(&t->index);
	*t = (struct filetab){ 0 };
}
