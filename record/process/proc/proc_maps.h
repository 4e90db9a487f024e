/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* proc_maps - the lines of /proc/PID/maps */
#ifndef EBPREC_RECORD_PROCESS_PROC_PROC_MAPS_H
#define EBPREC_RECORD_PROCESS_PROC_PROC_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/file_id.h"

#define PROC_MAPS_PATH_MAX 4096 /* with the NUL; a longer one is cut */

#define PROC_MAPS_TEXT_MAX \
	(64u << 20) /* of a /proc/PID/maps that is read: 65530 mappings of long paths */

struct proc_map {
	uint64_t start, end, file_off_bytes;
	uint32_t prot;     /* PROT_READ | PROT_WRITE | PROT_EXEC */
	uint32_t flags;    /* MAP_PRIVATE or MAP_SHARED */
	struct file_id id; /* device and inode; the rest is not known */
	/* As the kernel writes it: " (deleted)" may follow, also as part of a name; "" for anonymous
	 * memory.  The kernel's one escape (\012 for a newline) is undone. */
	char path[PROC_MAPS_PATH_MAX];
};

/*
 * Parses the line at *text (NUL-terminated) and moves *text behind it, also when the line is
 * broken.  1: *out is filled; 0: the end; -EBADMSG: not a line of maps, *out is undefined.
 */
int proc_maps_next(const char **text, struct proc_map *out);

#endif
