/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The head of a capture (FORMAT.md 2 and 3).  The fields that change during a recording lie
 * together at the front, so that one small pwrite, inside one disk sector most of the time, brings
 * it up to date.
 */
#include "format/writer/writer_priv.h"

#include "format/base/crc32c.h"
#include "format/base/cursor.h"

#define SAMPLE_TIME_BYTES    16
#define COMPRESSED_BYTES     20
#define RATIO_OFF            12 /* in the COMPRESSED section */
#define TABLE_ENTRY_BYTES    16
#define COMPRESSED_TYPE_ZSTD PERFFILE_COMPRESSED_ZSTD

/* The features whose contents the writer makes itself. */
static bool feature_is_ours(unsigned bit)
{
	return bit == PERFFILE_BUILD_ID || bit == PERFFILE_SAMPLE_TIME ||
	       bit == PERFFILE_COMPRESSED;
}

int writer_check_opts(const struct writer_opts *opts)
{
	if (!opts->attr_count || opts->level < 1 || opts->level > 19)
		return -EINVAL;
	for (size_t i = 0; i < opts->attr_count; i++)
		if (!opts->attrs[i].id_count)
			return -EINVAL;
	for (size_t i = 0; i < opts->feature_count; i++) {
		unsigned bit = opts->features[i].bit;

		if (!bit || bit >= PERFFILE_FEATURE_BITS || feature_is_ours(bit))
			return -EINVAL;
		for (size_t j = 0; j < i; j++)
			if (opts->features[j].bit == bit)
				return -EINVAL;
	}
	return 0;
}

static bool bit_is_set(const uint64_t bits[4], unsigned bit)
{
	return bits[bit / 64] >> (bit % 64) & 1;
}

size_t writer_table_entry_off(const uint64_t bits[4], unsigned bit)
{
	size_t before = 0;

	for (unsigned i = 0; i < bit; i++)
		before += bit_is_set(bits, i);
	return before * TABLE_ENTRY_BYTES;
}

static void table_set(struct writer *w, unsigned bit, uint64_t off_bytes, uint64_t size_bytes)
{
	uint8_t *entry = w->table.data + writer_table_entry_off(w->super.feature_bits, bit);

	le64_store(entry, off_bytes);
	le64_store(entry + 8, size_bytes);
}

/* Appends a section and notes its place in the table. */
static int add_section(struct writer *w, unsigned bit, const void *data, size_t size_bytes)
{
	int err = buf_pad(&w->head, 8);

	if (err)
		return err;
	table_set(w, bit, w->head.size_bytes, size_bytes);
	return buf_add(&w->head, data, size_bytes);
}

/* The sections that each flush writes again; BUILD_ID is empty until the end. */
static int add_rolling_sections(struct writer *w)
{
	uint8_t comp[COMPRESSED_BYTES];
	int err;

	w->sample_time_off_bytes = w->head.size_bytes;
	err = add_section(w, PERFFILE_SAMPLE_TIME, NULL, SAMPLE_TIME_BYTES);
	if (err || w->plain)
		return err;
	le32_store(comp, PERFFILE_COMPRESSED_VERSION);
	le32_store(comp + 4, COMPRESSED_TYPE_ZSTD);
	le32_store(comp + 8, (uint32_t)w->level);
	le32_store(comp + RATIO_OFF, 1);
	le32_store(comp + 16, EBX_MMAP_LEN);
	w->compressed_off_bytes = w->head.size_bytes;
	return add_section(w, PERFFILE_COMPRESSED, comp, sizeof(comp));
}

static int add_static_sections(struct writer *w, const struct writer_opts *opts)
{
	for (unsigned bit = 0; bit < PERFFILE_FEATURE_BITS; bit++) {
		for (size_t i = 0; i < opts->feature_count; i++) {
			const struct writer_feature *f = &opts->features[i];
			int err;

			if (f->bit != bit)
				continue;
			err = add_section(w, bit, f->data, f->size_bytes);
			if (err)
				return err;
		}
	}
	return 0;
}

/* The ids of all attrs, then the attrs, each with the place of its ids. */
static int add_attrs(struct writer *w, const struct writer_opts *opts)
{
	uint64_t ids_off, attrs_off;
	int err = buf_pad(&w->head, 8);

	ids_off = w->head.size_bytes;
	for (size_t i = 0; !err && i < opts->attr_count; i++)
		err = buf_add(&w->head, opts->attrs[i].ids, 8 * opts->attrs[i].id_count);
	attrs_off = w->head.size_bytes;
	for (size_t i = 0; !err && i < opts->attr_count; i++) {
		const struct writer_attr *a = &opts->attrs[i];
		struct perf_event_attr attr = a->attr;
		uint8_t entry[WRITER_ATTR_ENTRY_BYTES] = { 0 };

		attr.size = WRITER_ATTR_BYTES;
		memcpy(entry, &attr,
		       sizeof(attr) < WRITER_ATTR_BYTES ? sizeof(attr) : WRITER_ATTR_BYTES);
		le64_store(entry + WRITER_ATTR_BYTES, ids_off);
		le64_store(entry + WRITER_ATTR_BYTES + 8, 8 * a->id_count);
		ids_off += 8 * a->id_count;
		err = buf_add(&w->head, entry, sizeof(entry));
	}
	if (err)
		return err;
	le64_store(w->head.data + 24, attrs_off);
	le64_store(w->head.data + 32, opts->attr_count * WRITER_ATTR_ENTRY_BYTES);
	return 0;
}

