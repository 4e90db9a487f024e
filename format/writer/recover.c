/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The plan is a writer that continues the file of another one: its head is read back, its directory
 * is fed by the walk, and applying it is what writer_finish() does.
 */
#include "format/writer/recover.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/vec.h"
#include "format/perf/build_id_feature.h"
#include "format/reader/capture_priv.h"
#include "format/reader/record_scan.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "format/writer/writer_priv.h"

#define COVER_MAGIC "GAP1" /* of a kind that no private record has */

struct gap {
	uint64_t off_bytes, size_bytes;
};

struct recovery {
	const struct capture *c;
	struct source source;
	struct record_scan chain;
	struct writer *w;
	struct gap *gaps;
	size_t gap_count, gap_room;
	struct recover_report report;
};

/* ---- the head ---- */

/* Where the section of a feature lies, if it is in the head, behind the table. */
static bool section_in_head(const struct recovery *r, unsigned bit, size_t size_bytes,
			    size_t *off_bytes)
{
	const struct writer *w = r->w;
	const uint8_t *entry;
	uint64_t off;

	if (!(w->super.feature_bits[0] >> bit & 1))
		return false;
	entry = w->table.data + writer_table_entry_off(w->super.feature_bits, bit);
	off = le64_load(entry);
	if (le64_load(entry + 8) != size_bytes ||
	    off < EBX_SUPER_OFF + EBX_SUPER_BYTES + w->table.size_bytes ||
	    off > w->data_off_bytes - size_bytes)
		return false;
	*off_bytes = (size_t)off;
	return true;
}

static int read_into(const struct recovery *r, struct buf *to, uint64_t off_bytes,
		     size_t size_bytes)
{
	int err = buf_reserve(to, size_bytes);

	if (err)
		return err;
	if (source_read(&r->source, off_bytes, to->data, size_bytes) != size_bytes)
		return -ENODATA;
	to->size_bytes = size_bytes;
	return 0;
}

/* Superblock and table have checksums; what the file header must be follows from them. */
static int mend_head(struct recovery *r)
{
	struct writer *w = r->w;
	uint8_t *h = w->head.data, *compressed = h + w->compressed_off_bytes;
	uint8_t *before = malloc(w->head.size_bytes);

	if (!before)
		return -ENOMEM;
	memcpy(before, h, w->head.size_bytes);
	le64_store(h, PERFFILE_MAGIC);
	le64_store(h + 8, PERFFILE_HEADER_BYTES);
	le64_store(h + 16, WRITER_ATTR_ENTRY_BYTES);
	le64_store(h + 40, w->data_off_bytes);
	memset(h + 56, 0, 16);
	for (unsigned i = 0; i < 4; i++)
		le64_store(h + 72 + 8 * i, w->super.feature_bits[i]);
	le32_store(compressed, PERFFILE_COMPRESSED_VERSION);
	le32_store(compressed + 4, PERFFILE_COMPRESSED_ZSTD);
	le32_store(compressed + 16, EBX_MMAP_LEN);
	r->report.head_mended = memcmp(before, h, w->head.size_bytes);
	free(before);
	return 0;
}

/* Rebuilds head and table as the writer had them in memory. */
static int load_head(struct recovery *r, struct parse_err *err)
{
	struct writer *w = r->w;
	size_t table_off = EBX_SUPER_OFF + EBX_SUPER_BYTES, table_bytes;
	int rc;

	w->super = *capture_super(r->c);
	w->data_off_bytes = w->super.data_off_bytes;
	table_bytes = writer_table_entry_off(w->super.feature_bits, PERFFILE_FEATURE_BITS);
	if (w->data_off_bytes % EBX_HEAD_BYTES || w->data_off_bytes < table_off + table_bytes)
		return parse_fail(err, -EBADMSG, EBX_SUPER_OFF, "superblock with impossible sizes");
	if (w->data_off_bytes > r->source.size_bytes)
		return parse_fail(err, -ENODATA, r->source.size_bytes,
				  "cut inside the head, before anything was recorded");
	rc = read_into(r, &w->table, table_off, table_bytes);
	if (rc)
		return parse_fail(err, rc, table_off, "feature table");
	if (crc32c(0, w->table.data, table_bytes) != w->super.table_crc32c)
		return parse_fail(err, -EBADMSG, table_off, "checksum of the feature table");
	if (!section_in_head(r, PERFFILE_SAMPLE_TIME, 16, &w->sample_time_off_bytes) ||
	    !section_in_head(r, PERFFILE_COMPRESSED, 20, &w->compressed_off_bytes) ||
	    w->compressed_off_bytes < w->sample_time_off_bytes ||
	    !(w->super.feature_bits[0] >> PERFFILE_BUILD_ID & 1))
		return parse_fail(err, -EBADMSG, table_off, "feature table without what is needed");
	w->build_id_entry_off_bytes = writer_table_entry_off(w->super.feature_bits,
							     PERFFILE_BUILD_ID);
	rc = read_into(r, &w->head, 0, w->compressed_off_bytes + 20);
	if (rc)
		return parse_fail(err, rc, 0, "file header");
	return mend_head(r);
}

