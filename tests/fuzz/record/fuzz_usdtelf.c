/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_usdtelf - any bytes as a program in which a USDT probe is looked for, and as its arguments */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/privsep/elf/elf_usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(const struct usdt_args *a)
{
	if (a->count > PROBE_ARGS_MAX || a->zero)
		abort();
	for (uint32_t i = 0; i < a->count; i++)
		if (a->arg[i].kind > USDT_MEMORY || a->arg[i].scale > 3 || a->arg[i].bytes > 8)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct elf_usdt_probe *probe = malloc(sizeof(*probe));
	uint8_t *copy = malloc(size_bytes + 1); /* as text it has an end */
	struct usdt_args args;
	struct source s;

	if (!copy || !probe)
		goto out;
	memcpy(copy, data, size_bytes);
	copy[size_bytes] = '\0';
	elf_usdt_args(UNWIND_X86_64, (const char *)copy, &args);
	check(&args);
	elf_usdt_args(UNWIND_AARCH64, (const char *)copy, &args);
	check(&args);
	source_of_bytes(copy, size_bytes, &s);
	if (elf_usdt_find(&s, "tests", "twice", probe) > 0 || probe->count > ELF_USDT_SITES_MAX)
		abort();
	for (uint32_t i = 0; i < probe->count; i++)
		check(&probe->sites[i].args);
out:
	free(probe);
	free(copy);
	return 0;
}
