/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * progress - how far a long load has come, for a user that waits at a terminal
 *
 * A thread of its own looks every now and then at how much was read, from the first second on, and puts
 * that on one line of the terminal, which is gone when it ends.  The cursor stays at its beginning, so
 * that a note covers it.  Without a terminal at standard error (or behind the pager) there is none.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_PROGRESS_H
#define EBPREC_ANALYZE_CMD_COMMON_PROGRESS_H

#include "format/reader/capture.h"

/* The terminal that standard error was, when the pager has taken its place: a descriptor's number. */
#define PROGRESS_VARIABLE "EBPREC_TERMINAL_FD"

struct progress; /* opaque */

/* NULL: no terminal, or no memory.  progress_end(). */
struct progress *progress_begin(void);
/* Watches the capture that is read from now on.  It must live until progress_end(). */
void progress_watch(struct progress *p, const struct capture *c); /* NULL is fine, for both */
/* Removes the line until the next update: other text is printed. */
void progress_clear(struct progress *p); /* NULL is fine */
/* Takes the line away for good; for on_made of a report. */
void progress_hide(void *arg);         /* NULL is fine */
void progress_end(struct progress *p); /* NULL is fine */

#endif
