/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/perf/jitdump.h"

#include <errno.h>

#define MAGIC         0x4a695444u /* "DTiJ" in a file of our byte order */
#define FLAG_TICKS    1u
#define VERSION_KNOWN 1u

int jitdump_header(struct cursor *c, struct jitdump_header *out)
{
	struct jitdump_header h;
	uint32_t magic = cursor_u32(c), version = cursor_u32(c);
	uint64_t flags;

	h.size_bytes = cursor_u32(c);
	cursor_skip(c, 8); /* machine, padding */
	h.pid = cursor_u32(c);
	cursor_skip(c, 8); /* when it was opened */
	flags = cursor_u64(c);
	if (magic == __builtin_bswap32(MAGIC))
		return -ENOTSUP;
	if (!cursor_ok(c) || magic != MAGIC || h.size_bytes < JITDUMP_HEADER_BYTES)
		return -EBADMSG;
	if (version != VERSION_KNOWN)
		return -ENOTSUP;
	cursor_skip(c, h.size_bytes - JITDUMP_HEADER_BYTES);
	if (!cursor_ok(c))
		return -EBADMSG;
	h.foreign_clock = flags & FLAG_TICKS;
	*out = h;
	return 0;
}

static bool read_load(struct cursor body, struct jitdump_code *out)
{
	const void *end;

	cursor_skip(&body, 16); /* pid, tid, and the address again */
	out->is_move = false;
	out->addr = cursor_u64(&body);
	out->size_bytes = cursor_u64(&body);
	out->index = cursor_u64(&body);
	out->name_bytes = cursor_left(&body);
	out->name = (const char *)cursor_bytes(&body, out->name_bytes);
	if (!cursor_ok(&body))
		return false;
	end = memchr(out->name, '\0', out->name_bytes);
	if (end)
		out->name_bytes = (size_t)((const char *)end - out->name);
	if (out->name_bytes > JITDUMP_NAME_BYTES)
		out->name_bytes = JITDUMP_NAME_BYTES;
	return true;
}

static bool read_move(struct cursor body, struct jitdump_code *out)
{
	cursor_skip(&body, 24); /* pid, tid, address, where it was */
	out->is_move = true;
	out->addr = cursor_u64(&body);
	out->size_bytes = cursor_u64(&body);
	out->index = cursor_u64(&body);
	out->name = "";
	out->name_bytes = 0;
	return cursor_ok(&body);
}

int jitdump_next(struct cursor *c, struct jitdump_code *out)
{
	struct jitdump_code code;
	uint32_t id, size_bytes;
	struct cursor body;
	bool is_complete;

	for (;;) {
		id = cursor_u32(c);
		size_bytes = cursor_u32(c);
		code.time_ns = cursor_u64(c);
		if (!cursor_ok(c) || size_bytes < JITDUMP_RECORD_BYTES ||
		    size_bytes - JITDUMP_RECORD_BYTES > cursor_left(c))
			return 0;
		size_bytes -= JITDUMP_RECORD_BYTES;
		body = cursor_of(cursor_bytes(c, size_bytes), size_bytes);
		if (id != JITDUMP_LOAD && id != JITDUMP_MOVE)
			continue;
		is_complete = id == JITDUMP_LOAD ? read_load(body, &code) : read_move(body, &code);
		if (!is_complete)
			return 0;
		if (!code.size_bytes || code.size_bytes > UINT64_MAX - code.addr)
			continue;
		*out = code;
		return 1;
	}
}
