/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * v8_frames - the functions of frames in code of V8's: the frame's own, and those that the compiler put into it
 *
 * Optimized code has one frame for a function and all that are inlined in it.  A table of its Code has the position of each call: a
 * place in the script's text, and the number of an inlining, which leads to the position of the call that was inlined, and so
 * on, up to the function that was compiled.  Calls that the compiler made itself have no position (to mark a store for the collector,
 * for example), and the one before is another call's.  So a call counts if code can be left for the interpreter behind it:
 * the deoptimization data has its return address, and where in the bytecode of the innermost function it is.  There the
 * bytecode's own table has to have the position, and the outermost function has to be the frame's.  Else the compiled function stands
 * alone.  The functions of a return address are remembered, with the number of the compilation (struct runtime_place).
 *
 * That is TurboFan's code: Maglev's has positions of some calls, and is not read.
 */
#ifndef EBPREC_BPF_RUNTIME_V8_FRAMES_H
#define EBPREC_BPF_RUNTIME_V8_FRAMES_H

#include "bpf/runtime/v8.bpf.h"

#define V8_NUMBER_BITS  7 /* of a byte; the highest one: more follow */
#define V8_SHIFT_MAX    56
#define V8_FIRST_OFFSET (-1)   /* the offset that tables begin at */
#define V8_WITH_BITS    0x0e01 /* V8 of this version has two bits below an offset, and no sign */
#define V8_KIND_MASK    15     /* of a Code's flags */
/* A position: bit 0, it is in no script; the place in the script and 1; the inlining and 1, 0: it is in the compiled function. */
#define V8_SCRIPT_MASK   ((1u << 30) - 1)
#define V8_INLINING_AT   31
#define V8_INLINING_MASK 0xffff
#define V8_INLINING_BYTES \
	16 /* the position of the call, and the number of the function among the literals; -1: the compiled one */
/* Deoptimization data: the elements behind that with the inlinings, and those of each exit, which are at the end. */
#define V8_EXITS_BEGIN 1
#define V8_EAGER_COUNT 2
#define V8_LAZY_COUNT  3
#define V8_FIRST_EXIT  4
#define V8_EXIT_WORDS \
	3 /* the place in the bytecode, one in the translation, the return address in the code */
#define V8_EXITS_MAX   (1 << 20)
#define V8_EXIT_ROUNDS 21 /* of a search among them */

/* ---- functions that are inlined ---- */

/* The sign is in the lowest bit. */
static __always_inline __s64 v8_signed(__u64 value)
{
	return (__s64)(value >> 1) ^ -(__s64)(value & 1);
}

/* Byte i of the table of positions: pairs of numbers, how far it is to the next offset, and to its position. */
static long v8_see_byte(__u32 i, void *ctx)
{
	struct runtime_state *s = *(struct runtime_state **)ctx;
	__u64 at = i, number;
	__s64 by;
	__u8 byte;

	barrier_var(at);
	if (at >= RUNTIME_LINES_BYTES || at >= s->inlined.table_bytes ||
	    s->inlined.shift > V8_SHIFT_MAX)
		return 1;
	byte = s->event.lines[at];
	s->inlined.number |= (__u64)(byte & 0x7f) << (s->inlined.shift & 63);
	s->inlined.shift += V8_NUMBER_BITS;
	if (byte & 0x80)
		return 0;
	number = s->inlined.number;
	s->inlined.number = s->inlined.shift = 0;
	s->inlined.is_second ^= 1;
	if (!s->inlined.is_second) {
		s->inlined.position += v8_signed(number);
		s->inlined.found = s->inlined.position;
		return 0;
	}
	by = s->desc.v8.version >= V8_WITH_BITS ? (__s64)(number >> 2) : v8_signed(number);
	s->inlined.offset += by < 0 ? ~by : by;
	return s->inlined.offset > s->inlined.wanted_offset;
}

