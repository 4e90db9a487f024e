/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * debuglink - the reference of a stripped file to its symbols
 *
 * .gnu_debuglink names a file and the CRC of its contents; .gnu_debugaltlink names the file that dwz
 * moved common DWARF to, and its build-id.  .gnu_debugdata is a small ELF file of its own, packed
 * with xz: the symbols that .dynsym lacks (MiniDebugInfo).
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_DEBUGLINK_H
#define EBPREC_ANALYZE_SYM_LOCATE_DEBUGLINK_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/elf/elf_file.h"
#include "format/base/buildid.h"

struct debuglink {
	char *name; /* owned (free()); no '/' in it */
	uint32_t crc32;
};

/* -ENOENT: no link; -EBADMSG: broken, or the name is more than a file name; -ENOMEM. */
int debuglink_read(const struct elf_file *e, struct debuglink *out);
/* The CRC of an entire file, as in the link.  errno. */
int debuglink_crc(int fd, uint32_t *out);

struct altlink {
	char *path; /* owned (free()); relative to the folder of the file, or absolute */
	struct buildid build_id;
};

/* As debuglink_read(); -EBADMSG also without a build-id. */
int altlink_read(const struct elf_file *e, struct altlink *out);

#define MINIDEBUG_MAX_BYTES (64u << 20) /* unpacked; those of distributions have some 100 KiB */
/* Unpacks .gnu_debugdata; *out is owned (free()).  -ENOENT, -EBADMSG, -EOVERFLOW, -ENOMEM. */
int minidebug_read(const struct elf_file *e, uint8_t **out, size_t *size_bytes);
/* The same of bytes: pure. */
int minidebug_unpack(const uint8_t *data, size_t size_bytes, uint8_t **out, size_t *out_bytes);

#endif
