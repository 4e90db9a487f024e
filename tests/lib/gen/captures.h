/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * captures - small captures in memory, for unit tests
 *
 * A maker is a writer on a file without a name; maker_bytes() copies what the file holds at that
 * moment, as a reader or a crash would find it.  Needs cmocka's headers before it.
 */
#ifndef EBPREC_TESTS_CAPTURES_H
#define EBPREC_TESTS_CAPTURES_H

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/reader/capture.h"
#include "format/base/crc32c.h"
#include "tests/lib/gen/records.h"

struct maker {
	int fd;
	struct writer *w;
	uint64_t random;
	uint8_t rec[REC_MAX], raw[REC_MAX];
};

struct bytes {
	uint8_t *data; /* owned */
	size_t size;
};

static inline void maker_begin_how(struct maker *m, bool plain, bool into_pipe)
{
	static uint8_t host[] = "\x08\0\0\0machine";
	const struct writer_feature features[] = {
		{ PERFFILE_HOSTNAME, host, sizeof(host) },
	};
	struct writer_attr attrs[REC_ATTRS];
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = REC_ATTRS,
		.features = features,
		.feature_count = 1,
		.clock_mono_ns = 1000,
		.clock_wall_ns = 5000,
		.uuid = "unit-test",
		.level = 1,
		.plain = plain,
		.pipe = into_pipe,
	};

	rec_attrs(attrs);
	m->random = 88172645463325252ULL;
	m->w = NULL;
	m->fd = memfd_create("capture", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	assert_int_equal(writer_new(m->fd, &opts, &m->w), 0);
}

static inline void maker_begin(struct maker *m, bool plain)
{
	maker_begin_how(m, plain, false);
}

static inline struct bytes maker_bytes(const struct maker *m)
{
	struct bytes b = { 0 };
	struct stat st;

	assert_int_equal(fstat(m->fd, &st), 0);
	b.size = (size_t)st.st_size;
	b.data = malloc(b.size + 1);
	assert_non_null(b.data);
	assert_int_equal(pread(m->fd, b.data, b.size, 0), (ssize_t)b.size);
	return b;
}

static inline void maker_end(struct maker *m)
{
	writer_free(m->w);
	close(m->fd);
}

/* Random bytes that no compressor likes. */
static inline void maker_noise(struct maker *m, uint8_t *out, size_t size_bytes)
{
	for (size_t i = 0; i < size_bytes; i++) {
		m->random ^= m->random << 13;
		m->random ^= m->random >> 7;
		m->random ^= m->random << 17;
		out[i] = (uint8_t)(m->random >> 32);
	}
}

static inline void maker_comm(struct maker *m, uint32_t pid, const char *comm, uint64_t time_ns)
{
	size_t size = rec_comm(m->rec, pid, pid, comm, time_ns);

	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, time_ns, -1), 0);
}

static inline void maker_sample(struct maker *m, uint32_t pid, uint64_t time_ns, uint32_t cpu)
{
	const uint64_t chain[] = { REC_MMAP2_AT + pid, REC_MMAP2_AT + time_ns % 4096,
				   REC_MMAP2_AT };
	struct rec_sample s = {
		.pid = pid,
		.tid = pid,
		.cpu = cpu,
		.time_ns = time_ns,
		.chain = chain,
		.chain_count = 3,
	};
	size_t size = rec_sample(m->rec, &s);

	assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, time_ns, (int)cpu), 0);
}

/* A sample with raw_bytes of noise; 4 + raw_bytes must be a multiple of 8. */
static inline void maker_noisy_sample(struct maker *m, size_t raw_bytes, uint64_t time_ns)
{
	struct rec_sample s = {
		.pid = 1,
		.tid = 1,
		.time_ns = time_ns,
		.raw = m->raw,
		.raw_bytes = raw_bytes,
	};
	size_t size;

	maker_noise(m, m->raw, raw_bytes);
	size = rec_sample(m->rec, &s);
	assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, time_ns, 0), 0);
}

/* A reader's result for some bytes: enough to compare two readings. */
struct reading {
	int open_error;
	uint64_t records, samples,
		sum;  /* sum: of each record's checksum, so order is of no matter */
	uint32_t crc; /* of all records in order */
	uint32_t iter_damage;
	size_t blocks, objects;
	struct capture_damage damage;
	struct parse_err why;
};

static inline bool reading_is_damaged(const struct reading *r)
{
	const struct capture_damage *d = &r->damage;

	return r->open_error || r->iter_damage || d->cut || d->bad_blocks || d->bad_sections ||
	       d->missing_seq || d->unknown_records || d->unknown_blocks;
}

static inline struct reading read_capture(const struct capture *c)
{
	struct reading r = { 0 };
	struct record_iter *it = NULL;
	struct record rec;
	const struct capture_object *o;

	r.damage = *capture_damage(c);
	(void)capture_blocks(c, &r.blocks);
	o = capture_objects(c, &r.objects);
	for (size_t i = 0; i < r.objects; i++) {
		uint8_t *data = NULL;
		size_t size;

		if (!capture_object_read(c, &o[i], &data, &size))
			r.sum += crc32c(0, data, size);
		else
			r.iter_damage++;
		free(data);
	}
	assert_int_equal(record_iter_new(c, UINT32_MAX, 0, SIZE_MAX, &it), 0);
	while (record_iter_next(it, &rec) > 0) {
		assert_true((uintptr_t)rec.header % 8 == 0);
		assert_true(rec.block < r.blocks);
		r.records++;
		r.samples += rec.header->type == PERF_RECORD_SAMPLE;
		r.crc = crc32c(r.crc, rec.header, rec.header->size);
		r.sum += crc32c(0, rec.header, rec.header->size);
	}
	r.iter_damage += record_iter_damage(it);
	record_iter_free(it);
	return r;
}

static inline struct reading read_bytes(const void *data, size_t size_bytes)
{
	struct reading r = { 0 };
	struct parse_err why = { 0 };
	struct capture *c = NULL;

	r.open_error = capture_from_bytes(data, size_bytes, &c, &why);
	r.why = why;
	if (r.open_error) {
		assert_null(c);
		return r;
	}
	r = read_capture(c);
	capture_close(c);
	return r;
}

#endif
