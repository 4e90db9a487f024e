/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_batch - any bytes as a batch of the process that reads captures, its checksum made right */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/push/forms/batch.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* A batch is written as it was read. */
static void check(const struct push_batch *b, const uint8_t *bytes, size_t size_bytes)
{
	struct outbuf again = { 0 };

	if (!push_batch_encode(b, &again) &&
	    (again.size_bytes != size_bytes || memcmp(again.data, bytes, size_bytes) != 0))
		abort();
	outbuf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct push_batch b;
	uint8_t *bytes;

	if (size_bytes < 4)
		return 0;
	bytes = malloc(size_bytes);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size_bytes);
	le32_store(bytes + size_bytes - 4, crc32c(0, bytes, size_bytes - 4));
	if (!push_batch_decode(bytes, size_bytes, &b)) {
		check(&b, bytes, size_bytes);
		for (size_t i = 0; i < b.part_count && b.part_count < 64; i++)
			(void)push_batch_halve(&b, i);
		push_batch_done(&b);
	}
	free(bytes);
	return 0;
}
