/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capture - opens a capture, or any perf.data, for reading
 *
 * One reader for four kinds of file: our captures (finished, live or truncated), perf's own files
 * (plain, -z, COMPRESSED2), and perf's pipe format.  Opening checks the header, collects attrs and
 * features and finds every block; it trusts no length and allocates nothing by a number from the
 * file that the file's size does not cover.  Damage is not an error: the readable parts are
 * returned, and capture_damage() counts the others.
 *
 * A block is the unit of reading: a run of complete records.  In our captures each block is
 * independent (capture_is_divisible()), and blocks may be read by several threads at once, each
 * with a record_iter of its own.  In perf's -z files the blocks hang together and are read in
 * order.
 *
 * The file is read with pread into buffers and never mapped: a mapped file that shrinks (a network
 * mount, a recording that is deleted) would end the process.  Headers and sections are copied at
 * opening, blocks are read one at a time by their record_iter: about 0.5 MiB each.  All results
 * live as long as the capture.
 */
#ifndef EBPREC_FORMAT_READER_CAPTURE_H
#define EBPREC_FORMAT_READER_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/ebx_records.h"
#include "format/perf/perffile.h"

struct capture; /* opaque; read-only after opening, free of locks */

enum capture_kind {
	CAPTURE_EBX,  /* ours */
	CAPTURE_PERF, /* perf's file format */
	CAPTURE_PIPE, /* perf's pipe format */
};

struct capture_attr {
	struct perf_event_attr attr; /* as many fields as the file has, the rest zero */
	const uint64_t *ids;
	size_t id_count;
	const char *name; /* from EVENT_DESC or EVENT_UPDATE; "" when the file has none */
};

/* Whether the event only records comm, mmap and so on, and has no samples: perf's "dummy". */
static inline bool capture_attr_is_side(const struct capture_attr *a)
{
	return a->attr.type == PERF_TYPE_SOFTWARE && a->attr.config == PERF_COUNT_SW_DUMMY;
}

struct capture_bytes {
	const uint8_t *data; /* NULL: absent */
	size_t size_bytes;
};

/* A block's stream in perf's files. */
#define CAPTURE_STREAM_MIXED 0

struct capture_block {
	uint64_t off_bytes;  /* of the record (or of the first record of a plain run) in the file */
	uint32_t file_bytes; /* record(s) as stored */
	uint32_t raw_bytes;  /* decompressed; 0: not known (perf's own compressed records) */
	uint8_t stream;      /* enum ebx_stream, or CAPTURE_STREAM_MIXED */
	bool compressed;
	uint64_t t_min_ns, t_max_ns;                     /* 0, UINT64_MAX: not known */
	uint32_t record_count, sample_count, lost_count; /* 0 when not known */
	uint64_t cpu_mask; /* bit (cpu % 64) of each sample's CPU; 0: not known */
};

struct capture_object {
	uint16_t kind; /* enum ebx_kind */
	uint64_t object;
	uint64_t raw_bytes, file_bytes;
	uint32_t part_count;
	bool is_complete; /* all parts up to the last one are there */
};

/* Damage of the file.  All zero: none. */
struct capture_damage {
	bool unfinished;        /* ours, state LIVE: a crash, or still being recorded */
	bool cut;               /* the file ends before its data section does, by the header */
	uint64_t cut_off_bytes; /* where the last complete record ended */
	uint32_t bad_blocks;    /* with a wrong header, up to the next valid one each */
	uint64_t bad_bytes;     /* file bytes left out with them */
	uint32_t bad_sections;  /* feature sections, attrs or directory unreadable */
	uint32_t missing_seq;   /* blocks and private records that are missing, by their numbers */
	uint32_t unknown_records; /* of an unknown type: skipped */
	uint32_t unknown_blocks;  /* of an unknown stream: listed, not read */
	struct parse_err first;   /* the first of all these; what == NULL: none */
};

/*
 * Opens path, or standard input for "-" (spooled to an unlinked temporary file unless it is
 * a regular file); also a page that carries a capture.  -EBADMSG: not a perf.data file; -ENOTSUP: big-endian or an old magic; -ENODATA: empty
 * or cut inside the header; else errno.  err may be NULL.
 */
int capture_open(const char *path, struct capture **out, struct parse_err *err);
/* data is borrowed until capture_close(). */
int capture_from_bytes(const void *data, size_t size_bytes, struct capture **out,
		       struct parse_err *err);
void capture_close(struct capture *c); /* NULL is fine */

