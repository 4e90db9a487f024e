/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * finding - what `ebprec doctor` says of one thing that this machine can or cannot do
 *
 * The recorder looks at one half of a machine and the analyzer at the other, so that a finding is
 * also a line of text between the two: state, name, why and remedy, with tabs between.
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
	char mend[480]; /* a command, or what to change; "": nothing to mend */
};

#define FINDING_LINE_BYTES 900

/* "works", "degraded", "missing"; static. */
const char *finding_state_text(enum finding_state state);

/* Fills state, mend and why; texts that are too long are cut, what could end the line is '?'. */
void finding_say(struct finding *f, enum finding_state state, const char *mend, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));

/* The line, with its newline; its length. */
size_t finding_format(const struct finding *f, char line[FINDING_LINE_BYTES]);
/* A line, with its newline or without.  -EBADMSG. */
int finding_parse(const char *line, struct finding *out);

#endif
