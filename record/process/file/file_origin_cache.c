/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/file_origin_cache.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "record/process/file/mapped_files.h"
#include "format/base/outbuf.h"
#include "record/events/side_record.h"

#define OBJECT_BYTES (256u << 10) /* entries of one object; about */

void file_origin_cache_done(struct file_origin_cache *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->files[i].bytes);
	for (size_t i = 0; i < k->mounts_count; i++)
		free(k->mounts[i].text);
	free(k->files);
	free(k->mounts);
	u64map_done(&k->by_key);
	*k = (struct file_origin_cache){ 0 };
}

static uint8_t *copy_of(const uint8_t *bytes, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes + 1);

	if (copy)
		memcpy(copy, bytes, size_bytes);
	return copy;
}

/* ---- recorded origins ---- */

static struct file_origin_cache_file *place_of(struct file_origin_cache *k, const uint64_t key[2])
{
	const uint32_t *at = u64map_get(&k->by_key, key[0], key[1]);

	if (at)
		return &k->files[*at];
	if (vec_reserve(&k->files, &k->room, k->count + 1) ||
	    u64map_put(&k->by_key, key[0], key[1], (uint32_t)k->count))
		return NULL;
	k->files[k->count] = (struct file_origin_cache_file){ 0 };
	return &k->files[k->count++];
}

int file_origin_cache_add(struct file_origin_cache *k, const struct file_origin_cache_file *f,
			  const uint8_t *bytes, size_t size_bytes)
{
	uint8_t *copy = copy_of(bytes, size_bytes);
	struct file_origin_cache_file *to = copy ? place_of(k, f->key) : NULL;

	if (!to) {
		free(copy);
		return -ENOMEM;
	}
	free(to->bytes);
	*to = *f;
	to->unknown_ns = 0;
	to->bytes = copy;
	to->size_bytes = (uint32_t)size_bytes;
	return 0;
}

int file_origin_cache_add_mounts(struct file_origin_cache *k, uint64_t object, const uint8_t *text,
				 size_t size_bytes)
{
	struct file_origin_cache_mounts *m = NULL;
	uint8_t *copy = copy_of(text, size_bytes);

	for (size_t i = 0; i < k->mounts_count && !m; i++)
		m = k->mounts[i].object == object ? &k->mounts[i] : NULL;
	if (!copy || (!m && vec_reserve(&k->mounts, &k->mounts_room, k->mounts_count + 1))) {
		free(copy);
		return -ENOMEM;
	}
	if (!m) {
		m = &k->mounts[k->mounts_count++];
		*m = (struct file_origin_cache_mounts){ .object = object };
	}
	free(m->text);
	m->text = copy;
	m->size_bytes = (uint32_t)size_bytes;
	return 0;
}

/* ---- for a capture ---- */

static int put_files(struct outbuf *entries, struct writer *to, uint64_t *next_object)
{
	int err = outbuf_ok(entries) ? 0 : -ENOMEM;

	if (!err && entries->size_bytes)
		err = writer_object(to, EBX_FACTS, (*next_object)++, entries->data,
				    entries->size_bytes);
	outbuf_clear(entries);
	return err;
}

int file_origin_cache_put(const struct file_origin_cache *k, struct writer *to,
			  uint64_t *next_object)
{
	struct outbuf entries = { 0 };
	int err = 0;

	for (size_t i = 0; i < k->mounts_count && !err; i++)
		err = writer_object(to, EBX_MOUNTS, k->mounts[i].object, k->mounts[i].text,
				    k->mounts[i].size_bytes);
	for (size_t i = 0; i < k->count && !err; i++) {
		outbuf_add(&entries, k->files[i].bytes, k->files[i].size_bytes);
		if (entries.size_bytes >= OBJECT_BYTES)
			err = put_files(&entries, to, next_object);
	}
	if (!err)
		err = put_files(&entries, to, next_object);
	outbuf_done(&entries);
	return err;
}

/* ---- what is let go ---- */

/* A mapping's record has the build-id or the file's numbers. */
static void id_key(const struct buildid *id, uint64_t key[2])
{
	uint8_t bytes[24] = { 0 };

	memcpy(bytes, id->bytes, id->size_bytes);
	key[0] = le64_load(bytes) ^ le64_load(bytes + 16);
	key[1] = le64_load(bytes + 8);
}

int file_origin_cache_see(struct u64map *mapped, const uint8_t *record, size_t size_bytes)
{
	struct file_id id = { 0 };
	uint64_t key[2];

	if (le32_load(record) != PERF_RECORD_MMAP2 || size_bytes < 72 + SIDE_RECORD_TAIL_BYTES)
		return 0;
	if (le16_load(record + 4) & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (record[40] > BUILDID_MAX_BYTES)
			return 0;
		id.build_id.size_bytes = record[40];
		memcpy(id.build_id.bytes, record + 44, record[40]);
		id_key(&id.build_id, key);
	} else {
		id.dev_major = le32_load(record + 40);
		id.dev_minor = le32_load(record + 44);
		id.inode = le64_load(record + 48);
		id.inode_generation = le64_load(record + 56);
		mapped_files_key(&id, key);
	}
	return u64map_put(mapped, key[0], key[1], 0);
}

static bool is_mapped(const struct file_origin_cache_file *f, const struct u64map *mapped)
{
	uint64_t key[2] = { f->key[0], f->key[1] };

	if (f->build_id.size_bytes)
		id_key(&f->build_id, key);
	return u64map_get(mapped, key[0], key[1]);
}

static bool may_go(struct file_origin_cache_file *f, const struct file_origin_cache_rest *rest)
{
	if (rest->is_known(rest->arg, f->key)) {
		f->unknown_ns = 0;
		return false;
	}
	if (!f->unknown_ns)
		f->unknown_ns = rest->now_ns;
	return f->unknown_ns < rest->from_ns && !is_mapped(f, rest->mapped);
}

static void prune_mounts(struct file_origin_cache *k, uint64_t own_namespace)
{
	size_t n = 0;

	for (size_t i = 0; i < k->mounts_count; i++) {
		struct file_origin_cache_mounts *m = &k->mounts[i];

		m->used = !m->object || m->object == own_namespace;
		for (size_t at = 0; at < k->count && !m->used; at++)
			m->used = k->files[at].mount_namespace == m->object;
		if (m->used)
			k->mounts[n++] = *m;
		else
			free(m->text);
	}
	k->mounts_count = n;
}

void file_origin_cache_prune(struct file_origin_cache *k, const struct file_origin_cache_rest *rest,
			     uint64_t own_namespace)
{
	size_t n = 0;

	for (size_t i = 0; i < k->count; i++) {
		struct file_origin_cache_file *f = &k->files[i];

		if (may_go(f, rest)) {
			u64map_remove(&k->by_key, f->key[0], f->key[1]);
			free(f->bytes);
			continue;
		}
		*u64map_get(&k->by_key, f->key[0], f->key[1]) = (uint32_t)n;
		k->files[n++] = *f;
	}
	k->count = n;
	prune_mounts(k, own_namespace);
}
