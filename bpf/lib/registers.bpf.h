/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * registers - what programs read of an architecture: saved registers, system calls, threads
 *
 * The one header that knows which machine this is for.  Registers of a thread in user mode are where the kernel saved
 * them when it was entered; its struct begins with what <asm/ptrace.h> shows to programs.
 */
#ifndef EBPREC_BPF_REGISTERS_H
#define EBPREC_BPF_REGISTERS_H

#include "bpf/lib/common.bpf.h"
#include "bpf/kernel.h"
#include "format/base/call_abi.h"
#include "format/unwind/arch.h"

#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

enum {
	PC_REGNO = UNWIND_HERE == UNWIND_AARCH64 ? UNWIND_ARM_PC : UNWIND_X86_RA,
	SP_REGNO = UNWIND_HERE == UNWIND_AARCH64 ? UNWIND_ARM_SP : UNWIND_X86_SP,
	FP_REGNO = UNWIND_HERE == UNWIND_AARCH64 ? UNWIND_ARM_FP : UNWIND_X86_FP
};

#ifdef __TARGET_ARCH_arm64

#include <asm/unistd.h>

typedef struct user_pt_regs saved_regs;

/* The word that has the mode in which the thread was: PSR_MODE_MASK, PSR_MODE32_BIT. */
#define REGS_MODE(r) ((r)->pstate)

static __always_inline bool mode_is_user(__u64 mode)
{
	return (mode & 0xf) == 0;
}

static __always_inline bool mode_is_compat(__u64 mode)
{
	return (mode & 0x1f) == 0x10;
}

/*
 * By enum unwind_regno.  The barrier: clang would read the pc once behind two branches, through a pointer that may be
 * either of theirs, which the verifier does not take.
 */
#define TAKE_REGS(to, r)                                                                          \
	do {                                                                                      \
		_Pragma("unroll") for (__u32 i__ = 0; i__ < 31; i__++)(to)[i__] = (r)->regs[i__]; \
		(to)[UNWIND_ARM_SP] = (r)->sp, (to)[UNWIND_ARM_PC] = (r)->pc;                     \
		barrier();                                                                        \
	} while (0)

/* The number of the system call that is under way; -1: none is. */
static __always_inline long call_number(const saved_regs *r)
{
	return ((const struct pt_regs___kernel *)r)->syscallno;
}

/* Its argument n, 0 to 5, a constant; also when it has returned, which overwrites x0. */
static __always_inline __u64 call_arg(const saved_regs *r, __u32 n)
{
	return n ? r->regs[n] : ((const struct pt_regs___kernel *)r)->orig_x0;
}

/* The same of a 32-bit program. */
static __always_inline __u64 call_arg32(const saved_regs *r, __u32 n)
{
	return (__u32)call_arg(r, n);
}

enum { CALL32_PREAD_OFFSET = 4 }; /* 64-bit values begin at an even register */

/* Number, and the first two arguments, of a thread that is not the current one; false: they cannot be read. */
static __always_inline bool read_call(const saved_regs *r, __u64 *nr, __u64 *arg0, __u64 *arg1)
{
	const struct pt_regs___kernel *kernel = (const void *)r;
	__s32 number = 0;

	if (bpf_probe_read_kernel(&number, sizeof(number), &kernel->syscallno) ||
	    bpf_probe_read_kernel(arg0, sizeof(*arg0), &kernel->orig_x0) ||
	    bpf_probe_read_kernel(arg1, sizeof(*arg1), &r->regs[1]))
		return false;
	*nr = (__u64)(__s64)number;
	return true;
}

/* arch/arm64/include/asm/thread_info.h: TIF_32BIT. */
static __always_inline bool is_compat(const struct task_struct *t)
{
	return t->thread_info.flags & 1ul << 22;
}

/*
 * Where the register for thread-local data points.  Programs set it themselves, and the kernel has it from the first time
 * that the thread left a CPU.
 */
static __always_inline __u64 thread_pointer(const struct task_struct *t)
{
	return BPF_CORE_READ(t, thread.uw.tp_value);
}

/* The C libraries' descriptor of a thread, which is what pthread_self() returns, ends where the register points. */
#define DESCRIPTOR_MOST_BYTES 4096

