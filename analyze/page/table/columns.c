/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/table/columns.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/base/base64.h"
#include "format/base/vec.h"

/*
 * Packing takes longest for tables of many samples, in which hardly any sequence of numbers comes again.  Z_RLE packs a million
 * samples and their CPUs into 1.68 and 0.45 MB in 0.04 s, level 3 into 1.57 and 0.50 MB in 0.11 s, level 6 into 1.63 and 0.46 MB in
 * 0.33 s; 406,352 real samples into 0.85 MB in place of 0.78.  Other tables would be up to twice as large by Z_RLE; what is small gets
 * 3 % smaller by level 6.
 */
#define FAST_FROM_BYTES (1u << 20)
#define FAST_LEVEL      3
/*
 * By which zlib chooses after how many symbols it begins new codes: 4096 here.  First bytes of numbers need others than second ones; with
 * its own 8 (16,384 symbols) pages with switches are 1 to 2 % larger.
 */
#define MEMORY_LEVEL 6

/* ---- filling ---- */

static struct page_table *last_table(struct page_columns *p)
{
	return &p->tables[p->table_count - 1];
}

void page_columns_begin_table(struct page_columns *p, const char *name, uint64_t rows)
{
	if (p->bad || vec_reserve(&p->tables, &p->table_capacity, p->table_count + 1)) {
		p->bad = true;
		return;
	}
	p->tables[p->table_count++] = (struct page_table){ .name = name, .rows = rows };
	outbuf_clear(&p->raw);
	p->column_from = 0;
}

/* The place in its number of the byte behind this one.  Without a branch, which could not be foreseen. */
static size_t next_place(size_t place, uint8_t byte)
{
	return (place + 1) & -(size_t)(byte >> 7);
}

/* Puts the first bytes of all numbers of the last column first, then the second ones, and so on. */
static void split_bytes(struct page_columns *p, size_t size_bytes)
{
	size_t counts[PAGE_VARINT_BYTES_MAX] = { 0 }, place = 0;
	uint8_t *to[PAGE_VARINT_BYTES_MAX], *at;
	const uint8_t *from;

	outbuf_clear(&p->last);
	outbuf_add(&p->last, p->raw.data + p->column_from, size_bytes);
	if (!outbuf_ok(&p->last)) {
		p->bad = true;
		return;
	}
	from = p->last.data;
	for (size_t i = 0; i < size_bytes; i++) {
		counts[place]++;
		place = next_place(place, from[i]);
	}
	at = p->raw.data + p->column_from;
	for (size_t k = 0; k < PAGE_VARINT_BYTES_MAX; at += counts[k++])
		to[k] = at;
	for (size_t i = 0; i < size_bytes; i++) {
		*to[place]++ = from[i];
		place = next_place(place, from[i]);
	}
}

/* Only now it is known where the last column ends. */
static void end_column(struct page_columns *p)
{
	struct page_table *t = last_table(p);
	struct page_column *c;

	if (t->column_count) {
		c = &t->columns[t->column_count - 1];
		c->bytes = p->raw.size_bytes - p->column_from;
		if (outbuf_ok(&p->raw) && c->bytes > t->rows && strcmp(c->kind, "text"))
			split_bytes(p, c->bytes);
	}
	p->column_from = p->raw.size_bytes;
}

static void begin_column(struct page_columns *p, const char *name, const char *kind)
{
	struct page_table *t;

	if (p->bad)
		return;
	end_column(p);
	t = last_table(p);
	if (t->column_count == PAGE_TABLE_COLUMNS)
		p->bad = true;
	else
		t->columns[t->column_count++] = (struct page_column){ name, kind, 0 };
}

void page_columns_begin(struct page_columns *p, const char *name)
{
	begin_column(p, name, "u");
}

void page_columns_begin_signed(struct page_columns *p, const char *name)
{
	begin_column(p, name, "z");
}

void page_columns_begin_differences(struct page_columns *p, const char *name)
{
	begin_column(p, name, "d");
	p->before = 0;
}

void page_columns_begin_text(struct page_columns *p, const char *name)
{
	begin_column(p, name, "text");
}

void page_columns_put_signed(struct page_columns *p, int64_t value)
{
	page_columns_put(p, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void page_columns_put_difference(struct page_columns *p, int64_t value)
{
	page_columns_put_signed(p, value - p->before);
	p->before = value;
}

void page_columns_put_text(struct page_columns *p, const char *text, size_t size_bytes)
{
	outbuf_add(&p->raw, text, size_bytes);
	outbuf_add(&p->raw, "", 1);
}

/* ---- packing ---- */

/* zlib counts in unsigned int, so larger inputs go in by pieces. */
static int deflate_into(const struct outbuf *raw, bool repeats, uint8_t *out, size_t room,
			size_t *size_bytes)
{
	bool large = raw->size_bytes >= FAST_FROM_BYTES;
	z_stream z = { 0 };
	size_t given = 0, taken = 0;
	int rc = Z_OK;

	if (deflateInit2(&z, large ? FAST_LEVEL : Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS,
			 MEMORY_LEVEL, large && !repeats ? Z_RLE : Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	while (rc == Z_OK) {
		size_t in = raw->size_bytes - given, free_bytes = room - taken;

		z.next_in = raw->data + given;
		z.avail_in = in > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)in;
		z.next_out = out + taken;
		z.avail_out = free_bytes > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)free_bytes;
		rc = deflate(&z, z.avail_in == in ? Z_FINISH : Z_NO_FLUSH);
		given = (size_t)(z.next_in - raw->data);
		taken = (size_t)(z.next_out - out);
	}
	deflateEnd(&z);
	*size_bytes = taken;
	return rc == Z_STREAM_END ? 0 : -ENOMEM;
}

static void end_table(struct page_columns *p, bool repeats)
{
	size_t size_bytes, room;
	uint8_t *packed;

	if (p->bad || !outbuf_ok(&p->raw)) {
		p->bad = true;
		return;
	}
	end_column(p);
	last_table(p)->raw_bytes = p->raw.size_bytes;
	/* The most that deflate may need, for inputs of any size. */
	room = p->raw.size_bytes + p->raw.size_bytes / 1000 + 64 * 1024;
	packed = malloc(room);
	if (!packed || deflate_into(&p->raw, repeats, packed, room, &size_bytes))
		p->bad = true;
	else
		base64_add(&last_table(p)->block, packed, size_bytes);
	free(packed);
	p->bad |= !outbuf_ok(&last_table(p)->block);
}

void page_columns_end_table(struct page_columns *p)
{
	end_table(p, true);
}

void page_columns_end_sample_table(struct page_columns *p)
{
	end_table(p, false);
}

bool page_columns_ok(const struct page_columns *p)
{
	return !p->bad;
}

void page_columns_done(struct page_columns *p)
{
	for (size_t i = 0; i < p->table_count; i++)
		outbuf_done(&p->tables[i].block);
	free(p->tables);
	outbuf_done(&p->raw);
	outbuf_done(&p->last);
	*p = (struct page_columns){ 0 };
}
