/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES (64 << 10)

struct arena_block {
	struct arena_block *previous;
	size_t size_bytes; /* of data */
	alignas(max_align_t) uint8_t data[];
};

void *arena_bytes(struct arena *a, size_t size_bytes)
{
	size_t want_bytes = size_bytes > BLOCK_BYTES / 4 ? size_bytes : BLOCK_BYTES;
	struct arena_block *block;
	void *result;

	if (a->left_bytes < size_bytes || !a->last) {
		if (want_bytes > SIZE_MAX / 2)
			return NULL;
		block = malloc(sizeof(*block) + want_bytes);
		if (!block)
			return NULL;
		block->previous = a->last;
		block->size_bytes = want_bytes;
		a->last = block;
		a->left_bytes = want_bytes;
	}
	result = a->last->data + (a->last->size_bytes - a->left_bytes);
	a->left_bytes -= size_bytes;
	return result;
}

void *arena_alloc(struct arena *a, size_t size_bytes)
{
	size_t align = alignof(max_align_t);

	a->left_bytes -= a->left_bytes % align; /* every block starts and ends aligned */
	if (size_bytes > SIZE_MAX / 2)
		return NULL;
	return arena_bytes(a, (size_bytes + align - 1) / align * align);
}

void arena_done(struct arena *a)
{
	struct arena_block *previous;

	for (; a->last; a->last = previous) {
		previous = a->last->previous;
		free(a->last);
	}
	a->left_bytes = 0;
}
