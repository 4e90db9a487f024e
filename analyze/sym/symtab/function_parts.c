/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/function_parts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"

enum { NONE = UINT32_MAX, MANY = UINT32_MAX - 1 };

enum { CODE_MAX_BYTES = 1 << 29 }; /* of all sections of a file, which may lie over each other */

struct row {
	uint64_t pc;
	struct unwind_rule rule;
};

/* The bytes of a section. */
struct code {
	const uint8_t *bytes;
	size_t size_bytes;
	uint64_t vaddr;
};

/* How far the instructions of a part are read.  Jumps are found in the order of their addresses, so none is read twice. */
struct reading {
	uint32_t part;
	uint64_t pc; /* an instruction begins here */
};

struct join {
	struct function_part *parts;
	size_t count;
	struct row *rows; /* by address */
	size_t row_count, row_room;
	uint32_t *functions; /* of each part without an entry: the function's index, NONE or MANY */
	bool *is_entered;    /* by index: it begins as a function does */
	uint64_t first, end; /* around the parts without an entry that are asked for */
};

/* eh_frame_row_fn */
static int add_row(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct join *j = ctx;

	if (vec_reserve(&j->rows, &j->row_room, j->row_count + 1))
		return -ENOMEM;
	j->rows[j->row_count++] = (struct row){ pc, *rule };
	return 0;
}

/* NULL: none covers it. */
static const struct unwind_rule *rule_at(const struct join *j, uint64_t pc)
{
	size_t lo = lower_bound(i, 0, j->row_count, j->rows[i].pc <= pc);

	return lo ? &j->rows[lo - 1].rule : NULL;
}

/* NONE: it is in no part. */
static uint32_t part_at(const struct join *j, uint64_t pc)
{
	size_t lo = lower_bound(i, 0, j->count, j->parts[i].start <= pc);

	return lo && pc - j->parts[lo - 1].start < j->parts[lo - 1].size_bytes ? (uint32_t)lo - 1
									       : NONE;
}

/* Something besides the return address is on the stack, or it is not known that nothing is. */
static bool is_frame(const struct unwind_rule *r)
{
	return (r->cfa == UNWIND_CFA_SP && r->cfa_off > 8) ||
	       (r->cfa == UNWIND_CFA_FP && (r->fp_ra & UNWIND_FP_MASK) == UNWIND_FP_CFA);
}

static bool is_same_frame(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return a->cfa == b->cfa && a->cfa_off == b->cfa_off && a->fp_ra == b->fp_ra &&
	       a->fp_words == b->fp_words;
}

static bool decode_length(const ZydisDecoder *decoder, const struct code *code, uint64_t pc,
			  uint8_t *length)
{
	uint64_t at = pc - code->vaddr;
	ZydisDecodedInstruction in;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code->bytes + at,
							code->size_bytes - at, &in)))
		return false;
	*length = in.length;
	return true;
}