static void set_bits(struct writer *w, const struct writer_opts *opts)
{
	uint64_t *bits = w->super.feature_bits;

	bits[0] = 1ULL << PERFFILE_BUILD_ID | 1ULL << PERFFILE_SAMPLE_TIME;
	if (!w->plain)
		bits[0] |= 1ULL << PERFFILE_COMPRESSED;
	for (size_t i = 0; i < opts->feature_count; i++)
		bits[opts->features[i].bit / 64] |= 1ULL << (opts->features[i].bit % 64);
}

/* Writes the file header without attrs and data, which are not known yet. */
static void put_file_header(struct writer *w)
{
	uint8_t *h = w->head.data;

	le64_store(h, PERFFILE_MAGIC);
	le64_store(h + 8, PERFFILE_HEADER_BYTES);
	le64_store(h + 16, WRITER_ATTR_ENTRY_BYTES);
	for (unsigned i = 0; i < 4; i++)
		le64_store(h + 72 + 8 * i, w->super.feature_bits[i]);
}

int writer_build_head(struct writer *w, const struct writer_opts *opts)
{
	const uint64_t *bits = w->super.feature_bits;
	size_t entries;
	int err;

	w->super.version = EBX_VERSION;
	w->super.state = EBX_LIVE;
	memcpy(w->super.uuid, opts->uuid, sizeof(w->super.uuid));
	w->super.clock_mono_ns = opts->clock_mono_ns;
	w->super.clock_wall_ns = opts->clock_wall_ns;
	set_bits(w, opts);
	entries = writer_table_entry_off(bits, PERFFILE_FEATURE_BITS);
	err = buf_add(&w->table, NULL, entries);
	if (!err)
		err = buf_add(&w->head, NULL, PERFFILE_HEADER_BYTES);
	if (!err && !w->plain)
		err = buf_add(&w->head, NULL, EBX_SUPER_BYTES + entries);
	if (err)
		return err;
	put_file_header(w);
	w->build_id_entry_off_bytes = writer_table_entry_off(bits, PERFFILE_BUILD_ID);
	err = add_rolling_sections(w);
	if (!err)
		err = buf_pad(&w->head, 8);
	w->super.static_off_bytes = w->head.size_bytes;
	if (!err)
		err = add_static_sections(w, opts);
	if (!err)
		err = add_attrs(w, opts);
	if (!err)
		err = buf_pad(&w->head, EBX_HEAD_BYTES);
	if (err)
		return err;
	w->super.static_crc32c = crc32c(0, w->head.data + w->super.static_off_bytes,
					w->head.size_bytes - w->super.static_off_bytes);
	w->data_off_bytes = w->head.size_bytes;
	w->super.data_off_bytes = w->data_off_bytes;
	le64_store(w->head.data + 40, w->data_off_bytes);
	table_set(w, PERFFILE_BUILD_ID, w->data_off_bytes, 0);
	return 0;
}

static uint32_t head_crc(const struct writer *w)
{
	const uint8_t *h = w->head.data;
	uint32_t crc = crc32c(0, h, PERFFILE_HEADER_BYTES);

	crc = crc32c(crc, h + w->sample_time_off_bytes, SAMPLE_TIME_BYTES);
	return crc32c(crc, h + w->compressed_off_bytes, COMPRESSED_BYTES);
}

void writer_update_head(struct writer *w)
{
	uint64_t stored = w->end_bytes - w->data_off_bytes;
	uint64_t ratio = stored ? w->stats.raw_bytes / stored : 0;
	uint8_t *h = w->head.data;

	le64_store(h + PERFFILE_DATA_SIZE_OFF, stored);
	le64_store(h + w->sample_time_off_bytes, w->first_ns);
	le64_store(h + w->sample_time_off_bytes + 8, w->last_ns);
	if (w->plain)
		return;
	le32_store(h + w->compressed_off_bytes + RATIO_OFF, ratio ? (uint32_t)ratio : 1);
	memcpy(h + EBX_SUPER_OFF + EBX_SUPER_BYTES, w->table.data, w->table.size_bytes);
	w->super.table_crc32c = crc32c(0, w->table.data, w->table.size_bytes);
	if (w->super.static_off_bytes) /* a recovered capture of an older writer keeps its version */
		w->super.head_crc32c = head_crc(w);
	ebx_super_encode(&w->super, h + EBX_SUPER_OFF);
}
