/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm - the frames of Java methods, for HotSpot of Java 17 to 25 on x86-64
 *
 * Compiled methods keep no frame pointer, so the walk of the native stack steps over them here (runtime_jvm_step()).  A pc in
 * a code heap leads by the heap's map of segments to the block with the code, whose head (a CodeBlob) has the size of its
 * frames: below the caller's stack pointer lie the return address and the caller's rbp.  Where the thread itself is, the frame may not
 * be there yet, or no more: the instructions at pc show which.  The interpreter's frames are linked by rbp, and have the
 * method and the caller's stack pointer at fixed places.  When the stack is complete, the methods of its frames get their names.
 *
 * No pointer is trusted: a block has to be in use and have pc in it, a frame of the interpreter a method with the bytecode that
 * it is at, a method a name in the pool of its class; else the walk ends there, or the frame has no name.  A caller that was
 * not found by a frame of known size has to be behind a call.  Loops are bounded.
 */
#ifndef EBPREC_BPF_RUNTIME_JVM_H
#define EBPREC_BPF_RUNTIME_JVM_H

#include "bpf/runtime/runtime.bpf.h"

#define JVM_PROCESSES    1024
#define JVM_HEAPS        4
#define JVM_HOPS         32 /* from a segment to the first one of its block; one hop crosses 254 of them */
#define JVM_TRIES        64 /* for a process whose structs cannot be read yet */
#define JVM_ENTRY_BYTES  48 /* of gHotSpotVMStructs, and where the offset is */
#define JVM_ENTRY_OFFSET 32
#define JVM_OFFSET_MAX   504
#define JVM_BLOB_BYTES   208 /* of a block that are read: its head, and that of the blob */
#define JVM_BLOB_MAX     184 /* where its last field may be */
#define JVM_FRAME_WORDS  (1u << 16)
#define JVM_FRAME_BYTES \
	64 /* of an interpreter's frame, from rbp down, that have what is read of it */
#define JVM_STACK_BYTES (1u << 20) /* the most of one */
#define JVM_CODE_BEFORE 8          /* bytes that are read before pc */
#define JVM_CODE_BYTES  56
#define JVM_PROLOGUE    40 /* after pc, in which the frame may yet be made */

/* The first eight characters of a blob's name. */
#define JVM_NAME(a, b, c, d, e, f, g, h)                                                         \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

enum jvm_code {
	JVM_OTHER,
	JVM_METHOD,
	JVM_INTERPRETER,
	JVM_STUBS,     /* several pieces of code, of which each has its own frame */
	JVM_FRAMELESS, /* code that only jumps on */
};

struct jvm_heap {
	__u64 low, high, segments;
	__u64 shift;
};

struct jvm_process {
	__u64 start_ns;
	__u32 execs;
	__u16 tries, is_understood;
	__u16 offset[RUNTIME_JVM_FIELDS];
	struct jvm_heap heaps[JVM_HEAPS];
};

struct jvm_state {
	struct jvm_process process; /* the current one */
	__u64 blob, blob_bytes;     /* at hand; 0: none is */
	__u64 name, code;           /* of it: first characters, where its code begins */
	__u32 kind;                 /* enum jvm_code */
	__u32 frame_words;          /* 0: not known */
	__s32 complete;
	__u32 is_found, is_guess;
	__u64 method;
	__u64 list, count, segment; /* of heaps, or of bytes of a map of segments */
	__u64 frame[10];            /* of the interpreter, from rbp - 64 on */
	__u8 insns[JVM_CODE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVM_PROCESSES);
	__type(key, __u32);
	__type(value, struct jvm_process);
} jvm_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct jvm_state);
} jvm_states SEC(".maps");

static __always_inline struct jvm_state *jvm_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&jvm_states, &zero);
}

/* A word at a field of an object. */
static __always_inline __u64 jvm_word(const struct jvm_state *j, __u64 object,
				      enum runtime_jvm_field field)
{
	return runtime_word(object + j->process.offset[field]);
}

/* ---- the process ---- */

