/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_kernsyms - any bytes as the text of /proc/kallsyms */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const uint64_t starts[] = { 0, 0xffffffff81000000, 0xffffffffc0000000, UINT64_MAX };
	char *copy = malloc(size_bytes ? size_bytes : 1);
	const struct kernel_symbol *s;
	struct kernel_symbols *k;
	uint64_t addr;
	size_t i, asked;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	if (!kernel_symbols_new(copy, size_bytes, &k)) {
		for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
			addr = starts[i];
			/* Along the symbols: each one must end, and end behind its start. */
			for (asked = 0; asked < 100; asked++) {
				s = kernel_symbols_find(k, addr);
				if (s &&
				    (s->start > addr || s->end <= addr || !*s->name || !*s->module))
					abort();
				addr = s ? s->end : addr + 0x40;
			}
		}
		kernel_symbols_free(k);
	}
	free(copy);
	return 0;
}
