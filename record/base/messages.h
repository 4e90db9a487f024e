/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * messages - the recorder's notes and its failure, stored for the capture and passed to the printer
 *
 * Only main.c prints.  An error that does not end the recording is a note: it is printed and stored
 * in the capture.  The error that ends it is the failure: one text, printed by main.c.
 */
#ifndef EBPREC_RECORD_BASE_MESSAGES_H
#define EBPREC_RECORD_BASE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/text/json_writer.h"
#include "format/base/outbuf.h"

enum note_level {
	NOTE_DETAIL,  /* shown with -v */
	NOTE_STATUS,  /* not shown with -q, and of no interest later: not in the capture */
	NOTE_INFO,    /* not shown with -q */
	NOTE_STORED,  /* for the capture alone: it is printed as the failure */
	NOTE_WARNING, /* something is missing from the capture: always shown */
};

/* Something that failed while all else was recorded. */
struct failed_part {
	char what[80];    /* "cannot read the table 'block'" */
	int err;          /* of the first time */
	bool is_harmless; /* nothing is missing for it */
	uint64_t count, first_ns;
};

#define FAILED_PARTS_MAX 32

struct held_note {
	enum note_level level;
	char *text;
};

struct notes {
	void (*show)(void *arg, enum note_level level, const char *text); /* NULL: not wanted */
	void *show_arg;
	char failure[1024]; /* "" until note_fail() */
	struct outbuf text; /* INFO and WARNING lines for the capture, each with its newline */
	size_t line_count;  /* lines that text ever had: NOTES_MAX at most */
	struct failed_part failed[FAILED_PARTS_MAX];
	size_t failed_count;
	struct held_note *held;
	size_t held_count, held_capacity;
	bool holds; /* since notes_hold() */
};

#define NOTES_MAX 2000 /* others than the user may be the reason for some */

/*
 * One line, without the program's name and without a full stop.  Names of files and commands are
 * not trusted: format/text/escape.h escapes them.
 */
void note(struct notes *n, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Keeps "<fmt>: <strerror(err)> (<hint>)" as the failure, unless there is one already, and
 * returns err, negative.  hint NULL: none.
 */
int note_fail(struct notes *n, int err, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * An operation failed; `costs` describes the consequence: a warning the first time, "<what>:
 * <strerror(err)> (<costs>)", and counted each time.
 */
void note_failed_part(struct notes *n, int err, const char *what, const char *costs);
/* The same for an operation that was only delayed: printed and counted, but the recording has not
 * failed. */
void note_delayed_part(struct notes *n, int err, const char *what, const char *instead);
/* How many parts something is missing of. */
size_t notes_harmed(const struct notes *n);
/* An array "failures" of what failed; nothing when nothing did. */
void notes_json(const struct notes *n, struct json_writer *j);

/*
 * From notes_hold() on notes wait, because the recording may yet be made in another way, where they would not be true.
 * notes_release() shows and keeps them, notes_forget() does not.
 */
void notes_hold(struct notes *n);
void notes_release(struct notes *n);
void notes_forget(struct notes *n);
/* Removes the failure: the operation was not needed after all. */
void notes_forgive(struct notes *n);
void notes_done(struct notes *n);

#endif
