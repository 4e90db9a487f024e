/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm_step - from a frame in the code of a JVM to its caller
 *
 * Compiled methods keep no frame pointer, so the walk of the native stack steps over them here (runtime_jvm_step()): below the
 * caller's stack pointer lie the return address and the caller's rbp.  Where the thread itself is, the frame may not be there
 * yet, or no more: the instructions at pc show which.  The interpreter's frames are linked by rbp, and have the method and the
 * caller's stack pointer at fixed places.
 */
#ifndef EBPREC_BPF_RUNTIME_JVM_STEP_H
#define EBPREC_BPF_RUNTIME_JVM_STEP_H

#include "bpf/runtime/jvm_method.bpf.h"

/* ---- where the thread is ---- */

/* The parts of a frame that are on the stack. */
enum jvm_frame {
	JVM_FRAME,         /* all of it */
	JVM_FRAME_RBP,     /* the return address, and the caller's rbp */
	JVM_FRAME_RETURN,  /* the return address */
	JVM_FRAME_NO_RBP,  /* room for all of it, but the caller's rbp is still in the register */
	JVM_FRAME_UNKNOWN, /* the code cannot be read */
};

static __always_inline __u32 jvm_insn(const struct jvm_state *j, __u64 at)
{
	return j->insns[at] | j->insns[at + 1] << 8 | j->insns[at + 2] << 16;
}

/* Whether room for a frame is made behind pc: j->is_found. */
static long jvm_see_sub(__u32 i, void *ctx)
{
	struct jvm_state *j = *(struct jvm_state **)ctx;
	__u64 at = JVM_CODE_BEFORE + (__u64)i;
	__u32 insn;

	barrier_var(at);
	if (at > JVM_CODE_BYTES - 3)
		return 1;
	insn = jvm_insn(j, at);
	j->is_found = insn == 0xec8348 || insn == 0xec8148;
	return j->is_found;
}

/*
 * HotSpot makes a frame by push %rbp; sub $n,%rsp, or by sub $n,%rsp; mov %rbp,n(%rsp), and gives it up by add $n,%rsp; pop
 * %rbp; a comparison of rsp with the thread's poll word, and a jump; ret.
 */
__attribute__((noinline)) int runtime_jvm_frame_state(struct jvm_state *j, __u64 pc)
{
	__u32 here = JVM_CODE_BEFORE, before, insn;

	if (!j || bpf_probe_read_user(j->insns, sizeof(j->insns), (const void *)(pc - here)))
		return JVM_FRAME_UNKNOWN;
	insn = jvm_insn(j, here);
	before = j->insns[here - 1];
	if (insn == 0xec8b48 || insn == 0xe58948) /* mov %rsp,%rbp */
		return before == 0x55 ? JVM_FRAME_RBP : JVM_FRAME;
	if (insn == 0xec8348 || insn == 0xec8148) { /* sub $n,%rsp */
		insn = jvm_insn(j, here - 3);
		return before == 0x55 || (j->insns[here - 4] == 0x55 &&
					  (insn == 0xec8b48 || insn == 0xe58948))
			       ? JVM_FRAME_RBP
			       : JVM_FRAME_RETURN;
	}
	if ((insn == 0x6c8948 || insn == 0xac8948) && j->insns[here + 3] == 0x24)
		return JVM_FRAME_NO_RBP; /* mov %rbp,n(%rsp) */
	if ((__s64)(pc - j->code) < j->complete) {
		j->is_found = 0;
		bpf_loop(JVM_PROLOGUE, jvm_see_sub, &j, 0);
		if (j->is_found)
			return JVM_FRAME_RETURN;
	}
	if (j->insns[here] == 0x5d) /* pop %rbp */
		return JVM_FRAME_RBP;
	if (j->insns[here] == 0xc3 || insn == 0xa73b49 ||
	    insn == 0x673b49) /* ret, cmp n(%r15),%rsp */
		return JVM_FRAME_RETURN;
	before = jvm_insn(j, here - 7);
	if (j->insns[here] == 0x0f && j->insns[here + 1] == 0x87 && /* ja, behind that */
	    (before == 0xa73b49 || jvm_insn(j, here - 4) == 0x673b49))
		return JVM_FRAME_RETURN;
	if ((insn == 0x158d4c && jvm_insn(j, here + 7) == 0x97894d) ||
	    (insn == 0x97894d && before == 0x158d4c)) /* where it jumps to, for a safepoint */
		return JVM_FRAME_RETURN;
	return JVM_FRAME;
}

/* ---- steps ---- */

