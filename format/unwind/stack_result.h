/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_result - how the user part of a sample's stack was found, and why it ends
 *
 * Four bytes in PERF_SAMPLE_RAW of the sampling event (FORMAT.md 4.5).  Other readers do not look
 * there for a clock or cycles event; a capture without them has no information about its stacks.
 */
#ifndef EBPREC_FORMAT_UNWIND_STACK_RESULT_H
#define EBPREC_FORMAT_UNWIND_STACK_RESULT_H

#define STACK_RESULT_BYTES 4 /* with the u32 size in front of it: 8, as records are aligned */

enum stack_result_how {
	STACK_RESULT_NONE = 0,  /* no user part: a kernel thread or the idle task */
	STACK_RESULT_PC = 1,    /* the interrupted pc alone */
	STACK_RESULT_CFI = 2,   /* by unwind tables */
	STACK_RESULT_FP = 3,    /* by frame pointers */
	STACK_RESULT_MIXED = 4, /* by both */
	STACK_RESULT_HOWS,
};

enum stack_result_flags {
	STACK_RESULT_CUT = 1,     /* deeper than the recorder went */
	STACK_RESULT_COPY = 2,    /* walked by user space in a copy of the stack */
	STACK_RESULT_COMPAT = 4,  /* a 32-bit program: not walked */
	STACK_RESULT_RUNTIME = 8, /* it has frames of an interpreted program */
	/* Four bits: why frames of one are missing, enum runtime_why; 0: none is. */
	STACK_RESULT_RUNTIME_SHIFT = 4,
	STACK_RESULT_RUNTIME_MASK = 15,
};

enum runtime_why {
	RUNTIME_COMPLETE,
	RUNTIME_NO_THREAD,  /* no state of this thread was found */
	RUNTIME_UNREADABLE, /* memory that is not there */
	RUNTIME_UNKNOWN,    /* an object is not what it has to be */
	RUNTIME_TOO_DEEP,   /* more frames than there is room for */
	RUNTIME_NO_MATCH,   /* other entries of the interpreter's loop than native frames of it */
	RUNTIME_NOT_WALKED, /* the interpreter of the process was not known yet */
	RUNTIME_NOT_UNDERSTOOD, /* of another version, or its structs are not those of its version */
	RUNTIME_SEVERAL,   /* more than one interpreter of the process has frames of this thread */
	RUNTIME_NO_NUMBER, /* its code is more than one process, or all together, get numbers for */
	RUNTIME_ON_HEAP,   /* the outer frames of a virtual thread were not on a stack */
	RUNTIME_COMPILED, /* the native stack breaks off before the loop: its code may be compiled */
	RUNTIME_WHYS,
};

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

struct stack_result {
	uint8_t how;    /* enum stack_result_how */
	uint8_t why;    /* enum unwind_why: UNWIND_COMPLETE, UNWIND_ZERO_PC, or what is missing */
	uint16_t flags; /* enum stack_result_flags */
};

static inline void stack_result_encode(const struct stack_result *s,
				       uint8_t out[STACK_RESULT_BYTES])
{
	out[0] = s->how;
	out[1] = s->why;
	le16_store(out + 2, s->flags);
}

/* False when the bytes are not there or of a later version. */
static inline bool stack_result_decode(const uint8_t *raw, size_t size_bytes,
				       struct stack_result *out)
{
	if (size_bytes < STACK_RESULT_BYTES || raw[0] >= STACK_RESULT_HOWS)
		return false;
	*out = (struct stack_result){ .how = raw[0], .why = raw[1], .flags = le16_load(raw + 2) };
	return true;
}

#endif

#endif
