/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/unwind/insn_unwind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "format/base/insertion_sort.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/unwind/insn_effects.h"

/* Used instead of a frame's number. */
#define NOT_REACHED 0u
#define GIVEN_UP    0xffffu
#define FRAMES_MAX  0x3fffu
#define SLOTS       (2u * (FRAMES_MAX + 1))
#define TURNS       4u /* each may find functions that never return, since they call such, */
#define ROUNDS      4u /* and each of these may be a function that was unknown before */

/* Places in the code, as offsets. */
struct locations {
	uint32_t *list;
	size_t count, capacity;
};

struct flow {
	const struct insn_unwind_code *code;
	uint64_t *starts; /* ascending */
	size_t start_count;
	uint8_t *start_bits; /* by byte of the code: most are no start, and need no search */
	bool *is_endless;    /* by start: no way through it comes back */
	uint16_t *at;        /* by byte of the code: the number of its frame, from 1 on */
	struct insn_effects *frames;
	size_t frame_count;
	uint16_t *slots; /* by hash: the number of a frame, 0: free */
	struct hash_key key;
	struct locations todo;   /* ways that are still to be followed */
	struct locations seen;   /* of this function */
	struct locations called; /* and pointed to, that are no start */
	ZydisDecoder decoder;
	struct insn_unwind_stats stats;
	/* The state of the current function; comes_back: a ret of it or of another function may
	 * follow; returns: it has one. */
	bool adds_up, comes_back, returns, uses_callers_fp;
	int err;
};

static void put(struct flow *f, struct locations *p, size_t offset)
{
	if (vec_reserve(&p->list, &p->capacity, p->count + 1))
		f->err = -ENOMEM;
	else
		p->list[p->count++] = (uint32_t)offset;
}

/* One of a few hundred, mostly. */
static uint16_t number_of(struct flow *f, const struct insn_effects *frame)
{
	uint32_t slot = insn_effects_hash(frame, &f->key) % SLOTS;

	while (f->slots[slot] && !insn_effects_equal(&f->frames[f->slots[slot] - 1], frame))
		slot = (slot + 1) % SLOTS;
	if (f->slots[slot])
		return f->slots[slot];
	if (f->frame_count == FRAMES_MAX)
		return GIVEN_UP;
	f->frames[f->frame_count++] = *frame;
	f->slots[slot] = (uint16_t)f->frame_count;
	return f->slots[slot];
}

/* How many starts are below pc. */
static size_t starts_below(const uint64_t *starts, size_t count, uint64_t pc)
{
	return lower_bound(i, 0, count, starts[i] < pc);
}

/* The number of the function of this code that begins there; start_count: none. */
static size_t start_at(const struct flow *f, uint64_t pc)
{
	uint64_t offset = pc - f->code->vaddr;

	if (offset >= f->code->size_bytes || !(f->start_bits[offset / 8] & 1u << offset % 8))
		return f->start_count;
	return starts_below(f->starts, f->start_count, pc);
}

/*
 * A path reaches pc with this frame.  Another function, and code outside, do not belong to it: that
 * is a tail call, or follows a call that never returns.  True: pc was not reached before.
 */
static bool reach(struct flow *f, uint64_t pc, const struct insn_effects *frame)
{
	uint64_t offset = pc - f->code->vaddr;
	uint16_t number;

	if (offset >= f->code->size_bytes || start_at(f, pc) < f->start_count)
		return false;
	number = number_of(f, frame);
	if (number == GIVEN_UP || (f->at[offset] != NOT_REACHED && f->at[offset] != number))
		f->adds_up = false;
	if (!f->adds_up || f->at[offset] != NOT_REACHED)
		return false;
	f->at[offset] = number;
	put(f, &f->seen, offset);
	return true;
}

/* The other bytes of an instruction are of its frame. */
static void cover(struct flow *f, size_t offset, size_t size_bytes)
{
	for (size_t i = offset + 1; i < offset + size_bytes; i++) {
		if (f->at[i] != NOT_REACHED)
			continue;
		f->at[i] = f->at[offset];
		put(f, &f->seen, i);
	}
}

/* The target of a jump, if the instruction contains it. */
static bool target_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t pc,
		      uint64_t *out)
{
	ZyanU64 to;

	if (op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(in, op, pc, &to)))
		return false;
	*out = to;
	return true;
}

static void add_function(struct flow *f, uint64_t pc)
{
	if (pc - f->code->vaddr < f->code->size_bytes && start_at(f, pc) == f->start_count)
		put(f, &f->called, pc - f->code->vaddr);
}

/* An address in code that is put into a register is that of a function. */
static void take_pointer(struct flow *f, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *op, uint64_t pc)
{
	ZyanU64 to;

	if (in->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RIP &&
	    op[1].mem.index == ZYDIS_REGISTER_NONE &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(in, &op[1], pc, &to)))
		add_function(f, to);
}