/* ---- the walk ---- */

/* Where the data ends, by the header. */
static uint64_t header_end(const struct recovery *r)
{
	uint64_t data_bytes = le64_load(r->w->head.data + PERFFILE_DATA_SIZE_OFF);

	return data_bytes < UINT64_MAX - r->w->data_off_bytes ? r->w->data_off_bytes + data_bytes
							      : UINT64_MAX;
}

/*
 * Classifies the record at off_bytes, if it is valid.  A plain record has no checksum, so behind
 * the end that the header names it is not accepted; neither is an unknown type, which would stop
 * perf.
 */
static enum record_scan_found look(struct recovery *r, uint64_t off_bytes,
				   struct directory_item *item)
{
	struct parse_err err;
	enum record_scan_found found = record_scan_look(&r->chain, off_bytes, r->source.size_bytes,
							item, &err);

	if (found == RECORD_SCAN_ITEM && item->type == DIRECTORY_PLAIN)
		return off_bytes + item->file_bytes <= header_end(r) ? found : RECORD_SCAN_NOTHING;
	if (found == RECORD_SCAN_ITEM && !record_scan_proves(&r->chain, item))
		return RECORD_SCAN_NOTHING;
	return found == RECORD_SCAN_UNKNOWN ? RECORD_SCAN_NOTHING : found;
}

static int add_gap(struct recovery *r, uint64_t from_bytes, uint64_t to_bytes)
{
	if (vec_reserve(&r->gaps, &r->gap_room, r->gap_count + 1))
		return -ENOMEM;
	r->gaps[r->gap_count++] = (struct gap){ from_bytes, to_bytes - from_bytes };
	r->report.broken_bytes += to_bytes - from_bytes;
	r->report.broken_places++;
	return 0;
}

static int add_item(struct recovery *r, const struct directory_item *item)
{
	struct writer *w = r->w;
	const struct ebx_block *f = &item->block;

	if (item->type == DIRECTORY_BLOCK) {
		r->report.block_count++;
		if (f->stream == EBX_STREAM_CPU)
			r->report.sample_count += f->sample_count;
		else
			r->report.other_count += f->sample_count;
		w->stats.raw_bytes += f->raw_bytes;
		if (f->sample_count && f->t_min_ns && (!w->first_ns || f->t_min_ns < w->first_ns))
			w->first_ns = f->t_min_ns;
		if (f->sample_count && f->t_max_ns > w->last_ns)
			w->last_ns = f->t_max_ns;
	}
	return directory_encoder_add(&w->dir, item);
}

/*
 * Walks to the end of the file, whichever end the header has: the feature table behind the data
 * looks like no record (the high half of an offset would be its size) and holds none.
 */
static int walk(struct recovery *r)
{
	struct writer *w = r->w;
	uint64_t off = w->data_off_bytes, end_bytes = r->source.size_bytes, next;
	struct directory_item item;
	int err = 0;

	w->end_bytes = off;
	w->dir.state.end_bytes = off;
	while (!err && off < end_bytes) {
		switch (look(r, off, &item)) {
		case RECORD_SCAN_ITEM:
			err = add_item(r, &item);
			/* fall through */
		case RECORD_SCAN_OTHER:
			off += item.file_bytes;
			w->end_bytes = off;
			continue;
		default:
			break;
		}
		next = record_scan_step_over(&r->chain, off, end_bytes);
		if (next == end_bytes)
			break;
		err = add_gap(r, off, next);
		off = next;
	}
	return err;
}

/* ---- what was found, and what is missing ---- */

static bool table_follows(struct recovery *r)
{
	const struct buf *table = &r->w->table;
	const uint8_t *there = window_at(&r->chain.window, r->w->end_bytes, table->size_bytes);

	return there && !memcmp(there, table->data, table->size_bytes);
}

static bool trailer_is_right(struct recovery *r)
{
	uint64_t file_bytes = r->source.size_bytes;
	const struct ebx_super *s = capture_super(r->c);
	struct ebx_trailer t;
	const uint8_t *p;

	p = file_bytes < EBX_TRAILER_BYTES
		    ? NULL
		    : window_at(&r->chain.window, file_bytes - EBX_TRAILER_BYTES,
				EBX_TRAILER_BYTES);
	return p && !ebx_trailer_decode(p, EBX_TRAILER_BYTES, &t, NULL) &&
	       t.dir_off_bytes == s->dir_off_bytes && t.dir_size_bytes == s->dir_size_bytes;
}

static void judge(struct recovery *r)
{
	struct recover_report *report = &r->report;
	struct writer *w = r->w;
	bool table = table_follows(r);
	uint64_t end = header_end(r);

	report->is_complete = w->super.state != EBX_LIVE && end == w->end_bytes && !r->gap_count &&
			      !report->head_mended && table && trailer_is_right(r);
	report->valid_bytes = w->end_bytes;
	if (w->super.state == EBX_LIVE) /* the flush that the recorder was writing */
		end = r->source.size_bytes;
	report->lost_bytes = !table && end > w->end_bytes ? end - w->end_bytes : 0;
	report->is_truncated = report->lost_bytes && end > r->source.size_bytes;
	report->first_ns = w->first_ns;
	report->last_ns = w->last_ns;
}

