/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perffiles - files as perf writes them, in memory, for unit tests
 *
 * Each comes with the records that a reader should hand out.  Needs cmocka's headers before it.
 */
#ifndef EBPREC_TESTS_PERFFILES_H
#define EBPREC_TESTS_PERFFILES_H

#include <zstd.h>

#include "format/base/buf.h"
#include "tests/lib/gen/captures.h"

#define ATTR_BYTES 128

/* A file under construction; the records in it are counted as a reader should find them. */
struct perf {
	struct buf file;
	struct buf records; /* all that a reader should hand out, in order */
	uint64_t count;
	size_t data_off;
};

static inline void add(struct buf *b, const void *data, size_t size)
{
	assert_int_equal(buf_add(b, data, size), 0);
}

static inline void add_u64(struct buf *b, uint64_t v)
{
	uint8_t bytes[8];

	le64_store(bytes, v);
	add(b, bytes, 8);
}

/* File header and one attr with two ids; data.size comes at the end. */
static inline void begin_file(struct perf *p)
{
	struct perf_event_attr attr = { .size = ATTR_BYTES, .sample_id_all = 1 };
	const uint64_t head[13] = { PERFFILE_MAGIC,  104,
				    ATTR_BYTES + 16, 120,
				    ATTR_BYTES + 16, 120 + ATTR_BYTES + 16 };

	*p = (struct perf){ 0 };
	for (unsigned i = 0; i < 13; i++)
		add_u64(&p->file, head[i]);
	add_u64(&p->file, 11); /* ids */
	add_u64(&p->file, 12);
	add(&p->file, &attr, ATTR_BYTES);
	add_u64(&p->file, 104);
	add_u64(&p->file, 16);
	p->data_off = p->file.size_bytes;
}

static inline void end_file(struct perf *p)
{
	le64_store(p->file.data + 48, p->file.size_bytes - p->data_off);
}

static inline void begin_pipe(struct perf *p)
{
	*p = (struct perf){ 0 };
	add_u64(&p->file, PERFFILE_MAGIC);
	add_u64(&p->file, 16);
	p->data_off = 16;
}

static inline void done(struct perf *p)
{
	buf_done(&p->file);
	buf_done(&p->records);
}

/* A record that a reader should hand out. */
static inline void expect(struct perf *p, const void *rec, size_t size)
{
	add(&p->records, rec, size);
	p->count++;
}

static inline void add_record(struct perf *p, uint32_t type, const void *body, size_t size)
{
	uint8_t header[8];

	rec_finish(header, size + 8, type, 0);
	add(&p->file, header, 8);
	add(&p->file, body, size);
}

static inline void add_expected(struct perf *p, uint32_t type, const void *body, size_t size)
{
	add_record(p, type, body, size);
	expect(p, p->file.data + p->file.size_bytes - size - 8, size + 8);
}

/* Records as the kernel makes them, of many sizes. */
static inline void kernel_records(struct perf *p, struct buf *out, unsigned count)
{
	static uint8_t rec[REC_MAX];
	uint64_t chain[300];

	for (unsigned i = 0; i < 300; i++)
		chain[i] = 0x400000 + i * 7919;
	for (unsigned i = 0; i < count; i++) {
		struct rec_sample s = {
			.pid = i % 50,
			.tid = i,
			.time_ns = 1000 + i,
			.chain = chain,
			.chain_count = i * i % 300,
		};
		size_t size = i % 10 ? rec_sample(rec, &s) : rec_comm(rec, i, i, "comm", 1000 + i);

		add(out, rec, size);
		expect(p, rec, size);
	}
}

static inline void check(const struct perf *p, enum capture_kind kind)
{
	struct capture *c = NULL;
	struct reading r;

	assert_int_equal(capture_from_bytes(p->file.data, p->file.size_bytes, &c, NULL), 0);
	assert_int_equal(capture_get_kind(c), kind);
	assert_null(capture_super(c));
	r = read_capture(c);
	assert_int_equal(r.records, p->count);
	assert_int_equal(r.crc, crc32c(0, p->records.data, p->records.size_bytes));
	assert_false(reading_is_damaged(&r));
	capture_close(c);
}

/* Compresses as perf -z does: one stream, flushed now and then, cut where a record is full. */
static inline void add_stream(struct perf *p, const struct buf *raw, size_t piece_bytes,
			      size_t part_bytes, uint32_t type)
{
	ZSTD_CStream *z = ZSTD_createCStream();
	size_t room = ZSTD_compressBound(piece_bytes) + 1000;
	uint8_t *out = malloc(room);

	assert_non_null(out);
	for (size_t at = 0; at < raw->size_bytes; at += piece_bytes) {
		size_t left = raw->size_bytes - at;
		ZSTD_inBuffer in = { raw->data + at, left < piece_bytes ? left : piece_bytes, 0 };
		ZSTD_outBuffer o = { out, room, 0 };

		assert_int_equal(ZSTD_compressStream2(z, &o, &in, ZSTD_e_flush), 0);
		for (size_t from = 0; from < o.pos; from += part_bytes) {
			size_t n = o.pos - from < part_bytes ? o.pos - from : part_bytes;
			uint8_t body[65536] = { 0 };

			if (type == PERFFILE_RECORD_COMPRESSED) {
				add_record(p, type, out + from, n);
			} else {
				le64_store(body, n);
				memcpy(body + 8, out + from, n);
				add_record(p, type, body, 8 + ((n + 7) & ~(size_t)7));
			}
		}
	}
	free(out);
	ZSTD_freeCStream(z);
}

static inline void add_pipe_head(struct perf *p)
{
	static const uint8_t host[] = "\x08\0\0\0\0\0\0\0machine";
	struct perf_event_attr attr = { .size = ATTR_BYTES, .sample_id_all = 1 };
	uint8_t body[ATTR_BYTES + 16], feature[24], name[24] = { 0 };

	for (uint64_t i = 0; i < 2; i++) {
		memcpy(body, &attr, ATTR_BYTES);
		le64_store(body + ATTR_BYTES, 10 * i + 1);
		le64_store(body + ATTR_BYTES + 8, 10 * i + 2);
		add_expected(p, PERFFILE_RECORD_HEADER_ATTR, body, sizeof(body));
	}
	le64_store(feature, PERFFILE_HOSTNAME);
	le32_store(feature + 8, 12);
	memcpy(feature + 12, host + 8, 8);
	memset(feature + 20, 0, 4);
	add_expected(p, PERFFILE_RECORD_HEADER_FEATURE, feature, sizeof(feature));
	le64_store(name, 2); /* a name */
	le64_store(name + 8, 12);
	memcpy(name + 16, "cycles", 6);
	add_expected(p, PERFFILE_RECORD_EVENT_UPDATE, name, sizeof(name));
}

static inline void make_pipe(struct perf *p)
{
	const uint8_t tracing[40] = "\x17\x08\x44tracing0.6";
	uint8_t size[4];

	begin_pipe(p);
	add_pipe_head(p);
	/* A record of 12 bytes, and 40 more behind it. */
	le32_store(size, sizeof(tracing));
	add_record(p, PERFFILE_RECORD_TRACING_DATA, size, sizeof(size));
	add(&p->file, tracing, sizeof(tracing));
	kernel_records(p, &p->file, 20);
}

#endif
