/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Private objects: parts with the same kind and object number, in file order from part 0 to the one
 * with the flag of the last part (FORMAT.md 5).  A second part 0 begins another object of the same
 * name.
 */
#include "format/reader/capture_priv.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "format/base/buf.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

static int compare_parts(const void *a, const void *b)
{
	const struct capture_part *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->off_bytes < y->off_bytes ? -1 : x->off_bytes > y->off_bytes;
}

/* The object that begins with part i; returns how many parts it has. */
static size_t group_one(const struct capture *c, size_t i, struct capture_object *out)
{
	const struct capture_part *first = &c->parts[i];
	bool in_order = first->part == 0;
	size_t n = 0;

	*out = (struct capture_object){ .kind = first->kind, .object = first->object };
	while (i + n < c->part_count) {
		const struct capture_part *p = &c->parts[i + n];

		if (p->kind != first->kind || p->object != first->object || (n && !p->part))
			break;
		if (n && p->part != p[-1].part + 1)
			in_order = false;
		out->raw_bytes += p->raw_bytes;
		out->file_bytes += p->file_bytes;
		n++;
		if (p->last) {
			out->is_complete = in_order;
			break;
		}
	}
	out->part_count = (uint32_t)n;
	return n;
}

static void limit_unpacking(struct capture *c)
{
	uint64_t file_bytes = 0;

	for (size_t i = 0; i < c->object_count; i++) {
		if (!c->objects[i].is_complete)
			continue;
		c->unpacked_bytes = saturate_add(c->unpacked_bytes, c->objects[i].raw_bytes);
		file_bytes += c->objects[i].file_bytes; /* never more than the file has */
	}
	c->unpack_limit = CAPTURE_UNPACK_FREE_BYTES + CAPTURE_UNPACK_RATIO * file_bytes;
}

int capture_group_objects(struct capture *c)
{
	size_t room = 0, room_parts = 0;

	if (c->part_count)
		qsort(c->parts, c->part_count, sizeof(*c->parts), compare_parts);
	for (size_t i = 0; i < c->part_count;) {
		if (vec_reserve(&c->objects, &room, c->object_count + 1) ||
		    vec_reserve(&c->object_parts, &room_parts, c->object_count + 1))
			return -ENOMEM;
		c->object_parts[c->object_count] = i;
		i += group_one(c, i, &c->objects[c->object_count]);
		c->object_count++;
	}
	limit_unpacking(c);
	return 0;
}

struct capture_unpacker {
	const struct capture *c;
	ZSTD_DCtx *zstd;
	uint8_t *rec; /* space for a record */
};

int capture_unpacker_new(const struct capture *c, struct capture_unpacker **out)
{
	struct capture_unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->c = c;
	u->zstd = ZSTD_createDCtx();
	u->rec = malloc(PERFFILE_RECORD_MAX);
	if (!u->zstd || !u->rec) {
		capture_unpacker_free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

void capture_unpacker_free(struct capture_unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u->rec);
	free(u);
}

/* Appends the payload of one part. */
static int read_part(struct capture_unpacker *u, const struct capture_part *part, struct buf *out)
{
	struct ebx_private p;
	size_t n;
	int err;

	if (source_read(&u->c->source, part->off_bytes, u->rec, part->file_bytes) !=
	    part->file_bytes)
		return -EBADMSG;
	err = ebx_private_decode(u->rec, part->file_bytes, &p, NULL);
	/* Limits count the sizes in the directory. */
	if (err || p.kind != part->kind || p.object != part->object || p.part != part->part ||
	    p.raw_bytes != part->raw_bytes)
		return -EBADMSG;
	err = buf_reserve(out, p.raw_bytes);
	if (err)
		return err;
	if (!(p.flags & EBX_PRIVATE_ZSTD))
		return buf_add(out, u->rec + EBX_PRIVATE_HEADER_BYTES, p.payload_bytes);
	n = ZSTD_decompressDCtx(u->zstd, out->data + out->size_bytes, p.raw_bytes,
				u->rec + EBX_PRIVATE_HEADER_BYTES, p.payload_bytes);
	if (ZSTD_isError(n) || n != p.raw_bytes)
		return -EBADMSG;
	out->size_bytes += n;
	return 0;
}

int capture_unpacker_read(struct capture_unpacker *u, const struct capture_object *o, uint8_t **out,
			  size_t *size_bytes)
{
	const struct capture_part *parts;
	struct buf data = { 0 };
	int err;

	if (!o->is_complete)
		return -ENODATA;
	if (u->c->unpacked_bytes > u->c->unpack_limit)
		return -EOVERFLOW;
	parts = &u->c->parts[u->c->object_parts[o - u->c->objects]];
	err = buf_reserve(&data, 1);
	for (size_t i = 0; !err && i < o->part_count; i++)
		err = read_part(u, &parts[i], &data);
	if (!err) {
		*out = data.data;
		*size_bytes = data.size_bytes;
		data.data = NULL;
	}
	buf_done(&data);
	return err;
}

int capture_object_read(const struct capture *c, const struct capture_object *o, uint8_t **out,
			size_t *size_bytes)
{
	struct capture_unpacker *u = NULL;
	int err = capture_unpacker_new(c, &u);

	if (!err)
		err = capture_unpacker_read(u, o, out, size_bytes);
	capture_unpacker_free(u);
	return err;
}
