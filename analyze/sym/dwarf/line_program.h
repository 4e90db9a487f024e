/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * line_program - the line number program of a unit, run once for the wanted addresses
 *
 * No table of rows is made: each row is held against the wanted addresses as it comes.  Where functions
 * have sections of their own each has a sequence of rows, and one is read no further than something in
 * its function is wanted.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_LINE_PROGRAM_H
#define EBPREC_ANALYZE_SYM_DWARF_LINE_PROGRAM_H

#include "analyze/sym/dwarf/die.h"

struct line_program_file {
	struct dw_value name;
	uint64_t dir;
};

/* Filled for one unit after the other; all zero is an empty one. */
struct line_program {
	uint16_t version;
	uint8_t *bytes;
	size_t bytes_room, size_bytes, program_off;
	uint8_t unit_step, line_range, opcode_base, lengths[256];
	int8_t line_base;
	struct dw_value *dirs;
	size_t dir_count, dir_room;
	struct line_program_file *files;
	size_t file_count, file_room;
};

struct line_program_row {
	bool known;
	uint64_t addr; /* where the row begins */
	uint64_t file;
	uint32_t line, column;
};

/* u is loaded and has a line program.  -ENOTSUP: unsupported; -ENOMEM, errno. */
int line_program_load(const struct dw_file *f, struct dw_unit *u, struct line_program *out);
void line_program_done(struct line_program *l);

/* Addresses, sorted, and of each where the unit's range begins that covers it. */
struct line_program_wanted {
	const uint64_t *vaddrs, *lows;
	size_t count;
};

/* The row of each goes to rows, which are all zero before.  -ENOTSUP: unsupported. */
int line_program_run(const struct line_program *l, struct dw_unit *u,
		     const struct line_program_wanted *wanted, struct line_program_row *rows);
/* File number i of the program, as rows and DIEs count; NULL: none.  *dir: NULL: the unit's. */
const struct dw_value *line_program_name(const struct line_program *l, uint64_t i,
					 const struct dw_value **dir);

#endif
