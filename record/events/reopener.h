/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reopener - opens the events of a CPU that comes back, when the recorder has given up its rights
 *
 * The kernel ends all perf events of a CPU that goes offline; on its return they have to be opened anew,
 * which takes CAP_PERFMON.  With CAP_BPF that gives access to all of the kernel's memory, too much
 * for as long as a recording lasts.  So a helper keeps CAP_PERFMON alone (and CAP_SYS_ADMIN, where
 * kernel.perf_event_paranoid is 3).  While the recorder still has its rights it registers these
 * events; once it is sealed the helper opens them, on the requested CPU, and nothing else.  Not
 * safe for more than one thread.
 */
#ifndef EBPREC_RECORD_EVENTS_REOPENER_H
#define EBPREC_RECORD_EVENTS_REOPENER_H

#include <linux/perf_event.h>
#include <stdint.h>

#define REOPENER_OPTION "--reopener" /* the program's first word; its main() calls serve() */

struct reopener; /* opaque */

/* program: the path of one that serves.  Started at once, with the rights of now. */
int reopener_new(const char *program, struct reopener **out);
void reopener_free(struct reopener *r); /* NULL is fine */

/*
 * An event of one CPU, for all that runs there: a number to open it by, or negative errno: -EPIPE, the
 * helper is gone; -ENOSPC, it knows too many; -EPERM, it is sealed, or r is NULL.
 */
int reopener_keep(struct reopener *r, const struct perf_event_attr *attr);
/* The same, of one that is missed alone: await() does not fail when it cannot be opened. */
int reopener_keep_extra(struct reopener *r, const struct perf_event_attr *attr);
/* From here on it keeps no other. */
int reopener_seal(struct reopener *r);
/*
 * Asks for all events on a CPU.  Earlier requests are dropped.  The kernel makes the helper wait
 * while another CPU goes or comes; the recorder must not wait.  -EPIPE; -EPERM, r is NULL.
 */
int reopener_ask(struct reopener *r, uint32_t cpu);
/*
 * Whether they were opened on this CPU, after timeout_ms at most; reported once.  -EAGAIN: not yet;
 * -ENOENT: it was not asked; negative errno of perf_event_open() (-ENODEV: the CPU is not, or not
 * quite, online); -EPIPE.
 */
int reopener_await(struct reopener *r, uint32_t cpu, int timeout_ms);
/* The CPU went once more: the request for it is void. */
void reopener_forget(struct reopener *r, uint32_t cpu);
/* After await() returned 0, the descriptor of an event by its number, owned by the caller; -ENOENT:
 * there is none. */
int reopener_take(struct reopener *r, int number);

/* Runs in the helper: serves until the socket ends; returns the exit status. */
int reopener_serve(void);

#endif
