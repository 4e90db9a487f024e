/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/reader/pipe_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "format/base/full_io.h"
#include "format/base/buf.h"
#include "format/reader/record_scan.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"

#define BEGINNING_MAX (64u << 20) /* formats and attrs of hundreds of CPUs are 2 MB */

struct pipe_reader {
	struct pipe_reader_calls calls;
	void *arg;
	uint32_t streams;
	struct buf held;         /* the beginning; later a part of a record */
	size_t known_bytes;      /* of held: complete records, all of the beginning */
	struct capture *capture; /* NULL: still in the beginning */
	ZSTD_DCtx *zstd;
	uint8_t *raw; /* EBX_RAW_MAX */
	bool failed;
};

int pipe_reader_new(const struct pipe_reader_calls *calls, void *arg, uint32_t streams,
		    struct pipe_reader **out)
{
	struct pipe_reader *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->calls = *calls;
	f->arg = arg;
	f->streams = streams;
	f->zstd = ZSTD_createDCtx();
	f->raw = malloc(EBX_RAW_MAX);
	if (!f->zstd || !f->raw) {
		pipe_reader_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void pipe_reader_free(struct pipe_reader *f)
{
	if (!f)
		return;
	capture_close(f->capture); /* NULL is fine */
	buf_done(&f->held);
	ZSTD_freeDCtx(f->zstd);
	free(f->raw);
	free(f);
}

/* ---- the beginning ---- */

/* The beginning is opened by the reader of files. */
static int open_beginning(struct pipe_reader *f)
{
	int fd = memfd_create("ebprec-pipe", MFD_CLOEXEC), err;
	char path[32];

	if (fd < 0)
		return -errno;
	err = full_write(fd, f->held.data, f->known_bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!err)
		err = capture_open(path, &f->capture, NULL);
	close(fd);
	return err ? err : f->calls.begin(f->arg, f->capture);
}

/* ---- records ---- */

static int take_raw(struct pipe_reader *f, size_t raw_bytes)
{
	size_t off = 0, size;
	int err = 0;

	for (; !err && off < raw_bytes; off += size) {
		size = raw_bytes - off < 8 ? 0 : le16_load(f->raw + off + 6);
		if (size < 8 || size % 8 || size > raw_bytes - off)
			return -EBADMSG;
		err = f->calls.record(f->arg, (const struct perf_event_header *)(f->raw + off));
	}
	return err;
}

static int take_block(struct pipe_reader *f, const uint8_t *rec, size_t size_bytes)
{
	struct capture_bytes data;
	struct ebx_block head;
	size_t n;

	if (block_record_decode(rec, size_bytes, &head, &data, NULL))
		return -EBADMSG;
	if (head.stream >= 32 || !(f->streams >> head.stream & 1))
		return 0;
	if (crc32c(0, data.data, data.size_bytes) != head.crc32c)
		return -EBADMSG;
	n = ZSTD_decompressDCtx(f->zstd, f->raw, EBX_RAW_MAX, data.data, data.size_bytes);
	if (ZSTD_isError(n) || n != head.raw_bytes)
		return -EBADMSG;
	return take_raw(f, n);
}

/* A record of the pipe's form, which comes before all data, or a private record of ebprec. */
static bool is_beginning(const uint8_t *rec, size_t size_bytes)
{
	uint32_t type = le32_load(rec);

	return type == PERFFILE_RECORD_HEADER_ATTR || type == PERFFILE_RECORD_HEADER_FEATURE ||
	       type == PERFFILE_RECORD_TRACING_DATA ||
	       (type == PERFFILE_RECORD_PRIVATE && size_bytes >= 12 && !memcmp(rec + 8, "EBS1", 4));
}

static int take_record(struct pipe_reader *f, const uint8_t *rec, size_t size_bytes)
{
	switch (le32_load(rec)) {
	case PERFFILE_RECORD_COMPRESSED:
		return take_block(f, rec, size_bytes);
	case PERFFILE_RECORD_FINISHED_ROUND:
		return f->calls.round(f->arg);
	default:
		return 0;
	}
}

/* The next record of held from at; its size, with what follows it, or 0: not all of it is there. */
static int next_size(const struct pipe_reader *f, size_t at, size_t *out)
{
	const uint8_t *rec = f->held.data + at;
	size_t left = f->held.size_bytes - at, size;

	*out = 0;
	if (left < 8)
		return 0;
	size = le16_load(rec + 6);
	if (size < 8 || size % 8)
		return -EBADMSG;
	if (left < size)
		return 0;
	if (le32_load(rec) == PERFFILE_RECORD_TRACING_DATA && !f->capture) {
		if (size < 12)
			return -EBADMSG;
		size += (le32_load(rec + 8) + (size_t)7) & ~(size_t)7;
	}
	if (size > BEGINNING_MAX)
		return -EBADMSG;
	*out = left < size ? 0 : size;
	return 0;
}

/* The beginning ends where the first other record begins. */
static int step(struct pipe_reader *f, size_t *at, bool *more)
{
	const uint8_t *rec;
	size_t size;
	int err;

	err = next_size(f, *at, &size);
	*more = size != 0;
	if (err || !size)
		return err;
	rec = f->held.data + *at;
	if (!f->capture && is_beginning(rec, size)) {
		*at += size;
		return 0;
	}
	if (!f->capture) {
		f->known_bytes = *at;
		err = open_beginning(f);
	}
	if (!err)
		err = take_record(f, f->held.data + *at, size);
	*at += size;
	return err;
}

int pipe_reader_push(struct pipe_reader *f, const void *data, size_t size_bytes)
{
	size_t at = f->capture ? 0 : f->known_bytes;
	bool more = true;
	int err = f->failed ? -EBADMSG : buf_add(&f->held, data, size_bytes);

	if (!err && !at && !f->capture) {
		if (f->held.size_bytes < PERFFILE_PIPE_HEADER_BYTES)
			return 0;
		if (le64_load(f->held.data) != PERFFILE_MAGIC ||
		    le64_load(f->held.data + 8) != PERFFILE_PIPE_HEADER_BYTES)
			err = -EBADMSG;
		at = PERFFILE_PIPE_HEADER_BYTES;
	}
	while (!err && more)
		err = step(f, &at, &more);
	if (!err && !f->capture && f->held.size_bytes > BEGINNING_MAX)
		err = -EBADMSG;
	f->failed |= err != 0;
	if (err)
		return err;
	if (!f->capture) {
		f->known_bytes = at;
		return 0;
	}
	memmove(f->held.data, f->held.data + at, f->held.size_bytes - at);
	f->held.size_bytes -= at;
	return 0;
}