/* The caller's registers, where they may be such. */
static __always_inline int jvm_step_to(struct walk_state *w, __u64 pc, __u64 sp, __u64 fp)
{
	if (sp <= w->regs.sp || pc < UNWIND_PC_MIN || pc >> UNWIND_X86_PC_BITS)
		return 1;
	w->regs.pc = pc;
	w->regs.sp = sp;
	w->regs.fp = fp;
	w->regs.flags = UNWIND_F_CALLER | (w->regs.flags & UNWIND_F_FP_LOST);
	return 0;
}

/* The same where the frame's form is guessed, so that the caller has to have called. */
static __always_inline int jvm_guess(struct walk_state *w, struct jvm_state *j, __u64 pc, __u64 sp,
				     __u64 fp)
{
	j->is_guess = 1;
	return jvm_step_to(w, pc, sp, fp);
}

/* Up to the return address at sp. */
static __always_inline int jvm_step_return(struct walk_state *w, struct jvm_state *j)
{
	if (walk_fetch(w, w->regs.sp))
		return 1;
	return jvm_guess(w, j, w->word[0], w->regs.sp + 8, w->regs.fp);
}

/* By the frame pointer.  The barrier at the entry of a method pushes -1 before it makes its frame. */
static __always_inline int jvm_step_fp(struct walk_state *w, struct jvm_state *j)
{
	__u64 fp = w->regs.fp, at = fp + 8, callers;

	if (w->regs.flags & UNWIND_F_FP_LOST || fp & 7 || fp < w->regs.sp ||
	    fp - w->regs.sp > JVM_STACK_BYTES || walk_fetch(w, fp))
		return 1;
	callers = w->word[0];
	if (w->word[1] == ~0ULL) {
		if (walk_fetch(w, at))
			return 1;
		at += 8;
	}
	return jvm_guess(w, j, w->word[1], at + 8, callers);
}

/* Over a frame of that many words, at whose end are the caller's rbp and the return address. */
static __always_inline int jvm_step_words(struct walk_state *w, struct jvm_state *j, __u64 words,
					  bool is_exact)
{
	__u64 end = w->regs.sp + 8 * words;

	if (words < 2 || (!walk_take_word(w, end - 16) && walk_fetch(w, end - 16)))
		return 1;
	if (is_exact)
		return jvm_guess(w, j, w->word[1], end, w->word[0]);
	return jvm_step_to(w, w->word[1], end, w->word[0]);
}

/* A compiled method, or a stub with frames of one size. */
__attribute__((noinline)) int runtime_jvm_step_sized(struct walk_state *w, struct jvm_state *j,
						     __u32 is_exact)
{
	__u32 words;
	int state;

	if (!w || !j)
		return 1;
	words = j->frame_words;
	state = is_exact ? runtime_jvm_frame_state(j, w->regs.pc) : JVM_FRAME;
	switch (state) {
	case JVM_FRAME:
		return jvm_step_words(w, j, words, is_exact);
	case JVM_FRAME_RBP:
		return jvm_step_words(w, j, 2, true);
	case JVM_FRAME_RETURN:
		return jvm_step_return(w, j);
	case JVM_FRAME_NO_RBP:
		if (walk_fetch(w, w->regs.sp + 8 * (__u64)words - 8))
			return 1;
		return jvm_guess(w, j, w->word[0], w->regs.sp + 8 * (__u64)words, w->regs.fp);
	default:
		return 1;
	}
}

/*
 * Whether a frame returns to the barrier below those of a virtual thread that are on the stack: the others are on the heap yet.
 * It begins by mov n(%r15),%rsp, to the frame that the thread was entered by, which has its rbp there already.
 */
static __always_inline bool jvm_is_barrier(const struct jvm_state *j, __u64 pc)
{
	return j->kind == JVM_STUBS && (runtime_word(pc) & 0xffffff) == 0xa78b49;
}

/* Code that jumps on, or of which each piece has its own frame: most of them begin by push %rbp; mov %rsp,%rbp. */
__attribute__((noinline)) int runtime_jvm_step_stub(struct walk_state *w, struct runtime_state *s,
						    struct jvm_state *j, __u32 is_exact)
{
	int state;

	if (!w || !s || !j)
		return 1;
	if (!is_exact) {
		if (s->why == RUNTIME_COMPLETE && jvm_is_barrier(j, w->regs.pc))
			s->why = RUNTIME_ON_HEAP;
		return jvm_step_fp(w, j);
	}
	if (j->kind == JVM_FRAMELESS)
		return jvm_step_return(w, j);
	j->complete = 0;
	j->blob_bytes = 0;
	state = runtime_jvm_frame_state(j, w->regs.pc);
	if (j->insns[JVM_CODE_BEFORE] == 0x55 || state == JVM_FRAME_RETURN)
		return jvm_step_return(w, j);
	return state == JVM_FRAME_RBP ? jvm_step_words(w, j, 2, true) : jvm_step_fp(w, j);
}