int recovery_plan(const struct capture *c, int fd, struct recovery **out, struct parse_err *err)
{
	struct recovery *r;
	struct stat st;
	int rc;

	if (!capture_super(c))
		return parse_fail(err, -ENOTSUP, EBX_SUPER_OFF, "not a capture of ebprec");
	if (fstat(fd, &st))
		return -errno;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->c = c;
	r->source = (struct source){ .fd = fd, .size_bytes = (uint64_t)st.st_size };
	record_scan_init(&r->chain, &r->source);
	r->w = calloc(1, sizeof(*r->w));
	if (r->w)
		r->w->spill_fd = -1;
	rc = r->w ? load_head(r, err) : -ENOMEM;
	if (!rc)
		rc = walk(r);
	if (!rc) {
		judge(r);
		*out = r;
		return 0;
	}
	recovery_free(r);
	return rc;
}

void recovery_get_report(const struct recovery *r, struct recover_report *out)
{
	*out = r->report;
}

void recovery_free(struct recovery *r)
{
	if (!r)
		return;
	record_scan_done(&r->chain);
	writer_free(r->w);
	free(r->gaps);
	free(r);
}

/* ---- applying ---- */

/* Overwrites the start of a broken range with record headers and a magic; the bytes behind them
 * stay. */
static int cover_gap(int fd, const struct gap *gap)
{
	uint64_t off = gap->off_bytes, left = gap->size_bytes, size;
	uint8_t head[12] = { [8] = COVER_MAGIC[0], COVER_MAGIC[1], COVER_MAGIC[2], COVER_MAGIC[3] };
	int err = 0;

	for (; !err && left; off += size, left -= size) {
		size = left < PERFFILE_RECORD_MAX ? left : PERFFILE_RECORD_MAX;
		if (left > size && left - size < EBX_PRIVATE_MIN_BYTES)
			size -= EBX_PRIVATE_MIN_BYTES; /* so that the last one is long enough, too */
		le32_store(head, PERFFILE_RECORD_PRIVATE);
		le16_store(head + 6, (uint16_t)size);
		err = full_write_at(fd, head, size < sizeof(head) ? 8 : sizeof(head), off);
	}
	return err;
}

/* The build-ids of all mappings in the capture. */
static int collect_build_ids(const struct capture *c, struct build_id_list *list)
{
	static const struct perf_event_attr none;
	struct record_iter *it;
	struct perfrec_side side;
	struct record rec;
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	int err = record_iter_new(c, 1U << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while ((err = record_iter_next(it, &rec)) > 0) {
		if (rec.header->type != PERF_RECORD_MMAP2 ||
		    perfrec_side(rec.header, rec.header->size, count ? &attrs->attr : &none, &side,
				 NULL) ||
		    !side.mmap.id.build_id.size_bytes)
			continue;
		err = build_id_list_add(list, &side.mmap.id.build_id, side.mmap.path,
					(side.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
						PERF_RECORD_MISC_KERNEL);
		if (err == -ENOMEM)
			break;
	}
	record_iter_free(it);
	return err == -ENOMEM ? err : 0;
}

static int finish(struct recovery *r)
{
	struct capture_bytes old = capture_feature(r->c, PERFFILE_BUILD_ID);
	struct writer_feature ids = { PERFFILE_BUILD_ID, old.data, old.size_bytes };
	struct build_id_list *list = NULL;
	int err = 0;

	if (!old.size_bytes) {
		err = build_id_list_new(&list);
		if (!err)
			err = collect_build_ids(r->c, list);
		if (!err)
			ids.data = build_id_list_section(list, &ids.size_bytes);
	}
	if (!err)
		err = writer_seal(r->w, ids.size_bytes ? &ids : NULL, EBX_RECOVERED);
	build_id_list_free(list);
	return err;
}

int recovery_apply(struct recovery *r, int fd)
{
	struct writer *w = r->w;
	int err = 0;

	w->fd = fd;
	w->super.dir_off_bytes = 0;
	w->super.dir_size_bytes = 0;
	w->super.build_id_crc32c = 0;
	/* A truncated section behind the data is no section. */
	le64_store(w->table.data + w->build_id_entry_off_bytes, w->data_off_bytes);
	le64_store(w->table.data + w->build_id_entry_off_bytes + 8, 0);
	for (size_t i = 0; !err && i < r->gap_count; i++)
		err = cover_gap(fd, &r->gaps[i]);
	if (!err)
		err = full_write_at(fd, w->table.data, w->table.size_bytes, w->end_bytes);
	if (!err)
		err = finish(r);
	if (!err && ftruncate(fd, (off_t)w->stats.file_bytes))
		err = -errno;
	if (!err && fsync(fd))
		err = -errno;
	return err;
}
