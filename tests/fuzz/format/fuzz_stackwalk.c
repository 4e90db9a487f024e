/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_stackwalk - any stack, over any code
 *
 * Input: a byte of choices, the most frames, five 8-byte registers, eight rules, 16 bytes that choose
 * what lies at an address, then the copy of the stack.  It looks for memory errors and broken
 * promises: at least one frame and no more than were asked for, the leaf first, nothing written
 * behind them, and a reason that fits.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/unwind/table/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum {
	N_RULES = 8,
	N_KINDS = 16,
	HEAD_BYTES = 2 + 5 * 8 + N_RULES * 8 + N_KINDS,
	MAX_FRAMES = 256
};
enum kind { NOTHING, JIT_CODE, PENDING, RULE, N_KIND };

#define UNTOUCHED 0xa5a5a5a5a5a5a5a5ULL

struct code {
	struct unwind_rule rules[N_RULES];
	const uint8_t *kinds; /* borrowed */
};

static void look_up(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	const struct code *c = ctx;
	enum kind kind = c->kinds[pc / 16 % N_KINDS] % N_KIND;

	out->executable = kind != NOTHING;
	out->lacks = kind == PENDING ? UNWIND_NO_TABLE : UNWIND_OK;
	if (kind == RULE)
		out->rule = &c->rules[pc % N_RULES];
}

static void check(const uint64_t *frames, size_t n, size_t most, uint64_t pc,
		  const struct stack_result *info)
{
	if (n < 1 || n > most || frames[0] != pc || frames[n] != UNTOUCHED)
		abort();
	if (info->how <= STACK_RESULT_NONE || info->how >= STACK_RESULT_HOWS ||
	    info->why == UNWIND_OK || info->why >= UNWIND_WHY_COUNT)
		abort();
	if ((info->why == UNWIND_MAX_FRAMES) != (info->flags == STACK_RESULT_CUT) ||
	    (info->why == UNWIND_MAX_FRAMES && n != most))
		abort();
	/* A walk that found a caller has the rule; one that found none has the reason, but where the leaf is the end. */
	if ((n > 1 && info->how == STACK_RESULT_PC) ||
	    (n == 1 && info->how != STACK_RESULT_PC && info->why != UNWIND_COMPLETE &&
	     info->why != UNWIND_MAX_FRAMES))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint64_t frames[MAX_FRAMES + 1];
	struct walk_stack walk = { .lookup = look_up };
	struct unwind_regs regs;
	struct unwind_copy copy;
	struct stack_result info;
	struct code code;
	__u64 r[5];
	size_t n;

	if (size_bytes < HEAD_BYTES)
		return 0;
	memset(frames, 0xa5, sizeof(frames));
	walk.arch = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	walk.ctx = &code;
	walk.frame_max = data[1] + 1u;
	for (int i = 0; i < 5; i++)
		r[i] = le64_load(data + 2 + 8 * i);
	memcpy(code.rules, data + 42, sizeof(code.rules));
	code.kinds = data + 42 + sizeof(code.rules);
	unwind_copy_init(&copy, data + HEAD_BYTES, size_bytes - HEAD_BYTES, r[4],
			 data[0] & 2 ? r : NULL, 5);
	unwind_regs_leaf(&regs, r[0], r[1], r[2], r[3]);
	n = walk_stack_run(&walk, &regs, &copy.mem, frames, &info);
	check(frames, n, walk.frame_max, r[0], &info);
	return 0;
}