enum { JVM_R13 = 13 }; /* of walk_state.gprs: enum unwind_regno */

/* Words of the interpreter's frame, from rbp - 64 on. */
enum { JVM_BYTECODE = 0, JVM_FRAME_METHOD = 5, JVM_SENDER_SP = 7, JVM_SENDER_FP, JVM_SENDER_PC };

/*
 * Whether the method whose ConstMethod was read is native: it has no bytecode.  Its frame has 0 in that place, and, from the first
 * time that it calls the JVM itself on, which binds it, where bytecode would begin.
 */
static __always_inline bool jvm_is_native(const struct runtime_state *s, const struct jvm_state *j,
					  __u64 bytecode)
{
	return !JVM_CONST_FIELD(j, __u16, CONST_CODE_BYTES) &&
	       bytecode == j->const_method + s->desc.jvm.const_bytes;
}

/* Whether the frame at rbp is one of the interpreter's: it has a method, and is in its bytecode, or the method has none. */
__attribute__((noinline)) int
runtime_jvm_is_interpreted(struct walk_state *w, struct runtime_state *s, struct jvm_state *j)
{
	__u64 fp;

	if (!w || !s || !j)
		return 0;
	fp = w->regs.fp;
	if (w->regs.flags & UNWIND_F_FP_LOST || fp & 7 || fp < w->regs.sp + JVM_FRAME_BYTES ||
	    fp - w->regs.sp > JVM_STACK_BYTES ||
	    bpf_probe_read_user(j->frame, sizeof(j->frame), (const void *)(fp - 64)))
		return 0;
	/* linkToStatic() and others take an argument away, so it may be 8 bytes above. */
	if (j->frame[JVM_SENDER_SP] < fp + 8 || j->frame[JVM_SENDER_SP] - fp > JVM_STACK_BYTES ||
	    j->frame[JVM_SENDER_SP] & 7 || j->frame[JVM_FRAME_METHOD] & 7 ||
	    runtime_jvm_const(j, j->frame[JVM_FRAME_METHOD]))
		return 0;
	return !j->frame[JVM_BYTECODE] || jvm_is_bytecode(s, j, j->frame[JVM_BYTECODE]) ||
	       jvm_is_native(s, j, j->frame[JVM_BYTECODE]);
}

/* Leaves what the frame at hand has of a method (enum jvm_frame_of) for the end of the walk. */
static __always_inline void jvm_leave(struct walk_state *w, struct jvm_state *j, __u64 value)
{
	__u64 n = (__u64)w->n - 1;

	barrier_var(n);
	if (n < WALK_FRAMES_MAX)
		w->fps[n] = value;
	j->has_left = 1;
}

/* A method whose ConstMethod was read, at that bytecode; 0: it is not known. */
static __always_inline void jvm_store_method(struct walk_state *w, struct runtime_state *s,
					     struct jvm_state *j, __u64 method, __u64 bytecode)
{
	__u64 place = RUNTIME_NO_BYTECODE, word;
	__u32 why;

	if (bytecode && jvm_is_bytecode(s, j, bytecode))
		place = jvm_place_of(bytecode - j->const_method - s->desc.jvm.const_bytes);
	why = s->why;
	if (runtime_jvm_code(s, j, method))
		return; /* the next one may have a name; s->why stays */
	s->why = why;
	word = (__u64)s->code_id << RUNTIME_INSTR_BITS | place;
	if (j->has_left)
		jvm_leave(w, j, word << JVM_FRAME_SHIFT | JVM_FRAME_WORD);
	else
		runtime_put_of(s, w, (__u64)w->n - 1, word);
}

/*
 * A method of the interpreter.  Where the thread itself is, its bytecode is in r13; in the frame stands that of the last call.
 */
static __always_inline void jvm_store_interpreted(struct walk_state *w, struct runtime_state *s,
						  struct jvm_state *j, __u32 is_exact)
{
	__u64 bytecode = is_exact ? w->gprs[JVM_R13] : j->frame[JVM_BYTECODE];

	jvm_store_method(w, s, j, j->frame[JVM_FRAME_METHOD], bytecode);
}

/*
 * A compiled method.  For a return address the nmethod has the methods that were inlined there, and their bytecodes; for
 * the address where the thread itself is it has none.
 */
