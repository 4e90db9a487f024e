/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/libdw_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/range_index.h"
#include "analyze/sym/elf/libdw_image.h"
#include "analyze/sym/dwarf/line_strings.h"
#include "format/base/vec.h"

#define NESTING_MAX 256 /* of DIEs; a hostile file could have any */

/* A function that was inlined; one for each of its ranges, in the order of the DIEs. */
struct inlined {
	uint64_t low, high;
	uint32_t depth; /* 0: into the function itself */
	uint32_t call_line, call_column;
	const char *call_file, *name;
};

struct function {
	Dwarf_Off die;
	bool loaded;
	const char *name;
	struct inlined *inlined;
	size_t count, capacity;
};

struct unit {
	Dwarf_Off die;
	bool loaded;
	struct range_index ranges; /* of functions */
	struct function *functions;
	size_t count, capacity;
};

struct lines {
	struct libdw_image image, alt_image;
	Elf *elf, *alt_elf;
	Dwarf *dwarf, *alt;
	struct range_index ranges; /* of units */
	struct unit *units;
	size_t count, capacity;
	struct line_strings paths; /* those that libdw has no complete text of */
};

/* ---- ranges ---- */

/* All ranges of a DIE.  What libdw cannot read is not there. */
static int add_die(struct range_index *r, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	int err = 0;

	while (!err && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		err = range_index_add(r, low, high, owner);
	return err;
}

/* ---- attributes of a DIE ---- */

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_diename(die);
	name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

static uint32_t die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/*
 * The path from the compiler's folder, as eu-addr2line prints it; libdw has only the path of the
 * line program.
 */
static const char *complete_path(struct lines *l, Dwarf_Die *unit, const char *path)
{
	const char *folder, *complete = path;
	Dwarf_Attribute attr;
	char *joined;

	if (!path || *path == '/' || !dwarf_attr(unit, DW_AT_comp_dir, &attr))
		return path;
	folder = dwarf_formstring(&attr);
	if (!folder || asprintf(&joined, "%s/%s", folder, path) < 0)
		return path;
	(void)line_strings_add(&l->paths, joined, &complete); /* without memory it stays as it is */
	free(joined);
	return complete;
}

static const char *call_file(struct lines *l, Dwarf_Die *unit, Dwarf_Die *die)
{
	uint32_t number = die_number(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return complete_path(l, unit, dwarf_filesrc(files, number, NULL, NULL));
}

/* The next one at the same level; a file that leads back is not followed. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Off was = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= was)
		return false;
	*die = next;
	return true;
}

/* ---- a function ---- */

static int add_inlined(struct lines *l, struct function *f, Dwarf_Die *unit, Dwarf_Die *die,
		       uint32_t depth)
{
	struct inlined it = {
		.depth = depth,
		.call_line = die_number(die, DW_AT_call_line),
		.call_column = die_number(die, DW_AT_call_column),
		.call_file = call_file(l, unit, die),
		.name = die_name(die),
	};
	Dwarf_Addr base;
	ptrdiff_t at = 0;
	int err = 0;

	while (!err && (at = dwarf_ranges(die, at, &base, &it.low, &it.high)) > 0) {
		if (it.low >= it.high)
			continue;
		err = vec_reserve(&f->inlined, &f->capacity, f->count + 1);
		if (!err)
			f->inlined[f->count++] = it;
	}
	return err;
}

/* Blocks only hold others; a function inside of another has its own entry in the unit. */
static int walk_function(struct lines *l, struct function *f, Dwarf_Die *unit, Dwarf_Die *parent,
			 uint32_t depth, unsigned nesting)
{
	Dwarf_Die die;
	int err = 0;

	if (nesting > NESTING_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			err = add_inlined(l, f, unit, &die, depth);
			if (!err)
				err = walk_function(l, f, unit, &die, depth + 1, nesting + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			err = walk_function(l, f, unit, &die, depth, nesting + 1);
			break;
		default:
			break;
		}
	} while (!err && next_sibling(&die));
	return err;
}

static int load_function(struct lines *l, struct function *f, Dwarf_Die *unit)
{
	Dwarf_Die die;

	f->loaded = true;
	if (!dwarf_offdie(l->dwarf, f->die, &die))
		return 0;
	f->name = die_name(&die);
	return walk_function(l, f, unit, &die, 0, 0);
}

/* ---- a unit ---- */

static int add_function(struct unit *u, Dwarf_Die *die)
{
	size_t before = u->ranges.count;
	int err;

	err = vec_reserve(&u->functions, &u->capacity, u->count + 1);
	if (!err)
		err = add_die(&u->ranges, die, (uint32_t)u->count);
	if (!err && u->ranges.count > before)
		u->functions[u->count++] = (struct function){ .die = dwarf_dieoffset(die) };
	return err;
}

static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static int walk_unit(struct unit *u, Dwarf_Die *parent, unsigned nesting)
{
	Dwarf_Die die;
	int err = 0;

	if (nesting > NESTING_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			err = add_function(u, &die);
		if (!err && may_hold_functions(tag) && dwarf_haschildren(&die) > 0)
			err = walk_unit(u, &die, nesting + 1);
	} while (!err && next_sibling(&die));
	return err;
}

static int load_unit(struct unit *u, Dwarf_Die *die)
{
	int err;

	u->loaded = true;
	err = walk_unit(u, die, 0);
	range_index_seal(&u->ranges);
	return err;
}

/* ---- the file ---- */

static int add_unit(struct lines *l, Dwarf_Die *die)
{
	size_t before = l->ranges.count;
	int err;

	err = vec_reserve(&l->units, &l->capacity, l->count + 1);
	if (!err)
		err = add_die(&l->ranges, die, (uint32_t)l->count);
	if (!err && l->ranges.count > before)
		l->units[l->count++] = (struct unit){ .die = dwarf_dieoffset(die) };
	return err;
}

static int index_units(struct lines *l)
{
	Dwarf_Off at = 0, next;
	size_t header_bytes;
	Dwarf_Die die;
	int err = 0;

	while (!err && !dwarf_nextcu(l->dwarf, at, &next, &header_bytes, NULL, NULL, NULL)) {
		if (next <= at)
			break;
		if (dwarf_offdie(l->dwarf, at + header_bytes, &die) &&
		    (dwarf_tag(&die) == DW_TAG_compile_unit ||
		     dwarf_tag(&die) == DW_TAG_skeleton_unit))
			err = add_unit(l, &die);
		at = next;
	}
	range_index_seal(&l->ranges);
	return err;
}

static int open_dwarf(int fd, struct libdw_image *image, Elf **elf, Dwarf **out)
{
	int err;

	err = libdw_image_read(fd, image);
	if (err)
		return err;
	*elf = elf_memory((char *)image->data, image->size_bytes);
	*out = *elf ? dwarf_begin_elf(*elf, DWARF_C_READ, NULL) : NULL;
	return *out ? 0 : -ENOENT;
}

/*
 * libdw would look for the other file by itself, by a path from this one.  -1 is its own mark for
 * "looked, and not found" (dwarf_getalt.c).
 */
static void set_alt(struct lines *l, int alt_fd)
{
	if (alt_fd >= 0 && open_dwarf(alt_fd, &l->alt_image, &l->alt_elf, &l->alt))
		l->alt = NULL;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	dwarf_setalt(l->dwarf, l->alt ? l->alt : (Dwarf *)-1);
}

int lines_open(int fd, int alt_fd, struct lines **out)
{
	struct lines *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	err = open_dwarf(fd, &l->image, &l->elf, &l->dwarf);
	if (!err) {
		set_alt(l, alt_fd);
		err = index_units(l);
	}
	if (!err && !l->count)
		err = -ENOENT;
	if (err) {
		lines_free(l);
		return err;
	}
	*out = l;
	return 0;
}

static void free_unit(struct unit *u)
{
	for (size_t i = 0; i < u->count; i++)
		free(u->functions[i].inlined);
	free(u->functions);
	free(u->ranges.list);
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free_unit(&l->units[i]);
	free(l->units);
	free(l->ranges.list);
	line_strings_done(&l->paths);
	dwarf_end(l->dwarf);
	dwarf_end(l->alt);
	elf_end(l->elf);
	elf_end(l->alt_elf);
	libdw_image_done(&l->image);
	libdw_image_done(&l->alt_image);
	free(l);
}

/* ---- questions ---- */

/* The function of the unit that covers vaddr, loaded; NULL: none is known. */
static struct function *find_function(struct lines *l, struct unit *u, Dwarf_Die *unit,
				      uint64_t vaddr)
{
	const struct code_range *r;
	struct function *f;

	if (!u->loaded && load_unit(u, unit))
		return NULL; /* no memory: as if it were not there */
	r = range_index_find(&u->ranges, vaddr);
	if (!r)
		return NULL;
	f = &u->functions[r->owner];
	if (!f->loaded && load_function(l, f, unit))
		return NULL;
	return f;
}

static void find_line(struct lines *l, Dwarf_Die *unit, uint64_t vaddr, struct source_frame *out)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, vaddr);
	int number = 0, column = 0;

	if (!line)
		return;
	out->file = complete_path(l, unit, dwarf_linesrc(line, NULL, NULL));
	if (!dwarf_lineno(line, &number) && number > 0)
		out->line = (uint32_t)number;
	if (!dwarf_linecol(line, &column) && column > 0)
		out->column = (uint32_t)column;
}