/* True: the call never returns. */
static bool call(struct flow *f, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
		 uint64_t pc)
{
	uint64_t to;
	size_t start;

	if (!target_of(in, op, pc, &to) || to == pc + in->length) /* reads its own address */
		return false;
	start = start_at(f, to);
	add_function(f, to);
	return start < f->start_count && f->is_endless[start];
}

/* Whether pc belongs to another function, which then returns to the caller of this one. */
static bool is_left(const struct flow *f, uint64_t pc)
{
	size_t start = start_at(f, pc);

	return start < f->start_count ? !f->is_endless[start]
				      : pc - f->code->vaddr >= f->code->size_bytes;
}

/* A jump: what is reached is followed later. */
static void jump(struct flow *f, uint64_t to, const struct insn_effects *frame)
{
	f->comes_back |= is_left(f, to);
	if (reach(f, to, frame))
		put(f, &f->todo, to - f->code->vaddr);
}

/*
 * Whether a function that keeps a frame pointer begins there: push %rbp; mov %rsp,%rbp.  Code written by hand jumps to
 * such with arguments on the stack (V8 enters C++ so): it is a function of its own, and a jump to
 * it leaves a stack that its own instructions do not describe completely.
 */
static bool takes_over(const struct flow *f, uint64_t pc, const struct insn_effects *frame)
{
	static const uint8_t begins[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint64_t at = pc - f->code->vaddr;

	return !insn_effects_is_empty(frame) && at < f->code->size_bytes &&
	       f->code->size_bytes - at >= sizeof(begins) &&
	       !memcmp(f->code->data + at, begins, sizeof(begins));
}

/*
 * Makes of the frame what it is behind the instruction.  True: the way goes on there.  A jump to where only a
 * register knows is a call when nothing is on the stack, else a switch, whose cases mostly follow.
 */
static bool follow(struct flow *f, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
		   uint64_t pc, struct insn_effects *frame)
{
	bool has_target;
	uint64_t to;

	f->uses_callers_fp |= insn_effects_uses_callers_fp(frame, in, op);
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET:
		f->comes_back = f->returns = true;
		f->adds_up = f->adds_up && insn_effects_may_return(frame);
		return false;
	case ZYDIS_CATEGORY_UNCOND_BR:
		has_target = target_of(in, op, pc, &to);
		if (has_target && takes_over(f, to, frame)) {
			add_function(f, to);
			f->adds_up = false;
		} else if (has_target) {
			jump(f, to, frame);
		} else {
			f->comes_back = true;
		}
		return !has_target && !insn_effects_is_empty(frame);
	case ZYDIS_CATEGORY_COND_BR:
		if (target_of(in, op, pc, &to))
			jump(f, to, frame);
		return true;
	default:
		break;
	}
	if (in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT ||
	    in->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	    (in->meta.category == ZYDIS_CATEGORY_CALL && call(f, in, op, pc)))
		return false;
	take_pointer(f, in, op, pc);
	insn_effects_step(frame, in, op);
	return true;
}

/* Follows one path, up to its end or to code that was reached before. */
static void run_way(struct flow *f, size_t offset)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	while (f->adds_up && !f->err) {
		struct insn_effects frame = f->frames[f->at[offset] - 1];
		uint64_t pc = f->code->vaddr + offset;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&f->decoder, f->code->data + offset,
							 f->code->size_bytes - offset, &in, op))) {
			f->adds_up = false;
			return;
		}
		cover(f, offset, in.length);
		if (!follow(f, &in, op, pc, &frame))
			return;
		f->comes_back |= is_left(f, pc + in.length);
		if (!reach(f, pc + in.length, &frame))
			return;
		offset += in.length;
	}
}

static void run_function(struct flow *f, size_t start)
{
	const struct insn_effects entry = insn_effects_entry();
	uint64_t offset = f->starts[start] - f->code->vaddr;

	if (offset >= f->code->size_bytes || f->at[offset] != NOT_REACHED)
		return;
	f->adds_up = true;
	f->comes_back = f->returns = f->uses_callers_fp = false;
	f->seen.count = f->todo.count = 0;
	f->at[offset] = number_of(f, &entry);
	put(f, &f->seen, offset);
	put(f, &f->todo, offset);
	while (f->todo.count && f->adds_up && !f->err)
		run_way(f, f->todo.list[--f->todo.count]);
	f->adds_up = f->adds_up && (f->returns || !f->uses_callers_fp);
	f->stats.functions++;
	f->stats.given_up += !f->adds_up;
	f->is_endless[start] = f->adds_up && !f->comes_back;
	for (size_t i = 0; !f->adds_up && i < f->seen.count; i++)
		f->at[f->seen.list[i]] = GIVEN_UP;
}

static size_t count_endless(const struct flow *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->start_count; i++)
		count += f->is_endless[i];
	return count;
}

