/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * t3walk - checks a capture against docs/FORMAT.md, byte by byte
 *
 * Written from the document and not from the reader: it shares no code with it but the checksum,
 * so that a mistake of writer and reader together does not go unseen.  Checks that every record
 * has a size and type that all perf readers can live with, that each frame decompresses alone to
 * complete records and agrees with its header, that numbers and back links are without gaps, that
 * the FINISHED_ROUND contract holds, and that the directory lists what the walk finds.
 * The file is read into memory at once: for tests.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/base/crc32c.h"

#define RECORD_MAX  65528
#define RAW_MAX     (256 << 10)
#define PLAIN_MIN   60000 /* a plain record is one that no frame can hold */
#define STREAMS     256
#define KNOWN_FLAGS 0xffffffffULL

/* The item that the directory must have for one record. */
struct item {
	uint64_t type, off, size;
	uint64_t field[9]; /* in the order of the directory */
	unsigned fields;
};

struct file {
	const char *path;
	uint8_t *data;
	uint64_t size;
	uint64_t data_off, data_end, super_dir_off, super_dir_size;
	uint32_t state;
	unsigned table_entries;
	struct item *items;
	size_t item_count;
	uint64_t seq, prev_off[STREAMS];
	uint64_t max_ns, max_ns_rounds[2]; /* up to now, up to the last round, the one before */
	uint64_t records, frames, parts, plain, rounds, inner_records, samples, raw_bytes;
};

__attribute__((format(printf, 3, 4), noreturn)) static void fail(const struct file *f, uint64_t off,
								 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "t3walk: %s at %" PRIu64 ": ", f->path, off);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static void load(struct file *f)
{
	FILE *in = fopen(f->path, "rbe");
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0)
		fail(f, 0, "cannot be read");
	rewind(in);
	f->size = (uint64_t)size;
	f->data = malloc(f->size + 1);
	f->items = calloc(f->size / 80 + 1, sizeof(*f->items));
	if (!f->data || !f->items || fread(f->data, 1, f->size, in) != f->size)
		fail(f, 0, "cannot be read");
	fclose(in);
}

/* ---- head ---- */

static void check_head(struct file *f)
{
	const uint8_t *d = f->data, *s = f->data + 104;
	uint8_t copy[256];
	uint64_t flags;

	if (f->size < 4096 || memcmp(d, "PERFILE2", 8) || get(d + 8, 8) != 104)
		fail(f, 0, "no perf.data header");
	if (get(d + 16, 8) != 144 || get(d + 32, 8) % 144 || !get(d + 32, 8))
		fail(f, 16, "attr section");
	f->data_off = get(d + 40, 8);
	f->data_end = f->data_off + get(d + 48, 8);
	if (f->data_off % 4096 || f->data_off < 4096 || f->data_end > f->size ||
	    f->data_end < f->data_off)
		fail(f, 40, "data section");
	flags = get(d + 72, 8);
	if (flags & ~KNOWN_FLAGS || get(d + 80, 8) || get(d + 88, 8) || get(d + 96, 8))
		fail(f, 72, "feature bits that perf does not have");
	f->table_entries = (unsigned)__builtin_popcountll(flags);
	if (memcmp(s, "EBPREC1\n", 8) || get(s + 8, 4) != 1)
		fail(f, 104, "no superblock");
	memcpy(copy, s, sizeof(copy));
	memset(copy + 12, 0, 4);
	if (crc32c(0, copy, sizeof(copy)) != get(s + 12, 4))
		fail(f, 116, "superblock checksum");
	if (get(s + 32, 8) != f->data_off || get(s + 48, 8) != flags)
		fail(f, 136, "superblock and file header differ");
	f->state = (uint32_t)get(s + 40, 4);
	f->super_dir_off = get(s + 96, 8);
	f->super_dir_size = get(s + 104, 8);
}

/* Where the section of a feature lies, by its bit. */
static uint64_t section_at(const struct file *f, unsigned bit, uint64_t *size)
{
	uint64_t below = get(f->data + 72, 8) & ((1ULL << bit) - 1);
	const uint8_t *entry = f->data + 360 + 16 * __builtin_popcountll(below);

	*size = get(entry + 8, 8);
	return get(entry, 8);
}