static __always_inline bool is_descriptor(__u64 self, __u64 thread_pointer)
{
	return thread_pointer - self <= DESCRIPTOR_MOST_BYTES;
}

/* As PT_REGS_PARM5() of libbpf. */
#define PROBE_PARM6(ctx) (((const saved_regs *)(ctx))->regs[5])

/* How many bytes a return takes from the stack. */
enum { RETURN_BYTES = 0 };

enum { CALL_ABI_HERE = CALL_ABI_AARCH64, CALL_ABI_COMPAT = CALL_ABI_ARM };

#else

#include <asm/unistd_64.h>

typedef struct pt_regs saved_regs;

/* The word that has the mode in which the thread was: the lowest two bits; __USER32_CS. */
#define REGS_MODE(r) ((r)->cs)

static __always_inline bool mode_is_user(__u64 mode)
{
	return (mode & 3) == 3;
}

static __always_inline bool mode_is_compat(__u64 mode)
{
	return (mode & 0xffff) == 0x23;
}

/* By enum unwind_regno. */
#define TAKE_REGS(to, r)                                                                        \
	do {                                                                                    \
		(to)[0] = (r)->rax, (to)[1] = (r)->rdx, (to)[2] = (r)->rcx, (to)[3] = (r)->rbx; \
		(to)[4] = (r)->rsi, (to)[5] = (r)->rdi, (to)[6] = (r)->rbp, (to)[7] = (r)->rsp; \
		(to)[8] = (r)->r8, (to)[9] = (r)->r9, (to)[10] = (r)->r10, (to)[11] = (r)->r11; \
		(to)[12] = (r)->r12, (to)[13] = (r)->r13, (to)[14] = (r)->r14;                  \
		(to)[15] = (r)->r15, (to)[16] = (r)->rip;                                       \
	} while (0)

/* The number of the system call that is under way; -1: none is. */
static __always_inline long call_number(const saved_regs *r)
{
	return r->orig_rax;
}

/* Its argument n, 0 to 5, a constant; also when it has returned. */
static __always_inline __u64 call_arg(const saved_regs *r, __u32 n)
{
	return n == 0   ? r->rdi
	       : n == 1 ? r->rsi
	       : n == 2 ? r->rdx
	       : n == 3 ? r->r10
	       : n == 4 ? r->r8
			: r->r9;
}

/* The same of a 32-bit program. */
static __always_inline __u64 call_arg32(const saved_regs *r, __u32 n)
{
	return (__u32)(n == 0   ? r->rbx
		       : n == 1 ? r->rcx
		       : n == 2 ? r->rdx
		       : n == 3 ? r->rsi
		       : n == 4 ? r->rdi
				: r->rbp);
}

enum { CALL32_PREAD_OFFSET = 3 };

/* Number, and the first two arguments, of a thread that is not the current one; false: they cannot be read. */
static __always_inline bool read_call(const saved_regs *r, __u64 *nr, __u64 *arg0, __u64 *arg1)
{
	__u64 call[3]; /* rsi, rdi, orig_rax */

	if (bpf_probe_read_kernel(call, sizeof(call), &r->rsi))
		return false;
	*arg1 = call[0];
	*arg0 = call[1];
	*nr = call[2];
	return true;
}

/* arch/x86/include/asm/thread_info.h: TS_COMPAT, a 32-bit system call is under way. */
static __always_inline bool is_compat(const struct task_struct *t)
{
	return t->thread_info.status & 0x2;
}

/* Where the register for thread-local data points. */
static __always_inline __u64 thread_pointer(const struct task_struct *t)
{
	return BPF_CORE_READ(t, thread.fsbase);
}

/* The C libraries' descriptor of a thread, which is what pthread_self() returns, begins where the register points. */
static __always_inline bool is_descriptor(__u64 self, __u64 thread_pointer)
{
	return self == thread_pointer;
}

/* As PT_REGS_PARM5() of libbpf. */
#define PROBE_PARM6(ctx) ((ctx)->r9)

/* How many bytes a return takes from the stack. */
enum { RETURN_BYTES = 8 };

enum { CALL_ABI_HERE = CALL_ABI_X86_64, CALL_ABI_COMPAT = CALL_ABI_I386 };

#endif

#endif
