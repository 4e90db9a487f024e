/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_unwind - any rules over any stack
 *
 * Input: a byte of choices, five 8-byte registers, eight rules, then the stack.  The rule of a pc
 * is chosen by its low bits, so a stack can lead through all of them.  It looks for memory errors
 * and broken promises: registers stay as they were when a step fails, and the stack pointer rises
 * but for signal frames and leaves.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { N_RULES = 8, MAX_FRAMES = 256, HEAD_BYTES = 1 + 5 * 8 + N_RULES * 8 };

static void check_step(const struct unwind_regs *before, const struct unwind_regs *after,
		       enum unwind_why why)
{
	const uint32_t first = UNWIND_F_LEAF | UNWIND_F_SIGFRAME;

	if ((unsigned int)why >= UNWIND_WHY_COUNT || !unwind_why_text(why))
		abort();
	if (why && memcmp(before, after, sizeof(*after)) != 0)
		abort();
	if (why || after->flags & UNWIND_F_SIGFRAME)
		return;
	if (after->sp < before->sp || (after->sp == before->sp && !(before->flags & first)))
		abort();
	if (after->pc < UNWIND_PC_MIN || !(after->flags & UNWIND_F_CALLER))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct unwind_rule rules[N_RULES], *rule;
	struct unwind_regs r, before;
	struct unwind_copy copy;
	enum unwind_arch arch;
	enum unwind_why why;
	__u64 regs[5];
	int i;

	if (size_bytes < HEAD_BYTES)
		return 0;
	arch = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	for (i = 0; i < 5; i++)
		regs[i] = le64_load(data + 1 + 8 * i);
	memcpy(rules, data + 41, sizeof(rules));
	unwind_copy_init(&copy, data + HEAD_BYTES, size_bytes - HEAD_BYTES, regs[4],
			 data[0] & 2 ? regs : NULL, 5);
	unwind_regs_leaf(&r, regs[0], regs[1], regs[2], regs[3]);
	for (i = 0; i < MAX_FRAMES; i++) {
		rule = &rules[unwind_lookup_pc(&r) % N_RULES];
		before = r;
		why = unwind_step(arch, rule, &r, &copy.mem);
		check_step(&before, &r, why);
		if (why && data[0] & 4) {
			why = unwind_step_fp(arch, &r, &copy.mem);
			check_step(&before, &r, why);
		}
		if (why)
			break;
	}
	return 0;
}
