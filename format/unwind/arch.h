/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * arch - the architectures whose stacks are known, and the one that a file is compiled for
 *
 * The recorder and its BPF programs are of the machine that they run on: UNWIND_HERE, which is decided here and nowhere
 * else.  The analyzer knows all of them, wherever it runs.
 */
#ifndef EBPREC_FORMAT_UNWIND_ARCH_H
#define EBPREC_FORMAT_UNWIND_ARCH_H

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

enum unwind_arch {
	UNWIND_X86_64,
	UNWIND_AARCH64,
};

/* DWARF register numbers that the rules use. */
enum unwind_regno {
	UNWIND_X86_BX = 3,
	UNWIND_X86_FP = 6,
	UNWIND_X86_SP = 7,
	UNWIND_X86_RA = 16, /* and the pc, where registers are an array */
	UNWIND_X86_REGS = 17,
	UNWIND_ARM_FP = 29,
	UNWIND_ARM_LR = 30,
	UNWIND_ARM_SP = 31,
	UNWIND_ARM_PC = 32, /* perf's number; DWARF has none for it */
	UNWIND_ARM_REGS = 33,
};

static __always_inline __u32 unwind_pc_regno(enum unwind_arch arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_PC : UNWIND_X86_RA;
}

static __always_inline __u32 unwind_sp_regno(enum unwind_arch arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_SP : UNWIND_X86_SP;
}

static __always_inline __u32 unwind_fp_regno(enum unwind_arch arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_FP : UNWIND_X86_FP;
}

/* Programs for BPF are compiled for the machine that __TARGET_ARCH_* names. */
#if defined(__TARGET_ARCH_arm64) || (defined(__aarch64__) && !defined(__bpf__))
#define UNWIND_HERE      UNWIND_AARCH64
#define UNWIND_HERE_REGS UNWIND_ARM_REGS
#define UNWIND_HERE_NAME "aarch64"
#define UNWIND_HERE_LIBS "aarch64-linux-gnu" /* where Debian has its libraries */
#elif defined(__TARGET_ARCH_x86) || defined(__x86_64__) || defined(__bpf__)
#define UNWIND_HERE      UNWIND_X86_64
#define UNWIND_HERE_REGS UNWIND_X86_REGS
#define UNWIND_HERE_NAME "x86-64"
#define UNWIND_HERE_LIBS "x86_64-linux-gnu"
#else
#error "arch: the registers of this machine are not known"
#endif

#endif
