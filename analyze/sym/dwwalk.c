/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwwalk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "analyze/sym/dwvalue.h"
#include "analyze/vec.h"

#define NESTING_MAX 256
#define HITS_MAX    256 /* inlined functions around an address */

/* What children may be: functions of the unit, and what was inlined into which one how deep. */
struct level {
	bool functions, inlines;
	uint32_t function, depth;
};

void dwwalk_done(struct dwwalk *w)
{
	free(w->functions);
	free(w->lows);
	free(w->inlined);
	free(w->hits);
	*w = (struct dwwalk){ 0 };
}

uint32_t dwwalk_target(const struct dw_unit *u, const struct dw_value *reference)
{
	uint64_t off = reference->number;

	switch (reference->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		break;
	case DW_FORM_ref_addr:
		off -= u->off;
		break;
	default:
		return DWWALK_NONE;
	}
	return off >= u->die_off && off < u->size_bytes ? (uint32_t)off : DWWALK_NONE;
}

static void take(struct dwwalk_die *d, uint16_t name, const struct dw_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		d->low = *v;
		break;
	case DW_AT_high_pc:
		d->high = *v;
		break;
	case DW_AT_ranges:
		d->ranges = *v;
		break;
	case DW_AT_name:
		d->name = *v;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		d->linkage = *v;
		break;
	case DW_AT_abstract_origin:
		d->origin = *v;
		break;
	case DW_AT_specification:
		if (!d->origin.form)
			d->origin = *v;
		break;
	case DW_AT_sibling:
		d->sibling = *v;
		break;
	case DW_AT_call_file:
		d->call_file = *v;
		break;
	case DW_AT_call_line:
		d->call_line = *v;
		break;
	case DW_AT_call_column:
		d->call_column = *v;
		break;
	default:
		break;
	}
}

static bool read_die(const struct dw_unit *u, struct cursor *c, const struct dw_abbrev *a,
		     struct dwwalk_die *out)
{
	struct dw_value v;

	*out = (struct dwwalk_die){ 0 };
	for (uint32_t i = 0; i < a->attr_count; i++) {
		const struct dw_attr *attr = &u->attrs[a->first_attr + i];

		if (!dw_read_value(u, c, attr, &v))
			return false;
		take(out, attr->name, &v);
	}
	return true;
}

static const struct dw_abbrev *abbrev_of(const struct dw_unit *u, uint64_t code)
{
	return code < u->abbrev_count && u->abbrevs[code].tag ? &u->abbrevs[code] : NULL;
}

bool dwwalk_die(const struct dw_unit *u, uint32_t off, struct dwwalk_die *out)
{
	struct cursor c = cursor_of(u->bytes, (size_t)u->size_bytes);
	const struct dw_abbrev *a;

	if (off >= u->size_bytes)
		return false;
	c.off_bytes = off;
	a = abbrev_of(u, dw_uleb(&c));
	return a && read_die(u, &c, a, out);
}

/* ---- what covers wanted addresses ---- */

