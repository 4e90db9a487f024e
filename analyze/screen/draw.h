/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * draw - a screen on a terminal, by ncurses
 *
 * The terminal is the process's own: there is one.  Names are shown as escape.h has it, so no byte of a stranger reaches the terminal
 * that could do more than be read.  The process that opens it and the one that draws need not be the same: what restores
 * the terminal is known to both.
 */
#ifndef EBPREC_ANALYZE_SCREEN_DRAW_H
#define EBPREC_ANALYZE_SCREEN_DRAW_H

#include <stdio.h>

#include "analyze/screen/screen.h"

/* What stands in the second line besides what the screen knows. */
struct draw_facts {
	unsigned cpu_count, freq_hz;
	double recorder_percent, own_percent; /* of a CPU */
	uint64_t memory_bytes;                /* of both */
	uint64_t host_ns, sample_ns;          /* one moment on both clocks; 0: not known */
};

/* Takes over the terminal that both are.  -ENOTTY: it is none, or one that cannot move its cursor. */
int draw_open(FILE *to, FILE *from);
void draw_close(void);
/* The next key that was pressed, as screen_key() takes it; -1: none. */
int draw_key(void);
void draw_screen(struct screen *s, const struct draw_facts *facts);
/*
 * How much of a text fits into so many columns, in bytes; *columns: how many it then takes.  Characters that have no width of
 * their own belong to the one before.
 */
size_t draw_fit(const char *text, size_t room, size_t *columns);

#endif
