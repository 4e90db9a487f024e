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
	PERFREGS_MAX = UNWIND_ARM_REGS, /* by DWARF number; x86_64 has fewer */
};

/* All registers that x86_64 unwinds with: ax to sp, ip, r8 to r15. */
#define PERFREGS_X86_MASK 0xff01ffULL
/* The same of aarch64: x0 to x29, lr, sp, pc. */
#define PERFREGS_ARM_MASK 0x1ffffffffULL

/*
 * Fills gprs[], which the caller zeroed; the pc is at unwind_pc_regno().  mask: the
 * attr's sample_regs_user.  False when pc or sp are not among them, or the sample has none.
 */
bool perfregs_load(enum unwind_arch arch, const struct perf_sample *sample, uint64_t mask,
		   __u64 gprs[PERFREGS_MAX]);

#endif
