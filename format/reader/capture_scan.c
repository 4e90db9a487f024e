/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Finds the blocks and private records of our captures (FORMAT.md 4.4).
 *
 * A finished capture has a directory.  Everything else is walked, record header by record header,
 * and a walk is also the answer to a directory that is missing or broken.  Where the chain of
 * records breaks, the walk looks for the next place that can only be ours: a block header or a
 * private record with a right checksum.
 *
 * Behind the end that the file header names there may be one more flush, when the recorder died
 * between its two writes.  A record there is accepted only if its number is the next one and the
 * checksum of all its bytes is right.
 */
#include "format/reader/capture_priv.h"

#include <errno.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/base/vec.h"

/* ---- items, from the walk or the directory ---- */

static void add_saturated(uint32_t *to, uint64_t n)
{
	*to = n > UINT32_MAX - *to ? UINT32_MAX : *to + (uint32_t)n;
}

static void note_seq(struct capture *c, uint64_t seq)
{
	if (seq > c->next_seq)
		add_saturated(&c->damage.missing_seq, seq - c->next_seq);
	if (seq >= c->next_seq)
		c->next_seq = seq + 1;
}

static int add_part(struct capture *c, const struct directory_item *item)
{
	const struct ebx_private *p = &item->part;

	if (vec_reserve(&c->parts, &c->part_room, c->part_count + 1))
		return -ENOMEM;
	c->parts[c->part_count++] = (struct capture_part){
		.object = p->object,
		.off_bytes = item->off_bytes,
		.part = p->part,
		.raw_bytes = p->raw_bytes,
		.file_bytes = item->file_bytes,
		.kind = p->kind,
		.last = p->flags & EBX_PRIVATE_LAST,
	};
	return 0;
}

static int add_item(void *ctx, const struct directory_item *item)
{
	struct capture *c = ctx;
	struct capture_block block = {
		.off_bytes = item->off_bytes,
		.file_bytes = item->file_bytes,
	};

	switch (item->type) {
	case DIRECTORY_PRIVATE:
		note_seq(c, item->part.seq);
		return add_part(c, item);
	case DIRECTORY_PLAIN:
		block.raw_bytes = item->file_bytes;
		block.stream = CAPTURE_STREAM_MIXED;
		block.t_max_ns = UINT64_MAX;
		block.record_count = 1;
		block.sample_count = item->plain.type == PERF_RECORD_SAMPLE;
		return capture_add_block(c, &block);
	case DIRECTORY_BLOCK:
		break;
	}
	note_seq(c, item->block.seq);
	block.raw_bytes = item->block.raw_bytes;
	block.stream = item->block.stream;
	block.compressed = true;
	block.t_min_ns = item->block.t_min_ns;
	block.t_max_ns = item->block.t_max_ns;
	block.record_count = item->block.record_count;
	block.sample_count = item->block.sample_count;
	block.lost_count = item->block.lost_count;
	block.cpu_mask = item->block.cpu_mask;
	if (!block.stream || block.stream >= EBX_STREAM_END)
		add_saturated(&c->damage.unknown_blocks, 1);
	return capture_add_block(c, &block);
}

/* ---- the walk ---- */

struct walk {
	struct capture *c;
	struct record_scan chain;
	uint64_t off_bytes;
	uint64_t end_bytes; /* of the data section, by the header and the file's size */
};

/* Skips a break in the chain. */
static void step_over(struct walk *w, const struct parse_err *err)
{
	struct capture *c = w->c;
	uint64_t to = record_scan_step_over(&w->chain, w->off_bytes, w->end_bytes);

	damage_note(c, w->off_bytes + err->offset_bytes, err->what);
	add_saturated(&c->damage.bad_blocks, 1);
	c->damage.bad_bytes += to - w->off_bytes;
	w->off_bytes = to;
}

/* Walks the section that the header names. */
static int walk_declared(struct walk *w)
{
	struct capture *c = w->c;

	while (w->off_bytes < w->end_bytes) {
		struct parse_err err;
		struct directory_item item;
		enum record_scan_found found = record_scan_look(&w->chain, w->off_bytes,
								w->end_bytes, &item, &err);
		int ret = 0;

		if (found == RECORD_SCAN_NOTHING) {
			step_over(w, &err);
			continue;
		}
		if (found == RECORD_SCAN_UNKNOWN)
			add_saturated(&c->damage.unknown_records, 1);
		if (found == RECORD_SCAN_ITEM)
			ret = add_item(c, &item);
		if (ret)
			return ret;
		w->off_bytes += item.file_bytes;
		c->data_end_bytes = w->off_bytes;
	}
	return 0;
}

/* Whether this record, behind the declared end, is complete and has the right checksum. */
static bool proven(struct walk *w, const struct directory_item *item)
{
	if (item->type == DIRECTORY_PLAIN)
		return false;
	return (item->type == DIRECTORY_PRIVATE ? item->part.seq : item->block.seq) ==
		       w->c->next_seq &&
	       record_scan_proves(&w->chain, item);
}

