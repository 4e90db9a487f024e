/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/ids.h"

#include <string.h>

#include "format/base/hash.h"

/* Digits of pi behind the point; they are part of what databases store, and stay. */
static const struct hash_key fixed = { 0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL };

static uint64_t text_id(const char *text)
{
	return hash_bytes(&fixed, text, strlen(text));
}

uint64_t push_frame_id(enum push_kind kind, const char *build_id, const char *file,
		       const char *name)
{
	uint64_t where = text_id(*build_id ? build_id : file);

	return hash_pair(&fixed, hash_pair(&fixed, where, (uint64_t)kind), text_id(name));
}

uint64_t push_stack_id(const uint64_t *frames, size_t count)
{
	uint64_t id = count;

	for (size_t i = 0; i < count; i++)
		id = hash_pair(&fixed, id, frames[i]);
	return id;
}
