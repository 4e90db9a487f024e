/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elfimage - a file's debug sections in memory, for libdw
 *
 * libdw may read a text that has no end beyond its section.  Here the bytes lie where they lie in the
 * file, zeroes behind them, so that such a text ends within the image.  Only headers and the sections
 * that lead to functions and lines are read; the rest is address space.
 */
#ifndef EBPREC_ANALYZE_SYM_ELF_LIBDW_IMAGE_H
#define EBPREC_ANALYZE_SYM_ELF_LIBDW_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct elfimage {
	uint8_t *data;     /* owned */
	size_t size_bytes; /* of the file; there is more room behind */
};

/* fd is not needed afterwards.  -EBADMSG: not ELF; -EOVERFLOW: above 16 GiB; -ENOMEM; errno. */
int elfimage_read(int fd, struct elfimage *out);
void elfimage_done(struct elfimage *i); /* all zero is fine */

#endif
