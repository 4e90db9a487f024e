/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cpu_hotplug - the CPUs that went offline or came online since the last call
 *
 * Events of a CPU end when it goes offline, and do not come back with it.  The list of online CPUs
 * does not show one that went and came in between, as all but one do when a machine sleeps.  But
 * the kernel makes the folder of a CPU's topology anew each time, and its inode is another one
 * then; where there is no such folder, the list alone decides.
 */
#ifndef EBPREC_RECORD_EVENTS_CPU_HOTPLUG_H
#define EBPREC_RECORD_EVENTS_CPU_HOTPLUG_H

#include <stdbool.h>

#include "record/base/cpuset_list.h"

/* Embedded by the owner; all zero is one that has not looked yet. */
struct cpu_hotplug {
	struct cpuset_list online;
	uint64_t *inodes; /* of their topology; 0: there is none */
};

/* Ascending.  One that went and came in between is in both. */
struct cpu_hotplug_news {
	struct cpuset_list went, came;
};

/*
 * Looks; at the first time there is no news.  dir: CPUSET_LIST_DIR, or a test's.  *out: cpu_hotplug_news_done().
 * errno of the read, -EBADMSG, -ENOMEM; the next call then reports these changes.
 */
int cpu_hotplug_look(struct cpu_hotplug *w, const char *dir, struct cpu_hotplug_news *out);
/* Others are online than at the last look: one file is read for that.  False also when it cannot be. */
bool cpu_hotplug_is_stale(const struct cpu_hotplug *w, const char *dir);
/* It was online at the last look. */
bool cpu_hotplug_has(const struct cpu_hotplug *w, uint32_t cpu);
void cpu_hotplug_news_done(struct cpu_hotplug_news *n);
void cpu_hotplug_done(struct cpu_hotplug *w);

#endif
