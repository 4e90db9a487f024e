/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * terminal - what may be written to a stream: colours, lines, how much of a line
 *
 * A terminal has a width; behind a pager there is none, since it scrolls, nor in files and pipes,
 * which get everything.  Colours: EBPREC_COLOR (always, never), else none with NO_COLOR or
 * TERM=dumb, else on terminals and in pagers.  Lines for trees: EBPREC_UTF8, else there as the
 * locale has it.
 */
#ifndef EBPREC_ANALYZE_OUT_TERMINAL_H
#define EBPREC_ANALYZE_OUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	bool color, utf8;
	unsigned columns; /* 0: no limit */
};

void terminal_of(FILE *to, struct terminal *out);

enum terminal_ink { INK_NONE, INK_HOT, INK_WARM, INK_FAINT, INK_GOOD, INK_BAD, INK_COUNT };

/* The sequences that begin and end a text of that ink; "" without colour. */
const char *terminal_ink(const struct terminal *t, enum terminal_ink ink);
const char *terminal_plain(const struct terminal *t, enum terminal_ink ink);
/* The ink of a share: what is hot is seen first. */
enum terminal_ink terminal_ink_of_percent(double percent);
/* In 8 columns, with that ink. */
void terminal_percent(FILE *to, const struct terminal *t, double percent);

#endif
