/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwind - one unwind rule, and the one function that applies it
 *
 * A rule describes how to get from a frame to its caller: where the CFA is (the value of the stack
 * pointer in the caller), where the frame pointer was saved and where the return address is.  A
 * program has millions of locations and only some hundred different rules, so a rule is 8 bytes in
 * a shared table and each location refers to it by a 16-bit id.  Rules are made by
 * format/unwind/eh_frame.h and found through format/unwind/table/module_table.h.
 *
 * unwind_step() is pure and allocates nothing.  The same bytes of C run in the kernel (BPF) and in
 * user space (raw stack copies, dwarf captures, tests), so a stack is the same wherever it is
 * walked.  The includer may supply, before including this file:
 *	UNWIND_MEM			the type through which memory is read
 *	UNWIND_READ(mem, addr, out)	reads 8 bytes into *out; 0 when it worked
 *	UNWIND_READ2(mem, addr, o, p)	reads 16 bytes into *o and *p; 0 when it worked
 *	UNWIND_GPR(mem, n, out)		general register n (DWARF number) of the *leaf*; 0 if known
 * Without these, struct unwind_mem below is used.  BPF must supply them all.
 *
 * A walk is:
 *	unwind_regs_leaf(&regs, pc, sp, fp, lr);
 *	do {
 *		rule = lookup(unwind_lookup_pc(&regs));
 *		record(regs.pc, unwind_pc_is_return(&regs, rule));
 *		why = unwind_step(arch, rule, &regs, mem);
 *	} while (why == UNWIND_OK && ++n < max);
 *
 * A hostile stack cannot make a walk endless: each step moves the stack pointer up, but for a
 * signal frame, and the caller bounds the number of frames.
 */
#ifndef EBPREC_FORMAT_UNWIND_UNWIND_H
#define EBPREC_FORMAT_UNWIND_UNWIND_H

#include "format/unwind/arch.h"

/*
 * How the CFA is found.  cfa_off holds the offset in bytes; for PLT the threshold; for the DEREF
 * kinds two signed parts: CFA = *(base + (cfa_off >> 8)) + 8 * (the low 8 bits).
 */
enum unwind_cfa {
	UNWIND_CFA_END = 0,  /* no table covers this address */
	UNWIND_CFA_RA_UNDEF, /* the outermost frame: the walk is complete */
	UNWIND_CFA_UNSUP,    /* a table covers it with a rule that 8 bytes cannot encode */
	UNWIND_CFA_SIGNAL,   /* all registers lie in the kernel's signal frame at sp */
	UNWIND_CFA_SP,       /* sp + off */
	UNWIND_CFA_FP,       /* fp + off */
	UNWIND_CFA_PLT,      /* sp + 8 + ((pc & 15) >= off ? 8 : 0) */
	UNWIND_CFA_DEREF_SP, /* *(sp + pre) + post */
	UNWIND_CFA_DEREF_FP, /* *(fp + pre) + post */
	UNWIND_CFA_REG = 64, /* | register number: reg + off, where that register is known */
};

/* How the caller's frame pointer is found: the low 3 bits of fp_ra. */
enum unwind_fp {
	UNWIND_FP_SAME = 0, /* not touched */
	UNWIND_FP_CFA,      /* saved at CFA + 8 * fp_words */
	UNWIND_FP_FP,       /* saved at fp + 8 * fp_words, fp of this frame */
	UNWIND_FP_SP,       /* saved at sp + 8 * fp_words, sp of this frame */
	UNWIND_FP_LOST,     /* lost, or by a rule that 8 bytes cannot encode */
	UNWIND_FP_MASK = 7,
};

/*
 * Where the return address is: the high 5 bits of fp_ra.
 * x86_64:  0 is at CFA - 8; n is in register n - 1.
 * aarch64: 0 is in the link register; n is at CFA + 8 * (fp_words + n - 16).  When fp is not
 *          saved at the CFA, n is 16 and fp_words is the place of the return address.
 */
enum unwind_ra {
	UNWIND_RA_DEFAULT = 0,
	UNWIND_RA_SAME_WORD = 16,
	UNWIND_RA_SHIFT = 3,
};

