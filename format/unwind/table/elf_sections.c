/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/cursor.h"
#include "format/unwind/eh_frame.h"
#include "format/unwind/table/elf_sections.h"
#include "format/unwind/go_pclntab.h"

enum {
	EHDR_BYTES = 64,
	PHDR_BYTES = 56,
	SHDR_BYTES = 64,
	MIN_PAGE_BYTES = 4096,
	MAX_HOOK_BYTES = 4096,
	MAX_PAGE_BYTES = 65536,
	SYMBOL_BYTES = 24,
	RELA_BYTES = 24,
	FUNCTION_ALIGN = 16,
	MAX_SYMBOL_BYTES = 256 << 20, /* of a table of symbols */
};

/* The fields of the ELF header that are used. */
struct header {
	uint64_t phoff, shoff, entry;
	uint32_t phnum, shnum, shstrndx;
};

struct section {
	uint64_t off_bytes, size_bytes, vaddr, flags;
	uint32_t name_off_bytes, type, link;
};

int elf_sections_source_fd(int fd, struct elf_sections_source *source)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*source = (struct elf_sections_source){ .size_bytes = (uint64_t)st.st_size, .fd = fd };
	return 0;
}

static bool in_source(const struct elf_sections_source *s, uint64_t off_bytes, uint64_t size_bytes)
{
	return off_bytes <= s->size_bytes && size_bytes <= s->size_bytes - off_bytes;
}

static int read_at(const struct elf_sections_source *s, uint64_t off_bytes, void *to,
		   size_t size_bytes)
{
	ssize_t n;

	if (!in_source(s, off_bytes, size_bytes))
		return -ENODATA;
	if (s->data) {
		if (size_bytes)
			memcpy(to, s->data + off_bytes, size_bytes);
		return 0;
	}
	n = full_read_at(s->fd, to, size_bytes, off_bytes);
	/* It may have been truncated while it was read. */
	return n < 0 ? (int)n : (size_t)n < size_bytes ? -ENODATA : 0;
}

/* Reads a stretch of the file into new memory, owned by the caller. */
static int read_new(const struct elf_sections_source *s, uint64_t off_bytes, uint64_t size_bytes,
		    uint8_t **out)
{
	uint8_t *p;
	int err;

	if (!in_source(s, off_bytes, size_bytes))
		return -ENODATA;
	p = malloc(size_bytes ? size_bytes : 1);
	if (!p)
		return -ENOMEM;
	err = read_at(s, off_bytes, p, size_bytes);
	if (err) {
		free(p);
		return err;
	}
	*out = p;
	return 0;
}

static int read_header(const struct elf_sections_source *s, struct header *h,
		       enum unwind_arch *arch, struct parse_err *err)
{
	uint8_t e[EHDR_BYTES];
	uint16_t type, machine;
	int ret;

	ret = read_at(s, 0, e, sizeof(e));
	if (ret)
		return parse_fail(err, ret, 0, "no ELF header");
	if (memcmp(e, ELFMAG, SELFMAG) != 0)
		return parse_fail(err, -EBADMSG, 0, "not an ELF file");
	if (e[EI_CLASS] != ELFCLASS64 || e[EI_DATA] != ELFDATA2LSB)
		return parse_fail(err, -ENOTSUP, EI_CLASS, "not 64-bit little-endian");
	type = le16_load(e + offsetof(Elf64_Ehdr, e_type));
	machine = le16_load(e + offsetof(Elf64_Ehdr, e_machine));
	if (type != ET_EXEC && type != ET_DYN)
		return parse_fail(err, -ENOTSUP, 16, "neither a program nor a library");
	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return parse_fail(err, -ENOTSUP, 18, "another architecture");
	h->entry = le64_load(e + offsetof(Elf64_Ehdr, e_entry));
	h->phoff = le64_load(e + offsetof(Elf64_Ehdr, e_phoff));
	h->shoff = le64_load(e + offsetof(Elf64_Ehdr, e_shoff));
	h->phnum = le16_load(e + offsetof(Elf64_Ehdr, e_phnum));
	h->shnum = le16_load(e + offsetof(Elf64_Ehdr, e_shnum));
	h->shstrndx = le16_load(e + offsetof(Elf64_Ehdr, e_shstrndx));
	if (h->phnum && le16_load(e + offsetof(Elf64_Ehdr, e_phentsize)) != PHDR_BYTES)
		return parse_fail(err, -EBADMSG, 54, "size of a program header");
	if (h->shoff && le16_load(e + offsetof(Elf64_Ehdr, e_shentsize)) != SHDR_BYTES)
		h->shoff = 0; /* go without sections */
	if (h->phnum > MODULE_TABLE_MAX_SEGMENTS)
		return parse_fail(err, -EOVERFLOW, 56, "too many program headers");
	*arch = machine == EM_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64;
	return 0;
}

