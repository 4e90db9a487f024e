/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/function_parts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "analyze/sym/symtab/plt.h"
#include "format/base/insertion_sort.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"

static const size_t NO_PART = SIZE_MAX;
/* In place of the start of a function, which is at neither. */
static const uint64_t NONE = 0, MANY = UINT64_MAX;

enum {
	CODE_MAX_BYTES = 1 << 29, /* of all sections of a file, which may lie over each other */
	CHUNK_BYTES = 1 << 18,    /* of code, read at once */
	BLOCK_BYTES = 64,         /* of code, passed over at once */
	JUMP_BYTES = 6,           /* 0f 8x and four bytes of distance; or e9 and four */
	JUMPS_MAX =
		1 << 20, /* from and to the parts that are asked for; with more none is joined */
};

struct row {
	uint64_t pc;
	struct unwind_rule rule;
};

/* Bytes that look like a jump between two parts, one of which is asked for. */
struct jump {
	uint64_t from, to;
	uint64_t source, target; /* where these parts begin */
	uint32_t section;        /* index */
};

/* A chunk of a section, and what of the next one a jump may reach into. */
struct code {
	uint32_t section; /* index */
	uint64_t vaddr;
	const uint8_t *bytes;
	size_t chunk_bytes, size_bytes;
};

/* How far the instructions of a part are read. */
struct reading {
	uint32_t section; /* index */
	uint64_t start;   /* of the part */
	uint8_t *bytes;   /* from the part's start on, owned; NULL: they cannot be read */
	size_t size_bytes;
	size_t at_bytes; /* an instruction begins here */
};

struct join {
	const struct elf_file *elf;
	struct eh_frame *frame;
	struct function_part *parts;
	size_t count;
	struct row *rows; /* of the parts that read_rows() was called for last, by address */
	size_t row_count, row_room;
	bool *is_asked;      /* by part of the list */
	uint64_t first, end; /* around the parts that are asked for */
	struct jump *jumps;
	size_t jump_count, jump_room;
	uint64_t *functions; /* by part of the list: where its function begins, NONE or MANY */
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

/* Reads the rows of the parts that begin there.  starts: ascending. */
static int read_rows(struct join *j, const uint64_t *starts, size_t count)
{
	j->row_count = 0;
	return eh_frame_rows_at(j->frame, starts, count, add_row, j);
}

static int read_asked_rows(struct join *j)
{
	uint64_t *starts = malloc(j->count * sizeof(*starts));
	size_t count = 0;
	int err;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < j->count; i++)
		if (j->is_asked[i])
			starts[count++] = j->parts[i].start;
	err = read_rows(j, starts, count);
	free(starts);
	return err;
}

/* NULL: none covers it. */
static const struct unwind_rule *rule_at(const struct join *j, uint64_t pc)
{
	size_t lo = lower_bound(i, 0, j->row_count, j->rows[i].pc <= pc);

	return lo ? &j->rows[lo - 1].rule : NULL;
}

/* NO_PART: it is in none of the list. */
static size_t part_at(const struct join *j, uint64_t pc)
{
	size_t lo = lower_bound(i, 0, j->count, j->parts[i].start <= pc);

	return lo && pc - j->parts[lo - 1].start < j->parts[lo - 1].size_bytes ? lo - 1 : NO_PART;
}