/*
 * How the caller's rbx is found, in the few files that use rbx as a base: n is at CFA - 8 * n.
 * The dynamic linker's lazy binding is one, and every program starts through it; so the registers
 * of the leaf are not enough.
 */
enum unwind_bx {
	UNWIND_BX_UNKNOWN = 0, /* not tracked in this file, or by a rule we do not know */
	UNWIND_BX_SAME = 255,
};

enum {
	UNWIND_CFA_OFF_MAX = (1 << 23) - 1, /* 8 MB; larger frames are not supported */
	UNWIND_CFA_OFF_MIN = -(1 << 23),
};

struct unwind_rule {
	__u8 cfa;   /* enum unwind_cfa, or UNWIND_CFA_REG | register number */
	__u8 fp_ra; /* enum unwind_fp | enum unwind_ra << 3 */
	__s16 fp_words;
	__s32 cfa_off : 24;
	__u32 bx : 8; /* enum unwind_bx */
};
_Static_assert(sizeof(struct unwind_rule) == 8, "a rule is one 8-byte map entry");

/* Why a walk went on or stopped.  Walkers add those from NO_MAPPING on; texts: unwind_why_text(). */
enum unwind_why {
	UNWIND_OK = 0,   /* regs are the caller's now */
	UNWIND_COMPLETE, /* the outermost frame was reached */
	UNWIND_ZERO_PC,  /* return address 0 and no frame pointer: outermost too, by convention */
	UNWIND_NO_CFI,   /* UNWIND_CFA_END */
	UNWIND_UNSUPPORTED, /* UNWIND_CFA_UNSUP */
	UNWIND_READ_FAULT,  /* the stack could not be read */
	UNWIND_SP_NOT_UP,   /* the caller's sp is not above this frame's */
	UNWIND_BAD_PC,      /* the return address cannot be code */
	UNWIND_FP_UNKNOWN,  /* the rule needs fp, which an inner frame lost */
	UNWIND_REG_UNKNOWN, /* the rule needs a register that was not saved */
	UNWIND_NOT_A_FRAME, /* frame-pointer step: fp does not point up the stack */
	UNWIND_NO_MAPPING,  /* pc is in no known file */
	UNWIND_NO_TABLE,    /* the table of the file is not built yet */
	UNWIND_MAX_FRAMES,  /* deeper than the walker goes */
	UNWIND_NO_ROOM,     /* the file has a table, for which there was no room (--tables) */
	UNWIND_NO_FILE,     /* the file could not be opened: whether it has a table is not known */
	UNWIND_WHY_COUNT,
};

enum unwind_flags {
	UNWIND_F_CALLER = 1,   /* pc is a return address: look up pc - 1 */
	UNWIND_F_FP_LOST = 2,  /* fp is unknown */
	UNWIND_F_LEAF = 4,     /* UNWIND_GPR() is of this frame; lr is live */
	UNWIND_F_SIGFRAME = 8, /* registers can be read at sig_sp; lr is live */
	UNWIND_F_BX = 16,      /* bx is known; at the leaf and behind a signal it is not set */
};

struct unwind_regs {
	__u64 pc, sp, fp;
	__u64 lr;     /* aarch64 only */
	__u64 bx;     /* x86_64 only, and only with UNWIND_F_BX */
	__u64 sig_sp; /* the signal frame with this frame's registers */
	__u32 flags;  /* enum unwind_flags */
	__u32 pad;
};

/* Below this no code is mapped (vm.mmap_min_addr), and above these none of user space is. */
#define UNWIND_PC_MIN      0x1000ULL
#define UNWIND_X86_PC_BITS 47
#ifndef UNWIND_ARM_PC_BITS
#define UNWIND_ARM_PC_BITS 48 /* the bits above may hold a pointer signature; they are cut */
#endif

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef UNWIND_READ
/*
 * Memory in user space.  read() fills *out with the 8 little-endian bytes at addr, or returns
 * non-zero.  gprs[] are the leaf's registers by DWARF number, NULL or short when unknown.
 */
struct unwind_mem {
	int (*read)(const struct unwind_mem *mem, uint64_t addr, __u64 *out);
	const __u64 *gprs; /* borrowed; may be NULL */
	uint32_t n_gprs;
};

