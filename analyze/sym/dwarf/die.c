/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/die.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/attr.h"
#include "format/base/vec.h"

#define HEAD_BYTES      512   /* of a unit, at first; its first DIE seldom takes more */
#define HEAD_MOST_BYTES 16384 /* larger ones are unsupported */
#define UNIT_MAX_BYTES  (256U << 20)
#define CODES_MAX       65536       /* compilers number from 1 on */
#define SPLIT_MAX_BYTES (64U << 20) /* of a section of a .dwo that is read at once */
#define OPEN_STEPS      65536       /* what to open a .dwo counts as */

/* ---- the file ---- */

static const char *const main_names[DW_SECTIONS] = {
	[DW_SEC_INFO] = ".debug_info",
	[DW_SEC_LINE] = ".debug_line",
	[DW_SEC_STR] = ".debug_str",
	[DW_SEC_LINE_STR] = ".debug_line_str",
	[DW_SEC_ABBREV] = ".debug_abbrev",
	[DW_SEC_RANGES] = ".debug_ranges",
	[DW_SEC_RNGLISTS] = ".debug_rnglists",
	[DW_SEC_ADDR] = ".debug_addr",
	[DW_SEC_STR_OFFSETS] = ".debug_str_offsets",
};

/* Those that a .dwo has for itself: of addresses and old ranges it has none, its lines are of types. */
static const char *const split_names[DW_SECTIONS] = {
	[DW_SEC_INFO] = ".debug_info.dwo",
	[DW_SEC_STR] = ".debug_str.dwo",
	[DW_SEC_ABBREV] = ".debug_abbrev.dwo",
	[DW_SEC_RNGLISTS] = ".debug_rnglists.dwo",
	[DW_SEC_STR_OFFSETS] = ".debug_str_offsets.dwo",
};

static bool is_borrowed(const struct dw_file *f, int i)
{
	return f->main && (i == DW_SEC_ADDR || i == DW_SEC_RANGES);
}

/* The unit's part of a section of a .dwp; texts are of all units. */
static int cut_window(struct dw_file *f, const struct dwp_index_row *row, int i)
{
	static const int columns[DW_SECTIONS] = {
		[DW_SEC_INFO] = DWP_INDEX_INFO + 1,
		[DW_SEC_ABBREV] = DWP_INDEX_ABBREV + 1,
		[DW_SEC_RNGLISTS] = DWP_INDEX_RNGLISTS + 1,
		[DW_SEC_STR_OFFSETS] = DWP_INDEX_STR_OFFSETS + 1,
	};
	struct elf_file_section *w = &f->windows[i];
	uint32_t off, size_bytes;
	int err;

	if (!columns[i])
		return 0;
	off = row->off_bytes[columns[i] - 1];
	size_bytes = row->size_bytes[columns[i] - 1];
	*w = *f->sections[i];
	err = elf_file_check(f->elf, w);
	if ((err && err != -EOVERFLOW) || off > w->size_bytes || size_bytes > w->size_bytes - off)
		return -ENOTSUP;
	w->off_bytes += off;
	w->size_bytes = size_bytes;
	f->sections[i] = w;
	return 0;
}

static int read_section(struct dw_file *f, const struct dwp_index_row *row, int i)
{
	int err = row ? cut_window(f, row, i) : 0;
	const struct elf_file_section *s = f->sections[i];

	if (err || elf_file_check(f->elf, s)) /* not there, or too large */
		return -ENOTSUP;
	if (i < DW_SEC_ABBREV)
		return 0;
	if (f->main && s->size_bytes > SPLIT_MAX_BYTES)
		return -ENOTSUP;
	err = elf_file_read(f->elf, s, &f->section_data[i]);
	f->section_bytes[i] = err ? 0 : (size_t)s->size_bytes;
	return err;
}

/* row: NULL: all of each. */
static int find_sections(struct dw_file *f, const struct dwp_index_row *row)
{
	const char *const *section_names = f->main ? split_names : main_names;
	int err = 0;

	for (int i = 0; !err && i < DW_SECTIONS; i++) {
		if (!section_names[i])
			continue;
		if (!f->pack)
			err = elf_file_inflate(f->elf, section_names[i]);
		if (err && err != -ENOMEM)
			err = -ENOTSUP;
		f->sections[i] = elf_file_by_name(f->elf, section_names[i]);
		if (!err && f->sections[i])
			err = read_section(f, row, i);
	}
	if (!err && (!f->sections[DW_SEC_INFO] || !f->sections[DW_SEC_ABBREV]))
		err = -ENOTSUP;
	return err;
}

