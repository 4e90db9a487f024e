/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* dwwalk: functions and inlined ones, wherever in the tree of DIEs they are */
#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/dwarf/attr.h"
#include "analyze/sym/dwarf/scopes.h"

/* Codes of the abbreviations below. */
enum { UNIT = 1, FUNCTION, DECLARED, TYPE, INLINED, PARAMETER, TYPE_SIBLING, UNSUPPORTED };

#define FIRST_DIE 11 /* behind the head of the unit */

static struct dw_attr attrs[] = {
	/* FUNCTION: from 0 */
	{ .name = DW_AT_low_pc, .form = DW_FORM_addr },
	{ .name = DW_AT_high_pc, .form = DW_FORM_data1 },
	/* INLINED: from 2 */
	{ .name = DW_AT_call_line, .form = DW_FORM_udata },
	{ .name = DW_AT_low_pc, .form = DW_FORM_addr },
	{ .name = DW_AT_high_pc, .form = DW_FORM_data1 },
	/* PARAMETER: from 5 */
	{ .name = DW_AT_name, .form = DW_FORM_string },
	{ .name = DW_AT_location, .form = DW_FORM_exprloc },
	/* TYPE_SIBLING: from 7 */
	{ .name = DW_AT_byte_size, .form = DW_FORM_data1 },
	{ .name = DW_AT_sibling, .form = DW_FORM_ref1 },
	/* UNSUPPORTED: from 9 */
	{ .name = DW_AT_name, .form = 0x7f },
};

static struct dw_abbrev abbrevs[] = {
	[UNIT] = { .tag = DW_TAG_compile_unit, .has_children = true },
	[FUNCTION] = { .tag = DW_TAG_subprogram,
		       .has_children = true,
		       .attr_count = 2,
		       .first_attr = 0,
		       .role = DW_ROLE_FUNCTION,
		       .fixed_bytes = 9 },
	[DECLARED] = { .tag = DW_TAG_subprogram, .has_children = true },
	[TYPE] = { .tag = DW_TAG_class_type, .has_children = true },
	[INLINED] = { .tag = DW_TAG_inlined_subroutine,
		      .has_children = true,
		      .attr_count = 3,
		      .first_attr = 2,
		      .role = DW_ROLE_INLINED,
		      .fixed_bytes = UINT32_MAX },
	[PARAMETER] = { .tag = DW_TAG_formal_parameter,
			.attr_count = 2,
			.first_attr = 5,
			.fixed_bytes = UINT32_MAX },
	[TYPE_SIBLING] = { .tag = DW_TAG_class_type,
			   .has_children = true,
			   .has_sibling = true,
			   .attr_count = 2,
			   .first_attr = 7,
			   .fixed_bytes = 2 },
	[UNSUPPORTED] = { .tag = DW_TAG_variable,
			  .attr_count = 1,
			  .first_attr = 9,
			  .fixed_bytes = UINT32_MAX },
};

#define ADDR(low) (low) & 0xff, (low) >> 8, 0, 0, 0, 0, 0, 0

struct tree {
	const char *what;
	uint8_t bytes[128];
	size_t size_bytes; /* behind the head */
	uint32_t function; /* of 0x1004, from the first DIE on; SCOPES_NONE: none */
	size_t hit_count;
	int err;
};

