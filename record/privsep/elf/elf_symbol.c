/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * A string may be the end of another one (linkers share tails), so first all places in the string table
 * are found where the name stands, and then the symbols that point to one of them.  Both tables are
 * read in pieces.
 */
#include "record/privsep/elf/elf_symbol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "record/privsep/elf/elf_parts.h"

#define TABLE_MAX_BYTES (1ULL << 30) /* the largest browsers have a third of that */
#define STEP_BYTES      (64u << 10)
#define STEP_SYMBOLS    2048u
#define PLACES_MAX      4096 /* of one name */
#define VERSION_HIDDEN  0x8000

/* Where the name stands in the string table. */
struct location {
	uint32_t off_bytes;
	bool old_version; /* "malloc@VERSION", not "malloc@@VERSION" */
};

struct search {
	struct elf_parts parts;
	const char *name;
	size_t name_bytes;
	struct location places[PLACES_MAX]; /* ascending */
	size_t place_count;
	int rank; /* of the best; 0: none yet */
	uint64_t value;
	bool ambiguous;
	uint8_t bytes[STEP_BYTES + ELF_SYMBOL_NAME_MAX + 2];
	Elf64_Sym symbols[STEP_SYMBOLS];
	uint16_t versions[STEP_SYMBOLS];
};

static int check_table(const struct search *s, const Elf64_Shdr *section)
{
	uint64_t size = s->parts.file->size_bytes;

	if (section->sh_size > size || section->sh_offset > size - section->sh_size)
		return -EBADMSG;
	return section->sh_size > TABLE_MAX_BYTES ? -EFBIG : 0;
}

/* ---- strings ---- */

static void add_place(struct search *s, uint64_t off_bytes, const uint8_t *behind)
{
	if (behind[0] && behind[0] != '@')
		return;
	if (s->place_count < PLACES_MAX)
		s->places[s->place_count++] = (struct location){ (uint32_t)off_bytes,
								 behind[0] && behind[1] != '@' };
}

static int find_places(struct search *s, const Elf64_Shdr *strings)
{
	int err = check_table(s, strings);
	uint64_t off = 0;

	s->place_count = 0;
	for (; !err && off < strings->sh_size; off += STEP_BYTES) {
		uint64_t left = strings->sh_size - off;
		size_t want = left < sizeof(s->bytes) - 2 ? left : sizeof(s->bytes) - 2, have;
		const uint8_t *at = s->bytes;

		have = source_read(s->parts.file, strings->sh_offset + off, s->bytes, want);
		memset(s->bytes + have, 0, 2); /* the last string may lack its end */
		if (have != want)
			return -EBADMSG;
		while ((at = memmem(at, have - (size_t)(at - s->bytes), s->name, s->name_bytes)) &&
		       (size_t)(at - s->bytes) < STEP_BYTES) {
			add_place(s, off + (uint64_t)(at - s->bytes), at + s->name_bytes);
			at++;
		}
	}
	return err;
}

static const struct location *place_at(const struct search *s, uint32_t off_bytes)
{
	size_t lo = lower_bound(i, 0, s->place_count, s->places[i].off_bytes < off_bytes);

	return lo < s->place_count && s->places[lo].off_bytes == off_bytes ? &s->places[lo] : NULL;
}

/* ---- symbols ---- */

static int rank_of(const Elf64_Sym *symbol, bool old_version)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return old_version ? 5 : 6;
	case STB_WEAK:
		return old_version ? 3 : 4;
	default:
		return old_version ? 1 : 2;
	}
}

static void see_symbol(struct search *s, const Elf64_Sym *symbol, uint16_t version)
{
	const struct location *place = place_at(s, symbol->st_name);
	int rank;

	if (!place || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx >= SHN_LORESERVE)
		return;
	rank = rank_of(symbol, place->old_version || version & VERSION_HIDDEN);
	if (rank == s->rank)
		s->ambiguous |= symbol->st_value != s->value;
	if (rank <= s->rank)
		return;
	s->rank = rank;
	s->value = symbol->st_value;
	s->ambiguous = false;
}

/* versions NULL: the table has none. */
static int look_through(struct search *s, const Elf64_Shdr *table, const Elf64_Shdr *versions)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), at = 0;
	int err = check_table(s, table);

	if (err || !s->place_count)
		return err;
	for (; at < count; at += STEP_SYMBOLS) {
		size_t n = count - at < STEP_SYMBOLS ? count - at : STEP_SYMBOLS;

		if (source_read(s->parts.file, table->sh_offset + at * sizeof(Elf64_Sym),
				s->symbols, n * sizeof(Elf64_Sym)) != n * sizeof(Elf64_Sym))
			return -EBADMSG;
		memset(s->versions, 0, sizeof(s->versions));
		if (versions && at <= versions->sh_size / 2)
			(void)source_read(s->parts.file, versions->sh_offset + at * 2, s->versions,
					  n * sizeof(uint16_t));
		for (size_t i = 0; i < n; i++)
			see_symbol(s, &s->symbols[i], s->versions[i]);
	}
	return 0;
}

static int search_table(struct search *s, const Elf64_Shdr *table)
{
	const Elf64_Shdr *versions = NULL;
	int err;

	if (table->sh_link >= s->parts.section_count || table->sh_entsize != sizeof(Elf64_Sym))
		return -EBADMSG;
	for (size_t i = 0; i < s->parts.section_count && table->sh_type == SHT_DYNSYM; i++)
		if (s->parts.sections[i].sh_type == SHT_GNU_versym &&
		    !check_table(s, &s->parts.sections[i]))
			versions = &s->parts.sections[i];
	err = find_places(s, &s->parts.sections[table->sh_link]);
	return err ? err : look_through(s, table, versions);
}

static int search(struct search *s, uint64_t *out)
{
	static const uint32_t kinds[] = { SHT_DYNSYM, SHT_SYMTAB };
	int err = 0, broken = 0;

	for (size_t k = 0; k < 2 && !s->rank; k++) {
		for (size_t i = 0; i < s->parts.section_count; i++) {
			if (s->parts.sections[i].sh_type != kinds[k])
				continue;
			err = search_table(s, &s->parts.sections[i]);
			broken = err ? err : broken;
			break; /* there is one of each */
		}
	}
	if (!s->rank)
		return broken ? broken : -ENOENT;
	if (s->ambiguous)
		return -ENOTUNIQ;
	return elf_parts_offset(&s->parts, s->value, PF_X, out) ? 0 : -EBADMSG;
}

int elf_symbol_offset(const struct source *file, const char *name, uint64_t *out)
{
	struct search *s = malloc(sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (err)
		return err;
	s->name = name;
	s->name_bytes = strlen(name);
	s->place_count = 0;
	s->rank = 0;
	s->ambiguous = false;
	if (!s->name_bytes || s->name_bytes >= ELF_SYMBOL_NAME_MAX)
		err = -ENOENT;
	if (!err)
		err = elf_parts_read(file, &s->parts);
	if (!err) {
		err = search(s, out);
		elf_parts_done(&s->parts);
	}
	free(s);
	return err;
}