static struct section load_section(const uint8_t *p)
{
	return (struct section){
		.name_off_bytes = le32_load(p + offsetof(Elf64_Shdr, sh_name)),
		.type = le32_load(p + offsetof(Elf64_Shdr, sh_type)),
		.flags = le64_load(p + offsetof(Elf64_Shdr, sh_flags)),
		.vaddr = le64_load(p + offsetof(Elf64_Shdr, sh_addr)),
		.off_bytes = le64_load(p + offsetof(Elf64_Shdr, sh_offset)),
		.size_bytes = le64_load(p + offsetof(Elf64_Shdr, sh_size)),
		.link = le32_load(p + offsetof(Elf64_Shdr, sh_link)),
	};
}

/* Reads all section headers.  Large counts live in the first header (elf(5), SHN_XINDEX). */
static int read_sections(const struct elf_sections_source *s, struct header *h, uint8_t **out)
{
	uint8_t first[SHDR_BYTES];
	struct section zero;
	int err;

	err = read_at(s, h->shoff, first, sizeof(first));
	if (err)
		return err;
	zero = load_section(first);
	if (!h->shnum)
		h->shnum = zero.size_bytes > MODULE_TABLE_MAX_SECTIONS
				   ? MODULE_TABLE_MAX_SECTIONS + 1
				   : (uint32_t)zero.size_bytes;
	if (h->shstrndx == SHN_XINDEX)
		h->shstrndx = zero.link;
	if (h->shnum > MODULE_TABLE_MAX_SECTIONS)
		return -EOVERFLOW;
	return read_new(s, h->shoff, (uint64_t)h->shnum * SHDR_BYTES, out);
}

static bool is_named(const struct section *sec, const char *name, const uint8_t *names,
		     uint64_t names_bytes)
{
	size_t n = strlen(name) + 1;

	return sec->name_off_bytes <= names_bytes && names_bytes - sec->name_off_bytes >= n &&
	       !memcmp(names + sec->name_off_bytes, name, n) && !(sec->flags & SHF_COMPRESSED);
}

static bool is_eh_frame(const struct section *sec, const uint8_t *names, uint64_t names_bytes)
{
	return (sec->type == SHT_PROGBITS || sec->type == 0x70000001 /* SHT_X86_64_UNWIND */) &&
	       is_named(sec, ".eh_frame", names, names_bytes);
}

