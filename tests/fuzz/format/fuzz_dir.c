/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_dir - any bytes as a stored directory, as its items, and as each header of a capture */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/reader/directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define DATA_OFF 4096
#define DATA_END (1ULL << 40)
#define CRC_OFF  12 /* in the superblock */

static int check_item(void *ctx, const struct directory_item *item)
{
	uint64_t *end = ctx;

	if (item->off_bytes < *end || item->off_bytes % 8 || item->file_bytes < 8 ||
	    item->file_bytes > 65535 || item->off_bytes + item->file_bytes > DATA_END)
		abort();
	*end = item->off_bytes + item->file_bytes;
	return 0;
}

static void decode(const uint8_t *data, size_t size_bytes)
{
	uint64_t end = DATA_OFF;
	struct parse_err err;

	(void)directory_decode(data, size_bytes, DATA_OFF, DATA_END, check_item, &end, &err);
}

/* The compression would stop a fuzzer: here the bytes are what is inside. */
static void decode_items(const uint8_t *data, size_t size_bytes)
{
	size_t bound = ZSTD_compressBound(size_bytes + 8), n;
	uint8_t *items = malloc(size_bytes + 8), *packed = malloc(bound);

	if (items && packed) {
		memcpy(items, "EBXITEMS", 8);
		if (size_bytes)
			memcpy(items + 8, data, size_bytes);
		n = ZSTD_compress(packed, bound, items, size_bytes + 8, 1);
		if (!ZSTD_isError(n))
			decode(packed, n);
	}
	free(items);
	free(packed);
}

static void decode_headers(const uint8_t *data, size_t size_bytes)
{
	uint8_t super[EBX_SUPER_BYTES] = { 0 };
	struct ebx_private part;
	struct ebx_trailer trailer;
	struct ebx_block block;
	struct ebx_super s;
	struct parse_err err;

	(void)ebx_super_decode(data, size_bytes, &s, &err);
	(void)ebx_block_decode(data, size_bytes, &block, &err);
	(void)ebx_private_decode(data, size_bytes, &part, &err);
	(void)ebx_trailer_decode(data, size_bytes, &trailer, &err);
	memcpy(super, data, size_bytes < sizeof(super) ? size_bytes : sizeof(super));
	le32_store(super + CRC_OFF, 0);
	le32_store(super + CRC_OFF, crc32c(0, super, sizeof(super)));
	(void)ebx_super_decode(super, sizeof(super), &s, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	decode(data, size_bytes);
	decode_items(data, size_bytes);
	decode_headers(data, size_bytes);
	return 0;
}
