/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * probe_file - the file that the user named for a probe, and where in it a function or a probe is
 *
 * Any user may be able to write it, so it is read by the process that reads ELF files
 * (elf_reader.h), and the kernel gets the open file and an offset.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_PROBE_FILE_H
#define EBPREC_RECORD_INSTRUMENT_PROBE_FILE_H

#include <stdint.h>

#include "record/privsep/elf_reader.h"

/*
 * A path, or the name of a program or library that is looked for where these are ("libc.so.6").  The
 * descriptor, the caller's; -ENOENT; -EINVAL: no regular file; errno.
 */
int probe_file_open(const char *name);
/* elf_symbol_offset(), by the process; NULL: here. */
int probe_file_function(int fd, struct elf_reader *reader, const char *function, uint64_t *out);
/* elf_usdt_find(), by the process; NULL: here. */
int probe_file_usdt(int fd, struct elf_reader *reader, const char *provider, const char *name,
		    struct elf_usdt_probe *out);
/* The advice on an error of these; NULL: none. */
const char *probe_file_hint(int err);

#endif
