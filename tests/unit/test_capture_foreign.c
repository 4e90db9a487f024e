/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The reader on what perf writes: files, -z, COMPRESSED2, pipes; whole, cut and hostile. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "format/buf.h"
#include "format/capture.h"
#include "tests/gen/captures.h"

#define SAMPLES    2000
#define ATTR_BYTES 128

/* A file under construction; the records in it are counted as a reader should find them. */
struct perf {
	struct buf file;
	struct buf records; /* all that a reader should hand out, in order */
	uint64_t count;
	size_t data_off;
};

static void add(struct buf *b, const void *data, size_t size)
{
	assert_int_equal(buf_add(b, data, size), 0);
}

static void add_u64(struct buf *b, uint64_t v)
{
	uint8_t bytes[8];

	le64_store(bytes, v);
	add(b, bytes, 8);
}

/* File header and one attr with two ids; data.size comes at the end. */
static void begin_file(struct perf *p)
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

static void end_file(struct perf *p)
{
	le64_store(p->file.data + 48, p->file.size_bytes - p->data_off);
}

static void begin_pipe(struct perf *p)
{
	*p = (struct perf){ 0 };
	add_u64(&p->file, PERFFILE_MAGIC);
	add_u64(&p->file, 16);
	p->data_off = 16;
}

static void done(struct perf *p)
{
	buf_done(&p->file);
	buf_done(&p->records);
}

/* A record that a reader should hand out. */
static void expect(struct perf *p, const void *rec, size_t size)
{
	add(&p->records, rec, size);
	p->count++;
}

static void add_record(struct perf *p, uint32_t type, const void *body, size_t size)
{
	uint8_t header[8];

	rec_finish(header, size + 8, type, 0);
	add(&p->file, header, 8);
	add(&p->file, body, size);
}

static void add_expected(struct perf *p, uint32_t type, const void *body, size_t size)
{
	add_record(p, type, body, size);
	expect(p, p->file.data + p->file.size_bytes - size - 8, size + 8);
}

/* Records as the kernel makes them, of many sizes. */
static void kernel_records(struct perf *p, struct buf *out, unsigned count)
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

static void check(const struct perf *p, enum capture_kind kind)
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

/* ---- plain files ---- */

static void a_plain_file_is_cut_into_frames_at_records(void **state)
{
	const struct capture_frame *f;
	struct capture *c = NULL;
	uint64_t records = 0;
	struct perf p;
	size_t count;

	begin_file(&p);
	kernel_records(&p, &p.file, SAMPLES);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	assert_true(capture_is_divisible(c));
	f = capture_frames(c, &count);
	assert_true(count > 5);
	for (size_t i = 0; i < count; i++) {
		struct record_iter *it = NULL;
		struct record rec;
		unsigned n = 0;

		assert_true(f[i].file_bytes <= EBX_RAW_MAX);
		assert_int_equal(f[i].stream, CAPTURE_STREAM_MIXED);
		assert_int_equal(record_iter_new(c, 0, i, 1, &it), 0);
		while (record_iter_next(it, &rec) > 0)
			n++;
		assert_int_equal(n, f[i].record_count);
		assert_int_equal(record_iter_damage(it), 0);
		records += n;
		record_iter_free(it);
	}
	assert_int_equal(records, SAMPLES);
	capture_close(c);
	done(&p);
}

static void with_one_attr_any_id_is_its_id(void **state)
{
	const struct capture_attr *a;
	struct capture *c = NULL;
	struct perf p;
	size_t count;

	begin_file(&p);
	kernel_records(&p, &p.file, 1);
	end_file(&p);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	a = capture_attrs(c, &count);
	assert_int_equal(count, 1);
	assert_int_equal(a->id_count, 2);
	assert_int_equal(a->ids[1], 12);
	assert_ptr_equal(capture_attr_by_id(c, 0), a);
	capture_close(c);
	done(&p);
}

static void records_at_odd_places_are_handed_out_aligned(void **state)
{
	const uint8_t odd[13] = { 1, 2, 3 };
	struct perf p;

	begin_file(&p);
	for (unsigned i = 0; i < 40; i++) {
		/* perf's HEADER_FEATURE need not be a multiple of 8. */
		add_expected(&p, PERFFILE_RECORD_EVENT_UPDATE + 1, odd, i % sizeof(odd));
		kernel_records(&p, &p.file, 3);
	}
	end_file(&p);
	check(&p, CAPTURE_PERF);
	done(&p);
}