/* Code heap i of the list at j->list. */
static long jvm_read_heap(__u32 i, void *ctx)
{
	struct jvm_state *j = jvm_here();
	__u64 heap, space, at = i;

	barrier_var(at);
	if (!j || at >= JVM_HEAPS)
		return 1;
	j->process.heaps[at].low = j->process.heaps[at].high = 0;
	heap = at < j->count ? runtime_word(j->list + 8 * at) : 0;
	if (!heap)
		return 0;
	space = heap + j->process.offset[RUNTIME_JVM_HEAP_MEMORY];
	j->process.heaps[at].low = jvm_word(j, space, RUNTIME_JVM_SPACE_LOW);
	j->process.heaps[at].high = jvm_word(j, space, RUNTIME_JVM_SPACE_HIGH);
	space = heap + j->process.offset[RUNTIME_JVM_HEAP_SEGMENTS];
	j->process.heaps[at].segments = jvm_word(j, space, RUNTIME_JVM_SPACE_LOW);
	j->process.heaps[at].shift = jvm_word(j, heap, RUNTIME_JVM_HEAP_SHIFT) & 31;
	return 0;
}

/* Reads the code heaps of the current process.  1: there are none. */
__attribute__((noinline)) int runtime_jvm_heaps(void)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_desc *d;
	__u64 list;

	if (!s || !j)
		return 1;
	d = runtime_desc_of(s);
	if (!d)
		return 1;
	list = runtime_word(s->base + d->code_type);
	j->count = jvm_word(j, list, RUNTIME_JVM_ARRAY_COUNT);
	j->list = jvm_word(j, list, RUNTIME_JVM_ARRAY_DATA);
	bpf_loop(JVM_HEAPS, jvm_read_heap, 0, 0);
	return !j->count;
}

/* Whether offsets may be those of the structs; before a JVM has begun all are 0. */
static __always_inline bool jvm_are_offsets(const __u16 *o)
{
	return o[RUNTIME_JVM_ARRAY_DATA] && o[RUNTIME_JVM_HEAP_SEGMENTS] &&
	       o[RUNTIME_JVM_HEAP_MEMORY] != o[RUNTIME_JVM_HEAP_SEGMENTS] &&
	       o[RUNTIME_JVM_SPACE_LOW] != o[RUNTIME_JVM_SPACE_HIGH] && o[RUNTIME_JVM_BLOB_FRAME] &&
	       o[RUNTIME_JVM_NMETHOD_METHOD] && o[RUNTIME_JVM_BLOB_NAME] <= JVM_BLOB_MAX &&
	       o[RUNTIME_JVM_BLOB_BYTES] <= JVM_BLOB_MAX &&
	       o[RUNTIME_JVM_BLOB_CODE] <= JVM_BLOB_MAX &&
	       o[RUNTIME_JVM_BLOB_FRAME] <= JVM_BLOB_MAX &&
	       o[RUNTIME_JVM_BLOB_COMPLETE] <= JVM_BLOB_MAX &&
	       o[RUNTIME_JVM_NMETHOD_METHOD] <= JVM_BLOB_MAX && o[RUNTIME_JVM_METHOD_CONST] &&
	       o[RUNTIME_JVM_CONST_POOL] && o[RUNTIME_JVM_POOL_HOLDER] &&
	       o[RUNTIME_JVM_KLASS_NAME] && o[RUNTIME_JVM_SYMBOL_BYTES] &&
	       o[RUNTIME_JVM_SYMBOL_BODY];
}

/* The offset of field i, which becomes one that no field has where it is not known. */
static long jvm_read_offset(__u32 i, void *ctx)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_desc *d;
	__u64 off, at = i;

	barrier_var(at);
	if (!s || !j || at >= RUNTIME_JVM_FIELDS)
		return 1;
	d = runtime_desc_of(s);
	if (!d)
		return 1;
	if (bpf_probe_read_user(&off, sizeof(off),
				(const void *)(s->base + d->state + JVM_ENTRY_OFFSET +
					       JVM_ENTRY_BYTES * d->jvm.entry[at])) ||
	    off > JVM_OFFSET_MAX) {
		j->process.offset[RUNTIME_JVM_ARRAY_DATA] = 0;
		return 1;
	}
	j->process.offset[at] = off;
	return 0;
}