static void check_sums(const struct file *f)
{
	const uint8_t *s = f->data + 104;
	uint64_t off = get(s + 120, 8), size;
	uint32_t crc = crc32c(0, f->data, 104);

	if (off < 360 || off > f->data_off)
		fail(f, 224, "start of what does not change");
	if (crc32c(0, f->data + off, f->data_off - off) != get(s + 128, 4))
		fail(f, 232, "checksum of what does not change");
	off = section_at(f, 21, &size);
	crc = crc32c(crc, f->data + off, size);
	off = section_at(f, 27, &size);
	if (crc32c(crc, f->data + off, size) != get(s + 132, 4))
		fail(f, 236, "checksum of the file header");
	off = section_at(f, 2, &size);
	if (size && crc32c(0, f->data + off, size) != get(s + 136, 4))
		fail(f, 240, "checksum of the build-ids");
}

static void check_table(const struct file *f)
{
	uint64_t size = 16 * (uint64_t)f->table_entries;
	const uint8_t *front = f->data + 360;

	if (f->data_end + size > f->size)
		fail(f, f->data_end, "feature table is cut");
	if (memcmp(front, f->data + f->data_end, size))
		fail(f, f->data_end, "feature table and its copy differ");
	if (crc32c(0, front, size) != get(f->data + 148, 4))
		fail(f, 148, "checksum of the feature table");
	check_sums(f);
	for (unsigned i = 0; i < f->table_entries; i++) {
		uint64_t off = get(front + 16 * i, 8), bytes = get(front + 16 * i + 8, 8);

		if (off > f->size || bytes > f->size - off)
			fail(f, f->data_end + 16 * i, "feature section outside of the file");
		if (off < f->data_end && off + bytes > f->data_off)
			fail(f, f->data_end + 16 * i, "feature section inside the data");
	}
}

/* ---- data section ---- */

static struct item *add_item(struct file *f, uint64_t type, uint64_t off, uint64_t size)
{
	struct item *it = &f->items[f->item_count++];

	*it = (struct item){ .type = type, .off = off, .size = size };
	return it;
}

static void check_seq(struct file *f, uint64_t off, uint64_t seq)
{
	if (seq != f->seq)
		fail(f, off, "number %" PRIu64 " instead of %" PRIu64, seq, f->seq);
	f->seq++;
}

/* The records in a decompressed frame; *samples_out counts those of type 9. */
static uint64_t count_inside(const struct file *f, uint64_t off, const uint8_t *raw, size_t size,
			     uint64_t *samples_out)
{
	uint64_t count = 0, samples = 0;

	for (size_t at = 0; at < size; count++) {
		uint64_t bytes = size - at >= 8 ? get(raw + at + 6, 2) : 0;
		uint64_t type = size - at >= 8 ? get(raw + at, 4) : 0;

		if (bytes < 8 || bytes % 8 || bytes > size - at)
			fail(f, off, "record of %" PRIu64 " bytes at %zu of the frame", bytes, at);
		if (!type || type >= 64)
			fail(f, off, "record of type %" PRIu64 " inside a frame", type);
		samples += type == 9;
		at += bytes;
	}
	*samples_out = samples;
	return count;
}

static void check_zstd(const struct file *f, uint64_t off, const uint8_t *z, size_t size,
		       uint64_t raw_size, const uint8_t *h)
{
	static uint8_t raw[RAW_MAX];
	uint64_t samples;
	size_t n;

	if (size < 5 || get(z, 4) != 0xfd2fb528 || !(z[4] & 4))
		fail(f, off, "no zstd frame with a checksum");
	if (ZSTD_findFrameCompressedSize(z, size) != size)
		fail(f, off, "not exactly one zstd frame");
	if (raw_size > RAW_MAX || ZSTD_getFrameContentSize(z, size) != raw_size)
		fail(f, off, "content size");
	n = ZSTD_decompress(raw, sizeof(raw), z, size);
	if (ZSTD_isError(n) || n != raw_size || !n)
		fail(f, off, "frame does not decompress alone to %" PRIu64 " bytes", raw_size);
	if (count_inside(f, off, raw, n, &samples) != get(h + 36, 4))
		fail(f, off, "record count");
	if (samples != get(h + 40, 4))
		fail(f, off, "sample count");
}

