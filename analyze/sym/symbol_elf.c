/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symbol_elf.h"

#include <elf.h>
#include <string.h>

#define NOTE_NAME    "GNU"
#define SYMBOLS_FROM (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

enum section { SECTION_NONE, SECTION_TEXT, SECTION_NOTE, SECTION_SYMTAB, SECTION_STRTAB, SECTIONS };

static const char section_names[] = "\0.text\0.note.gnu.build-id\0.symtab\0.strtab";

static uint32_t section_name(const char *name)
{
	return (uint32_t)((const char *)memmem(section_names, sizeof(section_names), name,
					       strlen(name) + 1) -
			  section_names);
}

/* The places of one name that follow one another, the first of which is number *i; *i becomes the next one. */
static Elf64_Sym symbol_of_run(const struct bundle *b, size_t *i, const char **name)
{
	struct bundle_place place = bundle_place(b, (*i)++);
	Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_shndx = SECTION_TEXT,
			     .st_value = place.offset };
	uint64_t last = place.offset;

	*name = place.reason == NAME_FOUND ? place.name : NULL;
	for (; *name && *i < bundle_count(b); (*i)++) {
		place = bundle_place(b, *i);
		if (place.reason != NAME_FOUND || !place.name || strcmp(place.name, *name) != 0)
			break;
		last = place.offset;
	}
	symbol.st_size = last - symbol.st_value + 1;
	return symbol;
}

/* The symbols behind what *out has, and their names.  Returns the end of the last one. */
static uint64_t add_symbols(const struct bundle *b, struct outbuf *out, struct outbuf *texts)
{
	const char *name;
	uint64_t end = 0;

	outbuf_zeros(out, sizeof(Elf64_Sym));
	outbuf_add(texts, section_names, sizeof(section_names));
	for (size_t i = 0; i < bundle_count(b);) {
		Elf64_Sym symbol = symbol_of_run(b, &i, &name);

		if (!name || texts->size_bytes > UINT32_MAX)
			continue;
		symbol.st_name = (uint32_t)texts->size_bytes;
		outbuf_add(out, &symbol, sizeof(symbol));
		outbuf_add(texts, name, strlen(name) + 1);
		end = symbol.st_value + symbol.st_size;
	}
	return end;
}

static void add_note(const struct buildid *id, struct outbuf *out)
{
	Elf64_Nhdr head = { .n_namesz = sizeof(NOTE_NAME),
			    .n_descsz = id->size_bytes,
			    .n_type = NT_GNU_BUILD_ID };

	outbuf_add(out, &head, sizeof(head));
	outbuf_add(out, NOTE_NAME, sizeof(NOTE_NAME));
	outbuf_add(out, id->bytes, id->size_bytes);
	outbuf_zeros(out, -out->size_bytes & 7);
}

static void add_sections(struct outbuf *out, uint64_t code_bytes, uint64_t texts_at,
			 uint64_t note_at, uint64_t note_bytes)
{
	const Elf64_Shdr list[SECTIONS] = {
		[SECTION_TEXT] = { .sh_name = section_name(".text"),
				   .sh_type = SHT_NOBITS,
				   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_size = code_bytes },
		[SECTION_NOTE] = { .sh_name = section_name(".note.gnu.build-id"),
				   .sh_type = SHT_NOTE,
				   .sh_offset = note_at,
				   .sh_size = note_bytes,
				   .sh_addralign = 4 },
		[SECTION_SYMTAB] = { .sh_name = section_name(".symtab"),
				     .sh_type = SHT_SYMTAB,
				     .sh_offset = SYMBOLS_FROM,
				     .sh_size = texts_at - SYMBOLS_FROM,
				     .sh_link = SECTION_STRTAB,
				     .sh_info = 1, /* the first one that is global */
				     .sh_addralign = 8,
				     .sh_entsize = sizeof(Elf64_Sym) },
		[SECTION_STRTAB] = { .sh_name = section_name(".strtab"),
				     .sh_type = SHT_STRTAB,
				     .sh_offset = texts_at,
				     .sh_size = note_at - texts_at,
				     .sh_addralign = 1 },
	};

	outbuf_add(out, list, sizeof(list));
}

void symbol_elf_encode(const struct bundle *b, struct outbuf *out)
{
	/* No machine's code: its instructions are those of an interpreter. */
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_NONE,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = SECTIONS,
			    .e_shstrndx = SECTION_STRTAB };
	Elf64_Phdr code = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = 1 };
	struct outbuf texts = { 0 };
	uint64_t texts_at, note_at;

	outbuf_zeros(out, SYMBOLS_FROM);
	code.p_memsz = code.p_filesz = add_symbols(b, out, &texts);
	texts_at = out->size_bytes;
	outbuf_zeros(&texts, -texts.size_bytes & 7);
	outbuf_add(out, texts.data, texts.size_bytes);
	out->bad |= texts.bad;
	outbuf_done(&texts);
	note_at = out->size_bytes;
	add_note(&bundle_head(b)->file.id.build_id, out);
	head.e_shoff = out->size_bytes;
	add_sections(out, code.p_memsz, texts_at, note_at, head.e_shoff - note_at);
	if (!outbuf_ok(out))
		return;
	memcpy(out->data, &head, sizeof(head));
	memcpy(out->data + sizeof(head), &code, sizeof(code));
}