static __always_inline void jvm_store_compiled(struct walk_state *w, struct runtime_state *s,
					       struct jvm_state *j, __u32 is_exact)
{
	if (!is_exact)
		jvm_leave(w, j, j->block | JVM_FRAME_NEW);
	else if (!runtime_jvm_const(j, j->method))
		jvm_store_method(w, s, j, j->method, 0);
}

/* Over the frame of a compiled method that was seen at this return address before: most frames are such. */
static __always_inline int jvm_step_known(struct runtime_state *s, struct walk_state *w,
					  struct jvm_state *j, const struct runtime_place *p)
{
	if (j->has_left)
		jvm_leave(w, j, j->block | JVM_FRAME_NEW);
	else
		jvm_put_place(s, w, (__u64)w->n - 1, p);
	return jvm_step_words(w, j, j->frame_words, false);
}

static __always_inline int jvm_step_interpreted(struct walk_state *w, struct runtime_state *s,
						struct jvm_state *j, __u32 is_exact)
{
	/* It is being made, and the words below rsp are of other frames. */
	if (is_exact && w->regs.fp - w->regs.sp < JVM_FRAME_BYTES)
		return jvm_step_fp(w, j);
	if (!runtime_jvm_is_interpreted(w, s, j)) /* its frame is not there yet, or no more */
		return is_exact ? jvm_step_return(w, j) : 1;
	jvm_store_interpreted(w, s, j, is_exact);
	return jvm_step_to(w, j->frame[JVM_SENDER_PC], j->frame[JVM_SENDER_SP],
			   j->frame[JVM_SENDER_FP]);
}

/* Whether the code at hand begins by push %rbp; mov %rsp,%rbp. */
static __always_inline bool jvm_enters(const struct jvm_state *j)
{
	__u32 first = runtime_word(j->code);

	return first == 0xec8b4855 || first == 0xe5894855;
}

/* By the kind of the code at hand. */
static __always_inline int jvm_step_code(struct walk_state *w, struct runtime_state *s,
					 struct jvm_state *j, __u32 is_exact)
{
	j->is_guess = 0;
	if (j->kind == JVM_INTERPRETER)
		return jvm_step_interpreted(w, s, j, is_exact);
	if (j->kind == JVM_METHOD)
		jvm_store_compiled(w, s, j, is_exact);
	/* C1's stubs have frames of one size where they call; where the thread itself is in one, rbp is the way. */
	if (j->kind == JVM_METHOD ||
	    (j->kind == JVM_OTHER && j->frame_words && !(is_exact && jvm_enters(j))))
		return runtime_jvm_step_sized(w, j, is_exact);
	return runtime_jvm_step_stub(w, s, j, is_exact);
}

/* To the caller of the code that pc is in, by what that code is.  1: it is no such code; 2: the caller is not known. */
static __always_inline int jvm_step_at(struct walk_state *w, struct runtime_state *s,
				       struct jvm_state *j, __u64 pc, __u32 is_exact)
{
	int err = runtime_jvm_find(w, pc);

	if (!err && jvm_step_code(w, s, j, is_exact))
		err = 2;
	/* The interpreter jumps, and pushes where to return to itself; the barrier is put in the place of a caller. */
	if (!err && j->is_guess && !runtime_is_behind_call(w->regs.pc) &&
	    (runtime_jvm_find(w, w->regs.pc - 1) ||
	     (j->kind != JVM_INTERPRETER && !jvm_is_barrier(j, w->regs.pc))))
		err = 2;
	return err;
}

/* To the caller of code that a JVM made.  1: it is no such code, or, with w->jvm JVM_STUCK, the caller is not known. */
__attribute__((noinline)) int runtime_jvm_step(struct walk_state *w, __u32 is_exact)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	const struct runtime_place *p = NULL;
	__u64 pc;
	int err;

	if (!w || !s || !j || UNWIND_HERE != UNWIND_X86_64)
		return 1;
	if (w->jvm == WALK_JVM_NEW)
		w->jvm = runtime_jvm_enter(w, s) ? WALK_JVM_UNKNOWN : WALK_JVM_KNOWN;
	if (w->jvm != WALK_JVM_KNOWN)
		return 1;
	pc = unwind_lookup_pc(&w->regs);
	if (!is_exact && !jvm_is_interpreter(j, pc))
		p = jvm_known_place(s, j, pc);
	if (p && p->count)
		err = 2 * jvm_step_known(s, w, j, p);
	else
		err = jvm_step_at(w, s, j, pc, is_exact);
	if (err == 2)
		w->jvm = WALK_JVM_STUCK;
	return !!err;
}

#endif
