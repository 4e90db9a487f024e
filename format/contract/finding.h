/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * finding - one result of `ebprec doctor`: a feature that works on this machine, or does not
 *
 * The recorder checks one part of a machine and the analyzer the other, so a finding is also a line
 * of text from one to the other: state, name, reason and remedy, separated by tabs.
 */
#ifndef EBPREC_FORMAT_CONTRACT_FINDING_H
#define EBPREC_FORMAT_CONTRACT_FINDING_H

#include <stddef.h>

enum finding_state { FINDING_WORKS, FINDING_DEGRADED, FINDING_MISSING };

#define FINDING_STATE_COUNT 3

struct finding {
	enum finding_state state;
	char name[24];
	char why[320];
	char mend[480]; /* a command, or what to change; "": nothing to do */
};

#define FINDING_LINE_BYTES 900

/* "works", "degraded", "missing"; static. */
const char *finding_state_text(enum finding_state state);

/* Fills state, mend and why; texts that are too long are cut, characters that could end the line
 * become '?'. */
void finding_set(struct finding *f, enum finding_state state, const char *mend, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));

/* The line, with its newline; its length. */
size_t finding_format(const struct finding *f, char line[FINDING_LINE_BYTES]);
/* A line, with its newline or without.  -EBADMSG. */
int finding_parse(const char *line, struct finding *out);

#endif
