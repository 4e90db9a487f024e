/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/base/result_file.h"
#include "format/base/full_io.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/os/slurp.h"

#define CUT_BYTES 1024 /* at least, between two ends of rows that are remembered */

static const char magic[] = "ebprec batch 1\n";

struct push_part *push_batch_add(struct push_batch *b, const char *name)
{
	struct push_part part = { .name = strdup(name) };

	if (!part.name || vec_reserve(&b->parts, &b->part_capacity, b->part_count + 1)) {
		free(part.name);
		b->bad = true;
		return NULL;
	}
	b->parts[b->part_count] = part;
	return &b->parts[b->part_count++];
}

static void add_cut(struct push_batch *b, struct push_part *part, struct push_cut cut)
{
	if (vec_reserve(&part->cuts, &part->cut_capacity, part->cut_count + 1))
		b->bad = true;
	else
		part->cuts[part->cut_count++] = cut;
}

void push_part_end_row(struct push_batch *b, struct push_part *part)
{
	size_t last = part->cut_count ? part->cuts[part->cut_count - 1].offset_bytes : 0;

	if (part->body.bad || part->body.size_bytes > PUSH_BATCH_MAX_BYTES) {
		b->bad = true;
		return;
	}
	part->rows++;
	if (part->body.size_bytes - last >= CUT_BYTES)
		add_cut(b, part, (struct push_cut){ (uint32_t)part->body.size_bytes, part->rows });
}

void push_part_end_head(struct push_batch *b, struct push_part *part)
{
	if (part->body.bad || part->body.size_bytes > PUSH_BATCH_MAX_BYTES)
		b->bad = true;
	else
		add_cut(b, part, (struct push_cut){ (uint32_t)part->body.size_bytes, 0 });
}

static void part_done(struct push_part *part)
{
	free(part->name);
	outbuf_done(&part->body);
	free(part->cuts);
}

void push_batch_done(struct push_batch *b)
{
	for (size_t i = 0; i < b->part_count; i++)
		part_done(&b->parts[i]);
	free(b->parts);
	free(b->host);
	*b = (struct push_batch){ 0 };
}

/* ---- halves ---- */

static uint32_t head_bytes(const struct push_part *part)
{
	return part->cut_count && !part->cuts[0].rows ? part->cuts[0].offset_bytes : 0;
}

/* The cut nearest to the middle of the rows; NULL: there is none inside. */
static const struct push_cut *middle_of(const struct push_part *part)
{
	const struct push_cut *best = NULL;
	size_t half = (head_bytes(part) + part->body.size_bytes) / 2, best_far = SIZE_MAX;

	for (size_t i = 0; i < part->cut_count; i++) {
		size_t at = part->cuts[i].offset_bytes, far = at > half ? at - half : half - at;

		if (part->cuts[i].rows && at < part->body.size_bytes && far < best_far) {
			best = &part->cuts[i];
			best_far = far;
		}
	}
	return best;
}

/* A copy of part from one end of a row to another. */
static void copy_rows(struct push_batch *b, const struct push_part *part, struct push_cut from,
		      struct push_cut to, struct push_part *out)
{
	const uint32_t head = head_bytes(part);

	out->rows = to.rows - from.rows;
	outbuf_add(&out->body, part->body.data, head);
	if (head)
		add_cut(b, out, (struct push_cut){ head, 0 });
	outbuf_add(&out->body, part->body.data + from.offset_bytes,
		   to.offset_bytes - from.offset_bytes);
	for (size_t i = 0; i < part->cut_count; i++) {
		struct push_cut c = part->cuts[i];

		if (c.offset_bytes > from.offset_bytes && c.offset_bytes < to.offset_bytes)
			add_cut(b, out,
				(struct push_cut){ head + c.offset_bytes - from.offset_bytes,
						   c.rows - from.rows });
	}
	out->name = strdup(part->name);
	b->bad |= !out->name || out->body.bad;
}

int push_batch_halve(struct push_batch *b, size_t part)
{
	const struct push_cut *middle = middle_of(&b->parts[part]);
	struct push_part first = { 0 }, second = { 0 };
	struct push_cut begin = { head_bytes(&b->parts[part]), 0 },
			end = { (uint32_t)b->parts[part].body.size_bytes, b->parts[part].rows };

	if (!middle || b->part_count >= PUSH_PARTS_MAX)
		return -ENOENT;
	if (vec_reserve(&b->parts, &b->part_capacity, b->part_count + 1))
		return -ENOMEM;
	middle = middle_of(&b->parts[part]);
	copy_rows(b, &b->parts[part], begin, *middle, &first);
	copy_rows(b, &b->parts[part], *middle, end, &second);
	part_done(&b->parts[part]);
	memmove(&b->parts[part + 2], &b->parts[part + 1],
		(b->part_count - part - 1) * sizeof(*b->parts));
	b->parts[part] = first;
	b->parts[part + 1] = second;
	b->part_count++;
	return b->bad ? -ENOMEM : 0;
}

/* ---- the file ---- */

static void put_text(struct outbuf *out, const char *text)
{
	outbuf_u32(out, (uint32_t)strlen(text));
	outbuf_add(out, text, strlen(text));
}

