/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/contract/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/text/escape.h"

static const char *const states[FINDING_STATE_COUNT] = {
	[FINDING_WORKS] = "works",
	[FINDING_DEGRADED] = "degraded",
	[FINDING_MISSING] = "missing",
};

const char *finding_state_text(enum finding_state state)
{
	return states[state];
}

void finding_set(struct finding *f, enum finding_state state, const char *mend, const char *fmt,
		 ...)
{
	char why[sizeof(f->why)];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	escape_into(ESCAPE_TEXT, why, n > 0 ? strlen(why) : 0, f->why, sizeof(f->why));
	mend = mend ? mend : "";
	escape_into(ESCAPE_TEXT, mend, strlen(mend), f->mend, sizeof(f->mend));
	f->state = state;
}

size_t finding_format(const struct finding *f, char line[FINDING_LINE_BYTES])
{
	int n = snprintf(line, FINDING_LINE_BYTES, "%s\t%s\t%s\t%s\n", states[f->state], f->name,
			 f->why, f->mend);

	return n < 0 ? 0 : (size_t)n;
}

/* Copies the next field of *line, up to `end`, when it fits. */
static int take(const char **line, char end, char *to, size_t room)
{
	size_t bytes = strcspn(*line, "\t\n");

	if ((*line)[bytes] != end && !(end == '\n' && !(*line)[bytes]))
		return -EBADMSG;
	if (bytes >= room)
		return -EBADMSG;
	escape_into(ESCAPE_TEXT, *line, bytes, to, room);
	*line += bytes + 1;
	return 0;
}

int finding_parse(const char *line, struct finding *out)
{
	struct finding f = { 0 };
	char state[16];
	int i;

	if (take(&line, '\t', state, sizeof(state)) || take(&line, '\t', f.name, sizeof(f.name)) ||
	    take(&line, '\t', f.why, sizeof(f.why)) || take(&line, '\n', f.mend, sizeof(f.mend)) ||
	    !f.name[0])
		return -EBADMSG;
	for (i = 0; i < FINDING_STATE_COUNT; i++) {
		if (!strcmp(state, states[i])) {
			f.state = (enum finding_state)i;
			*out = f;
			return 0;
		}
	}
	return -EBADMSG;
}
