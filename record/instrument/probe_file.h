/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * probefile - the file that the user named for a probe, and where in it a function or a probe is
 *
 * Who may write it is not known, so it is read by the process that reads ELF files (elfworker.h), and the
 * kernel gets the open file and an offset.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_PROBE_FILE_H
#define EBPREC_RECORD_INSTRUMENT_PROBE_FILE_H

#include <stdint.h>

#include "record/privsep/elf_reader.h"

/*
 * A path, or the name of a program or library that is looked for where these are ("libc.so.6").  The
 * descriptor, the caller's; -ENOENT; -EINVAL: no regular file; errno.
 */
int probefile_open(const char *name);
/* elfsymbol_offset(), by the process; NULL: here. */
int probefile_function(int fd, struct elfworker *reader, const char *function, uint64_t *out);
/* usdtelf_find(), by the process; NULL: here. */
int probefile_usdt(int fd, struct elfworker *reader, const char *provider, const char *name,
		   struct usdtelf_probe *out);
/* What to say of an error of these; NULL: nothing. */
const char *probefile_hint(int err);

#endif
