/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_usdt - where in an ELF file is a USDT probe, and where are its arguments?
 *
 * For probes that the user names, in files that a stranger may have written: libbpf would find them,
 * too, but reads such files as if they were its own.  A probe has a place for each time the
 * compiler wrote it out, and each place has its arguments elsewhere.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_USDT_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_USDT_H

#include "bpf/events.h"
#include "format/reader/source.h"

#define ELF_USDT_NAME_MAX  128 /* of provider and probe, with the NUL */
#define ELF_USDT_SITES_MAX 512 /* of one probe */

struct elf_usdt_site {
	uint64_t nop_bytes, semaphore_bytes; /* offsets in the file; semaphore 0: none */
	struct usdt_args args;
};

struct elf_usdt_probe {
	uint32_t count, zero;
	struct elf_usdt_site sites[ELF_USDT_SITES_MAX];
};

/*
 * Fills *out, which is written to also on failure.  -ENOEXEC: no ELF file of this machine; -ENOENT: no such
 * probe; -EOVERFLOW: in more places than there is room for; -ENOMEM.
 */
int elf_usdt_find(const struct source *file, const char *provider, const char *name,
		  struct elf_usdt_probe *out);

/*
 * Parses the arguments of a note, "-4@%esi 8@-16(%rbp) 4@$3" or, of aarch64, "-4@x1 8@[sp, 16] 4@3".  Unsupported forms are
 * USDT_UNKNOWN.
 */
void elf_usdt_args(enum unwind_arch arch, const char *text, struct usdt_args *out);

#endif
