/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Every offset below is one of docs/FORMAT.md; keep the two together. */
#include "format/reader/ebx_records.h"

#include <errno.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/perf/perffile.h"

#define SUPER_MAGIC     "EBPREC1\n"
#define BLOCK_MAGIC     "EBF1"
#define PRIVATE_MAGIC   "EBX1"
#define TRAILER_MAGIC   "EBXDIR1\n"
#define BLOCK_VERSION   1
#define SUPER_CRC_OFF   12
#define BLOCK_CRC_OFF   68
#define PRIV_CRC_OFF    44
#define TRAILER_CRC_OFF 28

static const char *const stream_names[EBX_STREAM_END] = {
	[EBX_STREAM_SIDE] = "side", [EBX_STREAM_CPU] = "cpu",       [EBX_STREAM_SCHED] = "sched",
	[EBX_STREAM_MARK] = "mark", [EBX_STREAM_METRIC] = "metric",
};

const char *ebx_stream_name(unsigned stream)
{
	if (stream < EBX_STREAM_END && stream_names[stream])
		return stream_names[stream];
	return "unknown";
}

static const char *const kind_names[] = {
	[EBX_META] = "meta",     [EBX_MOUNTS] = "mounts",
	[EBX_FILE] = "file",     [EBX_SYMTAB] = "symtab",
	[EBX_NOTE] = "note",     [EBX_FACTS] = "facts",
	[EBX_ARGS] = "args",     [EBX_CONTAINERS] = "containers",
	[EBX_BORDER] = "border", [EBX_CONTEXTS] = "contexts",
};

const char *ebx_kind_name(unsigned kind)
{
	if (kind < sizeof(kind_names) / sizeof(kind_names[0]) && kind_names[kind])
		return kind_names[kind];
	return "unknown";
}

/* ---- FORMAT.md 3: superblock ---- */

/* The checksum is taken with its own field zero. */
static uint32_t super_crc(const uint8_t data[EBX_SUPER_BYTES])
{
	static const uint8_t zero[4];
	uint32_t crc;

	crc = crc32c(0, data, SUPER_CRC_OFF);
	crc = crc32c(crc, zero, sizeof(zero));
	return crc32c(crc, data + SUPER_CRC_OFF + 4, EBX_SUPER_BYTES - SUPER_CRC_OFF - 4);
}

void ebx_super_encode(const struct ebx_super *s, uint8_t out[EBX_SUPER_BYTES])
{
	memset(out, 0, EBX_SUPER_BYTES);
	memcpy(out, SUPER_MAGIC, 8);
	le32_store(out + 8, s->version);
	memcpy(out + 16, s->uuid, sizeof(s->uuid));
	le64_store(out + 32, s->data_off_bytes);
	le32_store(out + 40, s->state);
	le32_store(out + 44, s->table_crc32c);
	for (unsigned i = 0; i < 4; i++)
		le64_store(out + 48 + 8 * i, s->feature_bits[i]);
	le64_store(out + 80, s->clock_mono_ns);
	le64_store(out + 88, s->clock_wall_ns);
	le64_store(out + 96, s->dir_off_bytes);
	le64_store(out + 104, s->dir_size_bytes);
	le64_store(out + 120, s->static_off_bytes);
	le32_store(out + 128, s->static_crc32c);
	le32_store(out + 132, s->head_crc32c);
	le32_store(out + 136, s->build_id_crc32c);
	le32_store(out + SUPER_CRC_OFF, super_crc(out));
}

int ebx_super_decode(const uint8_t *data, size_t size_bytes, struct ebx_super *out,
		     struct parse_err *err)
{
	struct ebx_super s = { 0 };

