/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* addr2line_priv - what the files of the room `linetab` share */
#ifndef EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_PRIV_H
#define EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_PRIV_H

#include <stdatomic.h>

#include "analyze/sym/dwarf/line_program.h"
#include "analyze/sym/dwarf/scopes.h"
#include "analyze/sym/dwarf/addr2line.h"
#include "analyze/sym/dwarf/line_strings.h"
#include "format/os/threads.h"

#define ADDR2LINE_PACKS_MAX 4 /* of a program; the right one is as a rule the first */

struct addr2line_answer {
	bool known;
	uint8_t worker; /* whose frames */
	uint16_t count;
	uint32_t first;
};

/* One wanted address of a unit. */
struct addr2line_wish {
	uint64_t low;              /* where the unit's range begins that covers it */
	uint64_t unit, unit_bytes; /* where in .debug_info */
	uint32_t vaddr;
};

/* One unit: all its wishes, by address. */
struct addr2line_task {
	size_t first, count;
};

/* The results of one thread. */
struct addr2line_worker {
	struct addr2line *tab;
	struct line_strings texts;
	struct source_frame *frames;
	size_t frame_count, frame_room;
	struct dw_unit unit;
	/* Where its DIEs are: itself, or what was split off. */
	const struct dw_file *die_file;
	struct dw_unit *die_unit;
	struct dw_file split_file;
	struct dw_unit split;
	int split_fd;
	const char *split_name;
	uint32_t split_count; /* so far */
	/* The DWARF that was not found: of the first unit in the file. */
	enum addr2line_gap gap;
	uint64_t gap_off;
	const char *gap_name;
	struct line_program line;
	struct scopes walk;
	/* The unit's wanted addresses. */
	uint64_t *vaddrs, *lows;
	struct line_program_row *rows;
	const char **paths; /* of the program's files, when asked for */
	size_t vaddrs_room, lows_room, rows_room, paths_room;
	int err;
};

struct addr2line {
	uint64_t *vaddrs; /* owned, sorted */
	size_t count;
	struct addr2line_answer *answers;
	struct addr2line_worker workers[THREADS_AT_ONCE];
	/* While it is made. */
	struct dw_file file;
	struct addr2line_parts parts;
	struct dwp_index packs[ADDR2LINE_PACKS_MAX];
	int pack_fds[ADDR2LINE_PACKS_MAX];
	unsigned pack_count;
	bool has_split_units;
	bool gaps_only;
	struct addr2line_wish *wishes;
	size_t wish_count;
	struct addr2line_task *tasks;
	size_t task_count, task_room;
	atomic_size_t next_task;
};

/* Finds the units that cover wanted addresses: wishes, tasks, and has_split_units. */
int addr2line_share_out(struct addr2line *t);

/* The packages, if a unit was split. */
int addr2line_open_packs(struct addr2line *t);
void addr2line_close_packs(struct addr2line *t);
/*
 * Opens the .dwo of the worker's unit, as die_file and die_unit.  The first that has the unit's id
 * is it; if none has, the skeleton still knows some, and the gap is noted.
 */
int addr2line_open_split(struct addr2line_worker *w);
void addr2line_close_split(struct addr2line_worker *w);
void addr2line_note_gap(struct addr2line_worker *w, enum addr2line_gap gap, const char *name);

/* Answers all wishes of a unit.  An unsupported unit is left to libdw_lines.h.  -ENOMEM, errno. */
int addr2line_run_unit(struct addr2line_worker *w, const struct addr2line_task *task);
void addr2line_worker_done(struct addr2line_worker *w); /* all but its frames and texts */

#endif