static bool is_asked_at(const struct join *j, uint64_t pc)
{
	size_t part = part_at(j, pc);

	return part != NO_PART && j->is_asked[part];
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

/* It begins as a function does.  Its rows are read. */
static bool is_entered(const struct join *j, uint64_t start)
{
	const struct unwind_rule *rule = rule_at(j, start);

	return !rule || !is_frame(rule);
}

/* The FDE of a .plt begins with a frame, too, but is of no function: no code is searched for jumps to it. */
static void skip_stubs(struct join *j)
{
	for (size_t k = 0; k < PLT_SECTIONS; k++) {
		const struct elf_file_section *s = plt_section(j->elf, k);
		size_t first = s ? lower_bound(i, 0, j->count, j->parts[i].start < s->addr) : 0;

		for (size_t i = first;
		     s && i < j->count && j->parts[i].start - s->addr < s->size_bytes; i++)
			j->is_asked[i] = false;
	}
}

/* The parts without an entry that are asked for. */
static int find_asked(struct join *j, const struct symtab_wanted *wanted)
{
	int err;

	for (size_t i = 0; i < (wanted ? wanted->count : j->count); i++) {
		size_t at = wanted ? part_at(j, wanted->vaddrs[i]) : i;

		if (at != NO_PART)
			j->is_asked[at] = true;
	}
	skip_stubs(j);
	err = read_asked_rows(j);
	j->first = UINT64_MAX;
	for (size_t i = 0; !err && i < j->count; i++) {
		const struct function_part *part = &j->parts[i];

		j->functions[i] = NONE;
		if (!j->is_asked[i])
			continue;
		j->is_asked[i] = !is_entered(j, part->start);
		if (!j->is_asked[i])
			continue;
		if (part->start < j->first)
			j->first = part->start;
		j->end = part->start + part->size_bytes;
	}
	return err;
}

static bool is_near(const struct join *j, uint64_t pc)
{
	return pc >= j->first && pc < j->end;
}

static int add_jump(struct join *j, uint32_t section, uint64_t from, uint64_t to)
{
	uint64_t source, target;
	uint32_t size_bytes;

	if ((!is_near(j, from) && !is_near(j, to)) ||
	    (!is_asked_at(j, from) && !is_asked_at(j, to)))
		return 0;
	if (!eh_frame_find(j->frame, from, &source, &size_bytes) ||
	    !eh_frame_find(j->frame, to, &target, &size_bytes) || source == target)
		return 0;
	if (j->jump_count == JUMPS_MAX)
		return -EOVERFLOW;
	if (vec_reserve(&j->jumps, &j->jump_room, j->jump_count + 1))
		return -ENOMEM;
	j->jumps[j->jump_count++] = (struct jump){ from, to, source, target, section };
	return 0;
}

/*
 * Whether a byte of the block, with the three behind it, can be the distance of a jump into the near_bytes.  to_first:
 * where a distance of 0 at the first byte leads, counted from the first of these.
 */
static bool is_near_led_to(const uint8_t *bytes, uint32_t to_first, uint32_t near_bytes)
{
	uint32_t distances[BLOCK_BYTES / sizeof(uint32_t)], found = 0;

	for (uint32_t k = 0; k < sizeof(uint32_t); k++) {
		memcpy(distances, bytes + k, sizeof(distances));
		for (uint32_t i = 0; i < BLOCK_BYTES / sizeof(uint32_t); i++)
			found |= distances[i] + to_first + k + i * (uint32_t)sizeof(uint32_t) <
				 near_bytes;
	}
	return found;
}

/* A jump whose distance is at at_bytes. */
static int find_jump(struct join *j, const struct code *c, size_t at_bytes)
{
	const uint8_t *at = c->bytes + at_bytes;
	uint64_t vaddr = c->vaddr + at_bytes;
	size_t opcode_bytes = 0;
	int32_t distance;

	if (at[-1] == 0xe9)
		opcode_bytes = 1;
	else if (at_bytes > 1 && at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80)
		opcode_bytes = 2;
	if (!opcode_bytes || at_bytes - opcode_bytes >= c->chunk_bytes)
		return 0;
	memcpy(&distance, at, sizeof(distance));
	return add_jump(j, c->section, vaddr - opcode_bytes,
			vaddr + sizeof(distance) + (uint64_t)(int64_t)distance);
}

/* Most code is far from what is asked for, and few of its bytes are a distance that leads there. */
static int find_jumps(struct join *j, const struct code *c)
{
	uint64_t near_bytes = j->end - j->first;
	bool is_before = c->vaddr < j->first && j->first - c->vaddr >= c->chunk_bytes;
	bool is_far = near_bytes <= UINT32_MAX && (is_before || c->vaddr >= j->end);
	size_t end = c->size_bytes < sizeof(int32_t) ? 0 : c->size_bytes - sizeof(int32_t) + 1;
	size_t block_end;
	int err = 0;

	if (end > c->chunk_bytes + 2)
		end = c->chunk_bytes + 2;
	for (size_t at = 1; !err && at < end; at = block_end) {
		block_end = end - at < BLOCK_BYTES ? end : at + BLOCK_BYTES;
		if (is_far && end - at >= BLOCK_BYTES &&
		    !is_near_led_to(c->bytes + at,
				    (uint32_t)(c->vaddr + at + sizeof(int32_t) - j->first),
				    (uint32_t)near_bytes))
			continue;
		for (size_t i = at; !err && i < block_end; i++)
			err = find_jump(j, c, i);
	}
	return err;
}

/* jmp and jcc with four bytes of distance: parts of a function are seldom nearer. */
static int find_section_jumps(struct join *j, const struct elf_file_section *s, uint32_t section,
			      uint8_t *buf)
{
	struct code c = { .section = section, .bytes = buf };
	uint64_t left_bytes;
	int err = 0;

	for (uint64_t off = 0; !err && off < s->size_bytes; off += c.chunk_bytes) {
		left_bytes = s->size_bytes - off;
		c.vaddr = s->addr + off;
		c.chunk_bytes = left_bytes < CHUNK_BYTES ? (size_t)left_bytes : CHUNK_BYTES;
		c.size_bytes = left_bytes < CHUNK_BYTES + JUMP_BYTES ? (size_t)left_bytes
								     : CHUNK_BYTES + JUMP_BYTES;
		if (elf_file_read_part(j->elf, s, off, buf, c.size_bytes))
			return 0;
		err = find_jumps(j, &c);
	}
	return err;
}

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int find_all_jumps(struct join *j)
{
	size_t count;
	const struct elf_file_section *s = elf_file_sections(j->elf, &count);
	uint64_t left_bytes = CODE_MAX_BYTES;
	uint8_t *buf = malloc(CHUNK_BYTES + JUMP_BYTES);
	int err = buf ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		if (s[i].type != SHT_PROGBITS || !(s[i].flags & SHF_EXECINSTR) ||
		    s[i].size_bytes > left_bytes || elf_file_check(j->elf, &s[i]))
			continue;
		left_bytes -= s[i].size_bytes;
		err = find_section_jumps(j, &s[i], (uint32_t)i, buf);
	}
	free(buf);
	if (!err && j->jump_count)
		qsort(j->jumps, j->jump_count, sizeof(*j->jumps), compare_jumps);
	return err;
}

