/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_symtab - any bytes as an ELF file
 *
 * The entire way of another user's file: headers, symbol tables, stubs, names.  Each symbol is
 * asked for through the addresses of the sections and segments, demangled and as it is, and by the bounds
 * between which all addresses have one name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define QUESTIONS_PER_SECTION 64

static void ask(struct symtab *t, uint64_t start, uint64_t size_bytes)
{
	uint64_t step = size_bytes / QUESTIONS_PER_SECTION + 1, off;
	const char *raw, *printed;

	for (off = 0; off < size_bytes && off + step > off; off += step) {
		raw = symtab_find(t, start + off, false, NULL);
		printed = symtab_find(t, start + off, true, NULL);
		if (!raw != !printed)
			abort();
		if (raw && (strlen(raw) == SIZE_MAX || strlen(printed) == SIZE_MAX))
			abort();
	}
}

/* A table of some addresses names them as the table of all does. */
static void compare(struct symtab *t, const struct elf_file *e, const struct elf_file *debug,
		    const struct elf_file *mini)
{
	uint64_t addrs[64];
	struct symtab_wanted wanted = { addrs, 0 };
	const struct elf_file_section *sections;
	struct symtab *part;
	const char *a, *b;
	size_t i, count;

	sections = elf_file_sections(e, &count);
	for (i = 0; i < count && wanted.count < 64; i++) {
		addrs[wanted.count++] = sections[i].addr;
		if (wanted.count < 64)
			addrs[wanted.count++] = sections[i].addr + sections[i].size_bytes / 2;
	}
	/* With more symbols a look-up may give up before it finds the outermost. */
	if (symtab_count(t) > 1000 || symtab_new(e, debug, mini, &wanted, &part))
		return;
	for (i = 0; i < wanted.count; i++) {
		a = symtab_find(t, addrs[i], false, NULL);
		b = symtab_find(part, addrs[i], false, NULL);
		if (!a != !b || (a && strcmp(a, b) != 0))
			abort();
	}
	symtab_free(part);
}

static void same_name(struct symtab *t, uint64_t a, uint64_t b)
{
	uint64_t start_a = 0, start_b = 0;

	if (symtab_find(t, a, false, &start_a) != symtab_find(t, b, false, &start_b) ||
	    start_a != start_b)
		abort();
}

/* From one bound to the next there is one name, and outside of all there is none. */
static void check_bounds(struct symtab *t, const struct elf_file *e, const struct elf_file *debug,
			 const struct elf_file *mini)
{
	size_t i, count;
	uint64_t *bounds;

	if (symtab_bounds(e, debug, mini, &bounds, &count))
		return;
	for (i = 1; i < count && i < 1000; i++) {
		if (bounds[i - 1] >= bounds[i])
			abort();
		same_name(t, bounds[i - 1], bounds[i] - 1);
		same_name(t, bounds[i - 1], bounds[i - 1] + (bounds[i] - bounds[i - 1]) / 2);
	}
	if (count && bounds[0] && symtab_find(t, bounds[0] - 1, false, NULL))
		abort();
	if (count && symtab_find(t, bounds[count - 1], false, NULL))
		abort();
	free(bounds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const struct elf_file_section *sections;
	const struct elf_file_segment *segments;
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1); /* of its exact size, and aligned */
	struct elf_file *e;
	struct symtab *t;
	size_t i, count;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	if (elf_file_from_bytes(copy, size_bytes, &e))
		goto out;
	if (!symtab_new(e, size_bytes & 1 ? e : NULL, size_bytes & 2 ? e : NULL, NULL, &t)) {
		sections = elf_file_sections(e, &count);
		for (i = 0; i < count && i < 64; i++)
			ask(t, sections[i].addr, sections[i].size_bytes);
		segments = elf_file_segments(e, &count);
		for (i = 0; i < count && i < 64; i++)
			ask(t, segments[i].vaddr, segments[i].file_bytes);
		compare(t, e, size_bytes & 1 ? e : NULL, size_bytes & 2 ? e : NULL);
		check_bounds(t, e, size_bytes & 1 ? e : NULL, size_bytes & 2 ? e : NULL);
		symtab_free(t);
	}
	elf_file_close(e);
out:
	free(copy);
	return 0;
}
