/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cpulist - sets of CPUs as /sys/devices/system/cpu writes them: "0-3,8,10-11" */
#ifndef EBPREC_RECORD_BASE_CPUSET_LIST_H
#define EBPREC_RECORD_BASE_CPUSET_LIST_H

#include <stddef.h>
#include <stdint.h>

#define CPULIST_DIR "/sys/devices/system/cpu"

#define CPULIST_ID_MAX 65535 /* far above any kernel's NR_CPUS */

struct cpulist {
	uint32_t *ids; /* ascending; they need not be dense */
	size_t count;
};

/* text: one line, with or without its newline.  -EBADMSG, -ENOMEM.  Free with cpulist_done(). */
int cpulist_parse(const char *text, struct cpulist *out);
/* Reads CPULIST_DIR/NAME ("online", "present"), or a test's folder.  errno of the read, -EBADMSG, -ENOMEM. */
int cpulist_read(const char *dir, const char *name, struct cpulist *out);
/* One more, in its place; one that is there stays.  -ENOMEM. */
int cpulist_add(struct cpulist *l, uint32_t id);
void cpulist_done(struct cpulist *l);

#endif
