/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/scopes.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/attr.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define NESTING_MAX 256
#define HITS_MAX    256 /* inlined functions around an address */

/* Which children matter: functions of the unit, and what was inlined into which one how deep. */
struct level {
	uint8_t roles; /* of enum dw_role */
	uint32_t function, depth;
};

void scopes_done(struct scopes *w)
{
	free(w->functions);
	free(w->lows);
	free(w->inlined);
	free(w->hits);
	free(w->unsorted);
	free(w->starts);
	*w = (struct scopes){ 0 };
}

uint32_t scopes_target(const struct dw_unit *u, const struct dw_value *reference)
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
		return SCOPES_NONE;
	}
	return off >= u->die_off && off < u->size_bytes ? (uint32_t)off : SCOPES_NONE;
}

static void take(struct scopes_die *d, uint16_t name, const struct dw_value *v)
{
	switch (name) {
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

static const struct dw_abbrev *abbrev_of(const struct dw_unit *u, uint64_t code)
{
	return code < u->abbrev_count && u->abbrevs[code].tag ? &u->abbrevs[code] : NULL;
}

bool scopes_die(const struct dw_unit *u, uint32_t off, struct scopes_die *out)
{
	struct cursor c = cursor_of(u->bytes, (size_t)u->size_bytes);
	const struct dw_abbrev *a;
	struct dw_value v;

	if (off >= u->size_bytes)
		return false;
	c.off_bytes = off;
	a = abbrev_of(u, dw_uleb(&c));
	if (!a)
		return false;
	*out = (struct scopes_die){ 0 };
	for (uint32_t i = 0; i < a->attr_count; i++) {
		const struct dw_attr *attr = &u->attrs[a->first_attr + i];

		if (!dw_read_value(u, &c, attr, &v))
			return false;
		take(out, attr->name, &v);
	}
	return true;
}

/* Most DIEs cover nothing that is wanted, and nothing but this of them is read. */
struct span {
	struct dw_value low, high, ranges, sibling;
};

static struct dw_value *value_of(struct span *s, uint16_t name)
{
	switch (name) {
	case DW_AT_low_pc:
		return &s->low;
	case DW_AT_high_pc:
		return &s->high;
	case DW_AT_ranges:
		return &s->ranges;
	default:
		return &s->sibling;
	}
}

static bool read_span(const struct dw_unit *u, struct cursor *c, const struct dw_abbrev *a,
		      struct span *out)
{
	const struct dw_attr *attr = &u->attrs[a->first_attr], *end = attr + a->attr_count;

	*out = (struct span){ 0 };
	while (attr && attr < end) {
		if (!attr->has_span)
			attr = dw_skip_one(u, c, attr);
		else if (dw_read_value(u, c, attr, value_of(out, attr->name)))
			attr++;
		else
			attr = NULL;
	}
	return attr && cursor_ok(c);
}

/* ---- what covers wanted addresses ---- */

struct covering {
	struct scopes *w;
	uint32_t id; /* of the function, or the inlined one */
	bool any;
};

/*
 * When several functions cover it the one that begins last is right, and then the last in the unit.
 */
static int cover_function(void *arg, uint64_t low, uint64_t high)
{
	struct covering *c = arg;

	for (size_t i = lower_bound(at, 0, c->w->count, c->w->vaddrs[at] < low);
	     i < c->w->count && c->w->vaddrs[i] < high; i++) {
		if (!dw_take_steps(c->w->unit, 1))
			return -ENOTSUP;
		c->any = true;
		if (c->w->functions[i] != SCOPES_NONE && c->w->lows[i] > low)
			continue;
		c->w->functions[i] = c->id;
		c->w->lows[i] = low;
	}
	return 0;
}

static int cover_inlined(void *arg, uint64_t low, uint64_t high)
{
	struct covering *c = arg;
	struct scopes *w = c->w;
	int err = 0;

	for (size_t i = lower_bound(at, 0, w->count, w->vaddrs[at] < low);
	     !err && i < w->count && w->vaddrs[i] < high; i++) {
		if (w->hit_count / HITS_MAX > w->count)
			return -ENOTSUP;
		err = vec_reserve(&w->unsorted, &w->unsorted_room, w->hit_count + 1);
		if (!err)
			w->unsorted[w->hit_count++] = (struct scopes_hit){ (uint32_t)i, c->id };
		c->any = true;
	}
	return err;
}

static int enter_function(struct scopes *w, uint32_t off, const struct span *s, struct level *child)
{
	struct covering c = { .w = w, .id = off };
	int err = dw_ranges(w->file, w->unit, &s->low, &s->high, &s->ranges, cover_function, &c);

	*child = (struct level){ .roles = DW_ROLE_FUNCTION | (c.any ? DW_ROLE_INLINED : 0),
				 .function = off };
	return err;
}

static int add_inlined(struct scopes *w, uint32_t off, const struct level *parent)
{
	struct scopes_die d;
	int err;

	if (!scopes_die(w->unit, off, &d))
		return -ENOTSUP;
	err = vec_reserve(&w->inlined, &w->inlined_room, w->inlined_count + 1);
	if (!err)
		w->inlined[w->inlined_count++] = (struct scopes_inlined){
			.die_off = off,
			.function = parent->function,
			.depth = parent->depth,
			.call_file = d.call_file,
			.call_line = d.call_line,
			.call_column = d.call_column,
		};
	return err;
}

static int enter_inlined(struct scopes *w, uint32_t off, const struct span *s,
			 const struct level *parent, struct level *child)
{
	struct covering c = { .w = w, .id = (uint32_t)w->inlined_count };
	int err = dw_ranges(w->file, w->unit, &s->low, &s->high, &s->ranges, cover_inlined, &c);

	if (!err && c.any)
		err = add_inlined(w, off, parent);
	*child = (struct level){ .roles = c.any ? DW_ROLE_INLINED : 0,
				 .function = parent->function,
				 .depth = parent->depth + 1 };
	return err;
}

/* ---- the walk ---- */

/* The level for the children of a DIE that has no code of its own. */
static struct level below(const struct scopes *w, const struct level *parent, uint16_t tag)
{
	struct level child = *parent;

	switch (tag) {
	case DW_TAG_lexical_block:
		return child;
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		child.roles &= DW_ROLE_INLINED;
		return child;
	case DW_TAG_namespace:
	case DW_TAG_module:
		child.roles &= DW_ROLE_FUNCTION;
		return child;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram: /* without code */
		child.roles &= w->thorough ? DW_ROLE_FUNCTION : 0;
		return child;
	default:
		return (struct level){ 0 };
	}
}

/* Goes behind all that is below a DIE whose attributes were read. */
static bool skip_below(const struct dw_unit *u, struct cursor *from)
{
	struct cursor c = dw_copy_cursor(from);
	const struct dw_abbrev *a;
	uint64_t code;

	for (unsigned open = 1; open && cursor_left(&c);) {
		code = dw_uleb(&c);
		a = abbrev_of(u, code);
		if (!code)
			open--;
		else if (!a || !dw_skip(u, &c, a))
			return false;
		else
			open += a->has_children;
	}
	dw_take_back(from, &c);
	return cursor_ok(&c);
}

/* The same, where the DIE may have a reference to its sibling. */
static bool leap(const struct dw_unit *u, struct cursor *c, const struct dw_value *sibling)
{
	uint32_t next = scopes_target(u, sibling);

	if (next == SCOPES_NONE)
		return skip_below(u, c);
	if (next < c->off_bytes)
		return false;
	c->off_bytes = next;
	return true;
}

/* A function, an inlined one, or one with a reference to its sibling. */
static int step_read(struct scopes *w, struct cursor *c, uint32_t off, const struct dw_abbrev *a,
		     bool code, const struct level *parent, struct level *child)
{
	struct span s;
	int err = 0;

	if (!read_span(w->unit, c, a, &s))
		return -ENOTSUP;
	if (code)
		err = a->tag == DW_TAG_subprogram ? enter_function(w, off, &s, child)
						  : enter_inlined(w, off, &s, parent, child);
	if (err || child->roles || !a->has_children)
		return err;
	return leap(w->unit, c, &s.sibling) ? 1 : -ENOTSUP;
}

/*
 * One DIE that matters or has children: it begins at off, *at is behind its code, and becomes what is
 * behind it; *child: which of its children matter.  1: they were passed over.
 */
static int step(struct scopes *w, size_t *at, uint32_t off, const struct dw_abbrev *a,
		const struct level *parent, struct level *child)
{
	struct cursor c = cursor_of(w->unit->bytes, (size_t)w->unit->size_bytes);
	bool code = a->role & parent->roles;
	int err = 0;

	c.off_bytes = *at;
	*child = below(w, parent, a->tag);
	if (code || (!child->roles && a->has_sibling))
		err = step_read(w, &c, off, a, code, parent, child);
	else if (!dw_skip(w->unit, &c, a))
		err = -ENOTSUP;
	else if (!child->roles)
		err = skip_below(w->unit, &c) ? 1 : -ENOTSUP;
	*at = c.off_bytes;
	return err;
}

static int walk_children(struct scopes *w, size_t at)
{
	struct cursor c = cursor_of(w->unit->bytes, (size_t)w->unit->size_bytes);
	struct level levels[NESTING_MAX] = { { .roles = DW_ROLE_FUNCTION } }, child;
	const struct dw_unit *u = w->unit;
	unsigned top = 0;
	int err;

	for (c.off_bytes = at; cursor_left(&c); c.off_bytes = at) {
		uint32_t off = (uint32_t)c.off_bytes;
		uint64_t code = dw_uleb(&c);
		const struct dw_abbrev *a = abbrev_of(u, code);

		at = c.off_bytes;
		if (!code) {
			if (!top--)
				return 0;
			continue;
		}
		if (!a || !cursor_ok(&c))
			return -ENOTSUP;
		if (!a->has_children && !(a->role & levels[top].roles)) { /* nearly all */
			if (!dw_skip(u, &c, a))
				return -ENOTSUP;
			at = c.off_bytes;
			continue;
		}
		err = step(w, &at, off, a, &levels[top], &child);
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

static int walk(struct scopes *w)
{
	struct cursor c = cursor_of(w->unit->bytes, (size_t)w->unit->size_bytes);
	const struct dw_abbrev *a;

	c.off_bytes = w->unit->die_off;
	a = abbrev_of(w->unit, dw_uleb(&c));
	if (!a || !dw_skip(w->unit, &c, a))
		return -ENOTSUP;
	return walk_children(w, c.off_bytes);
}

/* They came in the order of the DIEs, and keep it. */
static int sort_hits(struct scopes *w)
{
	int err = vec_reserve(&w->starts, &w->starts_room, w->count + 1);
	uint32_t at = 0;

	if (!err)
		err = vec_reserve(&w->hits, &w->hit_room, w->hit_count);
	if (err)
		return err;
	memset(w->starts, 0, w->count * sizeof(*w->starts));
	for (size_t i = 0; i < w->hit_count; i++)
		w->starts[w->unsorted[i].wanted]++;
	for (size_t i = 0; i < w->count; i++) {
		uint32_t count = w->starts[i];

		w->starts[i] = at;
		at += count;
	}
	for (size_t i = 0; i < w->hit_count; i++)
		w->hits[w->starts[w->unsorted[i].wanted]++] = w->unsorted[i];
	return 0;
}

/* Every wanted address is in a function. */
static bool is_complete(const struct scopes *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->functions[i] == SCOPES_NONE)
			return false;
	return true;
}

static int run_pass(struct scopes *w, bool thorough)
{
	w->thorough = thorough;
	w->inlined_count = w->hit_count = 0;
	for (size_t i = 0; i < w->count; i++)
		w->functions[i] = SCOPES_NONE;
	return walk(w);
}

int scopes_run(struct scopes *w)
{
	int err;

	err = vec_reserve(&w->functions, &w->functions_room, w->count);
	if (!err)
		err = vec_reserve(&w->lows, &w->lows_room, w->count);
	if (!err)
		err = run_pass(w, false);
	if (!err && !is_complete(w))
		err = dw_take_steps(w->unit, w->unit->size_bytes) ? run_pass(w, true) : -ENOTSUP;
	return err ? err : sort_hits(w);
}
