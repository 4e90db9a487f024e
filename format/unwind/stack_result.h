/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stackinfo - how the user part of a sample's stack was found, and why it ends where it ends
 *
 * Four bytes in PERF_SAMPLE_RAW of the sampling event (FORMAT.md 4.5).  Other readers do not look
 * there for a clock or cycles event; a capture without them says nothing about its stacks.
 */
#ifndef EBPREC_FORMAT_UNWIND_STACK_RESULT_H
#define EBPREC_FORMAT_UNWIND_STACK_RESULT_H

#define STACKINFO_BYTES 4 /* with the u32 size in front of it: 8, as records are aligned */

enum stackinfo_how {
	STACKINFO_NONE = 0,  /* no user part: a kernel thread or the idle task */
	STACKINFO_PC = 1,    /* the interrupted pc alone */
	STACKINFO_CFI = 2,   /* by unwind tables */
	STACKINFO_FP = 3,    /* by frame pointers */
	STACKINFO_MIXED = 4, /* by both */
	STACKINFO_HOWS,
};

enum stackinfo_flags {
	STACKINFO_CUT = 1,    /* deeper than the recorder went */
	STACKINFO_COPY = 2,   /* walked by user space in a copy of the stack */
	STACKINFO_COMPAT = 4, /* a 32-bit program: not walked */
};

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

struct stackinfo {
	uint8_t how;    /* enum stackinfo_how */
	uint8_t why;    /* enum unwind_why: UNWIND_COMPLETE, UNWIND_ZERO_PC, or what is missing */
	uint16_t flags; /* enum stackinfo_flags */
};

static inline void stackinfo_encode(const struct stackinfo *s, uint8_t out[STACKINFO_BYTES])
{
	out[0] = s->how;
	out[1] = s->why;
	le16_store(out + 2, s->flags);
}

/* False when the bytes are not there or from the future. */
static inline bool stackinfo_decode(const uint8_t *raw, size_t size_bytes, struct stackinfo *out)
{
	if (size_bytes < STACKINFO_BYTES || raw[0] >= STACKINFO_HOWS)
		return false;
	*out = (struct stackinfo){ .how = raw[0], .why = raw[1], .flags = le16_load(raw + 2) };
	return true;
}

#endif

#endif
