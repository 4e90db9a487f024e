/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_loop.h"

#include <stdlib.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
#include "format/unwind/eh_frame.h"

#define PART_BYTES_MAX (64u << 20)
#define TARGETS_MAX    16384u
#define COLD_JUMPS_MIN 4 /* places of it that are jumped to: chance leads to one */

struct search {
	uint64_t *targets; /* owned, sorted */
	size_t count;
	struct runtime_range function, best;
	size_t best_count;
};

bool elf_loop_place(const struct elf_parts *parts, uint64_t addr, struct elf_runtime *out)
{
	uint64_t off;

	if (!elf_parts_offset(parts, addr, PF_X, &off))
		return false;
	out->code_vaddr = addr;
	out->code_offset = off;
	out->exec_vaddr = UINT64_MAX;
	for (size_t i = 0; i < parts->segment_count; i++) {
		const Elf64_Phdr *s = &parts->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X && s->p_vaddr < out->exec_vaddr)
			out->exec_vaddr = s->p_vaddr;
	}
	return true;
}

bool elf_loop_place_any(const struct elf_parts *parts, struct elf_runtime *out)
{
	for (size_t i = 0; i < parts->segment_count; i++) {
		const Elf64_Phdr *s = &parts->segments[i];

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X))
			continue;
		out->code_vaddr = out->exec_vaddr = s->p_vaddr;
		out->code_offset = s->p_offset;
		return true;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_jump(const uint8_t *code)
{
	return code[0] == 0xe9 || (code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}

static bool is_call(const uint8_t *code)
{
	return code[0] == 0xe8;
}

/*
 * Finds where jumps, or calls, of 32 bits lead from the code, if not into itself.  Instructions are not decoded: what looks like a
 * jump and is none leads anywhere.
 */
static void find_targets(struct search *s, const uint8_t *code, bool (*is_wanted)(const uint8_t *))
{
	for (size_t i = 0; i + 6 <= s->function.size_bytes && s->count < TARGETS_MAX; i++) {
		size_t head = code[i] == 0x0f ? 2 : 1;
		uint64_t to = s->function.start + i + head + 4 +
			      (uint64_t)(int64_t)(int32_t)le32_load(code + i + head);

		if (is_wanted(code + i) && to - s->function.start >= s->function.size_bytes)
			s->targets[s->count++] = to;
	}
	qsort(s->targets, s->count, sizeof(*s->targets), by_number);
}

/* A function's first byte is where calls lead to; a part of another function is jumped into. */
static int see_cold(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	struct search *s = ctx;
	size_t lo = lower_bound(i, 0, s->count, s->targets[i] <= pc), n = 0;

	for (; lo < s->count && s->targets[lo] - pc < size_bytes; lo++)
		n += s->targets[lo] != s->targets[lo - !!lo];
	if (n > s->best_count) {
		s->best_count = n;
		s->best = (struct runtime_range){ pc, size_bytes };
	}
	return 0;
}

static int see_callee(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	struct search *s = ctx;
	size_t at = lower_bound(i, 0, s->count, s->targets[i] < pc);

	if (at < s->count && s->targets[at] == pc && size_bytes > s->best.size_bytes)
		s->best = (struct runtime_range){ pc, size_bytes };
	return 0;
}

static uint8_t *read_part(const struct elf_parts *parts, uint64_t off, uint64_t size_bytes)
{
	uint8_t *bytes = size_bytes <= PART_BYTES_MAX ? malloc(size_bytes + 1) : NULL;

	if (bytes && source_read(parts->file, off, bytes, size_bytes) == size_bytes)
		return bytes;
	free(bytes);
	return NULL;
}

static void search(const struct elf_parts *parts, struct search *s,
		   bool (*is_wanted)(const uint8_t *), eh_frame_range_fn see)
{
	const Elf64_Shdr *frames = elf_parts_section(parts, ".eh_frame");
	uint8_t *code = NULL, *bytes = NULL;
	uint64_t off;

	if (elf_parts_offset(parts, s->function.start, PF_X, &off))
		code = read_part(parts, off, s->function.size_bytes);
	if (frames)
		bytes = read_part(parts, frames->sh_offset, frames->sh_size);
	s->targets = malloc(TARGETS_MAX * sizeof(*s->targets));
	if (code && bytes && s->targets) {
		const struct eh_frame_section section = {
			.data = bytes,
			.size_bytes = frames->sh_size,
			.vaddr = frames->sh_addr,
		};
		struct eh_frame *frame;

		find_targets(s, code, is_wanted);
		if (!eh_frame_open(&section, &frame, NULL)) {
			(void)eh_frame_ranges(frame, see, s);
			eh_frame_close(frame);
		}
	}
	free(code);
	free(bytes);
	free(s->targets);
}

struct runtime_range elf_loop_cold(const struct elf_parts *parts, struct runtime_range function)
{
	struct search s = { .function = function };

	search(parts, &s, is_jump, see_cold);
	return s.best_count >= COLD_JUMPS_MIN ? s.best : (struct runtime_range){ 0 };
}

struct runtime_range elf_loop_callee(const struct elf_parts *parts, struct runtime_range function)
{
	struct search s = { .function = function };

	search(parts, &s, is_call, see_callee);
	return s.best;
}