/* Before the first step of a walk: what is known of the process, or is found out now.  1: its frames cannot be read. */
__attribute__((noinline)) int runtime_jvm_enter(void)
{
	struct walk_state *w = walk_here();
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct jvm_process *known;
	struct runtime_desc *d;
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u16 tries = 0;

	if (!w || !s || !j)
		return 1;
	j->blob_bytes = 0;
	s->base = w->runtime_base;
	s->number = w->runtime;
	d = runtime_desc_of(s);
	if (!d || d->kind != RUNTIME_JVM || !d->jvm.block_bytes)
		return 1;
	runtime_set_process(&s->key);
	known = bpf_map_lookup_elem(&jvm_processes, &tgid);
	if (known && known->start_ns == s->key.start_ns && known->execs == s->key.execs) {
		tries = known->tries;
		if (known->is_understood || tries >= JVM_TRIES) {
			j->process = *known;
			return !known->is_understood;
		}
	}
	j->process.start_ns = s->key.start_ns;
	j->process.execs = s->key.execs;
	j->process.tries = tries + 1;
	j->process.offset[RUNTIME_JVM_ARRAY_DATA] = 0;
	bpf_loop(RUNTIME_JVM_FIELDS, jvm_read_offset, 0, 0);
	j->process.is_understood = jvm_are_offsets(j->process.offset) && !runtime_jvm_heaps();
	bpf_map_update_elem(&jvm_processes, &tgid, &j->process, BPF_ANY);
	return !j->process.is_understood;
}

/* ---- the code at hand ---- */

/* Goes from j->segment back by its byte of the map.  1: this is the first one of its block, or there is none. */
static long jvm_hop(__u32 i, void *ctx)
{
	struct jvm_state *j = jvm_here();
	__u8 back;

	if (!j)
		return 1;
	if (bpf_probe_read_user(&back, sizeof(back), (const void *)(j->list + j->segment)) ||
	    back == 255 || back > j->segment)
		return 1;
	j->is_found = !back;
	j->segment -= back;
	return !back;
}

/* Where the block with pc begins; 0: there is none. */
static __always_inline __u64 jvm_block(struct jvm_state *j, const struct jvm_heap *h, __u64 pc)
{
	j->list = h->segments;
	j->segment = (pc - h->low) >> (h->shift & 31);
	j->is_found = 0;
	bpf_loop(JVM_HOPS, jvm_hop, 0, 0);
	return j->is_found ? h->low + (j->segment << (h->shift & 31)) : 0;
}

static __always_inline const struct jvm_heap *jvm_heap_of(const struct jvm_state *j, __u64 pc)
{
	__u32 i;

	for (i = 0; i < JVM_HEAPS; i++)
		if (pc - j->process.heaps[i].low <
		    j->process.heaps[i].high - j->process.heaps[i].low)
			return &j->process.heaps[i];
	return NULL;
}

static __always_inline enum jvm_code jvm_kind(__u64 name)
{
	switch (name) {
	case JVM_NAME('n', 'm', 'e', 't', 'h', 'o', 'd', '\0'):
	case JVM_NAME('n', 'a', 't', 'i', 'v', 'e', ' ', 'n'):
		return JVM_METHOD;
	case JVM_NAME('I', 'n', 't', 'e', 'r', 'p', 'r', 'e'):
		return JVM_INTERPRETER;
	case JVM_NAME('S', 't', 'u', 'b', 'R', 'o', 'u', 't'):
		return JVM_STUBS;
	case JVM_NAME('v', 't', 'a', 'b', 'l', 'e', ' ', 'c'):
	case JVM_NAME('v', 't', 'a', 'b', 'l', 'e', ' ', 's'):
	case JVM_NAME('I', '2', 'C', '/', 'C', '2', 'I', ' '):
		return JVM_FRAMELESS;
	default:
		return JVM_OTHER;
	}
}