static void auxtrace_and_its_bytes_are_skipped(void **state)
{
	static const uint8_t blob[5000] = { 0xff, 0xff, 0xff, 0xff };
	uint8_t body[40] = { 0 };
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 10);
	le64_store(body, sizeof(blob));
	add_record(&p, PERFFILE_RECORD_AUXTRACE, body, sizeof(body));
	add(&p.file, blob, sizeof(blob));
	kernel_records(&p, &p.file, 10);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	done(&p);
}

static void perf_that_was_killed_left_data_without_a_size(void **state)
{
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 100);
	le64_store(p.file.data + 72, 0xffffffff); /* feature bits, but no table */
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_true(r.damage.cut);
	assert_int_equal(r.records, 100);
	assert_int_equal(r.damage.bad_sections, 0);
	/* What is no record ends it. */
	add_u64(&p.file, 0xffffffffffffffff);
	kernel_records(&p, &p.file, 100);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.records, 100);
	done(&p);
}

static void unknown_types_are_counted(void **state)
{
	const uint8_t body[16] = { 0 };
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &p.file, 5);
	add_record(&p, 40, body, sizeof(body));
	add_record(&p, 1000, body, sizeof(body));
	kernel_records(&p, &p.file, 5);
	end_file(&p);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.damage.unknown_records, 2);
	assert_false(r.damage.cut);
	assert_int_equal(r.records, 12);
	done(&p);
}

/* ---- compressed files ---- */

/* Compresses as perf -z does: one stream, flushed now and then, cut where a record is full. */
static void add_stream(struct perf *p, const struct buf *raw, size_t piece_bytes, size_t part_bytes,
		       uint32_t type)
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

static void streams_are_joined_however_they_were_cut(void **state)
{
	const struct {
		size_t piece, part;
		uint32_t type;
	} cases[] = {
		{ 100000, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 1000003, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 777, 60000, PERFFILE_RECORD_COMPRESSED },
		{ 50000, 100, PERFFILE_RECORD_COMPRESSED },
		{ 5000, 1, PERFFILE_RECORD_COMPRESSED },
		{ 100003, 60000, PERFFILE_RECORD_COMPRESSED2 },
		{ 777, 333, PERFFILE_RECORD_COMPRESSED2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf raw = { 0 };
		struct perf p;

		begin_file(&p);
		kernel_records(&p, &raw, i == 4 ? 100 : SAMPLES);
		add_stream(&p, &raw, cases[i].piece, cases[i].part, cases[i].type);
		end_file(&p);
		check(&p, CAPTURE_PERF);
		buf_done(&raw);
		done(&p);
	}
}

static void plain_records_may_stand_inside_a_split_record(void **state)
{
	struct buf raw = { 0 }, first, second;
	uint8_t *out;
	struct perf p, inner = { 0 };
	size_t n;

	begin_file(&p);
	kernel_records(&inner, &raw, 100);
	out = malloc(ZSTD_compressBound(raw.size_bytes));
	/* Two frames whose border is inside a record; a round between them. */
	first = (struct buf){ .data = raw.data, .size_bytes = raw.size_bytes / 2 + 3 };
	second = (struct buf){ .data = raw.data + first.size_bytes,
			       .size_bytes = raw.size_bytes - first.size_bytes };
	n = ZSTD_compress(out, ZSTD_compressBound(raw.size_bytes), first.data, first.size_bytes, 1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	add_record(&p, PERFFILE_RECORD_FINISHED_ROUND, NULL, 0);
	n = ZSTD_compress(out, ZSTD_compressBound(raw.size_bytes), second.data, second.size_bytes,
			  1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	end_file(&p);
	{
		struct reading r = read_bytes(p.file.data, p.file.size_bytes);

		assert_int_equal(r.records, 101);
		assert_false(reading_is_damaged(&r));
	}
	free(out);
	buf_done(&raw);
	done(&inner);
	done(&p);
}

static void two_zstd_frames_in_one_record_are_both_read(void **state)
{
	uint8_t body[65528], skip[16] = { 0x5b, 0x2a, 0x4d, 0x18, 8 };
	struct buf raw = { 0 };
	struct perf p;
	size_t n, half;

	begin_file(&p);
	kernel_records(&p, &raw, 40);
	half = raw.size_bytes / 2;
	memcpy(body, skip, sizeof(skip));
	n = sizeof(skip);
	n += ZSTD_compress(body + n, 30000, raw.data, half, 1);
	memcpy(body + n, skip, sizeof(skip));
	n += sizeof(skip);
	n += ZSTD_compress(body + n, 30000, raw.data + half, raw.size_bytes - half, 1);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, body, n);
	end_file(&p);
	check(&p, CAPTURE_PERF);
	buf_done(&raw);
	done(&p);
}

static void a_compressed_file_is_read_in_order_or_not_at_all(void **state)
{
	struct record_iter *it = NULL;
	struct capture *c = NULL;
	struct buf raw = { 0 };
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &raw, 500);
	add_stream(&p, &raw, 10000, 60000, PERFFILE_RECORD_COMPRESSED);
	end_file(&p);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	assert_false(capture_is_divisible(c));
	assert_int_equal(record_iter_new(c, UINT32_MAX, 1, SIZE_MAX, &it), -EINVAL);
	assert_int_equal(record_iter_new(c, UINT32_MAX, 0, 1, &it), -EINVAL);
	assert_int_equal(capture_check_frame(c, 0), -ENOTSUP);
	assert_null(it);
	capture_close(c);
	buf_done(&raw);
	done(&p);
}

static void a_broken_stream_gives_what_came_before(void **state)
{
	struct buf raw = { 0 };
	struct reading r;
	struct perf p;

	begin_file(&p);
	kernel_records(&p, &raw, SAMPLES);
	add_stream(&p, &raw, 100000, 60000, PERFFILE_RECORD_COMPRESSED);
	end_file(&p);
	memset(p.file.data + p.file.size_bytes / 2, 0, 100);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.open_error, 0);
	assert_true(r.records > SAMPLES / 4);
	assert_true(r.records < SAMPLES);
	assert_true(reading_is_damaged(&r));
	buf_done(&raw);
	done(&p);
}