int dw_file_open(int fd, struct dw_file *out)
{
	struct dw_file f = { 0 };
	int err;

	err = elf_file_open(fd, &f.elf);
	if (!err)
		err = find_sections(&f, NULL);
	if (err)
		dw_file_close(&f);
	else
		*out = f;
	return err;
}

void dw_file_close(struct dw_file *f)
{
	for (int i = 0; i < DW_SECTIONS; i++)
		if (!is_borrowed(f, i))
			free(f->section_data[i]);
	if (!f->pack)
		elf_file_close(f->elf);
	*f = (struct dw_file){ 0 };
}

/* ---- units ---- */

static enum dw_kind kind_of(const struct dw_attr *a)
{
	if (a->size_bytes != UINT32_MAX)
		return DW_KIND_FIXED;
	switch (a->form) {
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return DW_KIND_BLOCK;
	default:
		return dw_form_is_uleb(a->form) ? DW_KIND_ULEB : DW_KIND_OTHER;
	}
}

/* One attribute at the cursor.  -ENODATA: the end of them. */
static int read_attr(struct dw_unit *u, struct cursor *c)
{
	uint16_t name = (uint16_t)dw_uleb(c), form = (uint16_t)dw_uleb(c);
	int64_t implicit = form == DW_FORM_implicit_const ? dw_sleb(c) : 0;
	int err;

	if (!cursor_ok(c))
		return -ENOTSUP;
	if (!name && !form)
		return -ENODATA;
	err = vec_reserve(&u->attrs, &u->attr_room, u->attr_count + 1);
	if (!err)
		u->attrs[u->attr_count++] = (struct dw_attr){
			.name = name,
			.form = form,
			.size_bytes = dw_form_bytes(u, form),
			.implicit = implicit,
		};
	return err;
}

/* Facts about a DIE that its abbreviation has. */
static void look_ahead(struct dw_attr *attrs, struct dw_abbrev *out)
{
	uint32_t fixed_bytes = 0, run_count = 0, run_bytes = 0;
	bool is_fixed = true, has_code = false;

	for (struct dw_attr *a = attrs + out->attr_count; a-- > attrs;) {
		bool sibling = a->name == DW_AT_sibling;
		bool code = a->name == DW_AT_low_pc || a->name == DW_AT_ranges;

		out->has_sibling |= sibling;
		has_code |= code;
		a->has_span = sibling || code || a->name == DW_AT_high_pc;
		a->kind = (uint8_t)kind_of(a);
		if (a->kind != DW_KIND_FIXED) {
			is_fixed = false;
			run_count = run_bytes = 0;
			continue;
		}
		fixed_bytes += a->size_bytes;
		a->run_count = 1 + run_count;
		a->run_bytes = a->size_bytes + run_bytes;
		run_count = a->has_span ? 0 : a->run_count;
		run_bytes = a->has_span ? 0 : a->run_bytes;
	}
	out->fixed_bytes = is_fixed ? fixed_bytes : UINT32_MAX;
	if (has_code && out->tag == DW_TAG_subprogram)
		out->role = DW_ROLE_FUNCTION;
	if (has_code && out->tag == DW_TAG_inlined_subroutine)
		out->role = DW_ROLE_INLINED;
}

/* One abbreviation at the cursor; code 0: the end.  Its attributes are added to those of the unit. */
static int read_abbrev(struct dw_unit *u, struct cursor *from, uint64_t *code,
		       struct dw_abbrev *out)
{
	struct cursor c = dw_copy_cursor(from);
	size_t first = u->attr_count;
	int err;

	*code = dw_uleb(&c);
	if (!*code || !cursor_ok(&c))
		return cursor_ok(&c) ? 0 : -ENOTSUP;
	*out = (struct dw_abbrev){ .first_attr = (uint32_t)first };
	out->tag = (uint16_t)dw_uleb(&c);
	out->has_children = cursor_u8(&c);
	while (!(err = read_attr(u, &c)))
		;
	dw_take_back(from, &c);
	if (err != -ENODATA)
		return err;
	if (u->attr_count - first > UINT16_MAX)
		return -ENOTSUP;
	out->attr_count = (uint16_t)(u->attr_count - first);
	if (u->attr_count > first)
		look_ahead(u->attrs + first, out);
	return 0;
}

