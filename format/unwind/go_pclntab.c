/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
#include "format/unwind/go_pclntab.h"

enum {
	MAGIC_1_18 = 0xf0, /* the low byte; the others are ff */
	MAGIC_1_20 = 0xf1,
	FLAG_TOP_FRAME = 1, /* nothing called it */
	FLAG_SP_WRITE = 2,  /* it moves to another stack */
	FLAG_ASM = 4,
	QUANTUM_X86_64 = 1, /* bytes of code that a step's length counts */
	QUANTUM_AARCH64 = 4,
};

struct reader {
	go_pclntab_row_fn fn;
	void *ctx;
	uint64_t text_vaddr;
	struct cursor names, units, files, steps,
		functions; /* parts of the section, each to its end */
	uint32_t function_count, range_count;
	uint32_t next; /* function */
	uint64_t last_pc;
	uint32_t quantum;
	bool has_start_line; /* 1.20 */
};

struct function {
	uint64_t pc, end_pc;
	uint32_t steps_off_bytes, name_off_bytes;
	uint32_t files_off_bytes, lines_off_bytes, unit; /* unit: its first file */
	uint8_t flags;
	bool is_complete; /* else its entry is broken, and only the addresses are good */
};

static struct cursor part(const struct go_pclntab *t, uint64_t off_bytes)
{
	struct cursor c = cursor_of(t->data, t->size_bytes);

	cursor_skip(&c, off_bytes > t->size_bytes ? t->size_bytes + 1 : (size_t)off_bytes);
	return c.bad ? c : cursor_of(t->data + off_bytes, t->size_bytes - (size_t)off_bytes);
}

static int read_head(const struct go_pclntab *t, struct reader *r)
{
	struct cursor c = cursor_of(t->data, t->size_bytes);
	uint32_t magic = cursor_u32(&c), zero = cursor_u16(&c);
	uint32_t pointer_bytes;
	uint64_t count;

	r->quantum = cursor_u8(&c);
	pointer_bytes = cursor_u8(&c);
	count = cursor_u64(&c);
	cursor_skip(&c, 8); /* files */
	r->text_vaddr = cursor_u64(&c);
	r->names = part(t, cursor_u64(&c));
	r->units = part(t, cursor_u64(&c));
	r->files = part(t, cursor_u64(&c));
	r->steps = part(t, cursor_u64(&c));
	r->functions = part(t, cursor_u64(&c));
	if (!cursor_ok(&c))
		return -ENODATA;
	if ((magic != (0xffffff00 | MAGIC_1_18) && magic != (0xffffff00 | MAGIC_1_20)) || zero ||
	    (r->quantum != QUANTUM_X86_64 && r->quantum != QUANTUM_AARCH64) || pointer_bytes != 8)
		return -ENOTSUP;
	if (!r->text_vaddr)
		r->text_vaddr = t->text_vaddr;
	if (!r->text_vaddr)
		return -ENOTSUP;
	if (count > GO_PCLNTAB_MAX_FUNCTIONS)
		return -EOVERFLOW;
	if (!cursor_ok(&r->names) || !cursor_ok(&r->steps) || !cursor_ok(&r->functions) ||
	    r->text_vaddr > UINT64_MAX - UINT32_MAX)
		return -EBADMSG;
	r->function_count = (uint32_t)count;
	r->has_start_line = (magic & 0xff) == MAGIC_1_20;
	/* {address, entry} for each, and the address where the last one ends */
	return count * 8 + 4 > r->functions.size_bytes ? -ENODATA : 0;
}

/* The i-th, as far as it is there. */
static void read_entry(const struct reader *r, uint32_t i, struct function *f)
{
	const uint8_t *at = r->functions.data + (size_t)i * 8;
	struct cursor c = r->functions;

	f->pc = r->text_vaddr + le32_load(at);
	f->end_pc = r->text_vaddr + le32_load(at + 8);
	cursor_skip(&c, le32_load(at + 4));
	cursor_skip(&c, 4); /* its address again */
	f->name_off_bytes = cursor_u32(&c);
	cursor_skip(&c, 8); /* arguments, deferred return */
	f->steps_off_bytes = cursor_u32(&c);
	f->files_off_bytes = cursor_u32(&c);
	f->lines_off_bytes = cursor_u32(&c);
	cursor_skip(&c, 4); /* how many other tables */
	f->unit = cursor_u32(&c);
	cursor_skip(&c, (r->has_start_line ? 4 : 0) + 1);
	f->flags = cursor_u8(&c);
	f->is_complete = cursor_ok(&c);
}

