/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebx_records - the parts of a capture that make it more than a perf.data file
 *
 * A capture is a valid perf.data file.  The additions of ebprec lie where other readers do not
 * look: a superblock in the gap behind the file header, a header in front of each compressed block
 * (in a zstd skippable frame), private records of the retired type 65, and a directory behind the
 * feature table.  docs/FORMAT.md is the specification; the section numbers below are its.
 *
 * These functions only know the byte layouts: they encode a struct to bytes and decode bytes to a
 * struct.  Decoders check magic, version and checksum, and leave *out untouched on failure.
 */
#ifndef EBPREC_FORMAT_READER_EBX_RECORDS_H
#define EBPREC_FORMAT_READER_EBX_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/err.h"

/* ---- streams: what kind of records a block holds (FORMAT.md 4.1) ---- */
enum ebx_stream {
	EBX_STREAM_SIDE = 1,   /* comm, fork, exit, mmap2, namespaces, cgroup, ksymbol, lost... */
	EBX_STREAM_CPU = 2,    /* samples of attr[0] */
	EBX_STREAM_SCHED = 3,  /* sched tracepoints */
	EBX_STREAM_MARK = 4,   /* ebprec:mark */
	EBX_STREAM_METRIC = 5, /* rows of instruments' tables */
	EBX_STREAM_END,        /* one past the last; unknown streams are skipped and counted */
};

/* "side", "cpu", ...; "unknown" for anything else. */
const char *ebx_stream_name(unsigned stream);

/* ---- superblock at file offset 104 (FORMAT.md 3) ---- */
#define EBX_SUPER_OFF   104
#define EBX_SUPER_BYTES 256
#define EBX_HEAD_BYTES \
	4096 /* the static sections end on a multiple of this: the data starts there */
#define EBX_VERSION 1

enum ebx_state {
	EBX_LIVE = 0,      /* being written, or truncated by a crash */
	EBX_CLEAN = 1,     /* finished */
	EBX_RECOVERED = 2, /* completed by `ebprec recover` */
};

struct ebx_super {
	uint32_t version;
	uint32_t state; /* enum ebx_state */
	uint8_t uuid[16];
	uint64_t data_off_bytes;
	uint64_t feature_bits[4]; /* the bits of the feature table behind the data */
	uint64_t clock_mono_ns;   /* one moment on CLOCK_MONOTONIC ... */
	uint64_t clock_wall_ns;   /* ... and on CLOCK_REALTIME */
	uint64_t dir_off_bytes;   /* 0 until the capture is finished */
	uint64_t dir_size_bytes;
	uint32_t table_crc32c; /* of the copy of the feature table right behind the superblock */
	/* The bytes from here to the data never change: sections, ids, attrs. 0: the checksums
	 * below are absent. */
	uint64_t static_off_bytes;
	uint32_t static_crc32c;
	uint32_t head_crc32c;     /* of the file header, then SAMPLE_TIME, then COMPRESSED */
	uint32_t build_id_crc32c; /* of the BUILD_ID section */
};

void ebx_super_encode(const struct ebx_super *s, uint8_t out[EBX_SUPER_BYTES]);
/* -ENODATA: too short; -EBADMSG: magic or checksum; -ENOTSUP: a later version. */
int ebx_super_decode(const uint8_t *data, size_t size_bytes, struct ebx_super *out,
		     struct parse_err *err);

/* ---- block header, inside a zstd skippable frame (FORMAT.md 4.2) ---- */
#define EBX_SKIPPABLE_MAGIC 0x184D2A5BU
#define EBX_BLOCK_BYTES     72          /* the encoded struct ebx_block */
#define EBX_RAW_MAX         (256 << 10) /* most bytes of records in one block */
#define EBX_MMAP_LEN        (512 << 10) /* the limit in the COMPRESSED feature */

struct ebx_block {
	uint8_t stream; /* enum ebx_stream */
	uint64_t seq;   /* 0, 1, 2... over all blocks and private records of the file */
	uint64_t t_min_ns, t_max_ns;
	uint32_t raw_bytes;    /* the records, decompressed */
	uint32_t record_count; /* complete records in it */
	uint32_t sample_count; /* how many of them are PERF_RECORD_SAMPLE */
	uint32_t lost_count;   /* events of this stream lost before this block and after the last */
	uint64_t
		prev_off_bytes; /* file offset of the previous block's record of this stream, 0: none */
	uint64_t cpu_mask;      /* bit (cpu % 64) of each sample's CPU; 0: not known */
	uint32_t crc32c;        /* of the zstd frame that follows */
};

