/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/debuglink.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/cursor.h"

#define UNPACK_MEMORY_BYTES (128ULL << 20)

/* A section that begins with a NUL-terminated text; *rest is what follows it. */
static int read_named(const struct elf_file *e, const char *section, uint8_t **data,
		      struct cursor *rest)
{
	const struct elf_file_section *s = elf_file_by_name(e, section);
	size_t name_bytes;
	int err;

	if (!s)
		return -ENOENT;
	err = elf_file_read(e, s, data);
	if (err)
		return err == -ENODATA ? -ENOENT : err;
	name_bytes = strnlen((const char *)*data, (size_t)s->size_bytes);
	if (!name_bytes || name_bytes == s->size_bytes) {
		free(*data);
		return -EBADMSG;
	}
	*rest = cursor_of(*data + name_bytes + 1, (size_t)s->size_bytes - name_bytes - 1);
	return 0;
}

int debuglink_read(const struct elf_file *e, struct debuglink *out)
{
	struct cursor rest;
	uint8_t *data;
	size_t pad;
	int err;

	err = read_named(e, ".gnu_debuglink", &data, &rest);
	if (err)
		return err;
	/* The CRC stands on the next multiple of 4. */
	pad = (4 - (strlen((const char *)data) + 1) % 4) % 4;
	if (cursor_left(&rest) < pad + 4 || strchr((const char *)data, '/') ||
	    !strcmp((const char *)data, "..") || !strcmp((const char *)data, ".")) {
		free(data);
		return -EBADMSG;
	}
	cursor_bytes(&rest, pad);
	out->crc32 = cursor_u32(&rest);
	out->name = (char *)data;
	return 0;
}

int altlink_read(const struct elf_file *e, struct altlink *out)
{
	struct buildid id = { 0 };
	struct cursor rest;
	uint8_t *data;
	size_t id_bytes;
	int err;

	err = read_named(e, ".gnu_debugaltlink", &data, &rest);
	if (err)
		return err;
	id_bytes = cursor_left(&rest);
	if (!id_bytes) {
		free(data);
		return -EBADMSG;
	}
	id.size_bytes = (uint8_t)(id_bytes < BUILDID_MAX_BYTES ? id_bytes : BUILDID_MAX_BYTES);
	memcpy(id.bytes, cursor_bytes(&rest, id.size_bytes), id.size_bytes);
	out->build_id = id;
	out->path = (char *)data;
	return 0;
}

int debuglink_crc(int fd, uint32_t *out)
{
	const size_t chunk_bytes = 1u << 18;
	uint8_t *chunk = malloc(chunk_bytes);
	uint32_t crc = 0;
	uint64_t off = 0;
	ssize_t n;

	if (!chunk)
		return -ENOMEM;
	while ((n = full_read_at(fd, chunk, chunk_bytes, off)) > 0) {
		crc = lzma_crc32(chunk, (size_t)n, crc); /* the same polynomial */
		off += (uint64_t)n;
	}
	free(chunk);
	if (!n)
		*out = crc;
	return (int)n;
}

/* ---- MiniDebugInfo ---- */

static int grow(lzma_stream *s, uint8_t **buf, size_t *room_bytes)
{
	size_t done_bytes = (size_t)s->total_out, room = *room_bytes ? 4 * *room_bytes : 1u << 18;
	uint8_t *bigger;

	if (room > MINIDEBUG_MAX_BYTES)
		return -EOVERFLOW;
	bigger = realloc(*buf, room);
	if (!bigger)
		return -ENOMEM;
	*buf = bigger;
	*room_bytes = room;
	s->next_out = bigger + done_bytes;
	s->avail_out = room - done_bytes;
	return 0;
}

int minidebug_unpack(const uint8_t *data, size_t size_bytes, uint8_t **out, size_t *out_bytes)
{
	lzma_stream s = LZMA_STREAM_INIT;
	size_t room_bytes = 0;
	uint8_t *buf = NULL;
	lzma_ret ret;
	int err;

	if (lzma_stream_decoder(&s, UNPACK_MEMORY_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	s.next_in = data;
	s.avail_in = size_bytes;
	do {
		err = s.avail_out ? 0 : grow(&s, &buf, &room_bytes);
		ret = err ? LZMA_OK : lzma_code(&s, LZMA_FINISH);
	} while (!err && ret == LZMA_OK);
	if (!err && ret != LZMA_STREAM_END)
		err = ret == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	if (err) {
		free(buf);
	} else {
		*out = buf;
		*out_bytes = (size_t)s.total_out;
	}
	lzma_end(&s);
	return err;
}

int minidebug_read(const struct elf_file *e, uint8_t **out, size_t *size_bytes)
{
	const struct elf_file_section *s = elf_file_by_name(e, ".gnu_debugdata");
	uint8_t *packed;
	int err;

	if (!s)
		return -ENOENT;
	err = elf_file_read(e, s, &packed);
	if (err)
		return err == -ENODATA ? -ENOENT : err;
	err = minidebug_unpack(packed, (size_t)s->size_bytes, out, size_bytes);
	free(packed);
	return err;
}