/* Reads the head of the block that pc is in: j->kind and others.  1: it is no such block. */
__attribute__((noinline)) int runtime_jvm_head(__u64 block, __u64 pc)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_desc *d;
	__u64 head, blob, size_bytes;
	__u32 words;

	if (!s || !j)
		return 1;
	j->blob_bytes = 0;
	d = runtime_desc_of(s);
	if (!d || runtime_read(s->object, JVM_BLOB_BYTES, block))
		return 1;
	head = d->jvm.block_bytes;
	blob = block + head;
	size_bytes = RUNTIME_FIELD(s->object, __u32,
				   head + j->process.offset[RUNTIME_JVM_BLOB_BYTES]);
	if (RUNTIME_FIELD(s->object, __u8, j->process.offset[RUNTIME_JVM_BLOCK_USED]) != 1 ||
	    pc - blob >= size_bytes)
		return 1;
	j->code = RUNTIME_FIELD(s->object, __u64, head + j->process.offset[RUNTIME_JVM_BLOB_CODE]);
	if (d->jvm.blob_code_bytes == 4)
		j->code = blob + (__u32)j->code;
	j->complete = RUNTIME_FIELD(s->object, __s32,
				    head + j->process.offset[RUNTIME_JVM_BLOB_COMPLETE]);
	if (d->jvm.blob_complete_bytes == 2)
		j->complete = (__s16)j->complete;
	words = RUNTIME_FIELD(s->object, __u32, head + j->process.offset[RUNTIME_JVM_BLOB_FRAME]);
	j->frame_words = words < JVM_FRAME_WORDS ? words : 0;
	j->name = runtime_word(
		RUNTIME_FIELD(s->object, __u64, head + j->process.offset[RUNTIME_JVM_BLOB_NAME]));
	j->kind = jvm_kind(j->name);
	j->method = j->kind == JVM_METHOD
			    ? RUNTIME_FIELD(s->object, __u64,
					    head + j->process.offset[RUNTIME_JVM_NMETHOD_METHOD])
			    : 0;
	j->blob = blob;
	j->blob_bytes = j->name ? size_bytes : 0;
	return !j->name;
}

/* Finds the code that pc is in.  1: it is in none; 2: nor is it outside of the code heaps. */
__attribute__((noinline)) int runtime_jvm_find(__u64 pc)
{
	struct walk_state *w = walk_here();
	struct jvm_state *j = jvm_here();
	const struct jvm_heap *h;
	__u64 block;

	if (!w || !j)
		return 1;
	if (pc - j->blob <
	    j->blob_bytes) /* the interpreter, most often: that of the frame before */
		return 0;
	h = jvm_heap_of(j, pc);
	if (!h && !w->jvm_heaps) { /* a heap grows */
		w->jvm_heaps = 1;
		if (runtime_jvm_heaps())
			return 1;
		h = jvm_heap_of(j, pc);
	}
	if (!h)
		return 1;
	block = jvm_block(j, h, pc);
	return !block || runtime_jvm_head(block, pc) ? 2 : 0;
}

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
	struct jvm_state *j = jvm_here();
	__u64 at = JVM_CODE_BEFORE + (__u64)i;
	__u32 insn;

	barrier_var(at);
	if (!j || at > JVM_CODE_BYTES - 3)
		return 1;
	insn = jvm_insn(j, at);
	j->is_found = insn == 0xec8348 || insn == 0xec8148;
	return j->is_found;
}

/*
 * HotSpot makes a frame by push %rbp; sub $n,%rsp, or by sub $n,%rsp; mov %rbp,n(%rsp), and gives it up by add $n,%rsp; pop
 * %rbp; a comparison of rsp with the thread's poll word, and a jump; ret.
 */
