/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_perfring - any bytes as the ring of perf events with copies of stacks
 *
 * The first 4 bytes are where reading begins and how far the kernel got; the rest is the ring, cut
 * to a power of two.  Records are read as the recorder reads them: reassembled, as a sample
 * with registers, and the stack walked by frame pointers (everything is code, nothing has a table).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/perf/perfregs.h"
#include "format/unwind/table/walk.h"
#include "record/events/perf_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static volatile uint64_t sink;

static void look_up(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	(void)ctx;
	out->executable = pc != 0;
}

static void take(const uint8_t *record, size_t size_bytes)
{
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP,
		.sample_regs_user = PERFREGS_X86_MASK,
	};
	struct walk_stack walk = { .arch = UNWIND_X86_64, .lookup = look_up, .frame_max = 16 };
	__u64 gprs[PERFREGS_MAX] = { 0 };
	struct perf_sample s;
	struct unwind_copy copy;
	struct unwind_regs regs;
	struct stack_result info;
	uint64_t frames[16] = { 0 };

	if (perfrec_sample(record, size_bytes, &attr, &s, NULL) ||
	    !perfregs_load(UNWIND_X86_64, &s, attr.sample_regs_user, gprs))
		return;
	unwind_copy_init(&copy, s.user_stack, s.user_stack_bytes, gprs[UNWIND_X86_SP], gprs,
			 UNWIND_X86_RA + 1);
	unwind_regs_leaf(&regs, gprs[UNWIND_X86_RA], gprs[UNWIND_X86_SP], gprs[UNWIND_X86_FP], 0);
	sink += frames[walk_stack_run(&walk, &regs, &copy.mem, frames, &info) - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	uint64_t at = cursor_u16(&c), head = at + cursor_u16(&c);
	size_t ring_bytes = 64;
	struct perf_ring_record r;
	uint8_t *ring, *record;

	if (!cursor_ok(&c) || cursor_left(&c) < ring_bytes)
		return 0;
	while (ring_bytes * 2 <= cursor_left(&c))
		ring_bytes *= 2;
	ring = malloc(ring_bytes); /* of its exact size */
	if (!ring)
		return 0;
	memcpy(ring, data + c.off_bytes, ring_bytes);
	while (perf_ring_next(ring, ring_bytes, at, head, &r) > 0) {
		if (r.first_bytes + r.rest_bytes != r.header.size || r.header.size > head - at)
			abort();
		record = malloc(r.header.size);
		if (!record)
			break;
		memcpy(record, r.first, r.first_bytes);
		memcpy(record + r.first_bytes, r.rest, r.rest_bytes);
		take(record, r.header.size);
		free(record);
		at += r.header.size;
	}
	free(ring);
	return 0;
}
