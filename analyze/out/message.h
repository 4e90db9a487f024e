/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * message - the one voice in which ebprec speaks about its work
 *
 * Results go to stdout, words about the run to stderr, in one form:
 *	ebprec: cannot open 'x.data': No such file or directory (name a capture with -i)
 * what failed, on what, why, and what to do.  Only the command layer (main.c, cmd_*.c) prints.
 * File names and file contents come from outside: format/text/escape.h escapes them, so that a
 * hostile capture cannot write on the terminal.
 */
#ifndef EBPREC_ANALYZE_OUT_MESSAGE_H
#define EBPREC_ANALYZE_OUT_MESSAGE_H

#include <stddef.h>
#include <stdio.h>

#include "format/base/err.h"

enum message_status { /* what ebprec exits with */
		      MESSAGE_OK = 0,
		      MESSAGE_FAILED = 1, /* at run time */
		      MESSAGE_USAGE = 2,  /* the command line is wrong */
};

/* "ebprec: ..." and a line end on stderr; returns MESSAGE_FAILED, so that a command may return it. */
int message_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for what is degraded but goes on, or is good to know. */
void message_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The line for a failed capture_open(path, ..., err): code is its negative errno. */
int message_cannot_open(const char *path, int code, const struct parse_err *err);
/* The line for a failed write: "cannot write 'x': No space left on device (...)". */
int message_cannot_write(const char *path, int code);

/* Prints text from a capture, escaped by format/text/escape.h. */
void message_escaped(FILE *to, const char *text, size_t size_bytes);
/* The same in at most so many columns, with dots where something is missing.  0: no limit. */
void message_escaped_within(FILE *to, const char *text, size_t size_bytes, unsigned columns);
/* The same in at least so many columns: blanks follow. */
void message_padded(FILE *to, const char *text, unsigned columns);
/* How many columns message_escaped() takes; a character is one. */
unsigned message_columns(const char *text, size_t size_bytes);
/*
 * The same as a cell of CSV (RFC 4180): in quotes where it must be.  A text that a spreadsheet
 * would take for a formula (it begins with =, +, - or @) gets an apostrophe before it, and quotes.
 */
void message_csv(FILE *to, const char *text, size_t size_bytes);

#endif
