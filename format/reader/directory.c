/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Numbers are LEB128 varints of small distances, and zstd takes out the rest: about 12 bytes an
 * item.  The layout is FORMAT.md 6.1.
 */
#include "format/reader/directory.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <zstd.h>

#include "format/base/full_io.h"
#include "format/base/cursor.h"
#include "format/perf/perffile.h"

#define DIRECTORY_MAGIC        "EBXITEMS"
#define DIRECTORY_HEADER_BYTES 16
#define DIRECTORY_ITEM_MIN     4   /* bytes of the shortest item */
#define DIRECTORY_ITEM_MAX     120 /* more than the longest */
#define DIRECTORY_LEVEL        9

static void put_varint(struct buf *b, uint64_t v)
{
	while (v >= 0x80) {
		b->data[b->size_bytes++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	b->data[b->size_bytes++] = (uint8_t)v;
}

/* Small negative numbers become small positive ones. */
static uint64_t zigzag(uint64_t v)
{
	return (v << 1) ^ -(v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ -(v & 1);
}

static uint64_t get_varint(struct cursor *c)
{
	uint64_t v = 0;

	/* Most are of one byte. */
	if (!c->bad && cursor_left(c) && c->data[c->off_bytes] < 0x80)
		return c->data[c->off_bytes++];
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static uint32_t get_u32(struct cursor *c)
{
	uint64_t v = get_varint(c);

	if (v > UINT32_MAX)
		c->bad = true;
	return (uint32_t)v;
}

static void put_block(struct buf *b, const struct ebx_block *f, struct directory_state *s)
{
	put_varint(b, f->stream);
	put_varint(b, zigzag(f->seq - s->seq));
	put_varint(b, zigzag(f->t_min_ns - s->time_ns));
	put_varint(b, zigzag(f->t_max_ns - f->t_min_ns));
	put_varint(b, f->raw_bytes);
	put_varint(b, f->record_count);
	put_varint(b, f->sample_count);
	put_varint(b, f->lost_count);
	put_varint(b, f->cpu_mask);
	s->seq = f->seq + 1;
	s->time_ns = f->t_min_ns;
}

static void get_block(struct cursor *c, struct ebx_block *f, struct directory_state *s)
{
	uint64_t stream = get_varint(c);

	if (stream > UINT8_MAX)
		c->bad = true;
	f->stream = (uint8_t)stream;
	f->seq = s->seq + unzigzag(get_varint(c));
	f->t_min_ns = s->time_ns + unzigzag(get_varint(c));
	f->t_max_ns = f->t_min_ns + unzigzag(get_varint(c));
	f->raw_bytes = get_u32(c);
	f->record_count = get_u32(c);
	f->sample_count = get_u32(c);
	f->lost_count = get_u32(c);
	f->cpu_mask = get_varint(c);
	s->seq = f->seq + 1;
	s->time_ns = f->t_min_ns;
}

static void put_part(struct buf *b, const struct ebx_private *p, struct directory_state *s)
{
	put_varint(b, p->kind);
	put_varint(b, p->flags);
	put_varint(b, zigzag(p->seq - s->seq));
	put_varint(b, p->part);
	put_varint(b, p->object);
	put_varint(b, p->raw_bytes);
	put_varint(b, p->payload_bytes);
	s->seq = p->seq + 1;
}

static void get_part(struct cursor *c, struct ebx_private *p, struct directory_state *s)
{
	uint64_t kind = get_varint(c), flags = get_varint(c);

	if (kind > UINT16_MAX || flags > UINT16_MAX)
		c->bad = true;
	p->kind = (uint16_t)kind;
	p->flags = (uint16_t)flags;
	p->seq = s->seq + unzigzag(get_varint(c));
	p->part = get_u32(c);
	p->object = get_varint(c);
	p->raw_bytes = get_u32(c);
	p->payload_bytes = get_u32(c);
	s->seq = p->seq + 1;
}

int directory_encoder_add(struct directory_encoder *e, const struct directory_item *item)
{
	struct buf *b = &e->items;
	int err = buf_reserve(b, DIRECTORY_ITEM_MAX);

	if (err)
		return err;
	put_varint(b, item->type);
	put_varint(b, (item->off_bytes - e->state.end_bytes) / 8);
	put_varint(b, item->file_bytes / 8);
	if (item->type == DIRECTORY_BLOCK)
		put_block(b, &item->block, &e->state);
	else if (item->type == DIRECTORY_PRIVATE)
		put_part(b, &item->part, &e->state);
	else
		put_varint(b, item->plain.type);
	e->state.end_bytes = item->off_bytes + item->file_bytes;
	e->item_count++;
	return 0;
}

int directory_encoder_spill(struct directory_encoder *e, int fd)
{
	int err = full_write_at(fd, e->items.data, e->items.size_bytes, e->spilled_bytes);

	if (err)
		return err;
	e->spilled_bytes += e->items.size_bytes;
	e->items.size_bytes = 0;
	return 0;
}

/* The first size_bytes of the file behind the end of b. */
static int add_file(struct buf *b, int fd, size_t size_bytes)
{
	int err = buf_reserve(b, size_bytes);
	ssize_t n;

	if (err)
		return err;
	n = full_read_at(fd, b->data + b->size_bytes, size_bytes, 0);
	if (n < 0 || (size_t)n < size_bytes)
		return n < 0 ? (int)n : -EIO;
	b->size_bytes += size_bytes;
	return 0;
}

int directory_encoder_finish(const struct directory_encoder *e, int spill_fd, uint8_t **out,
			     size_t *size_bytes)
{
	uint8_t header[DIRECTORY_HEADER_BYTES] = DIRECTORY_MAGIC;
	struct buf raw = { 0 };
	uint8_t *stored = NULL;
	size_t room, n;
	int err;

	le64_store(header + 8, e->item_count);
	err = buf_add(&raw, header, sizeof(header));
	if (!err && e->spilled_bytes)
		err = add_file(&raw, spill_fd, e->spilled_bytes);
	if (!err)
		err = buf_add(&raw, e->items.data, e->items.size_bytes);
	if (err)
		goto out;
	room = ZSTD_compressBound(raw.size_bytes);
	stored = malloc(room);
	if (!stored) {
		err = -ENOMEM;
		goto out;
	}
	n = ZSTD_compress(stored, room, raw.data, raw.size_bytes, DIRECTORY_LEVEL);
	if (ZSTD_isError(n)) {
		err = -ENOMEM;
		goto out;
	}
	*out = stored;
	*size_bytes = n;
	stored = NULL;
out:
	free(stored);
	buf_done(&raw);
	return err;
}

void directory_encoder_done(struct directory_encoder *e)
{
	buf_done(&e->items);
}

/* Reads one item; a bad cursor or false means that it is broken. */
static bool get_item(struct cursor *c, struct directory_state *s, uint64_t data_end,
		     struct directory_item *item)
{
	uint64_t gap, size;

	*item = (struct directory_item){ .type = (enum directory_type)get_u32(c) };
	gap = get_varint(c);
	size = get_varint(c);
	if (!cursor_ok(c) || gap > (data_end - s->end_bytes) / 8 || size < 1 ||
	    size > PERFFILE_RECORD_MAX / 8)
		return false;
	item->off_bytes = s->end_bytes + gap * 8;
	item->file_bytes = (uint32_t)size * 8;
	if (item->file_bytes > data_end - item->off_bytes)
		return false;
	switch (item->type) {
	case DIRECTORY_BLOCK:
		get_block(c, &item->block, s);
		break;
	case DIRECTORY_PRIVATE:
		get_part(c, &item->part, s);
		break;
	case DIRECTORY_PLAIN:
		item->plain.type = get_u32(c);
		break;
	default:
		return false;
	}
	s->end_bytes = item->off_bytes + item->file_bytes;
	return cursor_ok(c);
}

/* The bytes before compression, owned by the caller; no item can need more than DIRECTORY_ITEM_MAX. */
static int directory_unpack(const uint8_t *data, size_t size_bytes, uint64_t data_bytes,
			    uint8_t **out, size_t *out_bytes, struct parse_err *err)
{
	unsigned long long raw_bytes = ZSTD_getFrameContentSize(data, size_bytes);
	uint8_t *raw;
	size_t n;

	if (raw_bytes == ZSTD_CONTENTSIZE_ERROR || raw_bytes == ZSTD_CONTENTSIZE_UNKNOWN ||
	    raw_bytes < DIRECTORY_HEADER_BYTES ||
	    (raw_bytes - DIRECTORY_HEADER_BYTES) / DIRECTORY_ITEM_MAX >
		    data_bytes / EBX_PRIVATE_MIN_BYTES)
		return parse_fail(err, -EBADMSG, 0, "directory with an impossible size");
	raw = malloc(raw_bytes);
	if (!raw)
		return -ENOMEM;
	n = ZSTD_decompress(raw, raw_bytes, data, size_bytes);
	if (ZSTD_isError(n) || n != raw_bytes) {
		free(raw);
		return parse_fail(err, -EBADMSG, 0, "directory does not decompress");
	}
	*out = raw;
	*out_bytes = n;
	return 0;
}

int directory_decode(const uint8_t *data, size_t size_bytes, uint64_t data_off, uint64_t data_end,
		     int (*on_item)(void *ctx, const struct directory_item *item), void *ctx,
		     struct parse_err *err)
{
	struct directory_state state = { .end_bytes = data_off };
	struct directory_item item;
	uint8_t *raw = NULL;
	size_t raw_bytes = 0;
	struct cursor c;
	uint64_t count;
	int ret;

	if (data_end < data_off)
		return parse_fail(err, -EBADMSG, 0, "directory of an impossible data section");
	ret = directory_unpack(data, size_bytes, data_end - data_off, &raw, &raw_bytes, err);
	if (ret)
		return ret;
	c = cursor_of(raw, raw_bytes);
	if (memcmp(cursor_bytes(&c, 8), DIRECTORY_MAGIC, 8)) {
		ret = parse_fail(err, -EBADMSG, 0, "no directory");
		goto out;
	}
	count = cursor_u64(&c);
	if (count > cursor_left(&c) / DIRECTORY_ITEM_MIN) {
		ret = parse_fail(err, -EBADMSG, 8, "directory with an impossible count");
		goto out;
	}
	while (count--) {
		size_t off = c.off_bytes;

		if (!get_item(&c, &state, data_end, &item)) {
			ret = parse_fail(err, -EBADMSG, off, "broken directory item");
			goto out;
		}
		ret = on_item(ctx, &item);
		if (ret)
			goto out;
	}
out:
	free(raw);
	return ret;
}
