/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/container_record.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool ends_with(const char *text, size_t text_bytes, const char *word)
{
	size_t bytes = strlen(word);

	return text_bytes >= bytes && !memcmp(text + text_bytes - bytes, word, bytes);
}

const char *container_record_in(const char *cgroup)
{
	const char *found = NULL;
	size_t digits = 0;

	for (const char *c = cgroup; *c; c++) {
		const char *from = c + 1 - CONTAINER_RECORD_DIGITS;

		digits = isxdigit((unsigned char)*c) ? digits + 1 : 0;
		if (digits == CONTAINER_RECORD_DIGITS && !isxdigit((unsigned char)c[1]) &&
		    !ends_with(cgroup, (size_t)(from - cgroup), "conmon-"))
			found = from;
	}
	return found;
}

bool container_record_is_name(const char *name, size_t name_bytes)
{
	if (!name_bytes || name_bytes > CONTAINER_RECORD_NAME_MAX)
		return false;
	for (size_t i = 0; i < name_bytes; i++)
		if (!isalnum((unsigned char)name[i]) && !memchr("_.-/@:", name[i], 6))
			return false;
	return true;
}

size_t container_record_encode(const struct container_record_entry *e,
			       uint8_t out[CONTAINER_RECORD_ENTRY_MAX])
{
	le16_store(out, (uint16_t)e->id_bytes);
	memcpy(out + 2, e->id, e->id_bytes);
	le16_store(out + 2 + e->id_bytes, (uint16_t)e->name_bytes);
	memcpy(out + 4 + e->id_bytes, e->name, e->name_bytes);
	return 4 + e->id_bytes + e->name_bytes;
}

int container_record_next(struct cursor *c, struct container_record_entry *out)
{
	struct container_record_entry e;

	if (!cursor_left(c))
		return 0;
	e.id_bytes = cursor_u16(c);
	e.id = (const char *)cursor_bytes(c, e.id_bytes);
	e.name_bytes = cursor_u16(c);
	e.name = (const char *)cursor_bytes(c, e.name_bytes);
	if (!cursor_ok(c))
		return -EBADMSG;
	*out = e;
	return 1;
}
