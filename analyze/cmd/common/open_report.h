/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * open_report - the capture that a command is about
 *
 * The common part of all commands that read a capture: finding the file, opening it, reading its
 * processes and mappings, and the messages when one of these fails.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_OPEN_REPORT_H
#define EBPREC_ANALYZE_CMD_COMMON_OPEN_REPORT_H

#include <stdio.h>

#include "analyze/base/result_file.h"
#include "analyze/cmd/common/progress.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/report/report.h"

/* How much a command may unpack, in bytes; --unpack-limit sets it. */
#define CMD_UNPACK_VARIABLE "EBPREC_UNPACK_LIMIT"

/*
 * *input: the value of --input, or NULL; becomes that, the first of the words, or ebprec.data.  0,
 * or the exit status after an error was printed: both were given.
 */
int cmd_input(const struct usage *usage, char *const *words, const char **input);

/*
 * Whether a picture, or another form of a capture, may replace the file at output: not a capture.
 * "-" is standard output.  0, or the exit status after an error was printed.
 */
int cmd_new_file(const struct capture *c, const char *input, const char *output);
/*
 * The same of a new capture: not of the one that it is made of; another file that is there becomes
 * OUTPUT.old (cmd_place_capture()).
 */
int cmd_new_capture(const struct capture *c, const char *input, const char *output);
/*
 * Begins a new capture, which is the file at path when cmd_place_capture() was called.  is_readable: the caller reads it
 * before that.  0, or the exit status after an error was printed.
 */
int cmd_begin_capture(const char *path, bool is_readable, struct result_file **to);
/*
 * Puts a new capture in its place; an older file there is PATH.old then, with a message unless quiet.  replaces: that
 * is the capture which it was made of, of which nothing is lost: no .old is made, and the owner remains.  `to` is freed in
 * any case.  0, or the exit status after an error was printed.
 */
int cmd_place_capture(struct result_file *to, const char *path, bool replaces, bool quiet);

/*
 * Opens a capture, and refuses one whose private objects unpack to more than they may: *out is the caller's,
 * capture_close().  0, or the exit status after an error was printed.
 */
int cmd_open_capture(const char *path, struct capture **out);
/* The same; where there is no such file, *out is NULL, nothing is printed, and it is 0. */
int cmd_open_capture_if_there(const char *path, struct capture **out);

/* Whether the recorder was to record context switches, also where there was none. */
bool cmd_has_recorded_switches(const struct capture *c);
/* The line for a capture without context switches, with what records them.  MESSAGE_FAILED. */
int cmd_no_switches(const struct capture *c, const char *path);

struct cmd_open {
	struct capture *capture;
	struct report report;
	struct progress *progress; /* until report_make(), or progress_hide() before any output */
};

/*
 * Opens the capture and its model; cmd_close() when that succeeded.  verb: of messages, "show".
 * quiet: without progress.
 * 0, or the exit status after an error was printed.
 */
int cmd_open(const char *path, const char *verb, bool quiet, struct cmd_open *out);
/* The same, by report_open_with_tasks(). */
int cmd_open_with_tasks(const char *path, const char *verb, bool quiet, struct cmd_open *out);
/* The same, by report_open_later(). */
int cmd_open_later(const char *path, const char *verb, bool quiet, struct cmd_open *out);
void cmd_close(struct cmd_open *o);

/*
 * Has write() write a new file of that path, which gets its name when all of it is on the disk; "-" or NULL:
 * standard output.  Returns the result of write(), or the errno of the file.
 */
int cmd_write_output(const char *path, int (*write)(void *arg, FILE *to), void *arg);
/* Names the file that was written, and what reads it; nothing of "-" or NULL. */
void cmd_print_written(const char *path, const char *reader);

/*
 * From the first sample to the last; where the file does not have it, its records are read.  NULL:
 * none.
 */
const struct time_span *cmd_span(const struct capture *c, struct time_span *room);

#endif