/* The next one, of which there must be one.  -EBADMSG: they do not ascend. */
static int read_function(struct reader *r, struct function *f)
{
	read_entry(r, r->next++, f);
	if (f->pc < r->last_pc || f->end_pc < f->pc)
		return -EBADMSG;
	r->last_pc = f->end_pc;
	return 0;
}

static bool is_named(const struct reader *r, const struct function *f, const char *name)
{
	struct cursor c = r->names;
	const uint8_t *p;
	size_t n = strlen(name);

	cursor_skip(&c, f->name_off_bytes);
	p = cursor_bytes(&c, n);
	return p && !memcmp(p, name, n);
}

static uint32_t read_varint(struct cursor *c)
{
	uint32_t value = 0;

	for (unsigned shift = 0; shift < 32; shift += 7) {
		uint8_t byte = cursor_u8(c);

		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/*
 * Tables of values are steps of {change of value, length of code}, from -1 on.  The bytes of code of the next one;
 * 0: there is none, or it is broken.
 */
static uint64_t next_step(const struct reader *r, struct cursor *c, bool is_first, uint32_t *value)
{
	uint32_t change = read_varint(c);
	uint64_t length = (uint64_t)read_varint(c) * r->quantum;

	if (!cursor_ok(c) || (!change && !is_first))
		return 0;
	*value += (change >> 1) ^ (0 - (change & 1));
	return length;
}

static int put(struct reader *r, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	if (r->range_count++ == GO_PCLNTAB_MAX_RANGES)
		return -EOVERFLOW;
	return r->fn(r->ctx, pc, end_pc, rule);
}

/*
 * The rule where frame_bytes lie below the return address.  The compiler and, for functions with a
 * frame, the assembler save rbp right below it; code in assembly may have made its own frame.
 */
static struct unwind_rule rule_of(int32_t frame_bytes, bool by_hand)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SP, .cfa_off = frame_bytes + 8 };

	if (frame_bytes && by_hand)
		rule.fp_ra = UNWIND_FP_LOST;
	else if (frame_bytes) {
		rule.fp_ra = UNWIND_FP_CFA;
		rule.fp_words = -2;
	}
	return rule;
}

/*
 * On aarch64 the return address is where the stack pointer points, and x29 right below it; without a frame it is in the link
 * register.
 */
static struct unwind_rule rule_of_aarch64(int32_t frame_bytes, bool by_hand)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SP, .cfa_off = frame_bytes };

	if (frame_bytes && by_hand) {
		rule.fp_ra = UNWIND_FP_LOST | UNWIND_RA_SAME_WORD << UNWIND_RA_SHIFT;
		rule.fp_words = (int16_t)(-frame_bytes / 8);
	} else if (frame_bytes) {
		rule.fp_ra = UNWIND_FP_CFA | (UNWIND_RA_SAME_WORD + 1) << UNWIND_RA_SHIFT;
		rule.fp_words = (int16_t)(-frame_bytes / 8 - 1);
	}
	return rule;
}

static int put_frame(struct reader *r, uint64_t pc, uint64_t end_pc, uint32_t frame_bytes,
		     bool by_hand)
{
	bool is_x86 = r->quantum == QUANTUM_X86_64;
	struct unwind_rule rule;

	if (frame_bytes & 7 || frame_bytes >= (is_x86 ? UNWIND_CFA_OFF_MAX - 8 : -INT16_MIN * 8))
		return 0;
	rule = is_x86 ? rule_of((int32_t)frame_bytes, by_hand)
		      : rule_of_aarch64((int32_t)frame_bytes, by_hand);
	return put(r, pc, end_pc, &rule);
}

/* The code behind a broken step has no rule. */
static int put_steps(struct reader *r, const struct function *f)
{
	struct cursor c = r->steps;
	uint64_t pc = f->pc, end_pc;
	uint32_t frame_bytes = UINT32_MAX; /* -1 */
	int err = 0;

	cursor_skip(&c, f->steps_off_bytes);
	while (pc < f->end_pc && !err) {
		uint64_t length = next_step(r, &c, pc == f->pc, &frame_bytes);

		if (!length)
			break;
		end_pc = length < f->end_pc - pc ? pc + length : f->end_pc;
		err = put_frame(r, pc, end_pc, frame_bytes, f->flags & FLAG_ASM);
		pc = end_pc;
	}
	return err;
}