/* No record after FINISHED_ROUND n may be older than one before round n - 1. */
static void check_round(struct file *f, uint64_t off, uint64_t t_min, uint64_t t_max)
{
	if (t_min > t_max)
		fail(f, off, "t_min behind t_max");
	if (t_min && t_min < f->max_ns_rounds[1])
		fail(f, off, "older than the round before the last: %" PRIu64 " < %" PRIu64, t_min,
		     f->max_ns_rounds[1]);
	if (t_max > f->max_ns)
		f->max_ns = t_max;
}

static void check_frame(struct file *f, uint64_t off, uint64_t size)
{
	const uint8_t *rec = f->data + off, *h = rec + 16;
	uint64_t skip = size >= 96 ? get(rec + 12, 4) : 0;
	struct item *it = add_item(f, 2, off, size);

	if (size < 96 || get(rec + 8, 4) != 0x184d2a5b || skip < 72 || skip > 79 ||
	    16 + skip >= size)
		fail(f, off, "no frame header");
	if (memcmp(h, "EBF1", 4) || h[5] != 1 || crc32c(0, h, 68) != get(h + 68, 4))
		fail(f, off, "frame header");
	for (uint64_t i = 72; i < skip; i++)
		if (h[i])
			fail(f, off, "padding that is not zero");
	if (crc32c(0, h + skip, size - 16 - skip) != get(h + 64, 4))
		fail(f, off, "frame checksum");
	check_seq(f, off, get(h + 8, 8));
	if (get(h + 48, 8) != f->prev_off[h[4]])
		fail(f, off, "link to the frame before");
	f->prev_off[h[4]] = off;
	check_round(f, off, get(h + 16, 8), get(h + 24, 8));
	check_zstd(f, off, h + skip, size - 16 - skip, get(h + 32, 4), h);
	it->field[0] = h[4];
	for (unsigned i = 0; i < 3; i++)
		it->field[1 + i] = get(h + 8 + 8 * i, 8);
	for (unsigned i = 0; i < 4; i++)
		it->field[4 + i] = get(h + 32 + 4 * i, 4);
	it->field[8] = get(h + 56, 8);
	it->fields = 9;
	f->frames++;
	f->raw_bytes += get(h + 32, 4);
	f->inner_records += get(h + 36, 4);
	f->samples += get(h + 40, 4);
}

static void check_part(struct file *f, uint64_t off, uint64_t size)
{
	const uint8_t *p = f->data + off;
	struct item *it = add_item(f, 3, off, size);
	uint64_t payload = size >= 80 ? get(p + 40, 4) : 0;

	if (size < 80 || memcmp(p + 8, "EBX1", 4) || payload > size - 48)
		fail(f, off, "private record");
	if (crc32c(crc32c(0, p + 48, payload), p, 44) != get(p + 44, 4))
		fail(f, off, "private record checksum");
	check_seq(f, off, get(p + 16, 8));
	it->field[0] = get(p + 12, 2);
	it->field[1] = get(p + 14, 2);
	it->field[2] = get(p + 16, 8);
	it->field[3] = get(p + 32, 4);
	it->field[4] = get(p + 24, 8);
	it->field[5] = get(p + 36, 4);
	it->field[6] = payload;
	it->fields = 7;
	f->parts++;
}

static void check_records(struct file *f)
{
	for (uint64_t off = f->data_off; off < f->data_end; f->records++) {
		uint64_t left = f->data_end - off;
		uint64_t type = left >= 8 ? get(f->data + off, 4) : 0;
		uint64_t size = left >= 8 ? get(f->data + off + 6, 2) : 0;

		if (size < 8 || size % 8 || size > left || size > RECORD_MAX)
			fail(f, off, "record of %" PRIu64 " bytes", size);
		if (type == 81) {
			check_frame(f, off, size);
		} else if (type == 65) {
			check_part(f, off, size);
		} else if (type == 68) {
			f->max_ns_rounds[1] = f->max_ns_rounds[0];
			f->max_ns_rounds[0] = f->max_ns;
			f->rounds++;
		} else if (type && type < 64 && size >= PLAIN_MIN) {
			struct item *it = add_item(f, 1, off, size);

			it->field[0] = type;
			it->fields = 1;
			f->plain++;
		} else if (type != 82) {
			fail(f, off, "record of type %" PRIu64, type);
		}
		off += size;
	}
}

/* ---- directory ---- */

struct bytes {
	const struct file *f;
	const uint8_t *p, *end;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 64; shift += 7) {
		v |= (uint64_t)(*b->p & 0x7f) << shift;
		if (!(*b->p++ & 0x80))
			return v;
	}
	fail(b->f, b->f->super_dir_off, "broken number in the directory");
}

