/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/embedded_files.h"

#include <errno.h>
#include <string.h>

#include "analyze/base/string_table.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

#define CACHE_MAX_BYTES (2u << 20) /* of contents; the names of all files stay */
#define NONE            UINT32_MAX

struct piece {
	const struct capture_object *object;
	uint8_t *data; /* with the name; NULL: to be read again */
	size_t size_bytes;
	uint32_t next; /* of the same file */
};

struct file {
	uint32_t first, last; /* pieces; NONE: no file has this name */
};

struct embedded {
	struct capture_unpacker *unpacker;
	struct string_table *names;
	struct file *files; /* by number of the name */
	struct piece *pieces;
	size_t file_count, file_capacity, piece_count, piece_capacity, cached_bytes;
};

struct joined {
	char *data;
	size_t size_bytes, capacity;
};

bool embedded_name_of(const uint8_t *data, size_t size_bytes, struct capture_bytes *name)
{
	struct cursor c = cursor_of(data, size_bytes);

	name->size_bytes = cursor_u16(&c);
	name->data = cursor_bytes(&c, name->size_bytes);
	return name->data && !memchr(name->data, 0, name->size_bytes);
}

/* data is owned from here on. */
static int add_piece(struct embedded *e, const struct capture_object *o, uint8_t *data,
		     size_t size_bytes, const struct capture_bytes *name)
{
	uint32_t id, number = (uint32_t)e->piece_count;
	struct piece p = { .object = o, .size_bytes = size_bytes, .next = NONE };
	int err = string_table_add(e->names, (const char *)name->data, name->size_bytes, &id);

	if (!err)
		err = vec_reserve(&e->files, &e->file_capacity, (size_t)id + 1);
	if (!err)
		err = vec_reserve(&e->pieces, &e->piece_capacity, e->piece_count + 1);
	if (err || number >= NONE - 1) {
		free(data);
		return err ? err : -EOVERFLOW;
	}
	while (e->file_count <= id)
		e->files[e->file_count++] = (struct file){ NONE, NONE };
	if (size_bytes <= CACHE_MAX_BYTES - e->cached_bytes) {
		p.data = data;
		e->cached_bytes += size_bytes;
	} else {
		free(data);
	}
	if (e->files[id].first == NONE)
		e->files[id].first = number;
	else
		e->pieces[e->files[id].last].next = number;
	e->files[id].last = number;
	e->pieces[e->piece_count++] = p;
	return 0;
}

static int read_piece(struct embedded *e, const struct capture_object *o)
{
	struct capture_bytes name;
	uint8_t *data = NULL;
	size_t size_bytes;
	int err = capture_unpacker_read(e->unpacker, o, &data, &size_bytes);

	if (err)
		return err == -ENOMEM ? err : 0;
	if (embedded_name_of(data, size_bytes, &name))
		return add_piece(e, o, data, size_bytes, &name);
	free(data);
	return 0;
}

int embedded_read(const struct capture *c, struct embedded **out)
{
	size_t count;
	const struct capture_object *objects = capture_objects(c, &count);
	struct embedded *e = calloc(1, sizeof(*e));
	int err = e ? capture_unpacker_new(c, &e->unpacker) : -ENOMEM;

	if (!err)
		err = string_table_new(&e->names);
	/* Objects of a kind are in the order of their numbers. */
	for (size_t i = 0; !err && i < count; i++)
		if (objects[i].kind == EBX_FILE)
			err = read_piece(e, &objects[i]);
	if (err)
		embedded_free(e);
	else
		*out = e;
	return err;
}

void embedded_free(struct embedded *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->piece_count; i++)
		free(e->pieces[i].data);
	free(e->pieces);
	free(e->files);
	string_table_free(e->names);
	capture_unpacker_free(e->unpacker);
	free(e);
}

/* Appends what is behind the name. */
static int append(const struct embedded *e, const struct piece *p, struct joined *to)
{
	size_t size_bytes = p->size_bytes, skip_bytes;
	uint8_t *data = p->data;
	struct capture_bytes name;
	int err = data ? 0 : capture_unpacker_read(e->unpacker, p->object, &data, &size_bytes);

	if (err)
		return err == -ENOMEM ? err : 0;
	/* It may have been written anew since. */
	skip_bytes = embedded_name_of(data, size_bytes, &name) ? 2 + name.size_bytes : size_bytes;
	err = vec_reserve(&to->data, &to->capacity, to->size_bytes + size_bytes - skip_bytes + 1);
	if (!err && skip_bytes < size_bytes)
		memcpy(to->data + to->size_bytes, data + skip_bytes, size_bytes - skip_bytes);
	if (!err)
		to->size_bytes += size_bytes - skip_bytes;
	if (!p->data)
		free(data);
	return err;
}

static int join(const struct embedded *e, uint32_t id, char **out, size_t *size_bytes)
{
	struct joined joined = { 0 };
	int err = vec_reserve(&joined.data, &joined.capacity, 1);

	for (uint32_t p = e->files[id].first; !err && p != NONE; p = e->pieces[p].next)
		err = append(e, &e->pieces[p], &joined);
	if (err) {
		free(joined.data);
		return err;
	}
	joined.data[joined.size_bytes] = '\0';
	*out = joined.data;
	*size_bytes = joined.size_bytes;
	return 0;
}

int embedded_get(const struct embedded *e, const char *name, char **out, size_t *size_bytes)
{
	uint32_t id = e ? string_table_find(e->names, name) : NONE;

	if (!e || id >= e->file_count || e->files[id].first == NONE)
		return -ENOENT;
	return join(e, id, out, size_bytes);
}

int embedded_each(const struct embedded *e, const char *prefix, embedded_fn fn, void *ctx)
{
	size_t size_bytes;
	int err = 0;

	for (uint32_t id = 0; !err && id < e->file_count; id++) {
		const char *name = string_table_text(e->names, id);
		char *text;

		if (e->files[id].first == NONE || strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		err = join(e, id, &text, &size_bytes);
		if (err)
			break;
		err = fn(ctx, name, text, size_bytes);
		free(text);
	}
	return err;
}
