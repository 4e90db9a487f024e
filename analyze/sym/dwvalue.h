/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dwvalue - what attributes of a DIE hold: numbers, addresses, texts and ranges
 *
 * DWARF 5, sections 7.5.6 (forms), 2.17.3 and 7.25 (ranges).  All bounded by the unit's bytes and its steps.
 */
#ifndef EBPREC_ANALYZE_SYM_DWVALUE_H
#define EBPREC_ANALYZE_SYM_DWVALUE_H

#include "analyze/sym/dwinfo.h"

/* The size of a form; 0: none of its own; UINT32_MAX: it differs. */
uint32_t dw_form_bytes(const struct dw_unit *u, uint16_t form);
/* Reads one attribute and goes behind it; false: an unknown form. */
bool dw_read_value(const struct dw_unit *u, struct cursor *c, const struct dw_attr *a,
		   struct dw_value *out);
/* Goes behind all attributes of a DIE. */
bool dw_skip(const struct dw_unit *u, struct cursor *c, const struct dw_abbrev *a);

uint64_t dw_long_uleb(struct cursor *c);

/* Nearly all are of one byte. */
static inline uint64_t dw_uleb(struct cursor *c)
{
	if (c->off_bytes < c->size_bytes && !c->bad && c->data[c->off_bytes] < 0x80)
		return c->data[c->off_bytes++];
	return dw_long_uleb(c);
}

int64_t dw_sleb(struct cursor *c);

bool dw_address(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		uint64_t *out);
/* Where in its section a text is; false: it is none, or odd. */
bool dw_text_place(const struct dw_file *f, const struct dw_unit *u, const struct dw_value *v,
		   enum dw_section *section, uint64_t *off);

/* Not 0 ends the listing. */
typedef int (*dw_range_fn)(void *arg, uint64_t low, uint64_t high);
/* The ranges of a DIE with these attributes.  What fn returned last; -ENOTSUP: odd. */
int dw_ranges(const struct dw_file *f, struct dw_unit *u, const struct dw_value *low,
	      const struct dw_value *high, const struct dw_value *ranges, dw_range_fn fn,
	      void *arg);

#endif
