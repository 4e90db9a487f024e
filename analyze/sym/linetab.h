/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * linetab - source lines and inlined functions of all addresses that will be asked for, at once
 *
 * Sorted by unit, each unit is read once, several at a time, and forgotten (dwinfo, dwline); what is
 * left are the answers.  They are those of lines.h, which is asked where DWARF is odd.
 */
#ifndef EBPREC_ANALYZE_SYM_LINETAB_H
#define EBPREC_ANALYZE_SYM_LINETAB_H

#include <stdbool.h>

#include "analyze/sym/lines.h"

struct linetab; /* opaque; read-only */

/*
 * vaddrs: sorted.  fd is not needed afterwards.  thread_count 0: as many as there are CPUs, at most 8.
 * -ENOTSUP: odd, or no DWARF; -ENOMEM, errno.
 */
int linetab_new(int fd, const uint64_t *vaddrs, size_t count, unsigned thread_count,
		struct linetab **out);
void linetab_free(struct linetab *t); /* NULL is fine; all strings go with it */

/* As lines_find(), into *n.  false: the address was not among them, or is odd: ask lines_find(). */
bool linetab_find(const struct linetab *t, uint64_t vaddr, struct lines_frame *out, size_t max,
		  size_t *n);

#endif