/* Stores .init and .fini, when they have the bytes of all of glibc's programs. */
static void take_hook(const struct elf_sections_source *s, const struct section *sec,
		      struct elf_sections *elf)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };   /* endbr64 */
	static const uint8_t sub[] = { 0x48, 0x83, 0xec, 0x08 };       /* sub $8,%rsp */
	static const uint8_t end[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 }; /* add $8,%rsp; ret */
	uint64_t at = 0, size_bytes = sec->size_bytes;
	struct elf_sections_hook *before = elf->n_hooks ? &elf->hooks[elf->n_hooks - 1] : NULL;
	uint8_t code[8], tail[sizeof(end)];

	if (elf->arch != UNWIND_X86_64 || elf->n_hooks == MODULE_TABLE_MAX_HOOKS ||
	    sec->type != SHT_PROGBITS || size_bytes < 9 || size_bytes > MAX_HOOK_BYTES)
		return;
	if (sec->vaddr > UINT64_MAX - size_bytes ||
	    (before && sec->vaddr < before->vaddr + before->size_bytes))
		return;
	if (read_at(s, sec->off_bytes, code, sizeof(code)) ||
	    read_at(s, sec->off_bytes + size_bytes - sizeof(end), tail, sizeof(tail)))
		return;
	if (!memcmp(code, landing, sizeof(landing)))
		at = sizeof(landing);
	if (memcmp(code + at, sub, sizeof(sub)) != 0 || memcmp(tail, end, sizeof(end)) != 0 ||
	    size_bytes < at + sizeof(sub) + sizeof(end))
		return;
	elf->hooks[elf->n_hooks++] =
		(struct elf_sections_hook){ .vaddr = sec->vaddr,
					    .size_bytes = size_bytes,
					    .sub_end_bytes = (uint32_t)(at + sizeof(sub)) };
}

/* Stores .plt of aarch64, which begins with stp x16, x30, [sp, #-16]!, perhaps behind bti c. */
static void take_plt(const struct elf_sections_source *s, const struct section *sec,
		     struct elf_sections *elf)
{
	static const uint8_t bti[] = { 0x5f, 0x24, 0x03, 0xd5 };
	static const uint8_t push[] = { 0xf0, 0x7b, 0xbf, 0xa9 };
	uint8_t code[8];
	uint32_t at;

	if (elf->arch != UNWIND_AARCH64 || sec->type != SHT_PROGBITS || elf->plt.size_bytes ||
	    sec->size_bytes < MODULE_TABLE_PLT_HEAD_BYTES ||
	    sec->vaddr > UINT64_MAX - sec->size_bytes ||
	    read_at(s, sec->off_bytes, code, sizeof(code)))
		return;
	at = !memcmp(code, bti, sizeof(bti)) ? sizeof(bti) : 0;
	if (!memcmp(code + at, push, sizeof(push)))
		elf->plt = (struct elf_sections_plt){ .vaddr = sec->vaddr,
						      .size_bytes = sec->size_bytes,
						      .push_end_bytes = at +
									(uint32_t)sizeof(push) };
}

/* Reads the table that Go's runtime unwinds by.  No error: when it fails, the file has no such
 * table. */
static void take_go(const struct elf_sections_source *s, const struct section *sec,
		    const uint8_t *names, uint64_t names_bytes, struct elf_sections *elf)
{
	uint8_t text_vaddr[8];

	if (sec->type != SHT_PROGBITS)
		return;
	if (is_named(sec, GO_PCLNTAB_MODULE_SECTION, names, names_bytes) &&
	    sec->size_bytes >= GO_PCLNTAB_MODULE_BYTES &&
	    !read_at(s, sec->off_bytes + GO_PCLNTAB_TEXT_AT, text_vaddr, sizeof(text_vaddr)))
		elf->go_text_vaddr = le64_load(text_vaddr);
	if (elf->go_table || sec->size_bytes > GO_PCLNTAB_MAX_BYTES ||
	    (!is_named(sec, GO_PCLNTAB_SECTION, names, names_bytes) &&
	     !is_named(sec, GO_PCLNTAB_SECTION_PIE, names, names_bytes)))
		return;
	if (!read_new(s, sec->off_bytes, sec->size_bytes, &elf->go_table))
		elf->go_bytes = sec->size_bytes;
}

static int take_eh_frame(const struct elf_sections_source *s, const struct section *sec,
			 struct elf_sections *elf, struct parse_err *err)
{
	int ret;