__attribute__((noinline)) int runtime_jvm_frame_state(__u64 pc)
{
	struct jvm_state *j = jvm_here();
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
		bpf_loop(JVM_PROLOGUE, jvm_see_sub, 0, 0);
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
static __always_inline int jvm_guess(struct walk_state *w, __u64 pc, __u64 sp, __u64 fp)
{
	struct jvm_state *j = jvm_here();

	if (!j)
		return 1;
	j->is_guess = 1;
	return jvm_step_to(w, pc, sp, fp);
}

/* Up to the return address at sp. */
static __always_inline int jvm_step_return(struct walk_state *w)
{
	if (walk_fetch(w->regs.sp))
		return 1;
	return jvm_guess(w, w->word[0], w->regs.sp + 8, w->regs.fp);
}

/* By the frame pointer.  The barrier at the entry of a method pushes -1 before it makes its frame. */
static __always_inline int jvm_step_fp(struct walk_state *w)
{
	__u64 fp = w->regs.fp, at = fp + 8, callers;

	if (w->regs.flags & UNWIND_F_FP_LOST || fp & 7 || fp < w->regs.sp ||
	    fp - w->regs.sp > JVM_STACK_BYTES || walk_fetch(fp))
		return 1;
	callers = w->word[0];
	if (w->word[1] == ~0ULL) {
		if (walk_fetch(at))
			return 1;
		at += 8;
	}
	return jvm_guess(w, w->word[1], at + 8, callers);
}

/* Over a frame of that many words, at whose end are the caller's rbp and the return address. */
static __always_inline int jvm_step_words(struct walk_state *w, __u64 words, bool is_exact)
{
	__u64 end = w->regs.sp + 8 * words;

	if (words < 2 || walk_fetch(end - 16))
		return 1;
	if (is_exact)
		return jvm_guess(w, w->word[1], end, w->word[0]);
	return jvm_step_to(w, w->word[1], end, w->word[0]);
}

/* A compiled method, or a stub with frames of one size. */
__attribute__((noinline)) int runtime_jvm_step_sized(__u32 is_exact)
{
	struct walk_state *w = walk_here();
	struct jvm_state *j = jvm_here();
	__u32 words;
	int state;

	if (!w || !j)
		return 1;
	words = j->frame_words;
	state = is_exact ? runtime_jvm_frame_state(w->regs.pc) : JVM_FRAME;
	switch (state) {
	case JVM_FRAME:
		return jvm_step_words(w, words, is_exact);
	case JVM_FRAME_RBP:
		return jvm_step_words(w, 2, true);
	case JVM_FRAME_RETURN:
		return jvm_step_return(w);
	case JVM_FRAME_NO_RBP:
		if (walk_fetch(w->regs.sp + 8 * (__u64)words - 8))
			return 1;
		return jvm_guess(w, w->word[0], w->regs.sp + 8 * (__u64)words, w->regs.fp);
	default:
		return 1;
	}
}

/* Code that jumps on, or of which each piece has its own frame: most of them begin by push %rbp; mov %rsp,%rbp. */
__attribute__((noinline)) int runtime_jvm_step_stub(__u32 is_exact)
{
	struct walk_state *w = walk_here();
	struct jvm_state *j = jvm_here();
	int state;

	if (!w || !j)
		return 1;
	if (!is_exact)
		return jvm_step_fp(w);
	if (j->kind == JVM_FRAMELESS)
		return jvm_step_return(w);
	j->complete = 0;
	j->blob_bytes = 0;
	state = runtime_jvm_frame_state(w->regs.pc);
	if (j->insns[JVM_CODE_BEFORE] == 0x55 || state == JVM_FRAME_RETURN)
		return jvm_step_return(w);
	return state == JVM_FRAME_RBP ? jvm_step_words(w, 2, true) : jvm_step_fp(w);
}

/* Words of the interpreter's frame, from rbp - 64 on. */
enum { JVM_BYTECODE = 0, JVM_FRAME_METHOD = 5, JVM_SENDER_SP = 7, JVM_SENDER_FP, JVM_SENDER_PC };

/* Whether the frame at rbp is one of the interpreter's: it has a method, and is in its bytecode, or the method has none. */
__attribute__((noinline)) int runtime_jvm_is_interpreted(void)
{
	struct walk_state *w = walk_here();
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_desc *d;
	__u64 fp, code, at;

	if (!w || !s || !j)
		return 0;
	d = runtime_desc_of(s);
	fp = w->regs.fp;
	if (!d || w->regs.flags & UNWIND_F_FP_LOST || fp & 7 || fp < w->regs.sp + JVM_FRAME_BYTES ||
	    fp - w->regs.sp > JVM_STACK_BYTES ||
	    bpf_probe_read_user(j->frame, sizeof(j->frame), (const void *)(fp - 64)))
		return 0;
	/* linkToStatic() and others take an argument away, so it may be 8 bytes above. */
	if (j->frame[JVM_SENDER_SP] < fp + 8 || j->frame[JVM_SENDER_SP] - fp > JVM_STACK_BYTES ||
	    j->frame[JVM_SENDER_SP] & 7 || j->frame[JVM_FRAME_METHOD] & 7)
		return 0;
	code = jvm_word(j, j->frame[JVM_FRAME_METHOD], RUNTIME_JVM_METHOD_CONST);
	if (!code)
		return 0;
	at = j->frame[JVM_BYTECODE] ? j->frame[JVM_BYTECODE] - code - d->jvm.const_bytes : 0;
	return !at || at < (jvm_word(j, code, RUNTIME_JVM_CONST_CODE_BYTES) & 0xffff);
}

static __always_inline void jvm_store_method(struct walk_state *w, __u64 method)
{
	__u64 n = (__u64)w->n - 1;

	barrier_var(n);
	if (n < WALK_FRAMES_MAX && method && !(method & WALK_FP_BITS))
		w->fps[n] = method | WALK_FP_METHOD;
}

static __always_inline int jvm_step_interpreted(struct walk_state *w, const struct jvm_state *j,
						__u32 is_exact)
{
	/* It is being made, and the words below rsp are of other frames. */
	if (is_exact && w->regs.fp - w->regs.sp < JVM_FRAME_BYTES)
		return jvm_step_fp(w);
	if (!runtime_jvm_is_interpreted()) /* its frame is not there yet, or no more */
		return is_exact ? jvm_step_return(w) : 1;
	jvm_store_method(w, j->frame[JVM_FRAME_METHOD]);
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
static __always_inline int jvm_step_code(struct walk_state *w, struct jvm_state *j, __u32 is_exact)
{
	j->is_guess = 0;
	if (j->kind == JVM_INTERPRETER)
		return jvm_step_interpreted(w, j, is_exact);
	if (j->kind == JVM_METHOD)
		jvm_store_method(w, j->method);
	/* C1's stubs have frames of one size where they call; where the thread itself is in one, rbp is the way. */
	if (j->kind == JVM_METHOD ||
	    (j->kind == JVM_OTHER && j->frame_words && !(is_exact && jvm_enters(j))))
		return runtime_jvm_step_sized(is_exact);
	return runtime_jvm_step_stub(is_exact);
}

/* To the caller of code that a JVM made.  1: it is no such code, or, with w->jvm JVM_STUCK, the caller is not known. */
__attribute__((noinline)) int runtime_jvm_step(__u32 is_exact)
{
	struct walk_state *w = walk_here();
	struct jvm_state *j = jvm_here();
	int err = 1;

	if (!w || !j || UNWIND_HERE != UNWIND_X86_64)
		return 1;
	if (w->jvm == WALK_JVM_NEW)
		w->jvm = runtime_jvm_enter() ? WALK_JVM_UNKNOWN : WALK_JVM_KNOWN;
	if (w->jvm == WALK_JVM_KNOWN)
		err = runtime_jvm_find(unwind_lookup_pc(&w->regs));
	if (err == 1)
		return 1;
	if (!err)
		err = jvm_step_code(w, j, is_exact);
	/* The interpreter jumps, and pushes where to return to itself. */
	if (!err && j->is_guess && !runtime_is_behind_call(w->regs.pc))
		err = runtime_jvm_find(w->regs.pc - 1) || j->kind != JVM_INTERPRETER;
	if (err)
		w->jvm = WALK_JVM_STUCK;
	return err;
}

/* ---- names ---- */

/* Reads a Symbol's text into the event: the beginning.  False: it has none. */
#define JVM_READ_SYMBOL(j, symbol, head, to)                                                \
	({                                                                                  \
		__u64 text__ = (symbol) + (j)->process.offset[RUNTIME_JVM_SYMBOL_BODY];     \
		__u64 bytes__ = jvm_word((j), (symbol), RUNTIME_JVM_SYMBOL_BYTES) & 0xffff; \
		runtime_set_text((head), bytes__, 1);                                       \
		(symbol) && bytes__ &&RUNTIME_READ_TEXT(text__, bytes__, to, 0);            \
	})

/* An entry of the pool in s->object; 0: there is none. */
static __always_inline __u64 jvm_pool_entry(const struct runtime_state *s,
					    const struct runtime_desc *d, const struct jvm_state *j,
					    __u64 pool, __u16 index)
{
	__u32 count = RUNTIME_FIELD(s->object, __u32, j->process.offset[RUNTIME_JVM_POOL_COUNT]);

	if (!index || index >= count)
		return 0;
	return runtime_word(pool + d->jvm.pool_bytes + 8 * (__u64)index);
}

/* Sends the names of a method of that class as number id. */
__attribute__((noinline)) int runtime_jvm_send(__u64 name, __u64 class_name, __u64 file, __u32 id)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_code_event *ev;
	__u32 zero = 0;

	ev = bpf_map_lookup_elem(&runtime_code_scratch, &zero);
	if (!s || !j || !ev)
		return 1;
	if (!JVM_READ_SYMBOL(j, name, &ev->name, ev->name_text) ||
	    !JVM_READ_SYMBOL(j, class_name, &ev->qualname, ev->qualname_text))
		return 1;
	if (!JVM_READ_SYMBOL(j, file, &ev->file, ev->file_text))
		ev->file.char_count = 0;
	ev->first_line = -1;
	return !runtime_send_code(s, ev, id, 0);
}

/* The number of a method, in s->code_id.  1: it has no name, with s->why. */
__attribute__((noinline)) int runtime_jvm_code(__u64 method)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	struct runtime_code fresh = {};
	struct runtime_desc *d;
	__u64 code, pool, name, class_name, file;

	if (!s || !j)
		return 1;
	d = runtime_desc_of(s);
	if (!d)
		return 1;
	s->why = RUNTIME_UNREADABLE;
	code = jvm_word(j, method, RUNTIME_JVM_METHOD_CONST);
	pool = code ? jvm_word(j, code, RUNTIME_JVM_CONST_POOL) : 0;
	if (!pool || runtime_read(s->object, 128, pool))
		return 1;
	s->why = RUNTIME_UNKNOWN;
	name = jvm_pool_entry(s, d, j, pool, jvm_word(j, code, RUNTIME_JVM_CONST_NAME));
	class_name = RUNTIME_FIELD(s->object, __u64, j->process.offset[RUNTIME_JVM_POOL_HOLDER]);
	class_name = class_name ? jvm_word(j, class_name, RUNTIME_JVM_KLASS_NAME) : 0;
	if (!name || !class_name)
		return 1;
	fresh.sum = code * 31 + pool * 37 + name * 41 + class_name * 43;
	if (runtime_known_code(s, method, fresh.sum, &s->code_id))
		return 0;
	file = jvm_pool_entry(
		s, d, j, pool,
		RUNTIME_FIELD(s->object, __u16, j->process.offset[RUNTIME_JVM_POOL_FILE]));
	fresh.id = runtime_new_code(s);
	if (!fresh.id || runtime_jvm_send(name, class_name, file, fresh.id))
		return 1;
	s->code_id = fresh.id;
	runtime_remember_code(s, &fresh);
	return 0;
}