static int put_function(struct reader *r, const struct function *f)
{
	static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_RA_UNDEF };

	if (!f->is_complete || !f->steps_off_bytes || f->end_pc == f->pc ||
	    is_named(r, f, "runtime.sigreturn"))
		return 0;
	if (f->flags & FLAG_TOP_FRAME || is_named(r, f, "runtime.mcall"))
		return put(r, f->pc, f->end_pc, &outermost);
	return f->flags & FLAG_SP_WRITE ? 0 : put_steps(r, f);
}

int go_pclntab_rows(const struct go_pclntab *table, go_pclntab_row_fn fn, void *ctx)
{
	struct reader r = { .fn = fn, .ctx = ctx };
	struct function f;
	int err = read_head(table, &r);

	while (!err && r.next < r.function_count) {
		err = read_function(&r, &f);
		if (!err)
			err = put_function(&r, &f);
	}
	return err;
}

/* The text at an offset; NULL: it lies outside, is empty, or has no end within the limit. */
static const char *text_at(const struct cursor *texts, uint32_t off_bytes)
{
	struct cursor c = *texts;
	size_t room_bytes, n;
	const char *text;

	cursor_skip(&c, off_bytes);
	if (!cursor_ok(&c))
		return NULL;
	room_bytes = cursor_left(&c);
	if (room_bytes > GO_PCLNTAB_MAX_NAME_BYTES)
		room_bytes = GO_PCLNTAB_MAX_NAME_BYTES;
	text = (const char *)texts->data + off_bytes;
	n = strnlen(text, room_bytes);
	return n && n < room_bytes ? text : NULL;
}

int go_pclntab_functions(const struct go_pclntab *table, go_pclntab_function_fn fn, void *ctx)
{
	struct reader r = { 0 };
	struct function f;
	int err = read_head(table, &r);

	while (!err && r.next < r.function_count) {
		const char *name;

		err = read_function(&r, &f);
		if (err || !f.is_complete || f.end_pc == f.pc)
			continue;
		name = text_at(&r.names, f.name_off_bytes);
		if (name)
			err = fn(ctx, f.pc, f.end_pc, name);
	}
	return err;
}

/* ---- source lines ---- */

/* The value that a table of the function has at pc.  false: none. */
static bool value_at(const struct reader *r, const struct function *f, uint32_t off_bytes,
		     uint64_t pc, uint64_t *steps_left, uint32_t *out)
{
	struct cursor c = r->steps;
	uint64_t end_pc = f->pc, length;

	*out = UINT32_MAX;
	cursor_skip(&c, off_bytes);
	if (!off_bytes)
		return false;
	do {
		if (!*steps_left)
			return false;
		--*steps_left;
		length = next_step(r, &c, end_pc == f->pc, out);
		end_pc += length;
	} while (length && end_pc <= pc);
	return length;
}

/* The function that covers pc; false: there is none, or its entry is broken. */
static bool find_function(const struct reader *r, uint64_t pc, struct function *f)
{
	uint32_t low = (uint32_t)lower_bound(i, 0, r->function_count,
					     r->text_vaddr + le32_load(r->functions.data + i * 8) <=
						     pc);

	if (!low)
		return false;
	read_entry(r, low - 1, f);
	return f->is_complete && pc >= f->pc && pc < f->end_pc;
}

static const char *file_at(const struct reader *r, uint32_t unit, uint32_t number)
{
	struct cursor c = r->units;
	uint32_t off_bytes;

	cursor_skip(&c, ((size_t)unit + number) * 4);
	off_bytes = cursor_u32(&c);
	return cursor_ok(&c) && off_bytes != UINT32_MAX ? text_at(&r->files, off_bytes) : NULL;
}

int go_pclntab_line(const struct go_pclntab *table, uint64_t pc, uint64_t *steps_left,
		    struct go_pclntab_line *out)
{
	struct reader r = { 0 };
	uint32_t number, line;
	struct function f;
	const char *file;
	int err = read_head(table, &r);

	if (err)
		return err;
	if (!find_function(&r, pc, &f) ||
	    !value_at(&r, &f, f.files_off_bytes, pc, steps_left, &number) ||
	    !value_at(&r, &f, f.lines_off_bytes, pc, steps_left, &line))
		return -ENOENT;
	file = file_at(&r, f.unit, number);
	if (!file || !line || line > INT32_MAX)
		return -ENOENT;
	*out = (struct go_pclntab_line){ file, line };
	return 0;
}
