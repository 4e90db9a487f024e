/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * addr2line - source lines and inlined functions of all addresses that will be asked for, at once
 *
 * Sorted by unit, each unit is read once, several at a time, and dropped (die, line_program); the
 * answers stay.  They are those of libdw_lines.h, which is asked where DWARF is unsupported here.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_H
#define EBPREC_ANALYZE_SYM_DWARF_ADDR2LINE_H

#include <stdbool.h>

#include "analyze/sym/dwarf/libdw_lines.h"

struct addr2line; /* opaque; read-only */

/* Where compilers left what they took out of a file (-gsplit-dwarf).  All zero: nowhere. */
struct addr2line_parts {
	/*
	 * The file of that name, made in that folder ("": not known), from the i-th place that it may
	 * be at.  -ERANGE: there is no such place; else a file descriptor, or errno.  Asked by
	 * several threads.
	 */
	int (*open)(const void *ctx, const char *folder, const char *name, unsigned i);
	/* The i-th package (.dwp) that may have all of them; likewise, before any thread starts. */
	int (*open_package)(const void *ctx, unsigned i);
	const void *ctx;
};

/* Why inlined functions are missing. */
enum addr2line_gap {
	ADDR2LINE_COMPLETE,
	ADDR2LINE_GONE,  /* the file that has them is not here */
	ADDR2LINE_STALE, /* it is of another build */
	ADDR2LINE_BAD,   /* it is malformed, or unsupported */
};

/*
 * vaddrs: sorted.  parts may be NULL.  fd is not needed afterwards.  thread_count 0: as many as there are CPUs, at most 8.
 * -ENOTSUP: unsupported, or no DWARF; -ENOMEM, errno.
 */
int addr2line_new(int fd, const uint64_t *vaddrs, size_t count, unsigned thread_count,
		  const struct addr2line_parts *parts, struct addr2line **out);
/*
 * As addr2line_new(), but only addr2line_gap() may be asked: of the units that cover the addresses
 * only the part with the location of the rest is read.
 */
int addr2line_gaps_new(int fd, const uint64_t *vaddrs, size_t count,
		       const struct addr2line_parts *parts, struct addr2line **out);
void addr2line_free(struct addr2line *t); /* NULL is fine; all strings go with it */

/*
 * As lines_find(), into *n.  false: the address was not among them, or its DWARF is unsupported:
 * ask lines_find().
 */
bool addr2line_find(const struct addr2line *t, uint64_t vaddr, struct source_frame *out, size_t max,
		    size_t *n);
/* Whether parts of the file were missing, and which was the first: *name lives as long as t. */
enum addr2line_gap addr2line_gap(const struct addr2line *t, const char **name);

#endif
