/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm - the code of a JVM, HotSpot of Java 17 to 25 on x86-64
 *
 * A pc in a code heap leads by the heap's map of segments to the block with the code, whose head (a CodeBlob) has the kind
 * of the code, and the size of its frames.  The caller of a frame is found by jvm_step.bpf.h, the method by jvm_method.bpf.h.
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
#define JVM_NO_OFFSET    0xffff /* this version has no such field */
#define JVM_HEAD_BYTES   512    /* room for the head of a block, and that of the blob in it */
#define JVM_BLOB_BYTES   448    /* of it that are read, and, where so many are not there, */
#define JVM_BLOB_FEWER   208    /* these: all but nmethods have theirs there */
#define JVM_BLOB_MAX     424    /* where the last field may be */
#define JVM_CONST_BYTES  64     /* of a ConstMethod that are read */
#define JVM_CONST_MAX    56     /* where its last field may be */
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
	__u64 interpreter, interpreter_bytes; /* its code, once it was seen: it stays where it is */
	struct jvm_heap heaps[JVM_HEAPS];
};

struct jvm_state {
	struct jvm_process process; /* the current one */
	__u64 blob, blob_bytes;     /* at hand; 0: none is */
	__u64 block_bytes;          /* of a block's head */
	__u64 block, name, code;    /* of it: its block, its name, where its code begins */
	__u64 sum;                  /* as in struct runtime_place */
	__u32 kind;                 /* enum jvm_code */
	__u32 frame_words;          /* 0: not known */
	__s32 complete;
	__u32 is_found, is_guess;
	__u64 method;
	__u32 has_left, zero;       /* frames whose methods are added when the walk is done */
	__u64 list, count, segment; /* of heaps, or of bytes of a map of segments */
	__u64 frame[10];            /* of the interpreter, from rbp - 64 on */
	__u64 const_method;         /* whose head constant[] has */
	__u64 pool, method_name, class_name,
		file_name; /* of that method: on the stack they would be too much */
	__u64 code_sum;    /* of the method */
	__u64 scopes, descs, desc_count, metadata, metadata_count; /* of the nmethod at hand */
	__u64 scope; /* the next one, as an offset; 0: there is none */
	__u64 desc_at;
	struct runtime_place place; /* that is made */
	__u8 head[JVM_HEAD_BYTES];
	__u8 constant[JVM_CONST_BYTES];
	__u8 stream[16];
	__u8 insns[JVM_CODE_BYTES];
};

/* Fields of what was read: offsets come from the process. */
#define JVM_FIELD(bytes, room_bytes, type, off) \
	(*(volatile type *)((bytes) + ((off) & ((room_bytes) - sizeof(type)))))
