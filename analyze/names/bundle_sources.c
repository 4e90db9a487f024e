/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/bundle_sources.h"

#include "format/base/vec.h"

void bundle_sources_done(struct bundle_sources *b)
{
	for (size_t i = 0; i < b->count; i++)
		bundle_free(b->list[i]);
	free(b->list);
	free(b->stored_bytes);
	*b = (struct bundle_sources){ 0 };
}

static int add(const struct capture *c, const struct capture_object *o, struct bundle_sources *b)
{
	size_t size_bytes;
	uint8_t *data;
	int err;

	err = vec_reserve(&b->list, &b->capacity, b->count + 1);
	if (!err)
		err = vec_reserve(&b->stored_bytes, &b->stored_capacity, b->count + 1);
	if (!err)
		err = capture_object_read(c, o, &data, &size_bytes);
	if (err)
		return err;
	err = bundle_decode(data, size_bytes, &b->list[b->count]);
	if (err) {
		free(data);
		return err;
	}
	b->stored_bytes[b->count++] = o->file_bytes;
	return 0;
}

int bundle_sources_read(const struct capture *c, struct bundle_sources *out, size_t *broken)
{
	size_t count;
	const struct capture_object *objects = capture_objects(c, &count);
	struct bundle_sources b = { 0 };
	int err;

	*broken = 0;
	for (size_t i = 0; i < count; i++) {
		if (objects[i].kind != EBX_SYMTAB)
			continue;
		err = add(c, &objects[i], &b);
		if (err == -ENOMEM) {
			bundle_sources_done(&b);
			return err;
		}
		*broken += err != 0;
	}
	*out = b;
	return 0;
}

int bundle_sources_merge(const struct capture *c, struct bundle_merge *out, size_t *broken)
{
	struct bundle_sources b;
	int err = bundle_sources_read(c, &b, broken);

	if (err)
		return err;
	for (size_t i = 0; !err && i < b.count; i++) {
		err = bundle_merge_add(out, b.list[i], b.stored_bytes[i]);
		b.list[i] = NULL;
	}
	bundle_sources_done(&b);
	return err;
}