static void mark_starts(struct flow *f)
{
	for (size_t i = 0; i < f->start_count; i++) {
		uint64_t offset = f->starts[i] - f->code->vaddr;

		f->start_bits[offset / 8] |= (uint8_t)(1u << offset % 8);
	}
}

static void run_all(struct flow *f)
{
	mark_starts(f);
	memset(f->at, 0, f->code->size_bytes * sizeof(*f->at));
	f->stats = (struct insn_unwind_stats){ 0 };
	f->called.count = 0;
	for (size_t i = 0; !f->err && i < f->start_count; i++)
		run_function(f, i);
}

/* The target of a call becomes a start.  False: there was no call. */
static bool add_called(struct flow *f)
{
	size_t count = f->start_count + f->called.count;
	uint64_t *starts = f->called.count ? realloc(f->starts, count * sizeof(*starts)) : NULL;
	bool *is_endless = starts ? calloc(count + 1, sizeof(*is_endless)) : NULL;

	if (starts)
		f->starts = starts;
	if (!is_endless) {
		f->err = f->called.count ? -ENOMEM : 0;
		return false;
	}
	for (size_t i = 0; i < f->called.count; i++)
		starts[f->start_count + i] = f->code->vaddr + f->called.list[i];
	f->start_count = insertion_sort_unique(starts, count);
	free(f->is_endless);
	f->is_endless = is_endless;
	return true;
}

/*
 * First all functions that are called, then those that never return: the code behind a call of one
 * is only known when all have been seen.
 */
static void run(struct flow *f)
{
	size_t endless = 0, before;

	run_all(f);
	for (unsigned round = 1; round < ROUNDS && !f->err && add_called(f); round++)
		run_all(f);
	for (unsigned turn = 0; turn < TURNS && !f->err; turn++) {
		before = endless;
		endless = count_endless(f);
		if (endless == before)
			break;
		run_all(f);
	}
}

/* Ranges that lie side by side and have the same rule are one. */
static int hand_out(const struct flow *f, insn_unwind_row_fn fn, void *ctx)
{
	struct unwind_rule rule, last = { .cfa = UNWIND_CFA_END };
	uint64_t vaddr = f->code->vaddr;
	size_t begin = 0, end;
	int err = 0;

	for (size_t i = 0; !err && i < f->code->size_bytes; i = end) {
		for (end = i + 1; end < f->code->size_bytes && f->at[end] == f->at[i];)
			end++;
		if (f->at[i] == NOT_REACHED || f->at[i] == GIVEN_UP ||
		    !insn_effects_rule(&f->frames[f->at[i] - 1], &rule))
			rule = (struct unwind_rule){ .cfa = UNWIND_CFA_END };
		if (!memcmp(&rule, &last, sizeof(rule)))
			continue;
		if (last.cfa != UNWIND_CFA_END)
			err = fn(ctx, vaddr + begin, vaddr + i, &last);
		last = rule;
		begin = i;
	}
	if (!err && last.cfa != UNWIND_CFA_END)
		err = fn(ctx, vaddr + begin, vaddr + f->code->size_bytes, &last);
	return err;
}

int insn_unwind_rows(const struct insn_unwind_code *code, const uint64_t *starts,
		     size_t start_count, insn_unwind_row_fn fn, void *ctx,
		     struct insn_unwind_stats *stats)
{
	struct flow f = { .code = code };
	size_t below;

	if (code->size_bytes > INSN_UNWIND_MAX_BYTES || code->vaddr > UINT64_MAX - code->size_bytes)
		return -EOVERFLOW;
	below = starts_below(starts, start_count, code->vaddr);
	start_count = starts_below(starts, start_count, code->vaddr + code->size_bytes) - below;
	starts = start_count ? starts + below : NULL;
	f.err = hash_key_new(&f.key);
	f.start_count = start_count;
	f.at = calloc(code->size_bytes + 1, sizeof(*f.at));
	f.start_bits = calloc(code->size_bytes / 8 + 1, 1);
	f.frames = malloc(FRAMES_MAX * sizeof(*f.frames));
	f.slots = calloc(SLOTS, sizeof(*f.slots));
	/* NOLINTNEXTLINE: never 0, as starts are in memory */
	f.is_endless = calloc(start_count + 1, sizeof(*f.is_endless));
	f.starts = malloc((start_count + 1) * sizeof(*f.starts));
	if (!f.at || !f.start_bits || !f.frames || !f.slots || !f.is_endless || !f.starts)
		f.err = -ENOMEM;
	else if (start_count)
		memcpy(f.starts, starts, start_count * sizeof(*starts));
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&f.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		f.err = -EINVAL;
	if (!f.err)
		run(&f);
	if (!f.err)
		f.err = hand_out(&f, fn, ctx);
	if (stats)
		*stats = f.stats;
	free(f.at);
	free(f.start_bits);
	free(f.frames);
	free(f.slots);
	free(f.is_endless);
	free(f.starts);
	free(f.called.list);
	free(f.todo.list);
	free(f.seen.list);
	return f.err;
}