enum capture_kind capture_get_kind(const struct capture *c);
uint64_t capture_file_bytes(const struct capture *c);
/* The bytes of the file as it is; of one that came through a pipe or in a page, those of the capture. */
struct source;
const struct source *capture_source(const struct capture *c);
/*
 * Whether a file of this path begins as captures do (ebprec's, perf's, also what perf wrote that ebprec cannot
 * read): 1, 0 (also: no regular file is there), or negative errno: it cannot be read.
 */
int capture_begins_at(const char *path);
/* Whether path is the file that was opened, by this or another name. */
bool capture_is_file(const struct capture *c, uint64_t dev, uint64_t ino);
/* Our superblock; NULL in perf's files. */
const struct ebx_super *capture_super(const struct capture *c);
/* The damage that opening found; record_iter checks the contents. */
const struct capture_damage *capture_damage(const struct capture *c);
/* The data section as it was found: its start, and the end of its last complete record. */
void capture_data_range(const struct capture *c, uint64_t *start_bytes, uint64_t *end_bytes);
/* One moment on the sample clock and on the wall clock; false when the file has none. */
bool capture_clock(const struct capture *c, uint64_t *sample_ns, uint64_t *wall_ns);

const struct capture_attr *capture_attrs(const struct capture *c, size_t *count);
/* The attr that has this id; with one attr only, that one for any id.  NULL: none. */
const struct capture_attr *capture_attr_by_id(const struct capture *c, uint64_t id);

struct capture_bytes capture_feature(const struct capture *c, unsigned bit);
/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID: the string in the section, or NULL. */
const char *capture_feature_string(const struct capture *c, unsigned bit);

const struct capture_block *capture_blocks(const struct capture *c, size_t *count);
bool capture_is_divisible(const struct capture *c);

const struct capture_object *capture_objects(const struct capture *c, size_t *count);

/*
 * The unpacked size of all complete objects, and its limit: CAPTURE_UNPACK_FREE_BYTES and
 * CAPTURE_UNPACK_RATIO times their size in the file, unless another limit is set.  Above the limit
 * no object is unpacked (-EOVERFLOW): a few kilobytes could fill the memory.
 */
#define CAPTURE_UNPACK_FREE_BYTES (64ULL << 20)
#define CAPTURE_UNPACK_RATIO      64
uint64_t capture_unpacked_bytes(const struct capture *c);
uint64_t capture_unpack_limit(const struct capture *c);
void capture_set_unpack_limit(struct capture *c, uint64_t bytes);

/*
 * The object's bytes, parts joined; *out is owned (free()).  -EBADMSG, -ENODATA (not complete),
 * -EOVERFLOW (see above), -ENOMEM.
 */
int capture_object_read(const struct capture *c, const struct capture_object *o, uint8_t **out,
			size_t *size_bytes);
/*
 * The same for callers that read many objects: the decompressor is made once.  For one thread; c
 * outlives it. -ENOMEM; *out untouched on failure.
 */
struct capture_unpacker; /* opaque */
int capture_unpacker_new(const struct capture *c, struct capture_unpacker **out);
int capture_unpacker_read(struct capture_unpacker *u, const struct capture_object *o, uint8_t **out,
			  size_t *size_bytes);
void capture_unpacker_free(struct capture_unpacker *u); /* NULL is fine */

/* How many blocks all iterators have read so far, each reading counted; *all: how many the file
 * has. */
uint64_t capture_blocks_read(const struct capture *c, uint64_t *all);

/* ---- records ---- */

struct record {
	const struct perf_event_header
		*header;         /* 8-aligned, complete; borrowed until the next call */
	uint64_t file_off_bytes; /* of the block it came from */
	uint32_t block;          /* index into capture_blocks() */
};

struct record_iter; /* opaque; one thread */

/*
 * Walks the records of blocks [first, first + count) whose stream is in stream_mask (bit 1 <<
 * stream; CAPTURE_STREAM_MIXED blocks are always walked), in file order.  Unless the capture is
 * divisible, first must be 0 and count SIZE_MAX.  Private and COMPRESSED records are not yielded; in
 * foreign files all others are, also user-space ones.
 */
int record_iter_new(const struct capture *c, uint32_t stream_mask, size_t first, size_t count,
		    struct record_iter **out);
/* The same with an existing iterator, whose buffers are used again.  Divisible captures only. */
void record_iter_seek(struct record_iter *it, size_t first, size_t count);
/* 1: *out is the next record; 0: the end.  Damage is skipped, and counted in record_iter_damage(). */
int record_iter_next(struct record_iter *it, struct record *out);
/* Whether the last record stays valid when the next one is read. */
bool record_iter_keeps(const struct record_iter *it);
/* Blocks that did not decompress or held a broken record, so far. */
uint32_t record_iter_damage(const struct record_iter *it);
void record_iter_free(struct record_iter *it);

#endif
