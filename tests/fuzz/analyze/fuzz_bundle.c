/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_bundle - any bytes as the names that a capture carries */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	struct bundle_place p;
	struct bundle *b;
	uint64_t off;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	if (bundle_decode(copy, size_bytes, &b)) {
		free(copy);
		return 0;
	}
	if (strlen(bundle_head(b)->file.path) + strlen(bundle_head(b)->symbols) > size_bytes)
		abort();
	for (off = 0; off < 0x4000; off += 16)
		if (bundle_find(b, off, off & 16, &p) && p.name && strlen(p.name) > size_bytes)
			abort();
	for (size_t i = 0; i < bundle_frame_count(b); i++) {
		struct source_frame f = bundle_frame(b, i);

		if ((f.file ? strlen(f.file) : 0) + (f.function ? strlen(f.function) : 0) >
		    2 * size_bytes)
			abort();
	}
	bundle_free(b);
	return 0;
}