static inline int unwind_mem_gpr(const struct unwind_mem *mem, uint32_t n, __u64 *out)
{
	if (n >= mem->n_gprs)
		return 1;
	*out = mem->gprs[n];
	return 0;
}

#define UNWIND_MEM                  const struct unwind_mem *
#define UNWIND_READ(mem, addr, out) ((mem)->read((mem), (addr), (out)))
#define UNWIND_GPR(mem, n, out)     unwind_mem_gpr((mem), (n), (out))

/*
 * A copy of a stretch of stack, as a raw sample holds it.  It should begin 128 bytes below sp:
 * in the last instructions of a function, and in the red zone, saved registers lie there.
 */
struct unwind_copy {
	struct unwind_mem mem; /* hand &copy.mem to unwind_step() */
	const uint8_t *data;   /* borrowed */
	size_t size_bytes;
	uint64_t base; /* address of data[0] */
};

/* Fills *copy to read from data.  gprs may be NULL.  Borrows both. */
void unwind_copy_init(struct unwind_copy *copy, const void *data, size_t size_bytes, uint64_t base,
		      const __u64 *gprs, uint32_t n_gprs);
#endif

/* The text for a reason, never NULL: "complete", "stack not readable". */
const char *unwind_why_text(enum unwind_why why);

/* True when the stack is complete at its outer end. */
static inline bool unwind_why_is_complete(enum unwind_why why)
{
	return why == UNWIND_COMPLETE || why == UNWIND_ZERO_PC;
}
#endif

#ifndef UNWIND_READ2
#define UNWIND_READ2(mem, addr, o, p) (UNWIND_READ(mem, addr, o) || UNWIND_READ(mem, (addr) + 8, p))
#endif

/* Starts a walk at the registers of an interrupted thread.  lr is 0 on x86_64. */
static __always_inline void unwind_regs_leaf(struct unwind_regs *r, __u64 pc, __u64 sp, __u64 fp,
					     __u64 lr)
{
	r->pc = pc;
	r->sp = sp;
	r->fp = fp;
	r->lr = lr;
	r->bx = 0;
	r->sig_sp = 0;
	r->flags = UNWIND_F_LEAF;
	r->pad = 0;
}

/*
 * The address whose rule applies.  A call may be the last instruction of a function, so a return
 * address is looked up one byte earlier; an interrupted pc is not.
 */
static __always_inline __u64 unwind_lookup_pc(const struct unwind_regs *r)
{
	return r->flags & UNWIND_F_CALLER ? r->pc - 1 : r->pc;
}

/*
 * False when pc is the address of the next instruction: the leaf, interrupted code, and the code
 * that returns from a signal, which has no caller.  Names and lines of a return address are those
 * of pc - 1.
 */
static __always_inline int unwind_pc_is_return(const struct unwind_regs *r,
					       const struct unwind_rule *rule)
{
	return (r->flags & UNWIND_F_CALLER) && rule->cfa != UNWIND_CFA_SIGNAL;
}

static __always_inline __u32 unwind_fp_how(const struct unwind_rule *rule)
{
	return rule->fp_ra & UNWIND_FP_MASK;
}

static __always_inline __u32 unwind_ra_how(const struct unwind_rule *rule)
{
	return rule->fp_ra >> UNWIND_RA_SHIFT;
}