/* Walks on behind the declared end, where a flush that was interrupted between its two writes left
 * records. */
static int walk_undeclared(struct walk *w)
{
	struct capture *c = w->c;
	uint64_t end = c->source.size_bytes;

	for (;;) {
		struct parse_err err;
		struct directory_item item;
		enum record_scan_found found = record_scan_look(&w->chain, w->off_bytes, end, &item,
								&err);
		int ret;

		if (found == RECORD_SCAN_OTHER) {
			/* FINISHED_ROUND ends a flush; perf sees it only with what is before it. */
			w->off_bytes += item.file_bytes;
			continue;
		}
		if (found != RECORD_SCAN_ITEM || !proven(w, &item))
			return 0;
		ret = add_item(c, &item);
		if (ret)
			return ret;
		w->off_bytes += item.file_bytes;
		c->data_end_bytes = w->off_bytes;
	}
}

static int walk_all(struct capture *c)
{
	struct walk w = { .c = c, .off_bytes = c->data_off_bytes };
	uint64_t size = c->source.size_bytes;
	bool live = !c->has_super || c->super.state == EBX_LIVE;
	int err;

	c->data_end_bytes = c->data_off_bytes;
	if (c->data_off_bytes > size || c->data_size_bytes > size - c->data_off_bytes) {
		w.end_bytes = size;
		c->damage.cut = true;
		damage_note(c, size, "the file ends before its data does");
	} else {
		w.end_bytes = c->data_off_bytes + c->data_size_bytes;
	}
	record_scan_init(&w.chain, &c->source);
	err = walk_declared(&w);
	if (!err && live && !c->damage.cut)
		err = walk_undeclared(&w);
	if (w.chain.window.no_memory)
		err = -ENOMEM;
	record_scan_done(&w.chain);
	c->damage.cut_off_bytes = c->damage.cut ? c->data_end_bytes : 0;
	return err;
}

/* ---- the directory ---- */

/* The directory's bytes, owned; -EBADMSG: there is none that can be used. */
static int load_directory(struct capture *c, uint8_t **out, size_t *size_bytes,
			  struct parse_err *err)
{
	uint64_t off = c->super.dir_off_bytes, size = c->super.dir_size_bytes;
	uint64_t file_bytes = c->source.size_bytes;
	struct ebx_trailer t;
	uint8_t *dir;

	if (off > file_bytes || size > file_bytes - off ||
	    EBX_TRAILER_BYTES > file_bytes - off - size)
		return parse_fail(err, -EBADMSG, 0, "directory outside of the file");
	dir = malloc(size + EBX_TRAILER_BYTES);
	if (!dir)
		return -ENOMEM;
	if (source_read(&c->source, off, dir, size + EBX_TRAILER_BYTES) !=
		    size + EBX_TRAILER_BYTES ||
	    ebx_trailer_decode(dir + size, EBX_TRAILER_BYTES, &t, err) || t.dir_off_bytes != off ||
	    t.dir_size_bytes != size || t.crc32c != crc32c(0, dir, size)) {
		free(dir);
		return parse_fail(err, -EBADMSG, 0, "directory checksum");
	}
	*out = dir;
	*size_bytes = size;
	return 0;
}

static int read_directory(struct capture *c, struct parse_err *err)
{
	uint64_t end = c->data_off_bytes + c->data_size_bytes;
	uint8_t *dir = NULL;
	size_t size = 0;
	int ret;

	if (end < c->data_off_bytes || end > c->source.size_bytes)
		return parse_fail(err, -EBADMSG, 0, "data outside of the file");
	ret = load_directory(c, &dir, &size, err);
	if (ret)
		return ret;
	ret = directory_decode(dir, size, c->data_off_bytes, end, add_item, c, err);
	free(dir);
	if (!ret)
		c->data_end_bytes = end;
	return ret;
}

static int scan_items(struct capture *c)
{
	struct parse_err err = { 0 };
	struct capture_damage before;
	int ret;

	c->damage.unfinished = !c->has_super || c->super.state == EBX_LIVE;
	before = c->damage;
	if (c->damage.unfinished || !c->super.dir_off_bytes)
		return walk_all(c);
	ret = read_directory(c, &err);
	if (!ret || ret == -ENOMEM)
		return ret;
	c->block_count = c->part_count = 0;
	c->next_seq = 0;
	c->damage = before;
	c->damage.bad_sections++;
	damage_note(c, c->super.dir_off_bytes, err.what);
	return walk_all(c);
}

int capture_scan(struct capture *c)
{
	int err;

	c->divisible = true;
	err = scan_items(c);
	return err ? err : capture_finish_attrs(c);
}
