/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_elfsymbol - any bytes as a program in which a function is looked for */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/privsep/elf/elf_symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const char *const names[] = { "f", "named", "twice", "malloc" };
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1); /* of its exact size */
	struct source s;
	uint64_t off;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	source_of_bytes(copy, size_bytes, &s);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (elf_symbol_offset(&s, names[i], &off) > 0)
			abort();
	}
	free(copy);
	return 0;
}