/* 60 KB that want to become gigabytes of records: given up at a limit, in little memory. */
static void a_decompression_bomb_is_given_up(void **state)
{
	const size_t bomb_bytes = 200 << 20;
	uint8_t *raw = calloc(1, bomb_bytes), *out = malloc(60000);
	struct reading r;
	struct perf p;
	size_t n;

	for (size_t i = 0; i < bomb_bytes; i += 8)
		rec_finish(raw + i, 8, PERFFILE_RECORD_FINISHED_ROUND, 0);
	n = ZSTD_compress(out, 60000, raw, bomb_bytes, 1);
	assert_false(ZSTD_isError(n));
	begin_file(&p);
	add_record(&p, PERFFILE_RECORD_COMPRESSED, out, n);
	kernel_records(&p, &p.file, 1);
	end_file(&p);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.iter_damage, 1);
	assert_true(r.records > 1000000);
	assert_true(r.records < (65 << 20) / 8);
	free(raw);
	free(out);
	done(&p);
}

/* ---- pipes ---- */

static void add_pipe_head(struct perf *p)
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

static void make_pipe(struct perf *p)
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

static void a_pipe_tells_its_head_in_records(void **state)
{
	const struct capture_attr *a;
	struct capture *c = NULL;
	struct perf p;
	size_t count;

	make_pipe(&p);
	check(&p, CAPTURE_PIPE);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	a = capture_attrs(c, &count);
	assert_int_equal(count, 2);
	assert_string_equal(a[0].name, "");
	assert_string_equal(a[1].name, "cycles");
	assert_ptr_equal(capture_attr_by_id(c, 2), &a[0]);
	assert_ptr_equal(capture_attr_by_id(c, 11), &a[1]);
	assert_string_equal(capture_feature_string(c, PERFFILE_HOSTNAME), "machine");
	assert_int_equal(capture_feature(c, PERFFILE_TRACING_DATA).size_bytes, 40);
	assert_memory_equal(capture_feature(c, PERFFILE_TRACING_DATA).data, "\x17\x08\x44tracing",
			    10);
	capture_close(c);
	done(&p);
}

static void a_pipe_may_be_compressed(void **state)
{
	struct buf raw = { 0 };
	struct perf p;

	begin_pipe(&p);
	add_pipe_head(&p);
	kernel_records(&p, &raw, 500);
	add_stream(&p, &raw, 30000, 60000, PERFFILE_RECORD_COMPRESSED);
	kernel_records(&p, &p.file, 5);
	check(&p, CAPTURE_PIPE);
	buf_done(&raw);
	done(&p);
}

static void broken_head_records_of_a_pipe_are_damage(void **state)
{
	uint8_t attr[16] = { 0 };
	struct reading r;
	struct perf p;

	begin_pipe(&p);
	le32_store(attr + 4, 5000); /* larger than its record */
	add_expected(&p, PERFFILE_RECORD_HEADER_ATTR, attr, sizeof(attr));
	add_expected(&p, PERFFILE_RECORD_HEADER_FEATURE, NULL, 0);
	add_expected(&p, PERFFILE_RECORD_EVENT_UPDATE, attr, 8);
	kernel_records(&p, &p.file, 3);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.damage.bad_sections, 3);
	assert_int_equal(r.records, p.count);
	done(&p);
}