static const struct tree trees[] = {
	{ "a function", { UNIT, FUNCTION, ADDR(0x1000), 16, 0, 0 }, 13, 1, 0, 0 },
	{ "another one", { UNIT, FUNCTION, ADDR(0x2000), 16, 0, 0 }, 13, SCOPES_NONE, 0, 0 },
	/* As GCC has nested functions of one that was inlined everywhere. */
	{ "within a function without code",
	  { UNIT, DECLARED, PARAMETER, 'x', 0, 1, 7, FUNCTION, ADDR(0x1000), 16, 0, 0, 0 },
	  20,
	  7,
	  0,
	  0 },
	{ "within a type within a function without code",
	  { UNIT, DECLARED, TYPE, FUNCTION, ADDR(0x1000), 16, 0, 0, 0, 0 },
	  17,
	  3,
	  0,
	  0 },
	{ "within a type with its sibling",
	  { UNIT, TYPE_SIBLING, 0, FIRST_DIE + 16, FUNCTION, ADDR(0x1000), 16, 0, 0, 0 },
	  17,
	  4,
	  0,
	  0 },
	{ "behind a type with its sibling, which holds an unsupported form",
	  { UNIT, TYPE_SIBLING, 0, FIRST_DIE + 6, UNSUPPORTED, 0, FUNCTION, ADDR(0x1000), 16, 0,
	    0 },
	  18,
	  6,
	  0,
	  0 },
	{ "inlined twice, once elsewhere",
	  { UNIT,
	    FUNCTION,
	    ADDR(0x1000),
	    16,
	    INLINED,
	    0x80,
	    1,
	    ADDR(0x1000),
	    8,
	    INLINED,
	    3,
	    ADDR(0x1002),
	    4,
	    0,
	    0,
	    INLINED,
	    5,
	    ADDR(0x1008),
	    4,
	    0,
	    0,
	    0 },
	  51,
	  1,
	  2,
	  0 },
	{ "a sibling that leads back",
	  { UNIT, TYPE_SIBLING, 0, FIRST_DIE, FUNCTION, ADDR(0x1000), 16, 0, 0, 0 },
	  17,
	  0,
	  0,
	  -ENOTSUP },
	{ "a code that there is not", { UNIT, 77, 0 }, 3, 0, 0, -ENOTSUP },
	{ "a form that there is not", { UNIT, UNSUPPORTED, 0, 0 }, 4, 0, 0, -ENOTSUP },
};

/* The fields that reading the abbreviations fills in. */
static void look_ahead(struct dw_unit *u)
{
	for (size_t i = sizeof(attrs) / sizeof(attrs[0]); i--;) {
		struct dw_attr *a = &attrs[i];

		a->size_bytes = dw_form_bytes(u, a->form);
		a->kind = a->form == DW_FORM_udata      ? DW_KIND_ULEB
			  : a->form == DW_FORM_exprloc  ? DW_KIND_BLOCK
			  : a->size_bytes == UINT32_MAX ? DW_KIND_OTHER
							: DW_KIND_FIXED;
		a->has_span = a->name == DW_AT_low_pc || a->name == DW_AT_high_pc ||
			      a->name == DW_AT_sibling;
		a->run_count = 1;
		a->run_bytes = a->size_bytes;
	}
}

static int run(const struct tree *t, size_t size_bytes, struct scopes *w)
{
	static const uint64_t vaddrs[] = { 0x1004 };
	uint8_t bytes[FIRST_DIE + sizeof(t->bytes)] = { 0 };
	struct dw_file f = { 0 };
	struct dw_unit u = {
		.steps_left = DW_STEPS_MAX,
		.size_bytes = FIRST_DIE + size_bytes,
		.version = 4,
		.addr_bytes = 8,
		.die_off = FIRST_DIE,
		.bytes = bytes,
		.abbrevs = abbrevs,
		.abbrev_count = sizeof(abbrevs) / sizeof(abbrevs[0]),
		.attrs = attrs,
	};

	look_ahead(&u);
	memcpy(bytes + FIRST_DIE, t->bytes, size_bytes);
	*w = (struct scopes){ .file = &f, .unit = &u, .vaddrs = vaddrs, .count = 1 };
	return scopes_run(w);
}

static void dwwalk_finds_functions_wherever_they_are(void **state)
{
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		const struct tree *t = &trees[i];
		struct scopes w;
		int err = run(t, t->size_bytes, &w);
		uint32_t expected = t->function == SCOPES_NONE ? SCOPES_NONE
							       : FIRST_DIE + t->function;

		if (err != t->err)
			fail_msg("%s: %d, not %d", t->what, err, t->err);
		if (!err && (w.functions[0] != expected || w.hit_count != t->hit_count))
			fail_msg("%s: DIE %u with %zu inlined, not %u with %zu", t->what,
				 w.functions[0], w.hit_count, expected, t->hit_count);
		scopes_done(&w);
	}
}

static void dwwalk_cut_trees_are_read_or_unsupported(void **state)
{
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		for (size_t n = 0; n < trees[i].size_bytes; n++) {
			struct scopes w;
			int err = run(&trees[i], n, &w);

			assert_true(err == 0 || err == -ENOTSUP);
			scopes_done(&w);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwwalk_finds_functions_wherever_they_are),
		cmocka_unit_test(dwwalk_cut_trees_are_read_or_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