/* Whether an instruction of the part begins there, in the section, when they are read from its start on. */
static bool is_instruction(const struct join *j, struct reading *reading, uint32_t part,
			   const struct code *code, uint64_t pc)
{
	ZydisDecoder decoder;
	uint8_t length;

	if (reading->part != part)
		*reading = (struct reading){ part, j->parts[part].start };
	if (reading->pc < code->vaddr ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return false;
	while (reading->pc < pc) {
		if (!decode_length(&decoder, code, reading->pc, &length))
			reading->pc = UINT64_MAX; /* nor is one farther on */
		else
			reading->pc += length;
	}
	return reading->pc == pc;
}

/* A jump between two parts: one of them is to begin as a function does, the other not. */
static void see_jump(struct join *j, struct reading *reading, const struct code *code,
		     uint64_t from, uint64_t to)
{
	uint32_t target = part_at(j, to), source, entered, other;
	const struct unwind_rule *a, *b;

	if (target == NONE)
		return;
	source = part_at(j, from);
	if (source == NONE || source == target || j->is_entered[source] == j->is_entered[target])
		return;
	entered = j->is_entered[source] ? source : target;
	other = entered == source ? target : source;
	if (j->functions[other] == entered || j->functions[other] == MANY)
		return;
	a = rule_at(j, from);
	b = rule_at(j, to);
	if (!a || !b || !is_frame(a) || !is_same_frame(a, b) ||
	    !is_instruction(j, reading, source, code, from))
		return;
	j->functions[other] = j->functions[other] == NONE ? entered : MANY;
}

static bool is_asked(const struct join *j, uint64_t pc)
{
	return pc >= j->first && pc < j->end;
}

/* jmp and jcc with four bytes of distance: parts of a function are seldom nearer. */
static void see_jumps(struct join *j, const struct code *code)
{
	struct reading reading = { .part = NONE };

	for (size_t i = 0; i + 1 < code->size_bytes; i++) {
		const uint8_t *at = code->bytes + i;
		bool is_jcc = at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
		size_t distance_at = i + (is_jcc ? 2 : 1);
		int32_t distance;
		uint64_t to;

		if ((!is_jcc && at[0] != 0xe9) || code->size_bytes - distance_at < sizeof(distance))
			continue;
		memcpy(&distance, code->bytes + distance_at, sizeof(distance));
		to = code->vaddr + distance_at + sizeof(distance) + (uint64_t)(int64_t)distance;
		if (is_asked(j, to) || is_asked(j, code->vaddr + i))
			see_jump(j, &reading, code, code->vaddr + i, to);
	}
}

static int see_sections(struct join *j, const struct elf_file *elf)
{
	size_t count;
	const struct elf_file_section *s = elf_file_sections(elf, &count);
	uint64_t left_bytes = CODE_MAX_BYTES;
	uint8_t *bytes;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (s[i].type != SHT_PROGBITS || !(s[i].flags & SHF_EXECINSTR) ||
		    s[i].size_bytes > left_bytes)
			continue;
		err = elf_file_read(elf, &s[i], &bytes);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		left_bytes -= s[i].size_bytes;
		see_jumps(j, &(struct code){ bytes, s[i].size_bytes, s[i].addr });
		free(bytes);
	}
	return 0;
}

/* False: no part without an entry is asked for. */
static bool find_asked(struct join *j, const struct symtab_wanted *wanted)
{
	size_t count = wanted ? wanted->count : j->count;

	j->first = UINT64_MAX;
	j->end = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t at = wanted ? part_at(j, wanted->vaddrs[i]) : (uint32_t)i;
		const struct function_part *part;

		if (at == NONE || j->is_entered[at])
			continue;
		part = &j->parts[at];
		if (part->start < j->first)
			j->first = part->start;
		if (part->start + part->size_bytes > j->end)
			j->end = part->start + part->size_bytes;
	}
	return j->end > j->first;
}

int function_parts_join(const struct elf_file *elf, const struct eh_frame_section *section,
			const struct symtab_wanted *wanted, struct function_part *parts,
			size_t count)
{
	struct join j = { .parts = parts, .count = count };
	struct parse_err ignored;
	const struct unwind_rule *rule;
	int err;

	if (!count || section->arch != UNWIND_X86_64)
		return 0;
	j.functions = malloc(count * sizeof(*j.functions));
	j.is_entered = malloc(count * sizeof(*j.is_entered));
	err = j.functions && j.is_entered ? eh_frame_rows(section, add_row, &j, NULL, &ignored)
					  : -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		rule = rule_at(&j, parts[i].start);
		j.is_entered[i] = !rule || !is_frame(rule);
		j.functions[i] = NONE;
	}
	if (!err && find_asked(&j, wanted))
		err = see_sections(&j, elf);
	for (size_t i = 0; !err && i < count; i++)
		if (j.functions[i] < MANY)
			parts[i].function = parts[j.functions[i]].start;
	free(j.rows);
	free(j.functions);
	free(j.is_entered);
	return err == -ENOMEM ? err : 0;
}
