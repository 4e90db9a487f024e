/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* linetab_priv - what the files of the room `linetab` share */
#ifndef EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_PRIV_H
#define EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_PRIV_H

#include <stdatomic.h>

#include "analyze/sym/dwarf/line_program.h"
#include "analyze/sym/dwarf/scopes.h"
#include "analyze/sym/dwarf/addr2line.h"
#include "analyze/sym/dwarf/line_strings.h"

#define LINETAB_THREADS_MAX 8
#define LINETAB_PACKS_MAX   4 /* of a program; the right one is as a rule the first */

struct linetab_answer {
	bool known;
	uint8_t worker; /* whose frames */
	uint16_t count;
	uint32_t first;
};

/* One wanted address of a unit. */
struct linetab_wish {
	uint64_t low;              /* where the unit's range begins that covers it */
	uint64_t unit, unit_bytes; /* where in .debug_info */
	uint32_t vaddr;
};

/* One unit: all its wishes, by address. */
struct linetab_task {
	size_t first, count;
};

/* What one thread fills. */
struct linetab_worker {
	struct linetab *tab;
	struct linetexts texts;
	struct lines_frame *frames;
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
	/* What was not found: of the first unit in the file. */
	enum linetab_gap gap;
	uint64_t gap_off;
	const char *gap_name;
	struct dwline line;
	struct dwwalk walk;
	/* Of the unit's wishes. */
	uint64_t *vaddrs, *lows;
	struct dwline_row *rows;
	const char **paths; /* of the program's files, when asked for */
	size_t vaddrs_room, lows_room, rows_room, paths_room;
	int err;
};

struct linetab {
	uint64_t *vaddrs; /* owned, sorted */
	size_t count;
	struct linetab_answer *answers;
	struct linetab_worker workers[LINETAB_THREADS_MAX];
	/* While it is made. */
	struct dw_file file;
	struct linetab_parts parts;
	struct dwpack packs[LINETAB_PACKS_MAX];
	int pack_fds[LINETAB_PACKS_MAX];
	unsigned pack_count;
	bool has_split_units;
	bool gaps_only;
	struct linetab_wish *wishes;
	size_t wish_count;
	struct linetab_task *tasks;
	size_t task_count, task_room;
	atomic_size_t next_task;
};

/* Finds the units that cover wanted addresses: wishes, tasks, and has_split_units. */
int linetab_share_out(struct linetab *t);

/* The packages, if a unit was split. */
int linetab_open_packs(struct linetab *t);
void linetab_close_packs(struct linetab *t);
/*
 * What was split off from the worker's unit, as die_file and die_unit.  The first that has the unit's id is
 * it; if none has, the skeleton still knows some, and the gap is noted.
 */
int linetab_open_split(struct linetab_worker *w);
void linetab_close_split(struct linetab_worker *w);
void linetab_note_gap(struct linetab_worker *w, enum linetab_gap gap, const char *name);

/* Answers all wishes of a unit.  A unit that is odd is left to others.  -ENOMEM, errno. */
int linetab_run_unit(struct linetab_worker *w, const struct linetab_task *task);
void linetab_worker_done(struct linetab_worker *w); /* all but its frames and texts */

#endif
