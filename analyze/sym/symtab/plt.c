/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* plt - the call stubs of an ELF file and what they call */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/plt.h"
#include "format/base/cursor.h"

struct reloc {
	uint64_t slot; /* address in the GOT */
	uint64_t resolver;
	uint32_t symbol;
};

struct relocs {
	struct reloc *items;
	size_t count;
};

struct entries {
	struct plt_entry *items;
	size_t count, room;
};

/* Where the stubs of a .plt begin and how long they are, by machine. */
struct geometry {
	uint16_t machine;
	uint8_t header_bytes, entry_bytes;
};

static const struct geometry geometries[] = {
	{ EM_X86_64, 16, 16 },
	{ EM_386, 16, 16 },
	{ EM_AARCH64, 32, 16 },
	{ EM_ARM, 20, 12 },
};

static int add_entry(struct entries *e, uint64_t vaddr, uint32_t size_bytes, const struct reloc *r)
{
	if (e->count == e->room) {
		size_t room = e->room ? 2 * e->room : 256;
		struct plt_entry *items = reallocarray(e->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		e->items = items;
		e->room = room;
	}
	e->items[e->count++] = (struct plt_entry){
		.vaddr = vaddr,
		.size_bytes = size_bytes,
		.symbol = r->symbol,
		.resolver = r->resolver,
	};
	return 0;
}

/* Whether a relocation of this type holds the address of a function that chooses another. */
static bool is_irelative(uint16_t machine, uint32_t type)
{
	return (machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
	       (machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE);
}

static struct reloc reloc_decode(struct cursor *c, bool is64, bool addend, uint16_t machine)
{
	struct reloc r = { 0 };
	uint64_t info, value;

	r.slot = is64 ? cursor_u64(c) : cursor_u32(c);
	info = is64 ? cursor_u64(c) : cursor_u32(c);
	r.symbol = (uint32_t)(is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
	if (!addend)
		return r;
	value = is64 ? cursor_u64(c) : cursor_u32(c);
	if (!r.symbol && is64 && is_irelative(machine, (uint32_t)ELF64_R_TYPE(info)))
		r.resolver = value;
	return r;
}

/* Whether the section's symbol numbers are those of .dynsym. */
static bool links_to_dynsym(const struct elf_file *e, const struct elf_file_section *s)
{
	const struct elf_file_section *sections;
	size_t count;

	sections = elf_file_sections(e, &count);
	return s->link < count && sections[s->link].type == SHT_DYNSYM;
}

/*
 * Adds the relocations of one section, or only those that can name something (their order is lost
 * then).  Only -ENOMEM is an error: a broken section adds none.
 */
static int read_relocs(const struct elf_file *e, const struct elf_file_section *s, bool naming_only,
		       struct relocs *out)
{
	bool addend = s->type == SHT_RELA, is64 = elf_file_is64(e), named = links_to_dynsym(e, s);
	size_t i, n, entry_bytes = is64 ? sizeof(Elf64_Rel) : sizeof(Elf32_Rel);
	struct reloc *items;
	struct cursor c;
	uint8_t *data;
	int err;

	if (addend)
		entry_bytes = is64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	if ((s->type != SHT_RELA && s->type != SHT_REL) || s->entry_bytes != entry_bytes)
		return 0;
	err = elf_file_read(e, s, &data);
	if (err)
		return err == -ENOMEM ? err : 0;
	n = (size_t)s->size_bytes / entry_bytes;
	items = reallocarray(out->items, out->count + n + 1, sizeof(*items));
	if (!items) {
		free(data);
		return -ENOMEM;
	}
	out->items = items;
	c = cursor_of(data, (size_t)s->size_bytes);
	for (i = 0; i < n; i++) {
		struct reloc r = reloc_decode(&c, is64, addend, elf_file_machine(e));

		if (!named)
			r.symbol = 0;
		if (r.symbol || r.resolver || !naming_only)
			items[out->count++] = r;
	}
	free(data);
	return 0;
}

static int by_slot(const void *pa, const void *pb)
{
	const struct reloc *a = pa, *b = pb;

	return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static const struct reloc *find_slot(const struct relocs *r, uint64_t slot)
{
	const struct reloc key = { .slot = slot };

	if (!r->count)
		return NULL;
	return bsearch(&key, r->items, r->count, sizeof(key), by_slot);
}

/*
 * The GOT slot that the x86-64 stub at p jumps through:
 *	[endbr64] [bnd] jmp *disp32(%rip)
 * 0 for anything else, e.g. the stub that calls the dynamic linker.
 */
static uint64_t stub_slot(const uint8_t *p, size_t size_bytes, uint64_t vaddr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t off_bytes = 0;

	if (size_bytes >= sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64)))
		off_bytes = sizeof(endbr64);
	if (off_bytes < size_bytes && p[off_bytes] == 0xf2)
		off_bytes++;
	if (size_bytes - off_bytes < 6 || p[off_bytes] != 0xff || p[off_bytes + 1] != 0x25)
		return 0;
	return vaddr + off_bytes + 6 + (uint64_t)(int64_t)(int32_t)le32_load(p + off_bytes + 2);
}

/*
 * The index of the relocation that the x86-64 lazy stub at p pushes:
 *	endbr64; push $index
 * With IBT these are in .plt, and .plt.sec has those that jump.
 */
static bool stub_index(const uint8_t *p, size_t size_bytes, uint32_t *out)
{
	static const uint8_t push[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x68 };

	if (size_bytes < sizeof(push) + 4 || memcmp(p, push, sizeof(push)) != 0)
		return false;
	*out = le32_load(p + sizeof(push));
	return true;
}

/* Stubs have 16 bytes, or 8 where nothing is lazy; not every linker records which. */
static size_t stub_bytes(const struct elf_file_section *s, const uint8_t *data,
			 const struct relocs *by_addr)
{
	if (s->entry_bytes == 8 || s->entry_bytes == 16)
		return (size_t)s->entry_bytes;
	if (s->size_bytes < 16 || !find_slot(by_addr, stub_slot(data + 8, 8, s->addr + 8)))
		return 16;
	return 8;
}

/* ordered: .rela.plt as the file has it; by_addr: all relocations of slots, sorted. */
static int read_stubs(const struct elf_file *e, const struct elf_file_section *s,
		      const struct relocs *ordered, const struct relocs *by_addr,
		      struct entries *out)
{
	size_t off_bytes, step;
	uint8_t *data;
	int err;

	err = elf_file_read(e, s, &data);
	if (err)
		return err == -ENOMEM ? err : 0;
	step = stub_bytes(s, data, by_addr);
	for (off_bytes = 0; !err && s->size_bytes - off_bytes >= step; off_bytes += step) {
		uint64_t slot, vaddr = s->addr + off_bytes;
		const struct reloc *r = NULL;
		uint32_t index;

		slot = stub_slot(data + off_bytes, step, vaddr);
		if (slot)
			r = find_slot(by_addr, slot);
		else if (stub_index(data + off_bytes, step, &index) && index < ordered->count)
			r = &ordered->items[index];
		if (r && (r->symbol || r->resolver))
			err = add_entry(out, vaddr, (uint32_t)step, r);
	}
	free(data);
	return err;
}

const struct elf_file_section *plt_section(const struct elf_file *e, size_t i)
{
	static const char *const names[PLT_SECTIONS] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };

	return elf_file_by_name(e, names[i]);
}

static int read_x86_64(const struct elf_file *e, const struct relocs *ordered, struct entries *out)
{
	const struct elf_file_section *s;
	struct relocs all = { 0 };
	size_t i;
	int err = 0;

	all.items = reallocarray(NULL, ordered->count + 1, sizeof(*all.items));
	if (!all.items)
		return -ENOMEM;
	if (ordered->count)
		memcpy(all.items, ordered->items, ordered->count * sizeof(*all.items));
	all.count = ordered->count;
	/* The slots of these are not lazy, their relocations are with the data's. */
	s = elf_file_by_name(e, ".rela.dyn");
	if (s && (elf_file_by_name(e, ".plt.got") || elf_file_by_name(e, ".iplt")))
		err = read_relocs(e, s, /* naming_only= */ true, &all);
	qsort(all.items, all.count, sizeof(*all.items), by_slot);
	for (i = 0; !err && i < PLT_SECTIONS; i++) {
		s = plt_section(e, i);
		if (s && s->flags & SHF_EXECINSTR)
			err = read_stubs(e, s, ordered, &all, out);
	}
	free(all.items);
	return err;
}

static int read_by_position(const struct elf_file *e, const struct relocs *ordered,
			    struct entries *out)
{
	const struct elf_file_section *s = elf_file_by_name(e, ".plt");
	const struct geometry *g = NULL;
	uint64_t off_bytes;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(geometries) / sizeof(geometries[0]); i++)
		if (geometries[i].machine == elf_file_machine(e))
			g = &geometries[i];
	if (!g || !s)
		return 0;
	for (i = 0; !err && i < ordered->count; i++) {
		off_bytes = g->header_bytes + (uint64_t)i * g->entry_bytes;
		if (off_bytes + g->entry_bytes > s->size_bytes)
			break;
		err = add_entry(out, s->addr + off_bytes, g->entry_bytes, &ordered->items[i]);
	}
	return err;
}

int plt_read(const struct elf_file *e, struct plt_entry **out, size_t *count)
{
	const struct elf_file_section *s = elf_file_by_name(e, ".rela.plt");
	struct entries found = { 0 };
	struct relocs ordered = { 0 };
	int err = 0;

	if (!s)
		s = elf_file_by_name(e, ".rel.plt");
	if (s)
		err = read_relocs(e, s, /* naming_only= */ false, &ordered);
	if (!err && elf_file_machine(e) == EM_X86_64 && elf_file_is64(e))
		err = read_x86_64(e, &ordered, &found);
	else if (!err)
		err = read_by_position(e, &ordered, &found);
	free(ordered.items);
	if (err) {
		free(found.items);
		return err;
	}
	*out = found.items;
	*count = found.count;
	return 0;
}
