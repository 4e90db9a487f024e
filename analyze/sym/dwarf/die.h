/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * die - DWARF of one file, read unit by unit; a unit's data is freed after it
 *
 * libdw wants all sections in memory and builds tables that stay; a profiler asks for some thousand
 * addresses of hundreds of megabytes, once.  This reads DWARF 2 to 5 as compilers write it: rare
 * forms (64-bit DWARF, parts that dwz moved) are unsupported, and left to
 * libdw (libdw_lines.h), which is also what it is tested against.  A dw_file is read-only after
 * dw_file_open(): several threads may use it, each with its own unit.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_DIE_H
#define EBPREC_ANALYZE_SYM_DWARF_DIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/dwarf/dwp_index.h"
#include "analyze/sym/elf/elf_file.h"
#include "format/base/cursor.h"

enum dw_section {
	DW_SEC_INFO,
	DW_SEC_LINE,
	DW_SEC_STR,
	DW_SEC_LINE_STR,
	/* Read at once; those above in pieces. */
	DW_SEC_ABBREV,
	DW_SEC_RANGES,
	DW_SEC_RNGLISTS,
	DW_SEC_ADDR,
	DW_SEC_STR_OFFSETS,
	DW_SECTIONS,
};

struct dw_file {
	struct elf_file *elf;                                 /* owned, but a package's */
	const struct elf_file_section *sections[DW_SECTIONS]; /* NULL: none */
	uint8_t *section_data[DW_SECTIONS];
	size_t section_bytes[DW_SECTIONS];
	/*
	 * For a .dwo: the program's file, which has its addresses, and the values of the unit's
	 * skeleton there.
	 */
	const struct dw_file *main; /* NULL: this is no .dwo */
	uint64_t addr_base, ranges_base, base;
	/* For a .dwp, in place of a .dwo: only the parts of the unit. */
	const struct dwp_index *pack;                 /* borrowed; NULL: none */
	struct elf_file_section windows[DW_SECTIONS]; /* sections leads here, so it is not copied */
	uint32_t number; /* distinguishes texts of several files; 0: the program's */
};

/* The number is as it stands there: an index, an offset or a reference; its form decides which. */
struct dw_value {
	uint16_t form; /* 0: the attribute is not there */
	uint64_t number;
	const char *text; /* DW_FORM_string: in the unit's bytes */
};

/* How to go behind an attribute. */
enum dw_kind {
	DW_KIND_FIXED,
	DW_KIND_ULEB,
	DW_KIND_BLOCK, /* a ULEB, and so many bytes */
	DW_KIND_OTHER,
};

struct dw_attr {
	uint16_t name, form;
	uint8_t kind;        /* enum dw_kind */
	bool has_span;       /* where code is, or where the next sibling */
	uint32_t size_bytes; /* of the form; UINT32_MAX: it differs; 0: none, or not looked up */
	/*
	 * It and those behind it that are fixed too, up to one that has a span: how many, and their
	 * bytes.
	 */
	uint32_t run_count, run_bytes;
	int64_t implicit;
};

/* DIEs that have code. */
enum dw_role {
	DW_ROLE_FUNCTION = 1,
	DW_ROLE_INLINED = 2,
};

struct dw_abbrev {
	uint16_t tag; /* 0: no such code */
	uint16_t attr_count;
	bool has_children, has_sibling;
	uint8_t role; /* enum dw_role; 0: neither */
	uint32_t first_attr;
	uint32_t fixed_bytes; /* of all attributes; UINT32_MAX: that differs */
};

/*
 * Steps that one reader takes over all units, in bytes and entries: tables can be shared, and a hostile
 * file could have each of its units read all of them.
 */
#define DW_STEPS_MAX (1ULL << 33)

/* Filled for one unit after the other; all zero but for steps_left is an empty one. */
struct dw_unit {
	uint64_t steps_left;
	uint64_t off; /* in .debug_info */
	uint64_t size_bytes;
	uint16_t version;
	uint8_t addr_bytes;
	uint32_t die_off; /* of the first DIE, in the unit */
	uint64_t abbrev_off;
	/* The attributes of the first DIE. */
	struct dw_value low_pc, high_pc, ranges, line, comp_dir, dwo_name;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint64_t dwo_id; /* 0: none */
	uint64_t base;   /* of its ranges */
	/* Its bytes, when it was loaded. */
	uint8_t *bytes;
	size_t bytes_room;
	struct dw_abbrev *abbrevs; /* by code */
	size_t abbrev_count, abbrev_room;
	struct dw_attr *attrs;
	size_t attr_count, attr_room;
};

/* fd is borrowed.  -ENOTSUP: unsupported, or no DWARF; -ENOMEM, errno. */
int dw_file_open(int fd, struct dw_file *out);
/*
 * A .dwo, and in u, which holds the steps it may take, loaded, its unit with the id of the skeleton, a
 * unit of main.  main has to outlive it; number is not 0.  -ESTALE: no such unit; as dw_file_open().  *out is not
 * to be moved.  The same of a .dwp, which has to outlive it: -ENOENT: it has no such unit.
 */
int dw_file_open_packed(const struct dwp_index *pack, const struct dw_file *main,
			const struct dw_unit *skeleton, uint32_t number, struct dw_file *out,
			struct dw_unit *u);
int dw_file_open_split(int fd, const struct dw_file *main, const struct dw_unit *skeleton,
		       uint32_t number, struct dw_file *out, struct dw_unit *u);
void dw_file_close(struct dw_file *f);

/*
 * The head and the first DIE of the unit at u->off, not yet its bytes.  -ENODATA: no further unit;
 * -ENOENT: it holds types, no code; -ENOTSUP: unsupported, but its size is known; -EBADMSG: its
 * size is unknown.
 */
int dw_unit_head(const struct dw_file *f, struct dw_unit *u);
/*
 * With u->off and u->size_bytes, as dw_unit_head() found them: the same, its bytes and abbreviations.
 * -ENOTSUP, -ENOMEM, errno.
 */
int dw_unit_load(const struct dw_file *f, struct dw_unit *u);
void dw_unit_done(struct dw_unit *u);

/* false: so many steps are not left, and the file is unsupported. */
static inline bool dw_take_steps(struct dw_unit *u, uint64_t steps)
{
	if (steps > u->steps_left)
		return false;
	u->steps_left -= steps;
	return true;
}

#endif