	if (sec->size_bytes > EH_FRAME_MAX_BYTES)
		return parse_fail(err, -EOVERFLOW, sec->off_bytes, ".eh_frame is too large");
	ret = read_new(s, sec->off_bytes, sec->size_bytes, &elf->eh_frame);
	if (ret)
		return parse_fail(err, ret, sec->off_bytes, "cannot read .eh_frame");
	elf->size_bytes = sec->size_bytes;
	elf->vaddr = sec->vaddr;
	elf->file_off_bytes = sec->off_bytes;
	return 0;
}

/* Looks through the sections.  1: found; 0: there is no such section, or there are no sections. */
static int find_by_section(const struct elf_sections_source *s, struct header *h,
			   struct elf_sections *elf, struct parse_err *err)
{
	uint8_t *sections = NULL, *names = NULL;
	struct section sec, strings;
	uint32_t i;
	int ret;

	if (!h->shoff || h->shoff >= s->size_bytes)
		return 0;
	ret = read_sections(s, h, &sections);
	if (ret) {
		parse_fail(err, ret, h->shoff, "cannot read the section headers");
		goto out;
	}
	if (h->shstrndx >= h->shnum)
		goto out;
	strings = load_section(sections + (size_t)h->shstrndx * SHDR_BYTES);
	ret = strings.size_bytes > MODULE_TABLE_MAX_NAMES_BYTES ? -EOVERFLOW : 0;
	if (!ret)
		ret = read_new(s, strings.off_bytes, strings.size_bytes, &names);
	if (ret) {
		parse_fail(err, ret, strings.off_bytes, "cannot read the section names");
		goto out;
	}
	for (i = 0; i < h->shnum; i++) {
		sec = load_section(sections + (size_t)i * SHDR_BYTES);
		if (is_named(&sec, ".init", names, strings.size_bytes) ||
		    is_named(&sec, ".fini", names, strings.size_bytes))
			take_hook(s, &sec, elf);
		if (is_named(&sec, ".plt", names, strings.size_bytes))
			take_plt(s, &sec, elf);
		take_go(s, &sec, names, strings.size_bytes, elf);
		if (elf->eh_frame || !is_eh_frame(&sec, names, strings.size_bytes))
			continue;
		ret = take_eh_frame(s, &sec, elf, err);
		if (ret)
			break;
	}
	if (!ret && elf->eh_frame)
		ret = 1;
out:
	free(sections);
	free(names);
	return ret;
}

static void add_exec(struct elf_sections *elf, const Elf64_Phdr *p)
{
	uint64_t align = p->p_align;

	if (align & (align - 1) || align < MIN_PAGE_BYTES)
		align = MIN_PAGE_BYTES;
	if (align > MAX_PAGE_BYTES)
		align = MAX_PAGE_BYTES;
	if (elf->n_exec == MODULE_TABLE_MAX_EXEC || p->p_offset > UINT64_MAX - p->p_filesz)
		return;
	elf->exec[elf->n_exec++] = (struct elf_sections_segment){
		.off_bytes = p->p_offset,
		.size_bytes = p->p_filesz,
		.vaddr = p->p_vaddr,
		.align_bytes = align,
	};
}

static Elf64_Phdr load_phdr(const uint8_t *p)
{
	return (Elf64_Phdr){
		.p_type = le32_load(p + offsetof(Elf64_Phdr, p_type)),
		.p_flags = le32_load(p + offsetof(Elf64_Phdr, p_flags)),
		.p_offset = le64_load(p + offsetof(Elf64_Phdr, p_offset)),
		.p_vaddr = le64_load(p + offsetof(Elf64_Phdr, p_vaddr)),
		.p_filesz = le64_load(p + offsetof(Elf64_Phdr, p_filesz)),
		.p_align = le64_load(p + offsetof(Elf64_Phdr, p_align)),
	};
}

/*
 * Follows PT_GNU_EH_FRAME.  The size of .eh_frame is unknown, so everything to the end of its
 * segment is read and the parser stops at the zero that ends it.
 */
static int find_by_segment(const struct elf_sections_source *s, const uint8_t *phdrs,
			   uint32_t phnum, const Elf64_Phdr *eh, struct elf_sections *elf,
			   struct parse_err *err)
{
	struct section sec = { .type = SHT_PROGBITS };
	uint8_t hdr[16];
	Elf64_Phdr p;
	uint32_t i;
	int ret;