static size_t lower_bound(const struct dwwalk *w, uint64_t addr)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->vaddrs[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct covering {
	struct dwwalk *w;
	uint32_t id; /* of the function, or the inlined one */
	bool any;
};

/* Of several functions the one that begins last is right, and then the last in the unit. */
static int cover_function(void *arg, uint64_t low, uint64_t high)
{
	struct covering *c = arg;

	for (size_t i = lower_bound(c->w, low); i < c->w->count && c->w->vaddrs[i] < high; i++) {
		if (!dw_spend(c->w->unit, 1))
			return -ENOTSUP;
		c->any = true;
		if (c->w->functions[i] != DWWALK_NONE && c->w->lows[i] > low)
			continue;
		c->w->functions[i] = c->id;
		c->w->lows[i] = low;
	}
	return 0;
}

static int cover_inlined(void *arg, uint64_t low, uint64_t high)
{
	struct covering *c = arg;
	struct dwwalk *w = c->w;
	int err = 0;

	for (size_t i = lower_bound(w, low); !err && i < w->count && w->vaddrs[i] < high; i++) {
		if (w->hit_count / HITS_MAX > w->count)
			return -ENOTSUP;
		err = vec_reserve(&w->hits, &w->hit_room, w->hit_count + 1);
		if (!err)
			w->hits[w->hit_count++] = (struct dwwalk_hit){ (uint32_t)i, c->id };
		c->any = true;
	}
	return err;
}

static int enter_function(struct dwwalk *w, uint32_t off, const struct dwwalk_die *d,
			  struct level *child)
{
	struct covering c = { .w = w, .id = off };
	int err = dw_ranges(w->file, w->unit, &d->low, &d->high, &d->ranges, cover_function, &c);

	*child = (struct level){ .functions = true, .inlines = c.any, .function = off };
	return err;
}

static int enter_inlined(struct dwwalk *w, uint32_t off, const struct dwwalk_die *d,
			 const struct level *parent, struct level *child)
{
	struct covering c = { .w = w, .id = (uint32_t)w->inlined_count };
	int err = vec_reserve(&w->inlined, &w->inlined_room, w->inlined_count + 1);

	if (!err)
		err = dw_ranges(w->file, w->unit, &d->low, &d->high, &d->ranges, cover_inlined, &c);
	if (!err && c.any)
		w->inlined[w->inlined_count++] = (struct dwwalk_inlined){
			.die_off = off,
			.function = parent->function,
			.depth = parent->depth,
			.call_file = d->call_file,
			.call_line = d->call_line,
			.call_column = d->call_column,
		};
	*child = (struct level){ .inlines = c.any,
				 .function = parent->function,
				 .depth = parent->depth + 1 };
	return err;
}

/* ---- the walk ---- */

/* What the children of a DIE that has no code of its own may be. */
static struct level below(const struct level *parent, uint16_t tag)
{
	struct level child = *parent;

	switch (tag) {
	case DW_TAG_lexical_block:
		return child;
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		child.functions = false;
		return child;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram: /* without code */
		child.inlines = false;
		return child;
	default:
		return (struct level){ 0 };
	}
}

/* Goes behind all that is below a DIE whose attributes were read. */
static bool skip_below(const struct dw_unit *u, struct cursor *c)
{
	const struct dw_abbrev *a;
	uint64_t code;

	for (unsigned open = 1; open && cursor_left(c);) {
		code = dw_uleb(c);
		a = abbrev_of(u, code);
		if (!code)
			open--;
		else if (!a || !dw_skip(u, c, a))
			return false;
		else
			open += a->has_children;
	}
	return cursor_ok(c);
}

/* The same, where the DIE may have said where its sibling is. */
static bool leap(const struct dw_unit *u, struct cursor *c, const struct dw_value *sibling)
{
	uint32_t next = dwwalk_target(u, sibling);

	if (next == DWWALK_NONE)
		return skip_below(u, c);
	if (next < c->off_bytes)
		return false;
	c->off_bytes = next;
	return true;
}

/* A function, an inlined one, or something that says where its sibling is. */
static int step_read(struct dwwalk *w, struct cursor *c, uint32_t off, const struct dw_abbrev *a,
		     bool code, const struct level *parent, struct level *child)
{
	struct dwwalk_die d;
	int err = 0;

	if (!read_die(w->unit, c, a, &d))
		return -ENOTSUP;
	if (code)
		err = a->tag == DW_TAG_subprogram ? enter_function(w, off, &d, child)
						  : enter_inlined(w, off, &d, parent, child);
	if (err || child->functions || child->inlines || !a->has_children)
		return err;
	return leap(w->unit, c, &d.sibling) ? 1 : -ENOTSUP;
}

/*
 * One DIE, which begins at off, its code read; *child: what its children may be.  1: these were passed
 * over.
 */
static int step(struct dwwalk *w, struct cursor *c, uint32_t off, const struct dw_abbrev *a,
		const struct level *parent, struct level *child)
{
	bool code = a->has_code && ((a->tag == DW_TAG_subprogram && parent->functions) ||
				    (a->tag == DW_TAG_inlined_subroutine && parent->inlines));

	if (!code && !a->has_children)
		return dw_skip(w->unit, c, a) ? 0 : -ENOTSUP;
	*child = below(parent, a->tag);
	if (code || (!child->functions && !child->inlines && a->has_sibling))
		return step_read(w, c, off, a, code, parent, child);
	if (!dw_skip(w->unit, c, a))
		return -ENOTSUP;
	if (child->functions || child->inlines)
		return 0;
	return skip_below(w->unit, c) ? 1 : -ENOTSUP;
}

static int walk(struct dwwalk *w)
{
	struct cursor c = cursor_of(w->unit->bytes, (size_t)w->unit->size_bytes);
	struct level levels[NESTING_MAX] = { { .functions = true } }, child;
	const struct dw_abbrev *a;
	unsigned top = 0;
	int err = 0;

	c.off_bytes = w->unit->die_off;
	a = abbrev_of(w->unit, dw_uleb(&c));
	if (!a || !dw_skip(w->unit, &c, a))
		return -ENOTSUP;
	while (a && cursor_left(&c)) {
		uint32_t off = (uint32_t)c.off_bytes;
		uint64_t code = dw_uleb(&c);

		if (!code) {
			if (!top--)
				return 0;
			continue;
		}
		a = abbrev_of(w->unit, code);
		if (!a || !cursor_ok(&c))
			return -ENOTSUP;
		err = step(w, &c, off, a, &levels[top], &child);
		if (err < 0)
			return err;
		if (err || !a->has_children)
			continue;
		if (++top == NESTING_MAX)
			return -ENOTSUP;
		levels[top] = child;
	}
	return 0;
}

int dwwalk_run(struct dwwalk *w)
{
	int err;

	w->inlined_count = w->hit_count = 0;
	err = vec_reserve(&w->functions, &w->functions_room, w->count);
	if (!err)
		err = vec_reserve(&w->lows, &w->lows_room, w->count);
	if (err)
		return err;
	for (size_t i = 0; i < w->count; i++)
		w->functions[i] = DWWALK_NONE;
	return walk(w);
}
