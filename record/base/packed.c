/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BLOCK_BYTES (64u << 10)
#define LEVEL       1 /* four times as small; higher ones take longer than all the rest */

struct packed {
	size_t size_bytes, block_count;
	uint8_t *data; /* the blocks, one behind the other */
	size_t *end;   /* of each there */
	size_t held;   /* the block that is unpacked; block_count: none */
	uint8_t block[BLOCK_BYTES];
};

static size_t block_bytes(const struct packed *p, size_t block)
{
	size_t left = p->size_bytes - block * BLOCK_BYTES;

	return left < BLOCK_BYTES ? left : BLOCK_BYTES;
}

static int pack(struct packed *p, const uint8_t *bytes)
{
	size_t i, n, used = 0, room = p->block_count * ZSTD_compressBound(BLOCK_BYTES);
	uint8_t *fit, *data = malloc(room + 1);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	int err = data && zstd ? 0 : -ENOMEM;

	for (i = 0; !err && i < p->block_count; i++) {
		n = ZSTD_compressCCtx(zstd, data + used, room - used, bytes + i * BLOCK_BYTES,
				      block_bytes(p, i), LEVEL);
		err = ZSTD_isError(n) ? -ENOMEM : 0;
		p->end[i] = used += n;
	}
	ZSTD_freeCCtx(zstd);
	if (err) {
		free(data);
		return err;
	}
	fit = realloc(data, used + 1);
	p->data = fit ? fit : data;
	return 0;
}

int packed_new(const void *bytes, size_t size_bytes, struct packed **out)
{
	struct packed *p = malloc(sizeof(*p));
	int err = -ENOMEM;

	if (!p)
		return err;
	p->size_bytes = size_bytes;
	p->block_count = p->held = size_bytes / BLOCK_BYTES + (size_bytes % BLOCK_BYTES > 0);
	p->data = NULL;
	p->end = calloc(p->block_count + 1, sizeof(*p->end));
	if (p->end)
		err = pack(p, bytes);
	if (err) {
		packed_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void packed_free(struct packed *p)
{
	if (!p)
		return;
	free(p->data);
	free(p->end);
	free(p);
}

static int hold(struct packed *p, size_t block)
{
	size_t from = block ? p->end[block - 1] : 0;

	if (p->held == block)
		return 0;
	p->held = p->block_count;
	if (ZSTD_isError(
		    ZSTD_decompress(p->block, BLOCK_BYTES, p->data + from, p->end[block] - from)))
		return -ENOMEM;
	p->held = block;
	return 0;
}

size_t packed_read(struct packed *p, size_t off_bytes, void *to, size_t size_bytes)
{
	size_t done = 0, at, n;

	if (off_bytes >= p->size_bytes)
		return 0;
	while (done < size_bytes && off_bytes + done < p->size_bytes) {
		at = (off_bytes + done) % BLOCK_BYTES;
		if (hold(p, (off_bytes + done) / BLOCK_BYTES))
			break;
		n = block_bytes(p, p->held) - at;
		if (n > size_bytes - done)
			n = size_bytes - done;
		memcpy((uint8_t *)to + done, p->block + at, n);
		done += n;
	}
	return done;
}
