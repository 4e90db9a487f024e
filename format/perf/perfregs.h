/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perfregs - the user registers of a sample, by DWARF number
 *
 * perf numbers registers its own way and writes only those of attr.sample_regs_user; unwind rules
 * know DWARF's numbers.  Source: <asm/perf_regs.h> of both architectures.
 */
#ifndef EBPREC_FORMAT_PERF_PERFREGS_H
#define EBPREC_FORMAT_PERF_PERFREGS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/perf/perfrec.h"
#include "format/unwind/unwind.h"

enum {
	PERFREGS_MAX = 33,    /* by DWARF number; aarch64 counts to 32 */
	PERFREGS_ARM_PC = 32, /* perf's number; DWARF has none for it */
};

/* All registers that x86_64 unwinds with: ax to sp, ip, r8 to r15. */
#define PERFREGS_X86_MASK 0xff01ffULL

/*
 * Fills gprs[], which the caller zeroed; the pc is at UNWIND_X86_RA or PERFREGS_ARM_PC.  mask: the
 * attr's sample_regs_user.  False when pc or sp are not among them, or the sample has none.
 */
bool perfregs_load(enum unwind_arch arch, const struct perf_sample *sample, uint64_t mask,
		   __u64 gprs[PERFREGS_MAX]);

#endif
