/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * attr - what attributes of a DIE hold: numbers, addresses, texts and ranges
 *
 * DWARF 5, sections 7.5.6 (forms), 2.17.3 and 7.25 (ranges).  All bounded by the unit's bytes and its steps.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_ATTR_H
#define EBPREC_ANALYZE_SYM_DWARF_ATTR_H

#include "analyze/sym/dwarf/die.h"

/* The size of a form; 0: none of its own; UINT32_MAX: it differs. */
uint32_t dw_form_bytes(const struct dw_unit *u, uint16_t form);
/* It is one number, as long as that takes. */
bool dw_form_is_uleb(uint16_t form);
/* Reads one attribute and goes behind it; false: an unknown form. */
bool dw_read_value(const struct dw_unit *u, struct cursor *c, const struct dw_attr *a,
		   struct dw_value *out);

/*
 * The functions below are called for each DIE and each row: cursors go to functions as copies, so
 * that those here stay in registers.
 */
#define DW_HOT static inline __attribute__((always_inline))

/*
 * Field by field: one copy of the struct would be read from memory before its parts have arrived
 * there.
 */
DW_HOT struct cursor dw_copy_cursor(const struct cursor *c)
{
	struct cursor copy = cursor_of(c->data, c->size_bytes);

	copy.off_bytes = c->off_bytes;
	copy.bad = c->bad;
	return copy;
}

DW_HOT void dw_take_back(struct cursor *c, const struct cursor *copy)
{
	c->off_bytes = copy->off_bytes;
	c->bad = copy->bad;
}

/* Nearly all are of one byte. */
uint64_t dw_long_uleb(struct cursor *c);
DW_HOT uint64_t dw_uleb(struct cursor *c)
{
	struct cursor copy;
	uint64_t v;

	if (c->off_bytes < c->size_bytes && !c->bad && c->data[c->off_bytes] < 0x80)
		return c->data[c->off_bytes++];
	copy = dw_copy_cursor(c);
	v = dw_long_uleb(&copy);
	dw_take_back(c, &copy);
	return v;
}

int64_t dw_long_sleb(struct cursor *c);
DW_HOT int64_t dw_sleb(struct cursor *c)
{
	struct cursor copy;
	int64_t v;

	if (c->off_bytes < c->size_bytes && !c->bad && c->data[c->off_bytes] < 0x80) {
		v = c->data[c->off_bytes++];
		return v & 0x40 ? v - 0x80 : v;
	}
	copy = dw_copy_cursor(c);
	v = dw_long_sleb(&copy);
	dw_take_back(c, &copy);
	return v;
}

/* Goes behind an attribute whose size differs; false: an unknown form. */
bool dw_skip_varying(const struct dw_unit *u, struct cursor *c, const struct dw_attr *a);

/* Goes behind one attribute, or a run of them: returns the next one; NULL: an unknown form. */
DW_HOT const struct dw_attr *dw_skip_one(const struct dw_unit *u, struct cursor *c,
					 const struct dw_attr *a)
{
	struct cursor copy;

	switch (a->kind) {
	case DW_KIND_FIXED:
		cursor_skip(c, a->run_bytes);
		return a + a->run_count;
	case DW_KIND_BLOCK:
		cursor_skip(c, dw_uleb(c));
		return a + 1;
	case DW_KIND_ULEB:
		dw_uleb(c);
		return a + 1;
	default:
		copy = dw_copy_cursor(c);
		if (!dw_skip_varying(u, &copy, a))
			return NULL;
		dw_take_back(c, &copy);
		return a + 1;
	}
}

/* Goes behind all attributes of a DIE. */
DW_HOT bool dw_skip(const struct dw_unit *u, struct cursor *c, const struct dw_abbrev *a)
{
	const struct dw_attr *attr = &u->attrs[a->first_attr], *end = attr + a->attr_count;

	if (a->fixed_bytes != UINT32_MAX)
		cursor_skip(c, a->fixed_bytes);
	else
		while (attr && attr < end)
			attr = dw_skip_one(u, c, attr);
	return attr && cursor_ok(c);
}

bool dw_address(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		uint64_t *out);
/* Where in its section a text is; false: it is none, or unsupported. */
bool dw_text_place(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		   enum dw_section *section, uint64_t *off);

/* Not 0 ends the listing. */
typedef int (*dw_range_fn)(void *arg, uint64_t low, uint64_t high);
/*
 * The ranges of a DIE with these attributes.  Returns the last result of fn; -ENOTSUP: unsupported.
 */
int dw_ranges(const struct dw_file *f, struct dw_unit *u, const struct dw_value *low,
	      const struct dw_value *high, const struct dw_value *ranges, dw_range_fn fn,
	      void *arg);

#endif
