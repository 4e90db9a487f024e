/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * eh_frame - from the bytes of an .eh_frame section to unwind rules by address
 *
 * .eh_frame holds CIEs (common to many functions) and FDEs (one range of code each, with a small
 * program that gives the rules at every instruction).  eh_frame_rows() runs all these programs once
 * and hands out rows: from this address on, this rule (format/unwind/unwind.h).  eh_frame_open()
 * reads the section for a caller that needs the ranges, or the rows of some.
 *
 * Rows come in strictly ascending order of address, and a row differs from the one before.  Where
 * no FDE covers an address there is a row with UNWIND_CFA_END; a hole of at most 15 bytes between
 * two functions is padding, and keeps the row before it.  FDEs of code that the linker dropped
 * (address 0) are skipped.  When FDEs overlap, the one that starts later wins.
 *
 * Tracked are the CFA, the frame pointer, the stack pointer, the return address and, when asked
 * for, rbx; for x86_64 and aarch64.  A CFA or return address that struct unwind_rule cannot encode
 * becomes UNWIND_CFA_UNSUP; a frame pointer that it cannot encode becomes UNWIND_FP_LOST. Both are
 * counted.
 *
 * The bytes may come from anyone.  Broken contents of one CIE or FDE turn the range they cover
 * into UNWIND_CFA_UNSUP, and are counted; only a broken length or a limit fails the section.  Time
 * is O(n log n) in the size of the section.  Memory is at most eight times the size of the section,
 * while FDEs are sorted, and 32 MB, and is freed on return, or by eh_frame_close().
 *
 * Reference: the Linux Standard Base, "Exception Frames", and DWARF 5 section 6.4.
 */
#ifndef EBPREC_FORMAT_UNWIND_EH_FRAME_H
#define EBPREC_FORMAT_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/unwind/cfi.h"
#include "format/base/err.h"
#include "format/unwind/unwind.h"

enum {
	EH_FRAME_MAX_BYTES = 128 << 20, /* of section; larger ones fail with -EOVERFLOW */
	EH_FRAME_MAX_ROWS = 16 << 20,   /* handed out; more fail with -EOVERFLOW */
	EH_FRAME_MAX_CIES = 1 << 17,    /* more fail with -EOVERFLOW */
	EH_FRAME_MAX_PADDING_BYTES = 15,
};

struct eh_frame_section {
	const uint8_t *data; /* borrowed */
	size_t size_bytes;
	uint64_t vaddr; /* of data[0], as linked */
	enum unwind_arch arch;
	/* The size is only an upper bound: a zero length ends the section. */
	bool ends_at_zero;
	/* x86_64: each rule has the location of rbx; see enum unwind_bx. */
	bool track_bx;
};

struct eh_frame_stats {
	uint32_t cies, fdes;
	uint32_t fdes_dropped;                /* address 0 or empty */
	uint32_t fdes_broken;                 /* no range could be read; nothing covers it */
	uint32_t raw_rows;                    /* places where a tracked rule was written */
	uint32_t rows;                        /* handed out */
	uint32_t unsup_rows[CFI_UNSUP_COUNT]; /* by enum cfi_unsup */
	uint32_t fp_lost_rows; /* frame pointer by a rule we do not know; undefined not counted */
};

/* Takes one row.  *rule is borrowed for the call.  Non-zero ends eh_frame_rows() with that value. */
typedef int (*eh_frame_row_fn)(void *ctx, uint64_t pc, const struct unwind_rule *rule);

/*
 * Hands all rows of the section to fn.  *stats (NULL is fine) is filled on success.
 * -EBADMSG broken framing, -ENODATA cut, -EOVERFLOW a limit above, -ENOMEM, or what fn returned.
 */
int eh_frame_rows(const struct eh_frame_section *section, eh_frame_row_fn fn, void *ctx,
		  struct eh_frame_stats *stats, struct parse_err *err);

struct eh_frame; /* opaque: the CIEs and FDEs of a section */

/* The section's bytes are borrowed until eh_frame_close().  Errors as of eh_frame_rows(). */
int eh_frame_open(const struct eh_frame_section *section, struct eh_frame **out,
		  struct parse_err *err);

/* .eh_frame_hdr, whose table has the addresses of all FDEs, in order: what C++ finds them by. */
struct eh_frame_hdr {
	const uint8_t *data; /* borrowed */
	size_t size_bytes;
	uint64_t vaddr; /* of data[0], as linked */
};

/*
 * As eh_frame_open(), but an FDE is read when it is looked up, and there are no eh_frame_ranges().  Both sections are
 * borrowed.  -ENODATA, -ENOTSUP, -EBADMSG: there is no table that ascends, or it is of another
 * section; -EOVERFLOW, -ENOMEM.
 */
int eh_frame_open_by_hdr(const struct eh_frame_section *section, const struct eh_frame_hdr *hdr,
			 struct eh_frame **out);
void eh_frame_close(struct eh_frame *f); /* NULL is fine */
enum unwind_arch eh_frame_arch(const struct eh_frame *f);

/*
 * The code that the FDE at an address covers, up to where the next FDE begins.  false: none covers it, or it is broken.
 */
bool eh_frame_find(struct eh_frame *f, uint64_t pc, uint64_t *start, uint32_t *size_bytes);

/* Takes the code that one FDE covers.  Non-zero ends eh_frame_ranges() with that value. */
typedef int (*eh_frame_range_fn)(void *ctx, uint64_t pc, uint32_t size_bytes);

/*
 * Hands the code of each FDE to fn, by ascending address; they may overlap.  A compiler writes one FDE for each
 * function, and one more for a part that it put elsewhere (.cold).
 */
int eh_frame_ranges(const struct eh_frame *f, eh_frame_range_fn fn, void *ctx);

/*
 * Hands fn the rows of the FDEs that begin at one of the addresses, which ascend.  UNWIND_CFA_END stands behind each
 * that no other follows.  Errors as of eh_frame_rows().
 */
int eh_frame_rows_at(struct eh_frame *f, const uint64_t *starts, size_t count, eh_frame_row_fn fn,
		     void *ctx);

/*
 * Finds .eh_frame through the contents of .eh_frame_hdr at address hdr_vaddr, for files without
 * section headers.  -EBADMSG, -ENODATA, -ENOTSUP (another version or encoding).
 */
int eh_frame_hdr_find(const uint8_t *hdr, size_t size_bytes, uint64_t hdr_vaddr,
		      uint64_t *eh_frame_vaddr);

#endif
