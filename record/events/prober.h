/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * prober - uprobes in files that are mapped later, when the recorder has given up its rights
 *
 * A uprobe takes CAP_SYS_ADMIN, which is too much to keep for as long as a recording lasts, in a
 * process that reads what strangers wrote.  So a helper keeps that alone, reads nothing, and can do
 * nothing but open perf events of uprobes.  Not safe for more than one thread.
 */
#ifndef EBPREC_RECORD_EVENTS_PROBER_H
#define EBPREC_RECORD_EVENTS_PROBER_H

#include <stdint.h>

#define PROBER_OPTION "--prober" /* the program's first word; its main() calls serve() */

struct prober; /* opaque */

/* program: the path of one that serves.  Started at once, with the rights of now. */
int prober_new(const char *program, struct prober **out);
void prober_free(struct prober *p); /* NULL is fine */

/*
 * The event of a uprobe at an offset in an open file, for all processes; semaphore_bytes 0: none.
 * A descriptor, the caller's; negative errno of perf_event_open(), or -EPIPE: the helper is gone.
 */
int prober_open(struct prober *p, int fd, uint64_t offset_bytes, uint64_t semaphore_bytes);

/* Runs in the helper: serves until the socket ends; returns the exit status. */
int prober_serve(void);

#endif
