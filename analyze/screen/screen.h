/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * screen - what is shown of a history, and what keys do to that
 *
 * Knows the seconds that are selected, the view of them, the row that the cursor is on and what is being typed; draw.h puts it
 * on a terminal.
 */
#ifndef EBPREC_ANALYZE_SCREEN_SCREEN_H
#define EBPREC_ANALYZE_SCREEN_SCREEN_H

#include "analyze/screen/history.h"
#include "analyze/screen/strips.h"
#include "analyze/screen/view.h"

/* Keys that are no characters. */
enum screen_key {
	SCREEN_KEY_UP = 0x110000,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_ENTER,
	SCREEN_KEY_BACKSPACE,
	SCREEN_KEY_ESCAPE,
	SCREEN_KEY_NONE, /* the terminal has another size, or the key has no meaning */
};

/* What the caller has to do after a key. */
enum screen_action { SCREEN_STAYS, SCREEN_QUITS, SCREEN_SAVES, SCREEN_MARKS };

enum screen_prompt { SCREEN_NO_PROMPT, SCREEN_FILTER, SCREEN_MARK };

#define SCREEN_STEPS  64 /* zooms within each other; each is some steps of a view */
#define SCREEN_INPUT  128
#define SCREEN_STATUS 240

/* A step of a view by texts, which stay when numbers change. */
struct screen_step {
	char *name, *dso; /* owned; dso NULL: of a group */
	bool direct;
	bool first; /* of a zoom */
};

/* Read freely; embedded by the owner. */
struct screen {
	struct history *history; /* borrowed */
	enum view_form form;
	enum history_measure measure;
	const char *event,
		*event_unit; /* the instrument of HISTORY_EVENT, and of what it weighs; borrowed; NULL: there is none */
	enum history_by by;
	bool groups;
	bool group_strips; /* the strips are of groups, not of CPUs */
	unsigned window;   /* seconds */
	bool frozen;
	uint64_t end; /* frozen: the first second that is not shown any more */
	struct screen_step steps[SCREEN_STEPS];
	size_t step_count;
	char filter[SCREEN_INPUT]; /* "": none */
	regex_t regex;
	bool has_regex;
	enum screen_prompt prompt;
	char input[SCREEN_INPUT]; /* of the prompt; after SCREEN_MARKS the text */
	char status[SCREEN_STATUS];
	bool help;
	size_t row, top; /* the row with the cursor; the first that is shown */
	unsigned page;   /* rows on the screen, set by who draws */
	unsigned width;  /* seconds that a strip shows, set by who draws */
	/* What was selected last. */
	size_t first, count; /* seconds, by position */
	size_t missing;      /* of these, whose measure has not been counted */
	struct view view;
	struct strips strips; /* with group_strips */
};

void screen_init(struct screen *s, struct history *h);
void screen_done(struct screen *s);
/* Chooses the seconds that are shown. */
void screen_select(struct screen *s);
/* The same, and makes the view anew.  -ENOMEM, -EOVERFLOW: it is empty. */
int screen_update(struct screen *s);
/* key: a character (UTF-8 bytes come one by one) or enum screen_key.  screen_update() is to be called afterwards. */
enum screen_action screen_key(struct screen *s, int key);
/* A line of text at the bottom, until the next key. */
void screen_note(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *screen_measure_name(const struct screen *s);
/* "samples", "us", or what the events of the instrument weigh. */
const char *screen_unit(const struct screen *s);
const char *screen_by_name(const struct screen *s);
/* Lines of the help, up to a NULL. */
const char *const *screen_help(void);
/* The samples of all CPUs and the time of the seconds shown. */
uint64_t screen_samples(const struct screen *s);

#endif
