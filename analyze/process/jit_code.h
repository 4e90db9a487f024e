/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jit_code - the symbols of JIT compilers that a capture carries, by process
 *
 * The text of a perf-PID.map stays as it is.  A jitdump has the time at which each piece of code
 * was made, and addresses are used again: each piece gets a place of its own, from JIT_CODE_OWN on,
 * a line there as if it stood in a perf-PID.map, and an entry for the model with its time and
 * address.
 */
#ifndef EBPREC_ANALYZE_PROCESS_JIT_CODE_H
#define EBPREC_ANALYZE_PROCESS_JIT_CODE_H

#include "analyze/input/embedded_files.h"
#include "analyze/sym/locate/name_reason.h"

#define JIT_CODE_OWN (1ULL << 63) /* no address of a program is there */

struct jit_code_text {
	uint32_t pid;
	uint64_t time_ns, addr, size_bytes;
	uint64_t place; /* in the text of its process; see above */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct jit_code {
	struct resolver_jit *list; /* one a process, by pid */
	size_t count, capacity;
	struct jit_code_text *code; /* of all processes, as it was written */
	size_t code_count, code_capacity;
};

/* Reads all; what is broken is left out.  -ENOMEM. */
int jit_code_read(const struct embedded *files, struct jit_code *out);
void jit_code_done(struct jit_code *j);

#endif