static struct cursor abbrevs_of(const struct dw_file *f, const struct dw_unit *u)
{
	size_t size_bytes = f->section_bytes[DW_SEC_ABBREV];

	if (u->abbrev_off >= size_bytes)
		return cursor_of(NULL, 0);
	return cursor_of(f->section_data[DW_SEC_ABBREV] + u->abbrev_off,
			 size_bytes - u->abbrev_off);
}

static int read_abbrevs(const struct dw_file *f, struct dw_unit *u)
{
	struct cursor c = abbrevs_of(f, u);
	struct dw_abbrev a;
	uint64_t code;
	int err;

	u->abbrev_count = u->attr_count = 0;
	/* Abbreviations without attributes point there, too. */
	err = vec_reserve(&u->attrs, &u->attr_room, 1);
	if (err)
		return err;
	for (;;) {
		size_t before = c.off_bytes;

		err = read_abbrev(u, &c, &code, &a);
		if (err || !code)
			return err;
		if (!dw_take_steps(u, c.off_bytes - before))
			return -ENOTSUP;
		if (code >= CODES_MAX)
			return -ENOTSUP;
		err = vec_reserve(&u->abbrevs, &u->abbrev_room, code + 1);
		if (err)
			return err;
		for (; u->abbrev_count <= code; u->abbrev_count++)
			u->abbrevs[u->abbrev_count] = (struct dw_abbrev){ 0 };
		u->abbrevs[code] = a;
	}
}

static void take_first(struct dw_unit *u, uint16_t name, const struct dw_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		u->low_pc = *v;
		break;
	case DW_AT_high_pc:
		u->high_pc = *v;
		break;
	case DW_AT_ranges:
		u->ranges = *v;
		break;
	case DW_AT_stmt_list:
		u->line = *v;
		break;
	case DW_AT_comp_dir:
		u->comp_dir = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->dwo_name = *v;
		break;
	case DW_AT_GNU_dwo_id:
		u->dwo_id = v->number;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->number;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->number;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->number;
		break;
	default:
		break;
	}
}

/* Goes behind an abbreviation whose code was read. */
static void skip_abbrev(struct cursor *c)
{
	uint64_t name, form;

	dw_uleb(c);
	cursor_skip(c, 1);
	do {
		name = dw_uleb(c);
		form = dw_uleb(c);
		if (form == DW_FORM_implicit_const)
			dw_sleb(c);
	} while ((name || form) && cursor_ok(c));
}

/* An abbreviation, when the others are not wanted: compilers seldom put that of the first DIE first. */
static int find_abbrev(const struct dw_file *f, struct dw_unit *u, uint64_t code,
		       struct dw_abbrev *out)
{
	struct cursor c = abbrevs_of(f, u);
	uint64_t other;
	size_t before;

	for (;;) {
		before = c.off_bytes;
		other = dw_uleb(&c);
		if (!other || !cursor_ok(&c))
			return -ENOTSUP;
		if (other == code)
			break;
		skip_abbrev(&c);
		if (!dw_take_steps(u, c.off_bytes - before))
			return -ENOTSUP;
	}
	c.off_bytes = before;
	u->attr_count = 0;
	return read_abbrev(u, &c, &other, out);
}

/* The first DIE; its code was read. */
static int read_first(const struct dw_file *f, struct dw_unit *u, struct cursor *c,
		      const struct dw_abbrev *a)
{
	struct dw_value v;

	if (a->tag == DW_TAG_partial_unit || a->tag == DW_TAG_type_unit)
		return -ENOENT;
	if (a->tag != DW_TAG_compile_unit && (f->main || a->tag != DW_TAG_skeleton_unit))
		return -ENOTSUP;
	for (uint32_t i = 0; i < a->attr_count; i++) {
		if (!dw_read_value(u, c, &u->attrs[a->first_attr + i], &v))
			return cursor_ok(c) ? -ENOTSUP : -ENODATA;
		take_first(u, u->attrs[a->first_attr + i].name, &v);
	}
	u->base = f->base;
	if (u->low_pc.form && !dw_address(f, u, &u->low_pc, &u->base))
		return -ENOTSUP;
	return 0;
}