	ret = read_at(s, eh->p_offset, hdr,
		      eh->p_filesz < sizeof(hdr) ? eh->p_filesz : sizeof(hdr));
	if (!ret)
		ret = eh_frame_hdr_find(hdr,
					eh->p_filesz < sizeof(hdr) ? eh->p_filesz : sizeof(hdr),
					eh->p_vaddr, &sec.vaddr);
	if (ret)
		return parse_fail(err, ret, eh->p_offset, "cannot read .eh_frame_hdr");
	for (i = 0; i < phnum; i++) {
		p = load_phdr(phdrs + (size_t)i * PHDR_BYTES);
		if (p.p_type != PT_LOAD || sec.vaddr < p.p_vaddr ||
		    sec.vaddr - p.p_vaddr >= p.p_filesz)
			continue;
		if (!in_source(s, p.p_offset, p.p_filesz))
			return parse_fail(err, -ENODATA, p.p_offset,
					  "segment goes beyond the file");
		sec.off_bytes = p.p_offset + (sec.vaddr - p.p_vaddr);
		sec.size_bytes = p.p_filesz - (sec.vaddr - p.p_vaddr);
		if (sec.size_bytes > EH_FRAME_MAX_BYTES)
			sec.size_bytes = EH_FRAME_MAX_BYTES;
		elf->ends_at_zero = true;
		return take_eh_frame(s, &sec, elf, err);
	}
	return parse_fail(err, -EBADMSG, eh->p_offset, ".eh_frame lies in no segment");
}

/*
 * How the entry code of a program or a dynamic linker begins.  Linkers also give libraries an entry
 * address, without meaning; the bytes distinguish the two.
 */
static bool begins_a_program(enum unwind_arch arch, const uint8_t *code)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
	static const uint8_t clear_ebp[] = { 0x31, 0xed };           /* xor %ebp,%ebp */
	static const uint8_t clear_rbp[] = { 0x48, 0x31, 0xed };     /* xor %rbp,%rbp */
	static const uint8_t linker[] = { 0x48, 0x89, 0xe7, 0xe8 };  /* mov %rsp,%rdi; call */
	uint32_t word;

	if (arch == UNWIND_X86_64) {
		if (!memcmp(code, landing, sizeof(landing)))
			code += sizeof(landing);
		return !memcmp(code, clear_ebp, sizeof(clear_ebp)) ||
		       !memcmp(code, clear_rbp, sizeof(clear_rbp)) ||
		       !memcmp(code, linker, sizeof(linker));
	}
	word = le32_load(code);
	if (word == 0xd503245f) /* bti c */
		word = le32_load(code + 4);
	return word == 0xd280001d || word == 0x910003e0; /* mov x29, #0; mov x0, sp */
}

static void find_start(const struct elf_sections_source *s, uint64_t entry,
		       struct elf_sections *elf)
{
	uint8_t code[8];

	for (uint32_t i = 0; i < elf->n_exec; i++) {
		const struct elf_sections_segment *e = &elf->exec[i];

		if (entry < e->vaddr || entry - e->vaddr >= e->size_bytes)
			continue;
		if (!read_at(s, e->off_bytes + (entry - e->vaddr), code, sizeof(code)) &&
		    begins_a_program(elf->arch, code))
			elf->start_vaddr = entry;
		return;
	}
}

int elf_sections_read(const struct elf_sections_source *source, struct elf_sections *out,
		      struct parse_err *err)
{
	Elf64_Phdr p, eh = { .p_type = PT_NULL };
	struct elf_sections elf = { .eh_frame = NULL };
	struct header h = { .phoff = 0 };
	uint8_t *phdrs = NULL;
	uint32_t i;
	int ret;