/* The inlined functions around vaddr, outermost first. */
static size_t find_inlined(const struct function *f, uint64_t vaddr,
			   const struct inlined *chain[LINES_DEPTH_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct inlined *it = &f->inlined[i];

		if (vaddr < it->low || vaddr >= it->high || it->depth > count ||
		    it->depth >= LINES_DEPTH_MAX - 1)
			continue;
		chain[it->depth] = it;
		count = it->depth + 1;
	}
	return count;
}

size_t lines_find(struct lines *l, uint64_t vaddr, struct source_frame *out, size_t max)
{
	const struct inlined *chain[LINES_DEPTH_MAX];
	const struct code_range *r = range_index_find(&l->ranges, vaddr);
	struct source_frame at = { 0 };
	struct function *f;
	size_t depth, n = 0;
	Dwarf_Die unit;

	if (!r || !max || !dwarf_offdie(l->dwarf, l->units[r->owner].die, &unit))
		return 0;
	f = find_function(l, &l->units[r->owner], &unit, vaddr);
	find_line(l, &unit, vaddr, &at);
	depth = f ? find_inlined(f, vaddr, chain) : 0;
	while (depth && n + 1 < max) {
		const struct inlined *it = chain[--depth];

		out[n] = at;
		out[n++].function = it->name;
		at = (struct source_frame){ NULL, it->call_file, it->call_line, it->call_column };
	}
	at.function = f ? f->name : NULL;
	out[n++] = at;
	return n;
}