	if (size_bytes < EBX_SUPER_BYTES)
		return parse_fail(err, -ENODATA, size_bytes, "superblock is cut");
	if (memcmp(data, SUPER_MAGIC, 8))
		return parse_fail(err, -EBADMSG, 0, "no superblock");
	if (le32_load(data + SUPER_CRC_OFF) != super_crc(data))
		return parse_fail(err, -EBADMSG, SUPER_CRC_OFF, "superblock checksum");
	s.version = le32_load(data + 8);
	if (s.version != EBX_VERSION)
		return parse_fail(err, -ENOTSUP, 8, "capture version of the future");
	memcpy(s.uuid, data + 16, sizeof(s.uuid));
	s.data_off_bytes = le64_load(data + 32);
	s.state = le32_load(data + 40);
	s.table_crc32c = le32_load(data + 44);
	for (unsigned i = 0; i < 4; i++)
		s.feature_bits[i] = le64_load(data + 48 + 8 * i);
	s.clock_mono_ns = le64_load(data + 80);
	s.clock_wall_ns = le64_load(data + 88);
	s.dir_off_bytes = le64_load(data + 96);
	s.dir_size_bytes = le64_load(data + 104);
	s.static_off_bytes = le64_load(data + 120);
	s.static_crc32c = le32_load(data + 128);
	s.head_crc32c = le32_load(data + 132);
	s.build_id_crc32c = le32_load(data + 136);
	*out = s;
	return 0;
}

/* ---- FORMAT.md 4.2: block header ---- */

void ebx_block_encode(const struct ebx_block *f, uint8_t out[EBX_BLOCK_BYTES])
{
	memset(out, 0, EBX_BLOCK_BYTES);
	memcpy(out, BLOCK_MAGIC, 4);
	out[4] = f->stream;
	out[5] = BLOCK_VERSION;
	le64_store(out + 8, f->seq);
	le64_store(out + 16, f->t_min_ns);
	le64_store(out + 24, f->t_max_ns);
	le32_store(out + 32, f->raw_bytes);
	le32_store(out + 36, f->record_count);
	le32_store(out + 40, f->sample_count);
	le32_store(out + 44, f->lost_count);
	le64_store(out + 48, f->prev_off_bytes);
	le64_store(out + 56, f->cpu_mask);
	le32_store(out + 64, f->crc32c);
	le32_store(out + BLOCK_CRC_OFF, crc32c(0, out, BLOCK_CRC_OFF));
}

int ebx_block_decode(const uint8_t *data, size_t size_bytes, struct ebx_block *out,
		     struct parse_err *err)
{
	struct ebx_block f = { 0 };

	if (size_bytes < EBX_BLOCK_BYTES)
		return parse_fail(err, -ENODATA, size_bytes, "block header is cut");
	if (memcmp(data, BLOCK_MAGIC, 4))
		return parse_fail(err, -EBADMSG, 0, "no block header");
	if (le32_load(data + BLOCK_CRC_OFF) != crc32c(0, data, BLOCK_CRC_OFF))
		return parse_fail(err, -EBADMSG, BLOCK_CRC_OFF, "block header checksum");
	if (data[5] != BLOCK_VERSION)
		return parse_fail(err, -ENOTSUP, 5, "block version of the future");
	f.stream = data[4];
	f.seq = le64_load(data + 8);
	f.t_min_ns = le64_load(data + 16);
	f.t_max_ns = le64_load(data + 24);
	f.raw_bytes = le32_load(data + 32);
	f.record_count = le32_load(data + 36);
	f.sample_count = le32_load(data + 40);
	f.lost_count = le32_load(data + 44);
	f.prev_off_bytes = le64_load(data + 48);
	f.cpu_mask = le64_load(data + 56);
	f.crc32c = le32_load(data + 64);
	if (f.raw_bytes > EBX_RAW_MAX || f.record_count > f.raw_bytes / 8 ||
	    f.sample_count > f.record_count)
		return parse_fail(err, -EBADMSG, 32, "block header with impossible counts");
	*out = f;
	return 0;
}

/* ---- FORMAT.md 5: private record ---- */