/* An element of the deoptimization data behind the inlinings. */
static __always_inline __u64 v8_exit_element(const struct runtime_state *s, __u64 index)
{
	return runtime_word(s->deopt - 1 + V8_ARRAY_HEAD +
			    8 * (s->desc.v8.inlinings_index + index));
}

/* Halves the exits behind calls among which s->pc's is: they are in the order of the code.  A found one has its bytecode's index. */
static long v8_see_exit(__u32 i, void *ctx)
{
	struct runtime_state *s = *(struct runtime_state **)ctx;
	__u64 middle = s->inlined.first_exit + s->inlined.exit_count / 2, words[V8_EXIT_WORDS];
	__u64 wanted = s->pc + 1 - s->code_start;

	if (!s->inlined.exit_count ||
	    bpf_probe_read_user(words, sizeof(words),
				(const void *)(s->deopt - 1 + V8_ARRAY_HEAD +
					       8 * (s->desc.v8.inlinings_index + V8_FIRST_EXIT +
						    V8_EXIT_WORDS * middle))))
		return 1;
	if (words[2] >> 32 == wanted) {
		s->inlined.bytecode = (__s64)words[0] >> 32;
		return 1;
	}
	if (words[2] >> 32 > wanted) {
		s->inlined.exit_count /= 2;
	} else {
		s->inlined.exit_count -= s->inlined.exit_count / 2 + 1;
		s->inlined.first_exit = middle + 1;
	}
	return 0;
}

/*
 * Finds the exit behind the call that returns to s->pc + 1.  A frame whose code was invalidated returns to an exit itself, whose
 * address V8 put there: exits stand behind all other code.  1: there is none.
 */
__attribute__((noinline)) int runtime_v8_find_exit(struct runtime_state *s)
{
	__u64 begin, eager, lazy;

	if (!s)
		return 1;
	begin = v8_exit_element(s, V8_EXITS_BEGIN);
	eager = v8_exit_element(s, V8_EAGER_COUNT);
	lazy = v8_exit_element(s, V8_LAZY_COUNT);
	if ((__u32)begin || s->pc - s->code_start >= begin >> 32 || eager >> 32 > V8_EXITS_MAX ||
	    lazy >> 32 > V8_EXITS_MAX ||
	    runtime_word(s->deopt - 1 + 8) >> 32 !=
		    s->desc.v8.inlinings_index + V8_FIRST_EXIT +
			    V8_EXIT_WORDS * ((eager >> 32) + (lazy >> 32)))
		return 1;
	s->inlined.bytecode = -1;
	s->inlined.first_exit = eager >> 32;
	s->inlined.exit_count = lazy >> 32;
	bpf_loop(V8_EXIT_ROUNDS, v8_see_exit, &s, 0);
	return s->inlined.bytecode < 0;
}

/* Begins to look for the position of what is at an offset, in the table in s->event.lines. */
static __always_inline void v8_begin_table(struct runtime_state *s, __u64 table_bytes,
					   __s64 wanted_offset)
{
	s->inlined.table_bytes = table_bytes;
	s->inlined.number = s->inlined.shift = s->inlined.is_second = s->inlined.position =
		s->inlined.found = 0;
	s->inlined.offset = V8_FIRST_OFFSET;
	s->inlined.wanted_offset = wanted_offset;
}