static void standard_input_may_be_a_pipe(void **state)
{
	int fds[2], saved = dup(STDIN_FILENO);
	struct capture *c = NULL;
	struct reading r;
	struct perf p;

	make_pipe(&p);
	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, (int)p.file.size_bytes + 4096) > 0);
	assert_int_equal(write(fds[1], p.file.data, p.file.size_bytes), (ssize_t)p.file.size_bytes);
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	assert_int_equal(capture_open("-", &c, NULL), 0);
	dup2(saved, STDIN_FILENO);
	r = read_capture(c);
	assert_int_equal(r.records, p.count);
	assert_int_equal(capture_file_bytes(c), p.file.size_bytes);
	capture_close(c);
	close(fds[0]);
	close(saved);
	done(&p);
}

/* ---- cut and broken, all of them ---- */

static void make_any(struct perf *p, unsigned kind)
{
	struct buf raw = { 0 };

	if (kind == 2) {
		make_pipe(p);
		return;
	}
	begin_file(p);
	kernel_records(p, &raw, 15);
	if (kind)
		add_stream(p, &raw, 1500, 60000, PERFFILE_RECORD_COMPRESSED);
	else
		add(&p->file, raw.data, raw.size_bytes);
	end_file(p);
	buf_done(&raw);
}

static void a_file_cut_anywhere_gives_what_is_before_the_cut(void **state)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t before = 0;
		struct perf p;

		make_any(&p, kind);
		for (size_t size = 0; size < p.file.size_bytes; size++) {
			uint8_t *copy = malloc(size + 1);
			struct reading r;

			memcpy(copy, p.file.data, size);
			r = read_bytes(copy, size);
			free(copy);
			if (size < (kind == 2 ? 16 : 104)) {
				assert_int_equal(r.open_error, -ENODATA);
				continue;
			}
			assert_int_equal(r.open_error, 0);
			assert_true(r.records >= before);
			before = r.records;
			if (kind != 2)
				assert_true(r.damage.cut);
		}
		assert_true(before >= p.count - 10);
		done(&p);
	}
}

static void no_flipped_bit_is_more_than_the_reader_can_bear(void **state)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		struct perf p;

		make_any(&p, kind);
		for (size_t bit = 0; bit < p.file.size_bytes * 8; bit += kind ? 1 : 3) {
			struct reading r;

			p.file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			r = read_bytes(p.file.data, p.file.size_bytes);
			p.file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_true(r.records < 100000);
		}
		done(&p);
	}
}

static void a_hostile_head_allocates_no_more_than_the_file(void **state)
{
	struct reading r;
	struct perf p;

	/* Ids and features that all name the whole file. */
	begin_file(&p);
	kernel_records(&p, &p.file, 100);
	end_file(&p);
	memset(p.file.data + 72, 0xff, 32);
	for (unsigned i = 0; i < 256; i++) {
		add_u64(&p.file, 0);
		add_u64(&p.file, 50000);
	}
	le64_store(p.file.data + 120 + ATTR_BYTES, 0);
	le64_store(p.file.data + 120 + ATTR_BYTES + 8, p.file.size_bytes);
	r = read_bytes(p.file.data, p.file.size_bytes);
	assert_int_equal(r.records, 100);
	assert_true(r.damage.bad_sections >= 250);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_is_cut_into_frames_at_records),
		cmocka_unit_test(with_one_attr_any_id_is_its_id),
		cmocka_unit_test(records_at_odd_places_are_handed_out_aligned),
		cmocka_unit_test(auxtrace_and_its_bytes_are_skipped),
		cmocka_unit_test(perf_that_was_killed_left_data_without_a_size),
		cmocka_unit_test(unknown_types_are_counted),
		cmocka_unit_test(streams_are_joined_however_they_were_cut),
		cmocka_unit_test(plain_records_may_stand_inside_a_split_record),
		cmocka_unit_test(two_zstd_frames_in_one_record_are_both_read),
		cmocka_unit_test(a_compressed_file_is_read_in_order_or_not_at_all),
		cmocka_unit_test(a_broken_stream_gives_what_came_before),
		cmocka_unit_test(a_decompression_bomb_is_given_up),
		cmocka_unit_test(a_pipe_tells_its_head_in_records),
		cmocka_unit_test(a_pipe_may_be_compressed),
		cmocka_unit_test(broken_head_records_of_a_pipe_are_damage),
		cmocka_unit_test(standard_input_may_be_a_pipe),
		cmocka_unit_test(a_file_cut_anywhere_gives_what_is_before_the_cut),
		cmocka_unit_test(no_flipped_bit_is_more_than_the_reader_can_bear),
		cmocka_unit_test(a_hostile_head_allocates_no_more_than_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
