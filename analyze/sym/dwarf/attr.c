/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/attr.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* ---- values ---- */

uint64_t dw_long_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

int64_t dw_long_sleb(struct cursor *c)
{
	unsigned shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~0ULL << shift;
	return (int64_t)v;
}

uint32_t dw_form_bytes(const struct dw_unit *u, uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_ref_sup4:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_bytes;
	case DW_FORM_ref_addr:
		return u->version == 2 ? u->addr_bytes : 4;
	default:
		return UINT32_MAX;
	}
}

static uint64_t read_fixed(struct cursor *c, uint32_t size_bytes)
{
	const uint8_t *p = cursor_bytes(c, size_bytes);
	uint64_t v = 0;

	if (!p)
		return 0;
	switch (size_bytes) { /* nearly all */
	case 1:
		return *p;
	case 2:
		return le16_load(p);
	case 4:
		return le32_load(p);
	case 8:
		return le64_load(p);
	default:
		break;
	}
	for (uint32_t i = 0; i < size_bytes && i < 8; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

bool dw_form_is_uleb(uint16_t form)
{
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return true;
	default:
		return false;
	}
}

/* Forms that have their own length. */
static bool read_varying(const struct dw_unit *u, struct cursor *c, struct dw_value *out)
{
	if (dw_form_is_uleb(out->form)) {
		out->number = dw_uleb(c);
		return true;
	}
	switch (out->form) {
	case DW_FORM_string:
		out->text = cursor_str(c);
		return out->text;
	case DW_FORM_sdata:
		out->number = (uint64_t)dw_sleb(c);
		return true;
	case DW_FORM_block1:
		cursor_skip(c, cursor_u8(c));
		return true;
	case DW_FORM_block2:
		cursor_skip(c, cursor_u16(c));
		return true;
	case DW_FORM_block4:
		cursor_skip(c, cursor_u32(c));
		return true;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(c, dw_uleb(c));
		return true;
	default:
		return false;
	}
}

bool dw_read_value(const struct dw_unit *u, struct cursor *c, const struct dw_attr *a,
		   struct dw_value *out)
{
	uint32_t size_bytes;

	*out = (struct dw_value){ .form = a->form, .number = (uint64_t)a->implicit };
	if (a->form == DW_FORM_indirect)
		out->form = (uint16_t)dw_uleb(c);
	if (out->form == DW_FORM_implicit_const)
		return a->form == out->form; /* behind an indirection it has no value */
	size_bytes = a->size_bytes ? a->size_bytes : dw_form_bytes(u, out->form);
	if (a->form == DW_FORM_indirect)
		size_bytes = dw_form_bytes(u, out->form);
	if (size_bytes == UINT32_MAX)
		return read_varying(u, c, out) && cursor_ok(c);
	out->number = read_fixed(c, size_bytes);
	return cursor_ok(c);
}

bool dw_skip_varying(const struct dw_unit *u, struct cursor *c, const struct dw_attr *a)
{
	struct dw_value v;

	return dw_read_value(u, c, a, &v);
}

static bool is_address_index(uint16_t form)
{
	return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool address_at(const struct dw_file *f, const struct dw_unit *u, uint64_t i, uint64_t *out)
{
	size_t size_bytes = f->section_bytes[DW_SEC_ADDR];
	struct cursor c;

	if (u->addr_base > size_bytes || i >= (size_bytes - u->addr_base) / u->addr_bytes)
		return false;
	c = cursor_of(f->section_data[DW_SEC_ADDR] + u->addr_base + i * u->addr_bytes,
		      u->addr_bytes);
	*out = read_fixed(&c, u->addr_bytes);
	return true;
}

bool dw_address(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		uint64_t *out)
{
	if (is_address_index(v->form))
		return address_at(f, u, v->number, out);
	*out = v->number;
	return v->form == DW_FORM_addr;
}

bool dw_text_place(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		   enum dw_section *section, uint64_t *off)
{
	size_t size_bytes = f->section_bytes[DW_SEC_STR_OFFSETS];

	*section = v->form == DW_FORM_line_strp ? DW_SEC_LINE_STR : DW_SEC_STR;
	*off = v->number;
	if (v->form == DW_FORM_strp || v->form == DW_FORM_line_strp)
		return true;
	if (v->form != DW_FORM_strx && v->form != DW_FORM_GNU_str_index &&
	    (v->form < DW_FORM_strx1 || v->form > DW_FORM_strx4))
		return false;
	if (u->str_offsets_base > size_bytes || v->number >= (size_bytes - u->str_offsets_base) / 4)
		return false;
	*off = le32_load(f->section_data[DW_SEC_STR_OFFSETS] + u->str_offsets_base + 4 * v->number);
	return true;
}

/* ---- ranges ---- */

/* DWARF 5, 7.25; how far indices and offsets are relative is up to the kind of entry. */
static int range_lists(const struct dw_file *f, struct dw_unit *u, uint64_t off, dw_range_fn fn,
		       void *arg)
{
	uint64_t base = u->base, low, high;
	struct cursor c;
	int err = 0;

	if (off >= f->section_bytes[DW_SEC_RNGLISTS])
		return -ENOTSUP;
	c = cursor_of(f->section_data[DW_SEC_RNGLISTS] + off,
		      f->section_bytes[DW_SEC_RNGLISTS] - off);
	while (!err) {
		if (!dw_take_steps(u, 1))
			return -ENOTSUP;
		uint8_t kind = cursor_u8(&c);

		switch (kind) {
		case DW_RLE_base_addressx:
			if (!address_at(f, u, dw_uleb(&c), &base))
				return -ENOTSUP;
			continue;
		case DW_RLE_base_address:
			base = read_fixed(&c, u->addr_bytes);
			continue;
		case DW_RLE_startx_endx:
			if (!address_at(f, u, dw_uleb(&c), &low) ||
			    !address_at(f, u, dw_uleb(&c), &high))
				return -ENOTSUP;
			break;
		case DW_RLE_startx_length:
			if (!address_at(f, u, dw_uleb(&c), &low))
				return -ENOTSUP;
			high = low + dw_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			low = base + dw_uleb(&c);
			high = base + dw_uleb(&c);
			break;
		case DW_RLE_start_end:
			low = read_fixed(&c, u->addr_bytes);
			high = read_fixed(&c, u->addr_bytes);
			break;
		case DW_RLE_start_length:
			low = read_fixed(&c, u->addr_bytes);
			high = low + dw_uleb(&c);
			break;
		case DW_RLE_end_of_list:
			return cursor_ok(&c) ? 0 : -ENOTSUP;
		default:
			return -ENOTSUP;
		}
		if (!cursor_ok(&c))
			return -ENOTSUP;
		if (low < high)
			err = fn(arg, low, high);
	}
	return err;
}

/* DWARF 2 to 4: pairs, two zeroes at the end; all ones before a new base. */
static int range_pairs(const struct dw_file *f, struct dw_unit *u, uint64_t off, dw_range_fn fn,
		       void *arg)
{
	uint64_t most = u->addr_bytes == 4 ? UINT32_MAX : UINT64_MAX, base = u->base;
	struct cursor c;
	int err = 0;

	if (off >= f->section_bytes[DW_SEC_RANGES])
		return -ENOTSUP;
	c = cursor_of(f->section_data[DW_SEC_RANGES] + off, f->section_bytes[DW_SEC_RANGES] - off);
	while (!err) {
		if (!dw_take_steps(u, 1))
			return -ENOTSUP;
		uint64_t low = read_fixed(&c, u->addr_bytes), high = read_fixed(&c, u->addr_bytes);

		if (!cursor_ok(&c))
			return -ENOTSUP;
		if (low == most)
			base = high;
		else if (!low && !high)
			return 0;
		else if (low < high)
			err = fn(arg, base + low, base + high);
	}
	return err;
}

int dw_ranges(const struct dw_file *f, struct dw_unit *u, const struct dw_value *low,
	      const struct dw_value *high, const struct dw_value *ranges, dw_range_fn fn, void *arg)
{
	uint64_t from, to, off = ranges->number + (f->main ? u->ranges_base : 0);

	if (ranges->form && ranges->form == DW_FORM_rnglistx) {
		size_t size_bytes = f->section_bytes[DW_SEC_RNGLISTS];

		if (u->rnglists_base > size_bytes ||
		    ranges->number >= (size_bytes - u->rnglists_base) / 4)
			return -ENOTSUP;
		off = u->rnglists_base + le32_load(f->section_data[DW_SEC_RNGLISTS] +
						   u->rnglists_base + 4 * ranges->number);
	}
	if (ranges->form)
		return u->version >= 5 ? range_lists(f, u, off, fn, arg)
				       : range_pairs(f, u, off, fn, arg);
	if (!low->form || !high->form)
		return 0;
	if (!dw_address(f, u, low, &from))
		return -ENOTSUP;
	if (!dw_address(f, u, high, &to))
		to = from + high->number;
	return from < to ? fn(arg, from, to) : 0;
}
