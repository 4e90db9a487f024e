/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_markelf - any bytes as a program with marks */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/privsep/elf/elf_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1); /* of its exact size */
	struct elf_notes_site sites[ELF_NOTES_SITES_MAX];
	struct source s;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	source_of_bytes(copy, size_bytes, &s);
	if (elf_notes_sites(&s, sites) > ELF_NOTES_SITES_MAX)
		abort();
	free(copy);
	return 0;
}
