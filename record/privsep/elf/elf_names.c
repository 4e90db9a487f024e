/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_names.h"

#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX_BYTES (16u << 20) /* of names of symbols: CPython's are below 1 MiB */
#define SYMBOLS_MAX     (4u << 20)  /* of a table; more are not looked at */
#define TABLES_MAX      4           /* of one kind; a file has one */
#define STEP_SYMBOLS    1024u
#define RELOC_STEP      1024u
#define RELOCS_MAX      (1u << 20)
#define TLS_MODULE      (UNWIND_HERE == UNWIND_AARCH64 ? R_AARCH64_TLS_DTPMOD : R_X86_64_DTPMOD64)
#define TLS_BYTES_MAX   (1u << 20)
#define TLS_ALIGN_MAX   4096u
#define ARM_THREAD_HEAD 16 /* bytes of the thread's block before the program's variables */

struct texts {
	const char *bytes; /* with a NUL behind the last one */
	size_t size_bytes;
};

static void see_symbol(struct elf_name *names, size_t count, const Elf64_Sym *sym, uint32_t index,
		       const struct texts *texts)
{
	const char *text = texts->bytes + sym->st_name;

	if (sym->st_name >= texts->size_bytes || sym->st_shndx == SHN_UNDEF || !*text)
		return;
	for (size_t i = 0; i < count; i++)
		if (!names[i].is_there && *text == *names[i].text && !strcmp(text, names[i].text))
			names[i] = (struct elf_name){ names[i].text, sym->st_value, sym->st_size,
						      index, true };
}

static void look_through(const struct elf_parts *parts, const Elf64_Shdr *table,
			 const struct texts *texts, struct elf_name *names, size_t name_count)
{
	Elf64_Sym symbols[STEP_SYMBOLS];
	uint64_t at, count = table->sh_size / sizeof(symbols[0]);

	count = count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
	for (at = 0; at < count; at += STEP_SYMBOLS) {
		size_t want = count - at < STEP_SYMBOLS ? count - at : STEP_SYMBOLS, have;

		have = source_read(parts->file, table->sh_offset + at * sizeof(symbols[0]), symbols,
				   want * sizeof(symbols[0])) /
		       sizeof(symbols[0]);
		for (size_t i = 0; i < have; i++)
			see_symbol(names, name_count, &symbols[i], (uint32_t)(at + i), texts);
		if (have != want)
			return;
	}
}

static void find_in_table(const struct elf_parts *parts, const Elf64_Shdr *table,
			  struct elf_name *names, size_t count)
{
	struct texts t;

	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_size > parts->file->size_bytes)
		return;
	t.bytes = elf_parts_texts(parts, table, TEXTS_MAX_BYTES, &t.size_bytes);
	if (t.bytes && memmem(t.bytes, t.size_bytes, names[0].text, strlen(names[0].text) + 1))
		look_through(parts, table, &t, names, count);
}

void elf_names_find(const struct elf_parts *parts, uint32_t kind, struct elf_name *names,
		    size_t count)
{
	size_t seen = 0;

	for (size_t i = 0; i < parts->section_count; i++)
		if (parts->sections[i].sh_type == kind && seen++ < TABLES_MAX)
			find_in_table(parts, &parts->sections[i], names, count);
}

/* ---- variables of threads ---- */

bool elf_names_thread_module(const struct elf_parts *parts, const struct elf_name *variable,
			     struct runtime_desc *out)
{
	const Elf64_Shdr *table = elf_parts_section(parts, ".rela.dyn");
	uint64_t count = table && table->sh_entsize == sizeof(Elf64_Rela)
				 ? table->sh_size / sizeof(Elf64_Rela)
				 : 0;
	Elf64_Rela relocs[RELOC_STEP];

	count = count < RELOCS_MAX ? count : RELOCS_MAX;
	for (uint64_t at = 0; at < count; at += RELOC_STEP) {
		size_t want = count - at < RELOC_STEP ? count - at : RELOC_STEP, have;

		have = source_read(parts->file, table->sh_offset + at * sizeof(relocs[0]), relocs,
				   want * sizeof(relocs[0])) /
		       sizeof(relocs[0]);
		for (size_t i = 0; i < have; i++)
			if (ELF64_R_SYM(relocs[i].r_info) == variable->index &&
			    ELF64_R_TYPE(relocs[i].r_info) == TLS_MODULE) {
				out->tls_module = relocs[i].r_offset;
				out->tls_offset = variable->addr;
				return relocs[i].r_offset != 0;
			}
		if (have != want)
			break;
	}
	return false;
}

bool elf_names_thread_fixed(const struct elf_parts *parts, const struct elf_name *variable,
			    struct runtime_desc *out)
{
	const Elf64_Phdr *tls = NULL;
	bool is_program = false;
	uint64_t size;

	for (size_t i = 0; i < parts->segment_count; i++) {
		is_program |= parts->segments[i].p_type == PT_INTERP;
		if (parts->segments[i].p_type == PT_TLS)
			tls = &parts->segments[i];
	}
	/* The block of a program begins where the alignment lets it: that of another place has not been seen. */
	if (!is_program || !tls || !tls->p_align || tls->p_align > TLS_ALIGN_MAX ||
	    tls->p_align & (tls->p_align - 1) || tls->p_vaddr % tls->p_align ||
	    tls->p_memsz > TLS_BYTES_MAX || variable->addr >= tls->p_memsz)
		return false;
	size = (tls->p_memsz + tls->p_align - 1) & ~(tls->p_align - 1);
	out->tls_module = 0;
	if (UNWIND_HERE == UNWIND_AARCH64)
		out->tls_offset = variable->addr +
				  (tls->p_align > ARM_THREAD_HEAD ? tls->p_align : ARM_THREAD_HEAD);
	else
		out->tls_offset = variable->addr - size;
	return true;
}
