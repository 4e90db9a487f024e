/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/embedded.h"

#include <string.h>

#include "analyze/vec.h"
#include "format/cursor.h"

struct joined {
	char *data;
	size_t size_bytes, capacity;
};

static int by_number(const void *va, const void *vb)
{
	const struct capture_object *const *a = va, *const *b = vb;

	return (*a)->object < (*b)->object ? -1 : (*a)->object > (*b)->object;
}

/* The object's contents when it is a piece of the file, else nothing. */
static int add_piece(const struct capture *c, const struct capture_object *o, const char *name,
		     struct joined *to, bool *found)
{
	size_t size_bytes, name_bytes;
	uint8_t *data = NULL;
	struct cursor piece;
	const uint8_t *is;
	int err;

	err = capture_object_read(c, o, &data, &size_bytes);
	if (err)
		return err == -ENOMEM ? err : 0;
	piece = cursor_of(data, size_bytes);
	name_bytes = cursor_u16(&piece);
	is = cursor_bytes(&piece, name_bytes);
	if (is && name_bytes == strlen(name) && !memcmp(is, name, name_bytes)) {
		size_bytes = cursor_left(&piece);
		err = vec_reserve(&to->data, &to->capacity, to->size_bytes + size_bytes + 1);
		if (!err) {
			memcpy(to->data + to->size_bytes, cursor_bytes(&piece, size_bytes),
			       size_bytes);
			to->size_bytes += size_bytes;
			*found = true;
		}
	}
	free(data);
	return err;
}

int embedded_file(const struct capture *c, const char *name, char **out, size_t *size_bytes)
{
	size_t count, file_count = 0;
	const struct capture_object *objects = capture_objects(c, &count);
	const struct capture_object **files = calloc(count + 1, sizeof(const void *));
	struct joined joined = { 0 };
	bool found = false;
	int err = files ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++)
		if (objects[i].kind == EBX_FILE)
			files[file_count++] = &objects[i];
	if (!err)
		qsort(files, file_count, sizeof(const void *), by_number);
	for (size_t i = 0; !err && i < file_count; i++)
		err = add_piece(c, files[i], name, &joined, &found);
	free(files);
	if (!err && !found)
		err = -ENOENT;
	if (err) {
		free(joined.data);
		return err;
	}
	joined.data[joined.size_bytes] = '\0';
	*out = joined.data;
	*size_bytes = joined.size_bytes;
	return 0;
}

/* The object's name, owned; NULL: unreadable, or no memory. */
static char *name_of(const struct capture *c, const struct capture_object *o)
{
	size_t size_bytes, name_bytes;
	uint8_t *data = NULL;
	struct cursor piece;
	const uint8_t *is;
	char *name = NULL;

	if (capture_object_read(c, o, &data, &size_bytes))
		return NULL;
	piece = cursor_of(data, size_bytes);
	name_bytes = cursor_u16(&piece);
	is = cursor_bytes(&piece, name_bytes);
	if (is)
		name = strndup((const char *)is, name_bytes);
	free(data);
	return name;
}

int embedded_each(const struct capture *c, const char *prefix, embedded_fn fn, void *ctx)
{
	size_t count, size_bytes;
	const struct capture_object *objects = capture_objects(c, &count);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		char *name = objects[i].kind == EBX_FILE ? name_of(c, &objects[i]) : NULL, *text;

		if (name && !strncmp(name, prefix, strlen(prefix))) {
			err = embedded_file(c, name, &text, &size_bytes);
			if (!err) {
				err = fn(ctx, name, text, size_bytes);
				free(text);
			} else if (err == -ENOENT) {
				err = 0;
			}
		}
		free(name);
	}
	return err;
}
