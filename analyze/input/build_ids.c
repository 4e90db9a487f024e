/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/build_ids.h"

#include "format/base/cursor.h"

#define MISC_BUILD_ID_SIZE (1U << 15) /* the size byte is valid: perf 5.10 and later */
#define ENTRY_HEAD_BYTES   36         /* event header, pid, 20 bytes of id, size, padding */

int build_ids_entry(const void *entry, size_t size_bytes, build_ids_fn fn, void *ctx)
{
	struct cursor c = cursor_of(entry, size_bytes);
	struct buildid id = { .size_bytes = BUILDID_MAX_BYTES };
	const uint8_t *bytes;
	const char *path;
	uint16_t misc;
	uint8_t size;

	cursor_skip(&c, 4);
	misc = cursor_u16(&c);
	cursor_skip(&c, 2 + 4);
	bytes = cursor_bytes(&c, BUILDID_MAX_BYTES);
	size = cursor_u8(&c);
	cursor_skip(&c, 3);
	path = cursor_str(&c);
	if (!path)
		return 0;
	/* Older files do not store the size: all ids had 20 bytes then. */
	if (misc & MISC_BUILD_ID_SIZE && size && size < BUILDID_MAX_BYTES)
		id.size_bytes = size;
	memcpy(id.bytes, bytes, id.size_bytes);
	return fn(ctx, &id, path);
}

int build_ids_walk(struct capture_bytes section, build_ids_fn fn, void *ctx)
{
	struct cursor c = cursor_of(section.data, section.data ? section.size_bytes : 0);
	const uint8_t *entry;
	size_t size;
	int err = 0;

	while (!err && cursor_left(&c) >= ENTRY_HEAD_BYTES) {
		size = le16_load(c.data + c.off_bytes + 6);
		entry = size >= ENTRY_HEAD_BYTES ? cursor_bytes(&c, size) : NULL;
		if (!entry)
			break;
		err = build_ids_entry(entry, size, fn, ctx);
	}
	return err;
}
