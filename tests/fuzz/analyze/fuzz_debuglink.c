/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_debuglink - any bytes as what xz packed, and as an ELF file with links in it */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/locate/debuglink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1), *unpacked;
	struct debuglink link;
	struct altlink alt;
	struct elf_file *e;
	size_t n;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	if (!minidebug_unpack(copy, size_bytes, &unpacked, &n))
		free(unpacked);
	if (!elf_file_from_bytes(copy, size_bytes, &e)) {
		if (!debuglink_read(e, &link)) {
			if (!*link.name || strchr(link.name, '/'))
				abort();
			free(link.name);
		}
		if (!altlink_read(e, &alt)) {
			if (!alt.build_id.size_bytes)
				abort();
			free(alt.path);
		}
		if (!minidebug_read(e, &unpacked, &n))
			free(unpacked);
		elf_file_close(e);
	}
	free(copy);
	return 0;
}
