/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * libdw_lines - source lines and inlined functions of an address, from DWARF
 *
 * libdw reads the DWARF; what it would search anew for each address is cached here: which unit
 * covers it, which function of the unit, and what was inlined there, each made when first needed.
 * The file is read, not mapped.  Nothing but the files given is opened: no .dwo (addr2line reads
 * these), and of the files of dwz only the one that the caller found.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_LIBDW_LINES_H
#define EBPREC_ANALYZE_SYM_DWARF_LIBDW_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/dwarf/source_frame.h"

#define LINES_DEPTH_MAX 64 /* inlined frames of an address; deeper ones are left out */

struct lines; /* opaque; one thread */

/*
 * Neither fd is needed afterwards; alt_fd -1: there is none.  -ENOENT: no DWARF; -EBADMSG:
 * broken; -ENOMEM.
 */
int lines_open(int fd, int alt_fd, struct lines **out);
void lines_free(struct lines *l); /* NULL is fine; all strings go with it */

/*
 * The frames of vaddr, innermost first: all but the last were inlined, each into the one behind
 * it.  The file and line of a frame are its position in that function.  Returns how many, at most
 * max; 0: nothing is known.
 */
size_t lines_find(struct lines *l, uint64_t vaddr, struct source_frame *out, size_t max);

#endif