/* Reads what leads from s->pc, in the code that was found, to its inlined functions.  1: it has no such tables. */
__attribute__((noinline)) int runtime_v8_tables(struct runtime_state *s)
{
	__u64 table, count;

	if (!s || (s->deopt & 3) != 1 ||
	    (RUNTIME_FIELD(s->code, __u32, s->desc.v8.code_flags) & V8_KIND_MASK) !=
		    s->desc.v8.turbofan_kind)
		return 1;
	table = RUNTIME_FIELD(s->code, __u64, s->desc.v8.code_positions);
	s->inlined.outer = v8_outer(s);
	s->inlined.count = v8_deopt_element(s, s->desc.v8.inlined_count_index) >> 32;
	s->inlined.literals = v8_deopt_element(s, s->desc.v8.literals_index);
	s->inlined.inlinings = v8_deopt_element(s, s->desc.v8.inlinings_index);
	if (!s->inlined.outer || (s->inlined.literals & 3) != 1 ||
	    (s->inlined.inlinings & 3) != 1 ||
	    s->inlined.count > runtime_word(s->inlined.literals - 1 + 8) >> 32)
		return 1;
	s->inlined.inlinings_bytes = runtime_word(s->inlined.inlinings - 1 + 8) >> 32;
	if (v8_read(s, s->object, 16, table) != s->desc.v8.bytes_type)
		return 1;
	count = RUNTIME_FIELD(s->object, __u32, 12);
	v8_begin_table(s, count, s->pc - s->code_start);
	barrier_var(count);
	return count > RUNTIME_LINES_BYTES ||
	       bpf_probe_read_user(s->event.lines, count, (const void *)(table - 1 + 16));
}

/* The function at s->inlined.found: adds it to the place that is made.  1: it is the last one, or no function. */
static long v8_see_inlined(__u32 i, void *ctx)
{
	struct runtime_state *s = *(struct runtime_state **)ctx;
	__u64 position = s->inlined.found, function = s->inlined.outer, n = s->place.count;
	__u64 inlining = position >> V8_INLINING_AT & V8_INLINING_MASK, call[2], at;

	s->found = 0;
	barrier_var(n);
	at = (position >> 1 & V8_SCRIPT_MASK) - 1;
	if (n >= RUNTIME_INLINED || position & 1 || at >> 32)
		return 1;
	if (inlining) {
		if (inlining * V8_INLINING_BYTES > s->inlined.inlinings_bytes ||
		    bpf_probe_read_user(call, sizeof(call),
					(const void *)(s->inlined.inlinings - 1 + V8_ARRAY_HEAD +
						       V8_INLINING_BYTES * (inlining - 1))))
			return 1;
		s->inlined.found = call[0];
		if ((__s32)call[1] != -1 && (__u32)call[1] >= s->inlined.count)
			return 1;
		if ((__s32)call[1] != -1)
			function = runtime_word(s->inlined.literals - 1 + V8_ARRAY_HEAD +
						8 * (__u64)(__u32)call[1]);
	}
	if (runtime_v8_code(s, function))
		return 1;
	s->inlined.innermost = n ? s->inlined.innermost : function;
	s->place.words[n] = (__u64)s->code_id << RUNTIME_INSTR_BITS |
			    (at < RUNTIME_IN_SCRIPT ? RUNTIME_IN_SCRIPT | at : RUNTIME_NO_BYTECODE);
	s->place.count = n + 1;
	s->found = !inlining;
	return !inlining;
}

/* A sum that distinguishes the code that was found from other code that was there before, or comes there. */
static __always_inline __u64 v8_sum(const struct runtime_state *s)
{
	__u64 sum = s->deopt * 31 + RUNTIME_FIELD(s->code, __u64, s->desc.v8.code_positions);

	sum = sum * 37 + RUNTIME_FIELD(s->code, __u32, s->desc.v8.code_size);
	return sum * 41 + v8_deopt_element(s, s->desc.v8.compilation_index);
}

/*
 * Has in s->place the functions of a return address that was seen before, at pc + 1; none: the frame's own stands alone.  1: it was
 * not seen, or is in other code now.
 */
__attribute__((noinline)) int runtime_v8_known(__u64 pc)
{
	struct runtime_state *s = runtime_here();
	const struct runtime_place *p;

	if (!s)
		return 1;
	s->key.code = s->pc = pc;
	p = bpf_map_lookup_elem(&runtime_places, &s->key);
	if (!p)
		return 1;
	s->place = *p;
	if (runtime_v8_is_code(s, s->place.block,
			       runtime_word(s->place.block - s->desc.v8.stream_head)) == 1 &&
	    v8_sum(s) == s->place.sum)
		return 0;
	s->place.count = 0;
	return 1;
}

