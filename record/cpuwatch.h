/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cpuwatch - which CPUs came online since somebody looked last?
 *
 * What is bound to a CPU ends when it goes offline, and does not come back with it.  The list of those
 * that are online does not tell of one that went and came in between, as all but one do when a machine
 * sleeps.  But the kernel makes the folder of a CPU's topology anew each time, and its inode is another
 * one then; where there is no such folder, the list alone decides.
 */
#ifndef EBPREC_RECORD_CPUWATCH_H
#define EBPREC_RECORD_CPUWATCH_H

#include "record/cpulist.h"

/* Embedded by the owner; all zero is one that has not looked yet. */
struct cpuwatch {
	struct cpulist online;
	uint64_t *inodes; /* of their topology; 0: there is none */
};

/*
 * Looks; at the first time none came.  dir: CPULIST_DIR, or a test's.  *came: cpulist_done().  errno of
 * the read, -EBADMSG, -ENOMEM; the next look then tells what this one would have.
 */
int cpuwatch_look(struct cpuwatch *w, const char *dir, struct cpulist *came);
void cpuwatch_done(struct cpuwatch *w);

#endif