/* DWARF 5 has the type of a unit, and the id that its two halves share.  As dw_unit_head(). */
static int read_type(const struct dw_file *f, struct dw_unit *u, struct cursor *c, uint8_t type)
{
	switch (type) {
	case DW_UT_compile:
		return f->main && u->version >= 5 ? -ENOTSUP : 0;
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		u->dwo_id = cursor_u64(c);
		return !f->main == (type == DW_UT_skeleton) ? 0 : -ENOTSUP;
	case DW_UT_type:
	case DW_UT_partial:
	case DW_UT_split_type:
		return -ENOENT;
	default:
		return -ENOTSUP;
	}
}

/* The bases of a unit that has none: in a .dwo it never does (DWARF 5, 7.26 and 7.28). */
static void set_bases(const struct dw_file *f, struct dw_unit *u)
{
	u->low_pc = u->high_pc = u->ranges = u->line = u->comp_dir = u->dwo_name =
		(struct dw_value){ 0 };
	u->dwo_id = 0;
	u->addr_base = f->addr_base;
	u->ranges_base = f->ranges_base;
	u->str_offsets_base = u->rnglists_base = 0;
}

/* Up to the first DIE. */
static int read_head(const struct dw_file *f, struct dw_unit *u, struct cursor *c)
{
	uint64_t left = f->sections[DW_SEC_INFO]->size_bytes - u->off;
	uint32_t length = cursor_u32(c);
	uint8_t type = DW_UT_compile;
	int err;

	set_bases(f, u);
	u->size_bytes = 4 + (uint64_t)length;
	u->version = cursor_u16(c);
	if (length >= 0xfffffff0 || u->size_bytes > left || !cursor_ok(c))
		return -EBADMSG;
	if (u->version < 2 || u->version > 5)
		return -ENOTSUP;
	if (u->version >= 5) {
		type = cursor_u8(c);
		u->addr_bytes = cursor_u8(c);
		u->abbrev_off = cursor_u32(c);
	} else {
		u->abbrev_off = cursor_u32(c);
		u->addr_bytes = cursor_u8(c);
	}
	err = read_type(f, u, c, type);
	if (err)
		return err;
	if (f->main && u->version >= 5) { /* behind the heads of the tables */
		u->str_offsets_base = 8;
		u->rnglists_base = 12;
	}
	u->die_off = (uint32_t)c->off_bytes;
	return cursor_ok(c) && (u->addr_bytes == 4 || u->addr_bytes == 8) ? 0 : -ENOTSUP;
}

static int read_start(const struct dw_file *f, struct dw_unit *u, const uint8_t *data, size_t have)
{
	struct cursor c = cursor_of(data, have);
	struct dw_abbrev a = { 0 };
	int err = read_head(f, u, &c);

	if (!err)
		err = find_abbrev(f, u, dw_uleb(&c), &a);
	return err ? err : read_first(f, u, &c, &a);
}

int dw_unit_head(const struct dw_file *f, struct dw_unit *u)
{
	const struct elf_file_section *info = f->sections[DW_SEC_INFO];
	uint8_t head[HEAD_MOST_BYTES];
	size_t have = HEAD_BYTES;
	int err;

	if (u->off >= info->size_bytes)
		return -ENODATA;
	for (;; have = HEAD_MOST_BYTES) {
		if (have > info->size_bytes - u->off)
			have = (size_t)(info->size_bytes - u->off);
		err = elf_file_read_part(f->elf, info, u->off, head, have);
		if (err) /* and so its size is not known */
			return err == -ENODATA ? -EBADMSG : err;
		err = read_start(f, u, head, have);
		if (err != -ENODATA || have != HEAD_BYTES)
			break;
	}
	u->comp_dir.text = u->dwo_name.text = NULL; /* were in head */
	return err == -ENODATA ? -ENOTSUP : err;
}