static int read_part(const struct join *j, struct reading *reading, const struct jump *jump)
{
	size_t count;
	const struct elf_file_section *s = elf_file_sections(j->elf, &count) + jump->section;
	uint64_t start, off = jump->source - s->addr;
	uint32_t size_bytes;

	free(reading->bytes);
	*reading = (struct reading){ .section = jump->section, .start = jump->source };
	if (jump->source < s->addr || off >= s->size_bytes ||
	    !eh_frame_find(j->frame, jump->source, &start, &size_bytes))
		return 0; /* it begins in another section */
	reading->size_bytes = size_bytes;
	if (reading->size_bytes > s->size_bytes - off)
		reading->size_bytes = (size_t)(s->size_bytes - off);
	reading->bytes = malloc(reading->size_bytes);
	if (!reading->bytes)
		return -ENOMEM;
	if (elf_file_read_part(j->elf, s, off, reading->bytes, reading->size_bytes)) {
		free(reading->bytes);
		reading->bytes = NULL;
	}
	return 0;
}

/*
 * 1: an instruction begins where the jump does, when those of its part are read from the start on; 0 none; or -ENOMEM.
 * Jumps come in the order of their addresses, so that none is read twice.
 */
static int is_instruction(const struct join *j, struct reading *reading, const struct jump *jump)
{
	uint64_t at_bytes = jump->from - jump->source;
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	int err;

	if (reading->section != jump->section || reading->start != jump->source) {
		err = read_part(j, reading, jump);
		if (err)
			return err;
	}
	if (!reading->bytes || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
							      ZYDIS_STACK_WIDTH_64)))
		return 0;
	while (reading->at_bytes < at_bytes) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			    &decoder, NULL, reading->bytes + reading->at_bytes,
			    reading->size_bytes - reading->at_bytes, &in)))
			reading->at_bytes = reading->size_bytes; /* nor is one farther on */
		else
			reading->at_bytes += in.length;
	}
	return reading->at_bytes == at_bytes;
}

/* One of the two parts is to begin as a function does, the other not. */
static int see_jump(struct join *j, struct reading *reading, const struct jump *jump)
{
	bool is_source_entered = is_entered(j, jump->source);
	uint64_t entered = is_source_entered ? jump->source : jump->target;
	size_t other = part_at(j, is_source_entered ? jump->target : jump->source);
	const struct unwind_rule *a = rule_at(j, jump->from), *b = rule_at(j, jump->to);
	int is_real;

	if (is_source_entered == is_entered(j, jump->target) || other == NO_PART ||
	    !j->is_asked[other] || j->functions[other] == entered || j->functions[other] == MANY)
		return 0;
	if (!a || !b || !is_frame(a) || !is_same_frame(a, b))
		return 0;
	is_real = is_instruction(j, reading, jump);
	if (is_real > 0)
		j->functions[other] = j->functions[other] == NONE ? entered : MANY;
	return is_real < 0 ? is_real : 0;
}

static int read_jump_rows(struct join *j)
{
	uint64_t *starts = malloc(2 * j->jump_count * sizeof(*starts));
	size_t count = 0;
	int err;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < j->jump_count; i++) {
		starts[count++] = j->jumps[i].source;
		starts[count++] = j->jumps[i].target;
	}
	err = read_rows(j, starts, insertion_sort_unique(starts, count));
	free(starts);
	return err;
}

static int see_jumps(struct join *j)
{
	struct reading reading = { .start = NONE };
	int err = read_jump_rows(j);

	for (size_t i = 0; !err && i < j->jump_count; i++)
		err = see_jump(j, &reading, &j->jumps[i]);
	free(reading.bytes);
	return err;
}

int function_parts_join(const struct elf_file *elf, struct eh_frame *frame,
			const struct symtab_wanted *wanted, struct function_part *parts,
			size_t count)
{
	struct join j = { .elf = elf, .frame = frame, .parts = parts, .count = count };
	int err;

	if (!count || eh_frame_arch(frame) != UNWIND_X86_64)
		return 0;
	j.functions = malloc(count * sizeof(*j.functions));
	j.is_asked = calloc(count, sizeof(*j.is_asked));
	err = j.functions && j.is_asked ? find_asked(&j, wanted) : -ENOMEM;
	if (!err && j.end)
		err = find_all_jumps(&j);
	if (!err && j.jump_count)
		err = see_jumps(&j);
	for (size_t i = 0; !err && i < count; i++)
		if (j.functions[i] != NONE && j.functions[i] != MANY)
			parts[i].function = j.functions[i];
	free(j.jumps);
	free(j.rows);
	free(j.functions);
	free(j.is_asked);
	return err == -ENOMEM ? err : 0;
}
