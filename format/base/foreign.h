/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * foreign - how a capture that was recorded inside a pid namespace names the processes outside of it
 *
 * They have no number there.  All of them are one process with a thread for each CPU, as the idle task
 * is: FORMAT.md 4.7.
 */
#ifndef EBPREC_FORMAT_BASE_FOREIGN_H
#define EBPREC_FORMAT_BASE_FOREIGN_H

/* PID_MAX_LIMIT of include/linux/threads.h: no process has this id, or a larger one. */
#define FOREIGN_PID  4194304u
#define FOREIGN_COMM "[foreign]"
/* The one user frame of their stacks, and the mapping that it lies in. */
#define FOREIGN_ADDR      0x1000u
#define FOREIGN_MAP_BYTES 0x1000u

#endif