/* Remembers s->place for pc. */
__attribute__((noinline)) int runtime_v8_remember(__u64 pc)
{
	struct runtime_state *s = runtime_here();

	if (!s)
		return 1;
	s->key.code = pc;
	return bpf_map_update_elem(&runtime_places, &s->key, &s->place, BPF_ANY);
}

/* Whether the bytecode of the innermost function has the position that was found where the exit is. */
static __always_inline bool v8_is_position(struct runtime_state *s, __u64 position)
{
	__u64 count = 0;

	if (v8_read(s, s->object, 64, s->inlined.innermost) == s->desc.v8.shared_type)
		count = (__u32)runtime_v8_positions(
			s, RUNTIME_FIELD(s->object, __u64, s->desc.v8.shared_data));
	v8_begin_table(s, count, s->inlined.bytecode);
	bpf_loop(RUNTIME_LINES_BYTES, v8_see_byte, &s, 0);
	return s->inlined.found && !((s->inlined.found ^ position) >> 1 & V8_SCRIPT_MASK);
}

/* Makes s->place of the code that was found, at s->pc, in a frame of function own. */
static __always_inline void v8_make_place(struct runtime_state *s, __u32 own)
{
	__u64 position;

	s->place.count = 0;
	s->place.block = s->code_start;
	s->place.sum = v8_sum(s);
	if (runtime_v8_tables(s) || runtime_v8_find_exit(s))
		return;
	bpf_loop(RUNTIME_LINES_BYTES, v8_see_byte, &s, 0);
	position = s->inlined.found;
	if (position)
		bpf_loop(RUNTIME_INLINED, v8_see_inlined, &s, 0);
	if (!position || !s->found || s->code_id != own || !v8_is_position(s, position))
		s->place.count = 0;
}

/* ---- frames ---- */

/* The number of the function whose frame that is, in s->code_id.  1: it is no function's. */
__attribute__((noinline)) int runtime_v8_function(struct runtime_state *s, __u64 fp)
{
	__u64 slots[2]; /* the function, the context */
	int type;

	if (!s)
		return 1;
	if (bpf_probe_read_user(slots, sizeof(slots), (const void *)(fp - 16)) ||
	    (slots[1] & 3) != 1)
		return 1;
	type = v8_read(s, s->object, 64, slots[0]);
	if (type < s->desc.v8.function_first ||
	    type - s->desc.v8.function_first >= s->desc.v8.function_count)
		return 1;
	return runtime_v8_code(s, RUNTIME_FIELD(s->object, __u64, s->desc.v8.function_shared));
}

/*
 * The place in the interpreted function whose frame that is, which called something: there the frame has its bytecode, and in
 * that the call.  The frame of compiled code has other things there.
 */
__attribute__((noinline)) int runtime_v8_place(struct runtime_state *s, __u64 fp)
{
	__u64 slots[2], at; /* a Smi: bytes from the tagged pointer; the bytecode */

	if (!s)
		return RUNTIME_NO_BYTECODE;
	if (!s->desc.v8.bytecode_type ||
	    bpf_probe_read_user(slots, sizeof(slots), (const void *)(fp - 40)) || (__u32)slots[0] ||
	    v8_read(s, s->object, 16, slots[1]) != s->desc.v8.bytecode_type)
		return RUNTIME_NO_BYTECODE;
	at = (slots[0] >> 32) - (s->desc.v8.bytecode_head - 1);
	if (at >= RUNTIME_FIELD(s->object, __u32, 12) ||
	    at >= RUNTIME_IN_SCRIPT - RUNTIME_NO_BYTECODE - 1)
		return RUNTIME_NO_BYTECODE;
	return (int)at + RUNTIME_NO_BYTECODE + 1;
}