static uint64_t signed_varint(struct bytes *b)
{
	uint64_t v = varint(b);

	return v >> 1 ^ -(v & 1);
}

/* One item of the directory; last_* are the values of the one before it. */
static void read_item(struct bytes *b, struct item *it, uint64_t *last_end, uint64_t *last_seq,
		      uint64_t *last_ns)
{
	it->type = varint(b);
	it->off = *last_end + 8 * varint(b);
	it->size = 8 * varint(b);
	*last_end = it->off + it->size;
	it->fields = it->type == 2 ? 9 : it->type == 3 ? 7 : 1;
	for (unsigned i = 0; i < it->fields; i++) {
		if (it->type == 2 && i >= 1 && i <= 3)
			it->field[i] = (i == 1   ? *last_seq
					: i == 2 ? *last_ns
						 : it->field[2]) +
				       signed_varint(b);
		else if (it->type == 3 && i == 2)
			it->field[i] = *last_seq + signed_varint(b);
		else
			it->field[i] = varint(b);
	}
	if (it->type == 2) {
		*last_seq = it->field[1] + 1;
		*last_ns = it->field[2];
	} else if (it->type == 3) {
		*last_seq = it->field[2] + 1;
	}
}

static void compare_items(const struct file *f, struct bytes *b)
{
	uint64_t last_end = f->data_off, last_seq = 0, last_ns = 0;

	for (size_t i = 0; i < f->item_count; i++) {
		const struct item *want = &f->items[i];
		struct item it = { 0 };

		read_item(b, &it, &last_end, &last_seq, &last_ns);
		if (it.type != want->type || it.off != want->off || it.size != want->size)
			fail(f, want->off, "the directory has another record here");
		for (unsigned k = 0; k < it.fields; k++)
			if (it.field[k] != want->field[k])
				fail(f, want->off,
				     "field %u is %" PRIu64 " in the directory, %" PRIu64
				     " in the record",
				     k, it.field[k], want->field[k]);
	}
	if (b->p != b->end)
		fail(f, f->super_dir_off, "the directory goes on behind its last item");
}

static void check_directory(const struct file *f)
{
	uint64_t off = f->super_dir_off, size = f->super_dir_size;
	const uint8_t *t = f->data + f->size - 32;
	struct bytes b = { .f = f };
	uint8_t *raw;
	size_t room;

	if (off + size + 32 != f->size || off < f->data_end)
		fail(f, off, "directory and trailer are not the end of the file");
	if (memcmp(t, "EBXDIR1\n", 8) || crc32c(0, t, 28) != get(t + 28, 4) ||
	    get(t + 8, 8) != off || get(t + 16, 8) != size)
		fail(f, f->size - 32, "trailer");
	if (crc32c(0, f->data + off, size) != get(t + 24, 4))
		fail(f, off, "directory checksum");
	room = ZSTD_getFrameContentSize(f->data + off, size);
	raw = room < (1u << 30) ? malloc(room + 1) : NULL;
	if (!raw || room < 16 || ZSTD_decompress(raw, room, f->data + off, size) != room ||
	    memcmp(raw, "EBXITEMS", 8))
		fail(f, off, "directory does not decompress");
	if (get(raw + 8, 8) != f->item_count)
		fail(f, off, "directory has %" PRIu64 " items, the file %zu", get(raw + 8, 8),
		     f->item_count);
	b.p = raw + 16;
	b.end = raw + room;
	compare_items(f, &b);
	free(raw);
}

int main(int argc, char **argv)
{
	struct file f = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: t3walk FILE\n");
		return 2;
	}
	f.path = argv[1];
	load(&f);
	check_head(&f);
	check_records(&f);
	check_table(&f);
	if (f.state)
		check_directory(&f);
	printf("state %" PRIu32 " records %" PRIu64 " frames %" PRIu64 " parts %" PRIu64
	       " plain %" PRIu64 " rounds %" PRIu64 " inner %" PRIu64 " samples %" PRIu64
	       " raw %" PRIu64 " file %" PRIu64 "\n",
	       f.state, f.records, f.frames, f.parts, f.plain, f.rounds, f.inner_records, f.samples,
	       f.raw_bytes, f.size);
	free(f.items);
	free(f.data);
	return 0;
}