int dw_unit_load(const struct dw_file *f, struct dw_unit *u)
{
	const struct elf_file_section *info = f->sections[DW_SEC_INFO];
	uint64_t size_bytes = u->size_bytes, code;
	struct cursor c;
	int err;

	if (size_bytes > UNIT_MAX_BYTES || u->off > info->size_bytes ||
	    size_bytes > info->size_bytes - u->off)
		return -ENOTSUP;
	err = vec_reserve(&u->bytes, &u->bytes_room, (size_t)size_bytes);
	if (!err)
		err = elf_file_read_part(f->elf, info, u->off, u->bytes, (size_t)size_bytes);
	if (err)
		return err;
	c = cursor_of(u->bytes, (size_t)size_bytes);
	err = read_head(f, u, &c);
	if (err || u->size_bytes != size_bytes)
		return -ENOTSUP;
	err = read_abbrevs(f, u);
	if (err)
		return err;
	code = dw_uleb(&c);
	if (code >= u->abbrev_count || !u->abbrevs[code].tag)
		return -ENOTSUP;
	err = read_first(f, u, &c, &u->abbrevs[code]);
	return err ? -ENOTSUP : 0;
}

/* ---- units in files of their own ---- */

static int find_split(const struct dw_file *f, struct dw_unit *u, uint64_t id)
{
	int err;

	for (u->off = 0;; u->off += u->size_bytes) {
		if (!dw_take_steps(u, HEAD_BYTES))
			return -ENOTSUP;
		err = dw_unit_head(f, u);
		if (!err && u->dwo_id == id) /* many skeletons may name this unit */
			return dw_take_steps(u, u->size_bytes) ? dw_unit_load(f, u) : -ENOTSUP;
		if (err == -ENODATA || err == -EBADMSG)
			return -ESTALE;
		if (err && err != -ENOENT && err != -ENOTSUP)
			return err;
	}
}

/* Sets up the parts that the two halves share. */
static void begin_split(const struct dw_file *main, const struct dw_unit *skeleton, uint32_t number,
			struct dw_file *f)
{
	*f = (struct dw_file){ .main = main,
			       .addr_base = skeleton->addr_base,
			       .ranges_base = skeleton->ranges_base,
			       .base = skeleton->base,
			       .number = number };
	f->section_data[DW_SEC_ADDR] = main->section_data[DW_SEC_ADDR];
	f->section_bytes[DW_SEC_ADDR] = main->section_bytes[DW_SEC_ADDR];
	f->section_data[DW_SEC_RANGES] = main->section_data[DW_SEC_RANGES];
	f->section_bytes[DW_SEC_RANGES] = main->section_bytes[DW_SEC_RANGES];
}

static int load_split(struct dw_file *f, const struct dwp_index_row *row,
		      const struct dw_unit *skeleton, struct dw_unit *u)
{
	uint64_t steps = OPEN_STEPS;
	size_t section_count = 0;
	int err = find_sections(f, row);

	if (!row)
		elf_file_sections(f->elf, &section_count);
	steps += 64 * section_count;
	for (int i = 0; i < DW_SECTIONS; i++)
		steps += is_borrowed(f, i) ? 0 : f->section_bytes[i];
	if (!err)
		err = dw_take_steps(u, steps) ? find_split(f, u, skeleton->dwo_id) : -ENOTSUP;
	return err;
}

int dw_file_open_split(int fd, const struct dw_file *main, const struct dw_unit *skeleton,
		       uint32_t number, struct dw_file *out, struct dw_unit *u)
{
	int err;

	if (!skeleton->dwo_id)
		return -ESTALE;
	begin_split(main, skeleton, number, out);
	err = elf_file_open(fd, &out->elf);
	if (!err)
		err = load_split(out, NULL, skeleton, u);
	if (err)
		dw_file_close(out);
	return err;
}

int dw_file_open_packed(const struct dwp_index *pack, const struct dw_file *main,
			const struct dw_unit *skeleton, uint32_t number, struct dw_file *out,
			struct dw_unit *u)
{
	struct dwp_index_row row;
	uint64_t probes;
	bool has;
	int err;

	if (!skeleton->dwo_id)
		return -ENOENT;
	has = dwp_index_find(pack, skeleton->dwo_id, u->steps_left, &probes, &row);
	dw_take_steps(u, probes);
	if (!has)
		return -ENOENT;
	begin_split(main, skeleton, number, out);
	out->pack = pack;
	out->elf = pack->elf;
	err = load_split(out, &row, skeleton, u);
	if (err)
		dw_file_close(out);
	return err;
}

void dw_unit_done(struct dw_unit *u)
{
	free(u->bytes);
	free(u->abbrevs);
	free(u->attrs);
	*u = (struct dw_unit){ 0 };
}