/* A frame whose method the walk found: it takes the frame's place. */
__attribute__((noinline)) int runtime_jvm_frame(__u32 index)
{
	struct runtime_state *s = runtime_here();
	struct walk_state *w = walk_here();
	__u64 i = index, place;
	__u32 why;

	barrier_var(i);
	if (!s || !w || i >= WALK_FRAMES_MAX || i >= w->n)
		return 1;
	if (!(w->fps[i] & WALK_FP_METHOD))
		return 0;
	why = s->why;
	if (runtime_jvm_code(w->fps[i] & ~(__u64)WALK_FP_BITS))
		return 0; /* the next one may have a name; why stays */
	s->why = why;
	place = (w->frames[i] & RUNTIME_INSTR_MASK) | i << RUNTIME_FRAME_BITS;
	if (!runtime_put(s, (__u64)s->code_id << RUNTIME_INSTR_BITS | place))
		return 0;
	s->why = RUNTIME_TOO_DEEP;
	return 1;
}

static long jvm_frame(__u32 index, void *ctx)
{
	return runtime_jvm_frame(index) &
	       1; /* for the verifier, which does not look into it here */
}

static __always_inline void runtime_jvm_walk(struct runtime_state *s)
{
	struct walk_state *w = walk_here();

	if (!w || w->jvm == WALK_JVM_NEW)
		return;
	if (w->jvm == WALK_JVM_UNKNOWN) {
		s->why = RUNTIME_NOT_UNDERSTOOD;
		return;
	}
	runtime_set_process(&s->key);
	bpf_loop(WALK_FRAMES_MAX, jvm_frame, 0, 0);
	if (w->jvm == WALK_JVM_STUCK && s->why == RUNTIME_COMPLETE)
		s->why = RUNTIME_UNKNOWN;
}

#endif
