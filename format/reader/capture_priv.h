/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* capture_priv - shared by the files that implement capture.h; no other file includes it */
#ifndef EBPREC_FORMAT_READER_CAPTURE_PRIV_H
#define EBPREC_FORMAT_READER_CAPTURE_PRIV_H

#include <stdlib.h>

#include "format/reader/capture.h"
#include "format/base/vec.h"
#include "format/reader/record_scan.h"

/* One part of a private object, as the walk or the directory found it. */
struct capture_part {
	uint64_t object, off_bytes;
	uint32_t part, raw_bytes, file_bytes;
	uint16_t kind;
	bool last;
};

struct id_entry {
	uint64_t id;
	size_t attr;
};

struct capture {
	struct source source;
	enum capture_kind kind;
	bool has_super;
	bool divisible;
	struct ebx_super super;
	struct capture_damage damage;

	/* The file header, pipe mode: attrs and features empty, data to the end. */
	uint64_t attr_entry_bytes, attrs_off_bytes, attrs_size_bytes;
	uint64_t data_off_bytes, data_size_bytes; /* by the header */
	uint64_t data_end_bytes;                  /* behind the last complete record */
	uint64_t feature_bits[4];
	uint32_t header_crc32c; /* of the file header as it is in the file */

	struct capture_attr *attrs; /* with ids and name owned */
	size_t attr_count, attr_room;
	struct id_entry *ids; /* sorted by id */
	size_t id_count;
	struct capture_bytes features[PERFFILE_FEATURE_BITS]; /* data is owned */
	uint64_t loaded_bytes; /* of ids and features: never more than the file has */

	struct capture_block *blocks;
	size_t block_count, block_room;
	struct capture_part *parts;
	size_t part_count, part_room;
	struct capture_object *objects;
	size_t *object_parts; /* index of each object's first part */
	size_t object_count;
	uint64_t unpacked_bytes, unpack_limit; /* of all complete objects */
	uint64_t next_seq;
	uint64_t *blocks_read; /* counted by all iterators; owned */
};

/* Stores the first error. */
static inline void damage_note(struct capture *c, uint64_t off_bytes, const char *what)
{
	if (!c->damage.first.what)
		c->damage.first = (struct parse_err){ .offset_bytes = off_bytes, .what = what };
}

/* Adds a block behind the others; copies it.  -ENOMEM. */
static inline int capture_add_block(struct capture *c, const struct capture_block *block)
{
	if (vec_reserve(&c->blocks, &c->block_room, c->block_count + 1))
		return -ENOMEM;
	c->blocks[c->block_count++] = *block;
	return 0;
}

/* ---- capture_head.c: attrs, ids, features ---- */

/* Reads file header and superblock into *c. */
int capture_read_header(struct capture *c, struct parse_err *err);
/* Reads attrs and feature sections; a broken one is counted as damage. -ENOMEM. */
int capture_read_sections(struct capture *c);
/* Adds an attr of size_bytes bytes and its ids.  -ENOMEM. */
int capture_add_attr(struct capture *c, const uint8_t *attr, size_t size_bytes, const uint8_t *ids,
		     size_t id_count);
/* Copies a section, the first of its bit.  -ENOMEM. */
int capture_add_feature(struct capture *c, unsigned bit, const uint8_t *data, size_t size_bytes);
/* Names attr i; name need not end in a NUL.  -ENOMEM. */
int capture_name_attr(struct capture *c, size_t i, const uint8_t *name, size_t size_bytes);
/* When all attrs are there: names from EVENT_DESC, the table of ids.  -ENOMEM. */
int capture_finish_attrs(struct capture *c);

/* ---- capture_scan.c: our files ---- */

/* Finds all blocks and parts, by the directory or by a walk; finishes the attrs.  -ENOMEM. */
int capture_scan(struct capture *c);

/* ---- perf_data.c: perf's files ---- */

/* Walks perf's data section, or a pipe's stream; finishes the attrs.  -ENOMEM. */
int capture_walk_foreign(struct capture *c);

/* ---- private_objects.c ---- */

/* Joins the parts to objects, and sets the limit of unpacking.  -ENOMEM. */
int capture_group_objects(struct capture *c);

#endif