void ebx_block_encode(const struct ebx_block *f, uint8_t out[EBX_BLOCK_BYTES]);
int ebx_block_decode(const uint8_t *data, size_t size_bytes, struct ebx_block *out,
		     struct parse_err *err);

/* ---- private record: perf_event_header.type 65 (FORMAT.md 5) ---- */
#define EBX_PRIVATE_HEADER_BYTES 48 /* includes the 8 bytes of perf_event_header */
#define EBX_PRIVATE_MIN_BYTES    80 /* perf >= 7 warns about a shorter one: padded */

enum ebx_kind {
	EBX_META = 1,   /* JSON text; object: enum ebx_meta_object */
	EBX_MOUNTS = 2, /* mountinfo of a mount namespace; object: its inode, 0: the recorder's */
	/*
	 * u16 name length, name, bytes of the file; object: a running number.  Objects with the same
	 * name are pieces of one file, to be concatenated in the order of their numbers: the symbols
	 * of "/proc/kallsyms" that samples need are written as the samples come.
	 */
	EBX_FILE = 3,
	EBX_SYMTAB = 4,      /* symbol table of a file; object: a running number */
	EBX_NOTE = 8,        /* text for people: errors of the recording */
	EBX_FACTS = 9,       /* facts about mapped files: format/payload/file_facts.h */
	EBX_ARGS = 10,       /* command lines of processes: format/payload/cmdline_record.h */
	EBX_CONTAINERS = 11, /* names of containers: format/payload/container_record.h */
	EBX_BORDER = 12,     /* of a slice: scheduler events and marks around it: FORMAT.md 5.6 */
	EBX_CONTEXTS = 13,   /* process contexts: format/payload/context_record.h */
};

enum ebx_meta_object {
	EBX_META_START = 1,   /* the machine and the options: written first */
	EBX_META_ACCOUNT = 2, /* the account: written last; absent after a crash */
	EBX_META_PARTS = 3,   /* the times of a merged capture's parts */
};

enum ebx_private_flags {
	EBX_PRIVATE_ZSTD = 1, /* payload is one zstd frame; else raw */
	EBX_PRIVATE_LAST = 2, /* last part of its object */
};

struct ebx_private {
	uint16_t kind;          /* enum ebx_kind */
	uint16_t flags;         /* enum ebx_private_flags */
	uint64_t seq;           /* shared with the blocks */
	uint32_t part;          /* 0, 1, 2... in an object */
	uint64_t object;        /* with kind: which object */
	uint32_t raw_bytes;     /* this part's payload, decompressed; at most EBX_RAW_MAX */
	uint32_t payload_bytes; /* as stored, without padding */
	uint32_t crc32c;        /* of the payload as stored; the stored sum covers the header too */
};

const char *ebx_kind_name(unsigned kind);
/* Writes the perf_event_header too; record_bytes is the record's size, a multiple of 8. */
void ebx_private_encode(const struct ebx_private *p, uint16_t record_bytes,
			uint8_t out[EBX_PRIVATE_HEADER_BYTES]);
/* data is the complete record. -EBADMSG also for a type-65 record that is not ebprec's. */
int ebx_private_decode(const uint8_t *data, size_t size_bytes, struct ebx_private *out,
		       struct parse_err *err);

/* ---- directory trailer, the last 32 bytes of a finished capture (FORMAT.md 6) ---- */
#define EBX_TRAILER_BYTES 32

struct ebx_trailer {
	uint64_t dir_off_bytes, dir_size_bytes;
	uint32_t crc32c; /* of the directory's bytes as stored */
};

void ebx_trailer_encode(const struct ebx_trailer *t, uint8_t out[EBX_TRAILER_BYTES]);
int ebx_trailer_decode(const uint8_t *data, size_t size_bytes, struct ebx_trailer *out,
		       struct parse_err *err);

#endif