#define JVM_BLOB_FIELD(j, type, field)             \
	JVM_FIELD((j)->head, JVM_HEAD_BYTES, type, \
		  (j)->block_bytes + (j)->process.offset[RUNTIME_JVM_##field])
#define JVM_CONST_FIELD(j, type, field) \
	JVM_FIELD((j)->constant, JVM_CONST_BYTES, type, (j)->process.offset[RUNTIME_JVM_##field])

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
	struct jvm_state *j = *(struct jvm_state **)ctx;
	__u64 heap, space, at = i;

	barrier_var(at);
	if (at >= JVM_HEAPS)
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
__attribute__((noinline)) int runtime_jvm_heaps(struct runtime_state *s, struct jvm_state *j)
{
	__u64 list;

	if (!s || !j)
		return 1;
	list = runtime_word(s->base + s->desc.code_type);
	j->count = jvm_word(j, list, RUNTIME_JVM_ARRAY_COUNT);
	j->list = jvm_word(j, list, RUNTIME_JVM_ARRAY_DATA);
	bpf_loop(JVM_HEAPS, jvm_read_heap, &j, 0);
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
	       o[RUNTIME_JVM_NMETHOD_METHOD] <= JVM_BLOB_MAX && o[RUNTIME_JVM_NMETHOD_ID] &&
	       o[RUNTIME_JVM_NMETHOD_ID] <= JVM_BLOB_MAX && o[RUNTIME_JVM_METHOD_CONST] &&
	       o[RUNTIME_JVM_CONST_POOL] && o[RUNTIME_JVM_CONST_POOL] <= JVM_CONST_MAX &&
	       o[RUNTIME_JVM_CONST_NAME] <= JVM_CONST_MAX &&
	       o[RUNTIME_JVM_CONST_CODE_BYTES] <= JVM_CONST_MAX && o[RUNTIME_JVM_POOL_HOLDER] &&
	       o[RUNTIME_JVM_KLASS_NAME] && o[RUNTIME_JVM_SYMBOL_BYTES] &&
	       o[RUNTIME_JVM_SYMBOL_BODY];
}

/* The offset of field i, which becomes one that no field has where it is not known. */
static long jvm_read_offset(__u32 i, void *ctx)
{
	struct runtime_state *s = ((struct runtime_walk *)ctx)->s;
	struct jvm_state *j = ((struct runtime_walk *)ctx)->j;
	__u64 off, at = i;

	barrier_var(at);
	if (at >= RUNTIME_JVM_FIELDS)
		return 1;
	j->process.offset[at] = JVM_NO_OFFSET;
	if (s->desc.jvm.entry[at] == RUNTIME_NO_FIELD)
		return 0;
	if (bpf_probe_read_user(&off, sizeof(off),
				(const void *)(s->base + s->desc.state + JVM_ENTRY_OFFSET +
					       JVM_ENTRY_BYTES * s->desc.jvm.entry[at])) ||
	    off > JVM_OFFSET_MAX) {
		j->process.offset[RUNTIME_JVM_ARRAY_DATA] = 0;
		return 1;
	}
	j->process.offset[at] = off;
	return 0;
}

/* Before the first step of a walk: what is known of the process, or is found out now.  1: its frames cannot be read. */
__attribute__((noinline)) int runtime_jvm_enter(struct walk_state *w, struct runtime_state *s)
{
	struct jvm_state *j = jvm_here();
	struct runtime_walk of = { w, s, j };
	struct jvm_process *known;
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u16 tries = 0;

	if (!w || !s || !j)
		return 1;
	j->block = j->blob_bytes = 0;
	j->has_left = 0;
	if (!runtime_begin(s, w) || s->desc.kind != RUNTIME_JVM || !s->desc.jvm.block_bytes)
		return 1;
	j->block_bytes = s->desc.jvm.block_bytes;
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
	j->process.interpreter_bytes = 0;
	bpf_loop(RUNTIME_JVM_FIELDS, jvm_read_offset, &of, 0);
	j->process.is_understood = jvm_are_offsets(j->process.offset) && !runtime_jvm_heaps(s, j);
	bpf_map_update_elem(&jvm_processes, &tgid, &j->process, BPF_ANY);
	return !j->process.is_understood;
}

/* ---- the code at hand ---- */

/* Goes from j->segment back by its byte of the map.  1: this is the first one of its block, or there is none. */
static long jvm_hop(__u32 i, void *ctx)
{
	struct jvm_state *j = *(struct jvm_state **)ctx;
	__u8 back;

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
	bpf_loop(JVM_HOPS, jvm_hop, &j, 0);
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

/* A sum that distinguishes the blob at hand from another one that was there before, or comes there. */
static __always_inline __u64 jvm_sum(const struct jvm_state *j, __u64 size_bytes)
{
	__u64 sum = j->name * 31 + size_bytes;

	sum = sum * 37 + j->code;
	sum = sum * 41 + j->frame_words;
	sum = sum * 43 + j->method;
	return j->method ? sum * 47 + JVM_BLOB_FIELD(j, __u32, NMETHOD_ID) : sum;
}

/* Reads the head of the block that pc is in, but for j->kind.  1: it is no such block. */
__attribute__((noinline)) int runtime_jvm_head(struct runtime_state *s, struct jvm_state *j,
					       __u64 block, __u64 pc)
{
	__u64 blob, size_bytes;
	__u32 words;

	if (!s || !j)
		return 1;
	j->block = j->blob_bytes = 0;
	if (bpf_probe_read_user(j->head, JVM_BLOB_BYTES, (const void *)block) &&
	    bpf_probe_read_user(j->head, JVM_BLOB_FEWER, (const void *)block))
		return 1;
	blob = block + j->block_bytes;
	size_bytes = JVM_BLOB_FIELD(j, __u32, BLOB_BYTES);
	if (JVM_FIELD(j->head, JVM_HEAD_BYTES, __u8, j->process.offset[RUNTIME_JVM_BLOCK_USED]) !=
		    1 ||
	    pc - blob >= size_bytes)
		return 1;
	j->code = JVM_BLOB_FIELD(j, __u64, BLOB_CODE);
	if (s->desc.jvm.blob_code_bytes == 4)
		j->code = blob + (__u32)j->code;
	j->complete = JVM_BLOB_FIELD(j, __s32, BLOB_COMPLETE);
	if (s->desc.jvm.blob_complete_bytes == 2)
		j->complete = (__s16)j->complete;
	words = JVM_BLOB_FIELD(j, __u32, BLOB_FRAME);
	j->frame_words = words < JVM_FRAME_WORDS ? words : 0;
	j->name = JVM_BLOB_FIELD(j, __u64, BLOB_NAME);
	j->method = JVM_BLOB_FIELD(j, __u64, NMETHOD_METHOD);
	j->sum = jvm_sum(j, size_bytes);
	j->block = block;
	j->blob = blob;
	j->blob_bytes = size_bytes;
	return 0;
}

/* The kind of the blob whose head was read, by its name.  1: it has none. */
static __always_inline int jvm_name_blob(struct jvm_state *j)
{
	__u64 name = runtime_word(j->name);

	j->kind = jvm_kind(name);
	if (j->kind != JVM_METHOD)
		j->method = 0;
	if (!name)
		j->block = j->blob_bytes = 0;
	return !name;
}

/* Code that was seen at pc before, and is still there.  NULL: it is not. */
static __always_inline const struct runtime_place *jvm_known_place(struct runtime_state *s,
								   struct jvm_state *j, __u64 pc)
{
	const struct runtime_place *p;

	s->key.code = pc;
	p = bpf_map_lookup_elem(&runtime_places, &s->key);
	if (!p)
		return NULL;
	/* In a recursion it is that of the frame before. */
	if ((p->block != j->block || pc - j->blob >= j->blob_bytes) &&
	    runtime_jvm_head(s, j, p->block, pc))
		return NULL;
	if (p->sum != j->sum)
		return NULL;
	j->kind = p->kind;
	return p;
}

static __always_inline bool jvm_is_interpreter(const struct jvm_state *j, __u64 pc)
{
	return pc - j->process.interpreter < j->process.interpreter_bytes;
}

/* Remembers the code that was found at pc, without words. */
static __always_inline void jvm_remember(struct runtime_state *s, struct jvm_state *j, __u64 pc)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (j->kind == JVM_INTERPRETER) {
		j->process.interpreter = j->blob;
		j->process.interpreter_bytes = j->blob_bytes;
		bpf_map_update_elem(&jvm_processes, &tgid, &j->process, BPF_ANY);
	} else if (j->kind != JVM_METHOD) {
		j->place.block = j->block;
		j->place.sum = j->sum;
		j->place.kind = j->kind;
		j->place.count = 0;
		s->key.code = pc;
		bpf_map_update_elem(&runtime_places, &s->key, &j->place, BPF_ANY);
	}
}

/* Finds the code that pc is in.  1: it is in none; 2: nor is it outside of the code heaps. */
__attribute__((noinline)) int runtime_jvm_find(struct walk_state *w, __u64 pc)
{
	struct runtime_state *s = runtime_here();
	struct jvm_state *j = jvm_here();
	const struct jvm_heap *h;
	__u64 block;

	if (!w || !s || !j)
		return 1;
	if (jvm_is_interpreter(j, pc)) {
		j->kind = JVM_INTERPRETER;
		return 0;
	}
	if (jvm_known_place(s, j, pc))
		return 0;
	h = jvm_heap_of(j, pc);
	if (!h && !w->jvm_heaps) { /* a heap grows */
		w->jvm_heaps = 1;
		if (runtime_jvm_heaps(s, j))
			return 1;
		h = jvm_heap_of(j, pc);
	}
	if (!h)
		return 1;
	block = jvm_block(j, h, pc);
	if (!block || runtime_jvm_head(s, j, block, pc) || jvm_name_blob(j))
		return 2;
	jvm_remember(s, j, pc);
	return 0;
}

#endif