void ebx_private_encode(const struct ebx_private *p, uint16_t record_bytes,
			uint8_t out[EBX_PRIVATE_HEADER_BYTES])
{
	le32_store(out, PERFFILE_RECORD_PRIVATE);
	le16_store(out + 4, 0);
	le16_store(out + 6, record_bytes);
	memcpy(out + 8, PRIVATE_MAGIC, 4);
	le16_store(out + 12, p->kind);
	le16_store(out + 14, p->flags);
	le64_store(out + 16, p->seq);
	le64_store(out + 24, p->object);
	le32_store(out + 32, p->part);
	le32_store(out + 36, p->raw_bytes);
	le32_store(out + 40, p->payload_bytes);
	/* One checksum over both: the payload first, whose sum is known before the header is. */
	le32_store(out + PRIV_CRC_OFF, crc32c(p->crc32c, out, PRIV_CRC_OFF));
}

int ebx_private_decode(const uint8_t *data, size_t size_bytes, struct ebx_private *out,
		       struct parse_err *err)
{
	struct ebx_private p = { 0 };

	if (size_bytes < EBX_PRIVATE_HEADER_BYTES)
		return parse_fail(err, -ENODATA, size_bytes, "private record is cut");
	if (le32_load(data) != PERFFILE_RECORD_PRIVATE || memcmp(data + 8, PRIVATE_MAGIC, 4))
		return parse_fail(err, -EBADMSG, 8, "not our private record");
	if (le16_load(data + 6) > size_bytes)
		return parse_fail(err, -ENODATA, size_bytes, "private record is cut");
	p.kind = le16_load(data + 12);
	p.flags = le16_load(data + 14);
	p.seq = le64_load(data + 16);
	p.object = le64_load(data + 24);
	p.part = le32_load(data + 32);
	p.raw_bytes = le32_load(data + 36);
	p.payload_bytes = le32_load(data + 40);
	if (p.payload_bytes > size_bytes - EBX_PRIVATE_HEADER_BYTES || p.raw_bytes > EBX_RAW_MAX)
		return parse_fail(err, -EBADMSG, 36, "private record with impossible sizes");
	p.crc32c = crc32c(0, data + EBX_PRIVATE_HEADER_BYTES, p.payload_bytes);
	if (le32_load(data + PRIV_CRC_OFF) != crc32c(p.crc32c, data, PRIV_CRC_OFF))
		return parse_fail(err, -EBADMSG, PRIV_CRC_OFF, "private record checksum");
	if (!(p.flags & EBX_PRIVATE_ZSTD) && p.raw_bytes != p.payload_bytes)
		return parse_fail(err, -EBADMSG, 36, "private record with impossible sizes");
	*out = p;
	return 0;
}

/* ---- FORMAT.md 6.2: trailer ---- */

void ebx_trailer_encode(const struct ebx_trailer *t, uint8_t out[EBX_TRAILER_BYTES])
{
	memcpy(out, TRAILER_MAGIC, 8);
	le64_store(out + 8, t->dir_off_bytes);
	le64_store(out + 16, t->dir_size_bytes);
	le32_store(out + 24, t->crc32c);
	le32_store(out + TRAILER_CRC_OFF, crc32c(0, out, TRAILER_CRC_OFF));
}

int ebx_trailer_decode(const uint8_t *data, size_t size_bytes, struct ebx_trailer *out,
		       struct parse_err *err)
{
	if (size_bytes < EBX_TRAILER_BYTES)
		return parse_fail(err, -ENODATA, size_bytes, "trailer is cut");
	if (memcmp(data, TRAILER_MAGIC, 8))
		return parse_fail(err, -EBADMSG, 0, "no trailer");
	if (le32_load(data + TRAILER_CRC_OFF) != crc32c(0, data, TRAILER_CRC_OFF))
		return parse_fail(err, -EBADMSG, TRAILER_CRC_OFF, "trailer checksum");
	*out = (struct ebx_trailer){
		.dir_off_bytes = le64_load(data + 8),
		.dir_size_bytes = le64_load(data + 16),
		.crc32c = le32_load(data + 24),
	};
	return 0;
}
