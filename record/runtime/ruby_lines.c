/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/ruby_lines.h"

#include "bpf/runtime_maps.h"
#include "format/base/cursor.h"

#define NEAR_INSTRS   54 /* that the first part of the index has, */
#define NEAR_PER_WORD 9  /* with 7 bits each */
#define NEAR_BYTES    48
#define BLOCK_INSTRS  512
#define BLOCK_BYTES \
	80 /* a count (8 bytes), counts of 7 words (9 bits each), and 8 words of 64 bits */
#define BLOCK_COUNTS   8
#define BLOCK_BITS     16
#define COUNT_BITS     9
#define LINE_MAX_VALUE 0x7fffffffu

/* How many lines begin at this instruction or before it. */
static uint32_t rank_of(const uint8_t *index, uint32_t instr)
{
	const uint8_t *block;
	uint32_t bit, word, rank;

	if (instr < NEAR_INSTRS)
		return le64_load(index + instr / NEAR_PER_WORD * 8) >> instr % NEAR_PER_WORD * 7 &
		       0x7f;
	instr -= NEAR_INSTRS;
	block = index + NEAR_BYTES + (size_t)(instr / BLOCK_INSTRS) * BLOCK_BYTES;
	bit = instr % BLOCK_INSTRS;
	word = bit / 64;
	rank = le32_load(block);
	if (word)
		rank += le64_load(block + BLOCK_COUNTS) >> (word - 1) * COUNT_BITS & 0x1ff;
	return rank + (uint32_t)__builtin_popcountll(le64_load(block + BLOCK_BITS + word * 8UL)
						     << (63 - bit % 64));
}

uint32_t ruby_lines_find(const uint8_t *lines, size_t size_bytes, uint32_t instr)
{
	size_t count = size_bytes < RUNTIME_RUBY_INDEX_BYTES
			       ? 0
			       : (size_bytes - RUNTIME_RUBY_INDEX_BYTES) / RUNTIME_RUBY_LINE_BYTES;
	const uint32_t most = NEAR_INSTRS +
			      (RUNTIME_RUBY_INDEX_BYTES - NEAR_BYTES) / BLOCK_BYTES * BLOCK_INSTRS;
	uint32_t rank = 1, line;

	instr -= instr > 0;
	if (!count || instr >= most)
		return 0;
	if (count > 1)
		rank = rank_of(lines, instr);
	if (!rank || rank > count)
		return 0;
	line = le32_load(lines + RUNTIME_RUBY_INDEX_BYTES + (rank - 1UL) * RUNTIME_RUBY_LINE_BYTES);
	return line <= LINE_MAX_VALUE ? line : 0;
}
