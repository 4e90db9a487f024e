/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cpulist - sets of CPUs as /sys/devices/system/cpu writes them: "0-3,8,10-11" */
#ifndef EBPREC_RECORD_CPULIST_H
#define EBPREC_RECORD_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_ID_MAX 65535 /* far above any kernel's NR_CPUS */

struct cpulist {
	uint32_t *ids; /* ascending; they need not be dense */
	size_t count;
};

/* text: one line, with or without its newline.  -EBADMSG, -ENOMEM.  Free with cpulist_done(). */
int cpulist_parse(const char *text, struct cpulist *out);
/* Reads /sys/devices/system/cpu/NAME ("online", "present").  errno of the read, or -EBADMSG. */
int cpulist_read(const char *name, struct cpulist *out);
/* The next one from *at on that other has not; *at is behind it then.  false: there is none. */
bool cpulist_next_new(const struct cpulist *l, const struct cpulist *other, size_t *at,
		      uint32_t *id);
void cpulist_done(struct cpulist *l);

#endif
