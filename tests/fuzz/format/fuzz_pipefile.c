/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_pipefile - any bytes behind the beginning of a capture in a pipe, and what they become
 *
 * Checksums of patches are made right, or nothing else than the first would ever be tried.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/reader/pipe_spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define FIRST 16
#define HEAD  32

static void mend_patches(uint8_t *d, size_t size)
{
	size_t at, record;

	for (at = FIRST; at + HEAD <= size; at += record) {
		record = le16_load(d + at + 6);
		if (record < 8 || record % 8 || record > size - at)
			return;
		if (record >= HEAD && le32_load(d + at) == 65 && !memcmp(d + at + 8, "EBS1", 4) &&
		    le32_load(d + at + 12) <= record - HEAD)
			le32_store(d + at + 24, crc32c(crc32c(0, d + at + 8, 16), d + at + HEAD,
						       le32_load(d + at + 12)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *d = malloc(size_bytes + 1);
	uint64_t bytes = 0;
	struct source s;
	int fd;

	if (!d)
		return 0;
	if (size_bytes)
		memcpy(d, data, size_bytes);
	mend_patches(d, size_bytes);
	source_of_bytes(d, size_bytes, &s);
	fd = pipe_spool_is(&s) ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	if (fd >= 0) {
		if (pipe_spool_rebuild(&s, fd, &bytes) || bytes > size_bytes ||
		    (uint64_t)lseek(fd, 0, SEEK_END) != bytes)
			abort();
		close(fd);
	}
	free(d);
	return 0;
}
