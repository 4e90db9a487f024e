/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * libdw_image - a file's debug sections in memory, for libdw
 *
 * libdw may read a text that has no end beyond its section.  Here the bytes lie where they lie in the
 * file, zeroes behind them, so that such a text ends within the image.  Only headers and the sections
 * that lead to functions and lines are read; the rest is address space.
 */
#ifndef EBPREC_ANALYZE_SYM_ELF_LIBDW_IMAGE_H
#define EBPREC_ANALYZE_SYM_ELF_LIBDW_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct libdw_image {
	uint8_t *data;     /* owned */
	size_t size_bytes; /* of the file; there is more room behind */
};

/* fd is not needed afterwards.  -EBADMSG: not ELF; -EOVERFLOW: above 16 GiB, or inflated above what
 * elf_file_add_inflated() allows; -ENOMEM; errno. */
int libdw_image_read(int fd, struct libdw_image *out);
void libdw_image_done(struct libdw_image *i); /* all zero is fine */

#endif
