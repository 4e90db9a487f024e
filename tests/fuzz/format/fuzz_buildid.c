/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_buildid - any bytes as notes, and as an ELF file */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/buildid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(int err, const struct buildid *id)
{
	char hex[BUILDID_HEX_BYTES];

	if (err)
		return;
	if (!id->size_bytes || id->size_bytes > BUILDID_MAX_BYTES)
		abort();
	buildid_hex(id, hex);
	if (strlen(hex) != 2 * (size_t)id->size_bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1); /* of its exact size */
	struct buildid id;
	int fd;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	check(buildid_from_notes(copy, size_bytes, &id), &id);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, copy, size_bytes) == (ssize_t)size_bytes)
		check(buildid_from_fd(fd, &id), &id);
	if (fd >= 0)
		close(fd);
	free(copy);
	return 0;
}