static void put_part(struct outbuf *out, const struct push_part *part)
{
	put_text(out, part->name);
	outbuf_u32(out, part->rows);
	outbuf_u32(out, (uint32_t)part->cut_count);
	for (size_t i = 0; i < part->cut_count; i++) {
		outbuf_u32(out, part->cuts[i].offset_bytes);
		outbuf_u32(out, part->cuts[i].rows);
	}
	outbuf_u32(out, (uint32_t)part->body.size_bytes);
	outbuf_add(out, part->body.data, part->body.size_bytes);
}

int push_batch_encode(const struct push_batch *b, struct outbuf *out)
{
	outbuf_add(out, magic, sizeof(magic) - 1);
	put_text(out, b->host);
	outbuf_u64(out, b->sender);
	outbuf_u64(out, b->seq);
	outbuf_u64(out, b->from_s);
	outbuf_u64(out, b->to_s);
	outbuf_u64(out, b->samples);
	outbuf_u32(out, (uint32_t)b->part_count);
	for (size_t i = 0; i < b->part_count; i++)
		put_part(out, &b->parts[i]);
	if (b->bad || out->bad)
		return -ENOMEM;
	outbuf_u32(out, crc32c(0, out->data, out->size_bytes));
	return out->bad ? -ENOMEM : out->size_bytes > PUSH_BATCH_MAX_BYTES ? -EFBIG : 0;
}

static char *read_text(struct cursor *c)
{
	uint32_t size_bytes = cursor_u32(c);
	const uint8_t *text = size_bytes < PUSH_TEXT_MAX ? cursor_bytes(c, size_bytes) : NULL;

	if (!text || memchr(text, 0, size_bytes)) {
		c->bad = true;
		return NULL;
	}
	return strndup((const char *)text, size_bytes);
}

static void read_cuts(struct cursor *c, struct push_batch *b, struct push_part *part)
{
	uint32_t count = cursor_u32(c), last = 0;

	for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
		struct push_cut cut = { .offset_bytes = cursor_u32(c) };

		cut.rows = cursor_u32(c);
		c->bad |= cut.offset_bytes <= last || cut.rows > part->rows;
		last = cut.offset_bytes;
		if (cursor_ok(c))
			add_cut(b, part, cut);
	}
}

static void read_part(struct cursor *c, struct push_batch *b)
{
	char *name = read_text(c);
	struct push_part *part = name ? push_batch_add(b, name) : NULL;
	uint32_t size_bytes;
	const uint8_t *body;

	free(name);
	if (!part)
		return;
	part->rows = cursor_u32(c);
	read_cuts(c, b, part);
	size_bytes = cursor_u32(c);
	body = cursor_bytes(c, size_bytes);
	if (part->cut_count && part->cuts[part->cut_count - 1].offset_bytes > size_bytes)
		c->bad = true;
	if (body)
		outbuf_add(&part->body, body, size_bytes);
	b->bad |= part->body.bad;
}

int push_batch_decode(const void *data, size_t size_bytes, struct push_batch *out)
{
	struct cursor c = cursor_of(data, size_bytes > 4 ? size_bytes - 4 : 0);
	struct push_batch b = { 0 };
	const uint8_t *begin = cursor_bytes(&c, sizeof(magic) - 1);
	uint32_t count;

	if (!begin || memcmp(begin, magic, sizeof(magic) - 1) != 0 ||
	    le32_load((const uint8_t *)data + c.size_bytes) != crc32c(0, data, c.size_bytes))
		return -EBADMSG;
	b.host = read_text(&c);
	b.sender = cursor_u64(&c);
	b.seq = cursor_u64(&c);
	b.from_s = cursor_u64(&c);
	b.to_s = cursor_u64(&c);
	b.samples = cursor_u64(&c);
	count = cursor_u32(&c);
	c.bad |= count > PUSH_PARTS_MAX;
	for (uint32_t i = 0; i < count && cursor_ok(&c) && !b.bad; i++)
		read_part(&c, &b);
	c.bad |= cursor_left(&c) != 0;
	if (!cursor_ok(&c) || b.bad || !b.host) {
		int err = cursor_ok(&c) ? -ENOMEM : -EBADMSG;

		push_batch_done(&b);
		return err;
	}
	*out = b;
	return 0;
}

int push_batch_write(const struct push_batch *b, const char *path)
{
	struct outbuf bytes = { 0 };
	struct result_file *file;
	int err = push_batch_encode(b, &bytes);

	if (!err)
		err = result_file_open(path, &file);
	if (!err) {
		err = full_write(result_file_fd(file), bytes.data, bytes.size_bytes);
		if (err)
			result_file_abort(file);
		else
			err = result_file_commit(file);
	}
	outbuf_done(&bytes);
	return err;
}

int push_batch_read(const char *path, struct push_batch *out)
{
	struct outbuf bytes = { 0 };
	int err = slurp_some(AT_FDCWD, path, PUSH_BATCH_MAX_BYTES, &bytes);

	if (!err)
		err = push_batch_decode(bytes.data, bytes.size_bytes, out);
	outbuf_done(&bytes);
	return err;
}
