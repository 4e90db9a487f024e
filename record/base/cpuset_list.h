/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cpuset_list - sets of CPUs as /sys/devices/system/cpu writes them: "0-3,8,10-11" */
#ifndef EBPREC_RECORD_BASE_CPUSET_LIST_H
#define EBPREC_RECORD_BASE_CPUSET_LIST_H

#include <stddef.h>
#include <stdint.h>

#define CPUSET_LIST_DIR "/sys/devices/system/cpu"

#define CPUSET_LIST_ID_MAX 65535 /* far above any kernel's NR_CPUS */

struct cpuset_list {
	uint32_t *ids; /* ascending; they need not be dense */
	size_t count;
};

/* text: one line, with or without its newline.  -EBADMSG, -ENOMEM.  Free with cpuset_list_done(). */
int cpuset_list_parse(const char *text, struct cpuset_list *out);
/* Reads CPUSET_LIST_DIR/NAME ("online", "present"), or a test's folder.  errno of the read, -EBADMSG, -ENOMEM. */
int cpuset_list_read(const char *dir, const char *name, struct cpuset_list *out);
/* One more, in its place; one that is there stays.  -ENOMEM. */
int cpuset_list_add(struct cpuset_list *l, uint32_t id);
void cpuset_list_done(struct cpuset_list *l);

#endif