/* Where the kernel's signal frame at sp keeps DWARF register n (x86: 16 is the pc). */
static __always_inline __u64 unwind_sigframe_slot(enum unwind_arch arch, __u64 sp, __u32 n)
{
	if (arch == UNWIND_AARCH64)
		return sp + 312 + 8 * (__u64)n; /* siginfo 128, ucontext 176, fault address 8 */
	/* ucontext head 40; r8-r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	if (n >= 16)
		return sp + 40 + 8 * 16;
	return sp + 40 + 8 * (__u64)(n >= 8 ? n - 8 : (0xfa89becdU >> (4 * n)) & 15);
}

/* A general register of this frame; 0 when it is known. */
static __always_inline int unwind_gpr(enum unwind_arch arch, __u32 n, const struct unwind_regs *r,
				      UNWIND_MEM mem, __u64 *out)
{
	if (r->flags & UNWIND_F_SIGFRAME)
		return UNWIND_READ(mem, unwind_sigframe_slot(arch, r->sig_sp, n), out);
	if (r->flags & UNWIND_F_LEAF)
		return UNWIND_GPR(mem, n, out);
	if (arch != UNWIND_X86_64 || n != UNWIND_X86_BX || !(r->flags & UNWIND_F_BX))
		return 1;
	*out = r->bx;
	return 0;
}

/* Checks a return address and cuts a signature from it. */
static __always_inline enum unwind_why unwind_check_pc(enum unwind_arch arch, __u64 *pc)
{
	if (arch == UNWIND_AARCH64)
		*pc &= (1ULL << UNWIND_ARM_PC_BITS) - 1;
	if (!*pc)
		return UNWIND_ZERO_PC;
	if (*pc < UNWIND_PC_MIN)
		return UNWIND_BAD_PC;
	if (arch == UNWIND_X86_64 && *pc >> UNWIND_X86_PC_BITS)
		return UNWIND_BAD_PC;
	return UNWIND_OK;
}

/* Leaves a signal frame: the interrupted code's registers, and its pc is no return address. */
static __always_inline enum unwind_why unwind_step_signal(enum unwind_arch arch,
							  struct unwind_regs *r, UNWIND_MEM mem)
{
	int arm = arch == UNWIND_AARCH64;
	__u64 pc = 0, sp = 0, fp = 0, lr = 0, frame = r->sp;

	if (UNWIND_READ(mem, unwind_sigframe_slot(arch, frame, unwind_pc_regno(arch)), &pc) ||
	    UNWIND_READ(mem, unwind_sigframe_slot(arch, frame, unwind_sp_regno(arch)), &sp) ||
	    UNWIND_READ(mem, unwind_sigframe_slot(arch, frame, unwind_fp_regno(arch)), &fp))
		return UNWIND_READ_FAULT;
	if (arm && UNWIND_READ(mem, unwind_sigframe_slot(arch, frame, UNWIND_ARM_LR), &lr))
		return UNWIND_READ_FAULT;
	if (unwind_check_pc(arch, &pc))
		return UNWIND_BAD_PC; /* 0 too: a call through a null pointer, not the end */
	r->pc = pc;
	r->sp = sp;
	r->fp = fp;
	r->lr = lr;
	r->sig_sp = frame;
	r->flags = UNWIND_F_SIGFRAME;
	return UNWIND_OK;
}

/*
 * No table covers the pc.  Some C libraries return from signals through code without a table, so
 * look at the code itself: "load the number of rt_sigreturn; system call".
 */
static __always_inline enum unwind_why unwind_step_uncovered(enum unwind_arch arch,
							     struct unwind_regs *r, UNWIND_MEM mem)
{
	__u64 code = 0, code1 = 0;

	if (UNWIND_READ(mem, r->pc, &code))
		return UNWIND_NO_CFI;
	if (arch == UNWIND_AARCH64) {
		if (code == 0xd4000001d2801168ULL) /* mov x8, #139; svc #0 */
			return unwind_step_signal(arch, r, mem);
		return UNWIND_NO_CFI;
	}
	if (code != 0x0f0000000fc0c748ULL) /* mov $15, %rax; the first byte of syscall */
		return UNWIND_NO_CFI;
	if (UNWIND_READ(mem, r->pc + 1, &code1) || code1 >> 56 != 0x05)
		return UNWIND_NO_CFI;
	return unwind_step_signal(arch, r, mem);
}

/* The CFA of this frame by one of the rules that have one. */
static __always_inline enum unwind_why unwind_find_cfa(enum unwind_arch arch,
						       const struct unwind_rule *rule,
						       const struct unwind_regs *r, UNWIND_MEM mem,
						       __u64 *cfa)
{
	__s64 off = rule->cfa_off;
	__u32 how = rule->cfa;
	__u64 base = r->sp;

	if (how == UNWIND_CFA_FP || how == UNWIND_CFA_DEREF_FP) {
		if (r->flags & UNWIND_F_FP_LOST)
			return UNWIND_FP_UNKNOWN;
		base = r->fp;
	}
	if (how == UNWIND_CFA_SP || how == UNWIND_CFA_FP) {
		*cfa = base + off;
	} else if (how == UNWIND_CFA_PLT) {
		*cfa = base + 8 + ((__s64)(r->pc & 15) >= off ? 8 : 0);
	} else if (how == UNWIND_CFA_DEREF_SP || how == UNWIND_CFA_DEREF_FP) {
		if (UNWIND_READ(mem, base + (off >> 8), cfa))
			return UNWIND_READ_FAULT;
		*cfa += 8 * (__s64)(__s8)off;
	} else if (how & UNWIND_CFA_REG) {
		if (unwind_gpr(arch, how & (UNWIND_CFA_REG - 1), r, mem, cfa))
			return UNWIND_REG_UNKNOWN;
		*cfa += off;
	} else {
		return UNWIND_UNSUPPORTED;
	}
	return UNWIND_OK;
}

/* The return address.  *in_reg: it was in a register, not on the stack. */
static __always_inline enum unwind_why unwind_find_ra(enum unwind_arch arch,
						      const struct unwind_rule *rule,
						      const struct unwind_regs *r, UNWIND_MEM mem,
						      __u64 cfa, __u64 *ra, int *in_reg)
{
	__u32 how = unwind_ra_how(rule);
	__u64 at = cfa - 8;

	*in_reg = 0;
	if (arch == UNWIND_AARCH64) {
		if (how == UNWIND_RA_DEFAULT) {
			if (!(r->flags & (UNWIND_F_LEAF | UNWIND_F_SIGFRAME)))
				return UNWIND_REG_UNKNOWN;
			*in_reg = 1;
			*ra = r->lr;
			return UNWIND_OK;
		}
		at = cfa + 8 * ((__s64)rule->fp_words + (__s64)how - UNWIND_RA_SAME_WORD);
	} else if (how != UNWIND_RA_DEFAULT) {
		*in_reg = 1;
		return unwind_gpr(arch, how - 1, r, mem, ra) ? UNWIND_REG_UNKNOWN : UNWIND_OK;
	}
	return UNWIND_READ(mem, at, ra) ? UNWIND_READ_FAULT : UNWIND_OK;
}

/* The caller's frame pointer; returns the new UNWIND_F_FP_LOST bit.  A walk goes on with a lost fp. */
static __always_inline __u32 unwind_find_fp(const struct unwind_rule *rule,
					    const struct unwind_regs *r, UNWIND_MEM mem, __u64 cfa,
					    __u64 *fp)
{
	__u32 how = unwind_fp_how(rule), lost = r->flags & UNWIND_F_FP_LOST;
	__u64 base = cfa;

	*fp = r->fp;
	if (how == UNWIND_FP_SAME)
		return lost;
	if (how == UNWIND_FP_FP) {
		if (lost)
			return lost;
		base = r->fp;
	} else if (how == UNWIND_FP_SP) {
		base = r->sp;
	} else if (how != UNWIND_FP_CFA) {
		return UNWIND_F_FP_LOST;
	}
	if (UNWIND_READ(mem, base + 8 * (__s64)rule->fp_words, fp))
		return UNWIND_F_FP_LOST;
	return 0;
}

/* The caller's rbx; returns the new UNWIND_F_BX bit. */
static __always_inline __u32 unwind_find_bx(const struct unwind_rule *rule,
					    const struct unwind_regs *r, UNWIND_MEM mem, __u64 cfa,
					    __u64 *bx)
{
	__u32 how = rule->bx;

	if (how == UNWIND_BX_UNKNOWN)
		return 0;
	if (how == UNWIND_BX_SAME)
		return unwind_gpr(UNWIND_X86_64, UNWIND_X86_BX, r, mem, bx) ? 0 : UNWIND_F_BX;
	return UNWIND_READ(mem, cfa - 8 * (__u64)how, bx) ? 0 : UNWIND_F_BX;
}

/*
 * The result of a walk that found a caller of this pc and fp.  Where a stack begins both are 0; a 0
 * with a frame pointer is no beginning, but a word that was mistaken for a return address.
 */
static __always_inline enum unwind_why unwind_check_caller(enum unwind_arch arch, __u64 *pc,
							   __u64 fp, __u32 fp_lost)
{
	enum unwind_why why = unwind_check_pc(arch, pc);

	return why == UNWIND_ZERO_PC && fp && !fp_lost ? UNWIND_BAD_PC : why;
}

/* True when fp and return address are neighbours on the stack and one read fetches both. */
static __always_inline int unwind_is_pair(enum unwind_arch arch, const struct unwind_rule *rule)
{
	if (unwind_fp_how(rule) != UNWIND_FP_CFA)
		return 0;
	if (arch == UNWIND_AARCH64)
		return unwind_ra_how(rule) == UNWIND_RA_SAME_WORD + 1;
	return unwind_ra_how(rule) == UNWIND_RA_DEFAULT && rule->fp_words == -2;
}

/*
 * Applies rule to *r.  UNWIND_OK: *r is the caller's frame.  Anything else: *r is untouched and
 * the walk ends here, or goes on by unwind_step_fp() when the reason is UNWIND_NO_CFI.
 */
static __always_inline enum unwind_why unwind_step(enum unwind_arch arch,
						   const struct unwind_rule *rule,
						   struct unwind_regs *r, UNWIND_MEM mem)
{
	__u64 cfa = 0, ra = 0, fp = 0, bx = 0;
	enum unwind_why why;
	int in_reg = 0;
	__u32 keep;

	if (rule->cfa == UNWIND_CFA_RA_UNDEF)
		return UNWIND_COMPLETE;
	if (rule->cfa == UNWIND_CFA_SIGNAL)
		return unwind_step_signal(arch, r, mem);
	if (rule->cfa == UNWIND_CFA_END)
		return unwind_step_uncovered(arch, r, mem);

	why = unwind_find_cfa(arch, rule, r, mem, &cfa);
	if (why)
		return why;
	if (unwind_is_pair(arch, rule)) {
		if (UNWIND_READ2(mem, cfa + 8 * (__s64)rule->fp_words, &fp, &ra))
			return UNWIND_READ_FAULT;
		keep = 0;
	} else {
		why = unwind_find_ra(arch, rule, r, mem, cfa, &ra, &in_reg);
		if (why)
			return why;
		keep = unwind_find_fp(rule, r, mem, cfa, &fp);
	}
	/* Only a leaf that has its return address in a register may have an empty frame. */
	if (!(r->flags & (UNWIND_F_LEAF | UNWIND_F_SIGFRAME)))
		in_reg = 0;
	if (cfa < r->sp || (cfa == r->sp && !in_reg))
		return UNWIND_SP_NOT_UP;
	why = unwind_check_caller(arch, &ra, fp, keep);
	if (why)
		return why;
	if (arch == UNWIND_X86_64)
		keep |= unwind_find_bx(rule, r, mem, cfa, &bx);
	r->pc = ra;
	r->sp = cfa;
	r->fp = fp;
	r->bx = bx;
	r->lr = 0;
	r->sig_sp = 0;
	r->flags = UNWIND_F_CALLER | keep;
	return UNWIND_OK;
}

/* How far up the stack a frame pointer may point to be believed. */
#define UNWIND_FP_REACH_BYTES (1ULL << 20)

/*
 * The guess for code without tables: fp points at {caller's fp, return address}.  The caller
 * checks that the new pc is in executable memory before it believes the frame.  Same contract as
 * unwind_step().
 */
static __always_inline enum unwind_why unwind_step_fp(enum unwind_arch arch, struct unwind_regs *r,
						      UNWIND_MEM mem)
{
	__u64 fp = 0, ra = 0;
	enum unwind_why why;

	if (r->flags & UNWIND_F_FP_LOST)
		return UNWIND_FP_UNKNOWN;
	if (r->fp & 7 || r->fp < r->sp || r->fp - r->sp >= UNWIND_FP_REACH_BYTES)
		return UNWIND_NOT_A_FRAME;
	if (r->fp + 16 < r->fp)
		return UNWIND_SP_NOT_UP;
	if (UNWIND_READ2(mem, r->fp, &fp, &ra))
		return UNWIND_READ_FAULT;
	why = unwind_check_caller(arch, &ra, fp, 0);
	if (why)
		return why;
	r->pc = ra;
	r->sp = r->fp + 16;
	r->fp = fp;
	r->lr = 0;
	r->sig_sp = 0;
	r->flags = UNWIND_F_CALLER;
	return UNWIND_OK;
}

#endif