static __always_inline int v8_put(struct runtime_state *s, const struct walk_state *w, __u64 i,
				  __u32 id, __u64 place)
{
	return runtime_put_of(s, w, i, (__u64)id << RUNTIME_INSTR_BITS | place);
}

/* The functions of frame i, which returns to code that V8 made.  1: there is no room. */
static __always_inline int v8_put_place(struct walk_state *w, struct runtime_state *s, __u64 i)
{
	__u32 k;

	for (k = 0; k < RUNTIME_INLINED; k++) {
		if (k >= s->place.count)
			return 0;
		if (runtime_put_of(s, w, i, s->place.words[k]))
			return 1;
	}
	return 0;
}

__attribute__((noinline)) int runtime_v8_frame(struct walk_state *w, struct runtime_state *s,
					       __u32 index)
{
	__u64 i = index, fp, how, place = RUNTIME_NO_BYTECODE;
	bool is_known;
	__u32 own;

	barrier_var(i);
	if (!s || !w || i >= WALK_FRAMES_MAX || i >= w->n)
		return 1;
	how = w->fps[i] & WALK_FP_BITS;
	fp = w->fps[i] - how;
	if (!fp)
		return 0;
	if (!s->desc.v8.is_understood) {
		s->why = how & WALK_FP_MADE ? RUNTIME_NOT_UNDERSTOOD : s->why;
		return 0;
	}
	s->place.count = 0;
	is_known = how != WALK_FP_MADE || !s->desc.v8.code_positions ||
		   !runtime_v8_known(w->frames[i] - 1);
	if (s->place.count)
		return v8_put_place(w, s, i);
	own = runtime_v8_function(s, fp) ? 0 : s->code_id;
	if (how == WALK_FP_MADE) {
		if (own && !is_known) {
			s->pc = w->frames[i] - 1;
			s->deopt = s->found = 0;
			bpf_loop(V8_CODE_ROUNDS, v8_look_for_code, &s, 0);
			if (s->deopt) {
				v8_make_place(s, own);
				runtime_v8_remember(w->frames[i] - 1);
			}
		}
		if (s->place.count)
			return v8_put_place(w, s, i);
		return own ? v8_put(s, w, i, own, place) : 0;
	}
	if (how == (WALK_FP_MADE | WALK_FP_EXACT) && s->desc.v8.code_type) {
		s->pc = w->frames[i];
		s->deopt = 0;
		bpf_loop(V8_CODE_ROUNDS, v8_look_for_code, &s, 0);
		if (!runtime_v8_innermost(s, fp, own)) {
			if (v8_put(s, w, i, s->code_id, place))
				return 1;
			own = own == s->code_id ? 0 : own;
		}
	}
	if (own && !how)
		place = (__u32)runtime_v8_place(s, fp);
	return own ? v8_put(s, w, i, own, place | RUNTIME_FRAME_BEHIND) : 0;
}

static long v8_frame(__u32 index, void *ctx)
{
	struct runtime_walk *of = ctx;

	return runtime_v8_frame(of->w, of->s, index) &
	       1; /* for the verifier, which does not look into it here */
}

static __always_inline void runtime_v8_walk(struct walk_state *w, struct runtime_state *s)
{
	struct runtime_walk of = { w, s, NULL };
	struct v8_process *known;

	runtime_set_process(&s->key);
	known = v8_process(s);
	if (known && known->writes_names)
		return;
	s->stream_map = known ? known->stream_map : 0;
	/* For all frames: a stranger's stack could have hundreds at which the search begins, behind frames of signals. */
	s->code_rounds = V8_CODE_ROUNDS;
	bpf_loop(WALK_FRAMES_MAX, v8_frame, &of, 0);
	if (known) {
		known->stream_map = s->stream_map;
	} else if ((s->n || s->why != RUNTIME_COMPLETE) && runtime_v8_writes_names(s)) {
		s->n = 0;
		s->why = RUNTIME_COMPLETE;
	}
}

#endif