	ret = read_header(source, &h, &elf.arch, err);
	if (ret)
		return ret;
	ret = read_new(source, h.phoff, (uint64_t)h.phnum * PHDR_BYTES, &phdrs);
	if (ret)
		return parse_fail(err, ret, h.phoff, "cannot read the program headers");
	for (i = 0; i < h.phnum; i++) {
		p = load_phdr(phdrs + (size_t)i * PHDR_BYTES);
		if (p.p_type == PT_GNU_EH_FRAME)
			eh = p;
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			add_exec(&elf, &p);
	}
	find_start(source, h.entry, &elf);
	ret = find_by_section(source, &h, &elf, err);
	if (ret == 0 && eh.p_type == PT_GNU_EH_FRAME)
		ret = find_by_segment(source, phdrs, h.phnum, &eh, &elf, err);
	free(phdrs);
	if (ret < 0) {
		elf_sections_done(&elf);
		return ret;
	}
	*out = elf;
	return 0;
}

int elf_sections_bytes(const struct elf_sections_source *source, uint64_t off_bytes, void *to,
		       size_t size_bytes)
{
	return read_at(source, off_bytes, to, size_bytes);
}

/*
 * Pointers that the dynamic linker relocates: those into code point to functions, or to labels of
 * computed jumps, few of which are aligned as functions are.
 */
static void hand_out_pointers(const struct elf_sections_source *s, const struct section *sec,
			      void (*fn)(void *ctx, uint64_t vaddr), void *ctx)
{
	uint8_t *relocs;

	if (sec->size_bytes > MAX_SYMBOL_BYTES ||
	    read_new(s, sec->off_bytes, sec->size_bytes, &relocs))
		return;
	for (size_t at = 0; at + RELA_BYTES <= sec->size_bytes; at += RELA_BYTES) {
		uint64_t to = le64_load(relocs + at + offsetof(Elf64_Rela, r_addend));

		if (ELF64_R_TYPE(le64_load(relocs + at + offsetof(Elf64_Rela, r_info))) ==
			    R_X86_64_RELATIVE &&
		    to % FUNCTION_ALIGN == 0)
			fn(ctx, to);
	}
	free(relocs);
}

static void hand_out_functions(const struct elf_sections_source *s, const struct section *sec,
			       void (*fn)(void *ctx, uint64_t vaddr), void *ctx)
{
	uint8_t *symbols;

	if (sec->size_bytes > MAX_SYMBOL_BYTES ||
	    read_new(s, sec->off_bytes, sec->size_bytes, &symbols))
		return;
	for (size_t at = 0; at + SYMBOL_BYTES <= sec->size_bytes; at += SYMBOL_BYTES) {
		const uint8_t *sym = symbols + at;
		unsigned type = ELF64_ST_TYPE(sym[offsetof(Elf64_Sym, st_info)]);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
		    le16_load(sym + offsetof(Elf64_Sym, st_shndx)) != SHN_UNDEF)
			fn(ctx, le64_load(sym + offsetof(Elf64_Sym, st_value)));
	}
	free(symbols);
}

void elf_sections_functions(const struct elf_sections_source *source,
			    void (*fn)(void *ctx, uint64_t vaddr), void *ctx)
{
	uint8_t *sections = NULL;
	enum unwind_arch arch;
	struct header h;

	if (read_header(source, &h, &arch, NULL) || !h.shoff || h.shoff >= source->size_bytes ||
	    read_sections(source, &h, &sections))
		return;
	for (uint32_t i = 0; i < h.shnum; i++) {
		struct section sec = load_section(sections + (size_t)i * SHDR_BYTES);

		if (sec.type == SHT_SYMTAB || sec.type == SHT_DYNSYM)
			hand_out_functions(source, &sec, fn, ctx);
		if (sec.type == SHT_RELA && arch == UNWIND_X86_64)
			hand_out_pointers(source, &sec, fn, ctx);
	}
	free(sections);
}

void elf_sections_done(struct elf_sections *elf)
{
	free(elf->eh_frame);
	free(elf->go_table);
	elf->eh_frame = NULL;
	elf->go_table = NULL;
}
