/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cfi - runs the call frame instructions of one function
 *
 * A function's unwind information is a program: "advance 4 bytes; the CFA is now rsp + 16; rbp is
 * saved at CFA - 16".  These functions run such a program row by row and turn the state of a row
 * into a struct unwind_rule.  It knows nothing of sections and files: format/unwind/eh_frame.h
 * finds the programs and calls it.
 *
 * All state lives in structs the caller embeds; nothing is allocated.  Each call does work in
 * proportion to the bytes it consumes.
 */
#ifndef EBPREC_FORMAT_UNWIND_CFI_H
#define EBPREC_FORMAT_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/cursor.h"
#include "format/unwind/unwind.h"

enum { CFI_MAX_REMEMBER = 32 }; /* nested DW_CFA_remember_state; deeper is broken */

/* Where a register of the caller is. */
enum cfi_how {
	CFI_DEFAULT = 0, /* no rule was given: the ABI decides */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT_CFA,     /* in memory at CFA + off */
	CFI_IS_CFA,     /* is CFA + off */
	CFI_IN_REG,     /* in register off */
	CFI_AT_FP,      /* in memory at fp + off */
	CFI_AT_SP,      /* in memory at sp + off */
	CFI_OTHER_RULE, /* an expression we do not know */
};

enum cfi_cfa_how {
	CFI_CFA_NONE = 0,
	CFI_CFA_REG,   /* reg + off */
	CFI_CFA_DEREF, /* *(reg + off) + post */
	CFI_CFA_PLT,   /* off is the threshold */
	CFI_CFA_OTHER, /* an expression we do not know */
};

struct cfi_reg {
	int64_t off;
	uint8_t how; /* enum cfi_how */
};

struct cfi_cfa {
	int64_t off, post;
	uint32_t reg;
	uint8_t how; /* enum cfi_cfa_how */
};

/* One row: the state between two advances. */
struct cfi_state {
	struct cfi_cfa cfa;
	struct cfi_reg fp, sp, ra, bx;
};

/* The contents of a CIE, common to all its functions. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial; /* after the CIE's own instructions */
	uint8_t arch;             /* enum unwind_arch */
	uint8_t pointer_encoding; /* DW_EH_PE_..., for DW_CFA_set_loc */
	bool signal_frame;
	bool track_bx;   /* x86_64: put rbx into the rules */
	bool unusual_ra; /* the return address is in another column than the ABI's */
};

/* A program being run. */
struct cfi_run {
	const struct cfi_common *common; /* borrowed */
	struct cursor ins;
	uint64_t ins_vaddr; /* of ins.data[0] */
	uint64_t pc;        /* the row now in state begins here */
	uint64_t next_pc;   /* and ends here, after cfi_run_row() returned 1 */
	struct cfi_state state;
	bool dirty; /* state was written since the row before */
	uint32_t depth;
	struct cfi_state stack[CFI_MAX_REMEMBER]; /* [depth..] is never read */
};

/*
 * Runs the instructions of a CIE and leaves the state in common->initial.  All other fields of
 * *common are set already.  -EBADMSG when the instructions are broken.
 */
int cfi_common_init(struct cfi_common *common, const uint8_t *ins, size_t size_bytes);

/* Starts the program of a function at pc.  Borrows common and ins. */
void cfi_run_init(struct cfi_run *run, const struct cfi_common *common, const uint8_t *ins,
		  size_t size_bytes, uint64_t ins_vaddr, uint64_t pc);

/*
 * Runs to the end of the row that begins at run->pc.  1: the row ends at run->next_pc; copy that
 * to run->pc and call again.  0: the program ended, the row goes on to the end of the function.
 * -EBADMSG: broken, and the state means nothing.
 */
int cfi_run_row(struct cfi_run *run);

/* Why a state cannot be encoded in 8 bytes. */
enum cfi_unsup {
	CFI_SUPPORTED = 0,
	CFI_UNSUP_BROKEN,    /* the CIE or FDE breaks the format */
	CFI_UNSUP_CFA_EXPR,  /* an expression other than the known ones */
	CFI_UNSUP_CFA_RANGE, /* register number or offset too large, or no CFA at all */
	CFI_UNSUP_RA,        /* return address by a rule we do not know */
	CFI_UNSUP_SP,        /* the caller's stack pointer is not the CFA */
	CFI_UNSUP_SIGNAL,    /* a signal frame without the kernel's layout */
	CFI_UNSUP_COUNT,
};

/*
 * The rule for a state; UNWIND_CFA_UNSUP when the return value is not CFI_SUPPORTED.  *fp_dropped:
 * fp became UNWIND_FP_LOST because its rule does not fit into 8 bytes.
 */
enum cfi_unsup cfi_rule(const struct cfi_common *common, const struct cfi_state *state,
			struct unwind_rule *rule, bool *fp_dropped);

/* LEB128 numbers; more than 10 bytes turn the cursor bad. */
uint64_t cfi_uleb(struct cursor *c);
int64_t cfi_sleb(struct cursor *c);

/*
 * Reads a pointer in a DW_EH_PE_ encoding; vaddr is the address of c->data[0].  *raw (NULL is fine)
 * is the value before the base was added.  -ENOTSUP for encodings that code pointers do not have
 * (indirect, data-relative, omitted), -ENODATA when it does not fit.
 */
int cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t vaddr, uint64_t *raw, uint64_t *out);

#endif
