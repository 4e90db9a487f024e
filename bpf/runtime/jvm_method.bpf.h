/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm_method - the methods of frames of a JVM: names, lines, and those that the compiler inlined
 *
 * A Method leads to its ConstMethod, which has the bytecode with the table of lines behind it, and to the pool of its class
 * with all names.  They are sent when a method is seen for the first time.
 *
 * An nmethod has a PcDesc for each address that code it calls returns to, with the offset of a scope: a method, a
 * bytecode, and the scope that this one is inlined in.  They are read here and now, while a frame of the nmethod is on the stack,
 * so it cannot be freed; and remembered with what distinguishes the nmethod (struct runtime_place).  The outermost scope has to be of
 * the nmethod's method.
 */
#ifndef EBPREC_BPF_RUNTIME_JVM_METHOD_H
#define EBPREC_BPF_RUNTIME_JVM_METHOD_H

#include "bpf/runtime/jvm.bpf.h"

/*
 * Words are added in the walk, up to a return address in an nmethod that was not seen yet.  It is left for the end of the walk, as
 * a chain of calls may have no more functions, and so are all frames behind it: walk_state.fps has what they are.
 */
enum jvm_frame_of {
	JVM_FRAME_NEW = WALK_FP_METHOD,      /* the block of an nmethod */
	JVM_FRAME_WORD = WALK_FP_METHOD | 1, /* the word << JVM_FRAME_SHIFT */
	JVM_FRAME_SHIFT = 3,
};

#define JVM_DESC_BYTES  16 /* a PcDesc: where code returns to, the scope, two more */
#define JVM_DESC_ROUNDS 20 /* of the search for one: an nmethod has no million of them */
#define JVM_HAS_LINES   1  /* of a ConstMethod's flags */
#define JVM_METADATA    (1u << 16)
/* From Java 20 on no byte of a number in scopes and lines is 0. */
#define JVM_NO_ZEROES 20

static __always_inline __u64 jvm_place_of(__u64 bytecode_index)
{
	return bytecode_index < RUNTIME_INSTR_MASK - 2 ? bytecode_index + RUNTIME_NO_BYTECODE + 1
						       : RUNTIME_NO_BYTECODE;
}

/* Reads the head of a method's ConstMethod. */
__attribute__((noinline)) int runtime_jvm_const(struct jvm_state *j, __u64 method)
{

	if (!j)
		return 1;
	j->const_method = jvm_word(j, method, RUNTIME_JVM_METHOD_CONST);
	return !j->const_method ||
	       bpf_probe_read_user(j->constant, sizeof(j->constant), (const void *)j->const_method);
}

/* Whether an address is in the bytecode of the method whose ConstMethod was read. */
static __always_inline bool jvm_is_bytecode(const struct runtime_state *s,
					    const struct jvm_state *j, __u64 addr)
{
	return addr - j->const_method - s->desc.jvm.const_bytes <
	       JVM_CONST_FIELD(j, __u16, CONST_CODE_BYTES);
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
					    const struct jvm_state *j, __u64 pool, __u16 index)
{
	__u32 count = RUNTIME_FIELD(s->object, __u32, j->process.offset[RUNTIME_JVM_POOL_COUNT]);

	if (!index || index >= count)
		return 0;
	return runtime_word(pool + s->desc.jvm.pool_bytes + 8 * (__u64)index);
}

/*
 * Reads the table of lines, which stands behind the bytecode, and ends with a zero: as much as there may be of it.  Returns how
 * many bytes.
 */
static __always_inline __u64 jvm_read_lines(struct runtime_state *s, const struct jvm_state *j)
{
	__u64 off = s->desc.jvm.const_bytes + (__u64)JVM_CONST_FIELD(j, __u16, CONST_CODE_BYTES);
	__u64 size_bytes;

	if (j->process.offset[RUNTIME_JVM_CONST_FLAGS] > JVM_CONST_MAX ||
	    j->process.offset[RUNTIME_JVM_CONST_WORDS] > JVM_CONST_MAX ||
	    !(JVM_CONST_FIELD(j, __u16, CONST_FLAGS) & JVM_HAS_LINES))
		return 0;
	size_bytes = 8 * (__u64)JVM_CONST_FIELD(j, __u32, CONST_WORDS);
	size_bytes = size_bytes > off ? size_bytes - off : 0;
	if (size_bytes > RUNTIME_LINES_BYTES)
		size_bytes = RUNTIME_LINES_BYTES;
	barrier_var(size_bytes);
	if (size_bytes > RUNTIME_LINES_BYTES || /* for the verifier */
	    bpf_probe_read_user(s->event.lines, size_bytes, (const void *)(j->const_method + off)))
		return 0;
	return size_bytes;
}

/* Reads the names of the method at hand.  Returns how many bytes of lines it has; -1: it has no name. */
__attribute__((noinline)) int runtime_jvm_names(struct runtime_state *s, struct jvm_state *j)
{
	if (!s || !j)
		return -1;
	if (!JVM_READ_SYMBOL(j, j->method_name, &s->event.name, s->event.name_text) ||
	    !JVM_READ_SYMBOL(j, j->class_name, &s->event.qualname, s->event.qualname_text))
		return -1;
	if (!JVM_READ_SYMBOL(j, j->file_name, &s->event.file, s->event.file_text))
		s->event.file.char_count = 0;
	s->event.first_line = -1;
	return jvm_read_lines(s, j);
}

/* Finds the names of the method whose ConstMethod was read, and their sum.  False: there are none, with s->why. */
static __always_inline bool jvm_find_names(struct runtime_state *s, struct jvm_state *j)
{
	__u64 klass;

	s->why = RUNTIME_UNREADABLE;
	j->pool = JVM_CONST_FIELD(j, __u64, CONST_POOL);
	if (!j->pool || runtime_read(s->object, 128, j->pool))
		return false;
	s->why = RUNTIME_UNKNOWN;
	j->method_name = jvm_pool_entry(s, j, j->pool, JVM_CONST_FIELD(j, __u16, CONST_NAME));
	klass = RUNTIME_FIELD(s->object, __u64, j->process.offset[RUNTIME_JVM_POOL_HOLDER]);
	j->class_name = klass ? jvm_word(j, klass, RUNTIME_JVM_KLASS_NAME) : 0;
	j->code_sum = j->const_method * 31 + j->pool * 37 + j->method_name * 41 +
		      j->class_name * 43;
	return j->method_name && j->class_name;
}

/* The number of a method whose ConstMethod was read, in s->code_id.  1: it has no name, with s->why. */
__attribute__((noinline)) int runtime_jvm_code(struct runtime_state *s, struct jvm_state *j,
					       __u64 method)
{
	int line_bytes;
	__u32 id;

	if (!s || !j)
		return 1;
	if (!jvm_find_names(s, j))
		return 1;
	if (runtime_known_code(method, j->code_sum))
		return 0;
	j->file_name = jvm_pool_entry(
		s, j, j->pool,
		RUNTIME_FIELD(s->object, __u16, j->process.offset[RUNTIME_JVM_POOL_FILE]));
	id = runtime_new_code();
	line_bytes = id ? runtime_jvm_names(s, j) : -1;
	if (line_bytes < 0 || !runtime_send_code(s, id, line_bytes))
		return 1;
	runtime_remember_code(id, j->code_sum);
	return 0;
}

/* ---- scopes ---- */

/* Whether a field of nmethods is in what was read, or, with may_lack, not in this version. */
static __always_inline bool jvm_has_field(const struct jvm_state *j, enum runtime_jvm_field field,
					  bool may_lack)
{
	__u16 off = j->process.offset[field];

	return off <= JVM_BLOB_MAX || (may_lack && off == JVM_NO_OFFSET);
}

/* Where the nmethod at hand, whose head was read, has its tables.  False: this version's are not known. */
static __always_inline bool jvm_find_tables(const struct runtime_state *s, struct jvm_state *j)
{
	bool is_in_blob = s->desc.jvm.scopes == RUNTIME_JVM_SCOPES_IN_BLOB;
	__u64 base, end, from;

	if (!jvm_has_field(j, RUNTIME_JVM_SCOPES_AT, false) ||
	    !jvm_has_field(j, RUNTIME_JVM_SCOPES_DESCS, false) ||
	    !jvm_has_field(j, RUNTIME_JVM_SCOPES_END, false) ||
	    !jvm_has_field(j, RUNTIME_JVM_METADATA_OFFSET, false) ||
	    !jvm_has_field(j, RUNTIME_JVM_SCOPES_DATA, is_in_blob) ||
	    !jvm_has_field(j, RUNTIME_JVM_METADATA_AT, is_in_blob) ||
	    !jvm_has_field(j, RUNTIME_JVM_METADATA_END, is_in_blob))
		return false;
	base = JVM_BLOB_FIELD(j, __u64, SCOPES_AT);
	if (is_in_blob) {
		j->scopes = base;
		end = base;
		base = from = j->blob;
	} else if (s->desc.jvm.scopes == RUNTIME_JVM_SCOPES_APART) {
		j->scopes = base + JVM_BLOB_FIELD(j, __u32, SCOPES_DATA);
		from = JVM_BLOB_FIELD(j, __u64, METADATA_AT);
		end = from + JVM_BLOB_FIELD(j, __u32, METADATA_END);
	} else {
		return false;
	}
	j->descs = base + JVM_BLOB_FIELD(j, __u32, SCOPES_DESCS);
	j->desc_count = (base + JVM_BLOB_FIELD(j, __u32, SCOPES_END) - j->descs) / JVM_DESC_BYTES;
	j->metadata = from + JVM_BLOB_FIELD(j, __u32, METADATA_OFFSET);
	j->metadata_count = (end - j->metadata) / 8;
	return j->desc_count < 1u << JVM_DESC_ROUNDS && j->metadata_count < JVM_METADATA;
}

/* Halves the PcDescs in which the one for pc may be: j->segment is it, and how far it is from the beginning of the code. */
static long jvm_see_desc(__u32 i, void *ctx)
{
	struct jvm_state *j = *(struct jvm_state **)ctx;
	__u64 half;
	__s32 off;

	if (j->desc_count < 2)
		return 1;
	half = j->desc_count / 2;
	if (bpf_probe_read_user(&off, sizeof(off),
				(const void *)(j->descs + JVM_DESC_BYTES * half))) {
		j->desc_count = 0;
		return 1;
	}
	if (off <= (__s64)j->desc_at) {
		j->descs += JVM_DESC_BYTES * half;
		j->desc_count -= half;
	} else {
		j->desc_count = half;
	}
	return 0;
}

/* The innermost scope at a return address, in j->scope; 0: there is none. */
static __always_inline void jvm_find_scope(const struct runtime_state *s, struct jvm_state *j,
					   __u64 pc)
{
	__s32 desc[2];

	j->scope = 0;
	if (!jvm_find_tables(s, j))
		return;
	j->desc_at = pc - j->code;
	bpf_loop(JVM_DESC_ROUNDS, jvm_see_desc, &j, 0);
	if (j->desc_count == 1 &&
	    !bpf_probe_read_user(desc, sizeof(desc), (const void *)j->descs) &&
	    desc[0] == (__s64)j->desc_at && desc[1] > 0)
		j->scope = desc[1];
}

/* The number at *at of j->stream, as the compiler writes them: 6 bits of each byte but the last one, the lowest first. */
static __always_inline __u32 jvm_number(const struct jvm_state *j, __u32 zeroes, __u64 *at)
{
	__u32 value = 0, i, byte;

#pragma unroll
	for (i = 0; i < 5; i++) {
		byte = j->stream[*at & 15];
		*at += 1;
		value += (byte - zeroes) << 6 * i;
		if (byte < 192)
			break;
	}
	return value;
}

/* The scope at j->scope: adds its method to the place that is made.  1: it is the last one, or no scope. */
static long jvm_see_scope(__u32 i, void *ctx)
{
	struct runtime_state *s = ((struct runtime_walk *)ctx)->s;
	struct jvm_state *j = ((struct runtime_walk *)ctx)->j;
	__u64 at = 0, n = j->place.count, method;
	__u32 sender, index, bytecode, zeroes;

	j->is_found = 0;
	if (n >= RUNTIME_INLINED ||
	    bpf_probe_read_user(j->stream, sizeof(j->stream), (const void *)(j->scopes + j->scope)))
		return 1;
	zeroes = s->desc.jvm.version >= JVM_NO_ZEROES;
	sender = jvm_number(j, zeroes, &at);
	index = jvm_number(j, zeroes, &at);
	bytecode = jvm_number(j, zeroes, &at) - 1; /* -1: before the first one */
	if (!index || index > j->metadata_count || sender >= j->scope)
		return 1;
	method = runtime_word(j->metadata + 8 * (__u64)index - 8);
	if (!method || runtime_jvm_const(j, method) || runtime_jvm_code(s, j, method))
		return 1;
	if (bytecode + 1 && bytecode >= JVM_CONST_FIELD(j, __u16, CONST_CODE_BYTES))
		return 1;
	barrier_var(n);
	if (n >= RUNTIME_INLINED)
		return 1;
	j->place.words[n] = (__u64)s->code_id << RUNTIME_INSTR_BITS |
			    (bytecode + 1 ? jvm_place_of(bytecode) : RUNTIME_NO_BYTECODE);
	j->place.count = n + 1;
	j->scope = sender;
	j->is_found = !sender && method == j->method;
	return !sender;
}

/*
 * Makes the place of a return address in an nmethod, and remembers it.  1: its method has no name.  Where its scopes are not
 * known, or are not as they have to be, it has the nmethod's method without a line.
 */
__attribute__((noinline)) int runtime_jvm_place(__u64 block, __u64 pc)
{
	struct runtime_walk of = { NULL, runtime_here(), jvm_here() };
	struct runtime_state *s = of.s;
	struct jvm_state *j = of.j;

	if (!s || !j)
		return 1;
	s->why = RUNTIME_UNREADABLE;
	if (runtime_jvm_head(s, j, block, pc - 1))
		return 1;
	j->place.block = block;
	j->place.sum = j->sum;
	j->place.kind = JVM_METHOD;
	j->place.count = 0;
	j->is_found = 0;
	jvm_find_scope(s, j, pc);
	if (j->scope)
		bpf_loop(RUNTIME_INLINED, jvm_see_scope, &of, 0);
	if (!j->is_found) {
		if (runtime_jvm_const(j, j->method) || runtime_jvm_code(s, j, j->method))
			return 1;
		j->place.words[0] = (__u64)s->code_id << RUNTIME_INSTR_BITS | RUNTIME_NO_BYTECODE;
		j->place.count = 1;
	}
	s->key.code = pc - 1;
	bpf_map_update_elem(&runtime_places, &s->key, &j->place, BPF_ANY);
	return 0;
}

/* ---- frames ---- */

/* The methods of a place, for frame i.  1: there is no room. */
static __always_inline int jvm_put_place(struct runtime_state *s, const struct walk_state *w,
					 __u64 i, const struct runtime_place *p)
{
	__u32 k;

	for (k = 0; k < RUNTIME_INLINED; k++) {
		if (k >= p->count)
			return 0;
		if (runtime_put_of(s, w, i, p->words[k]))
			return 1;
	}
	return 0;
}

/* A frame that the walk left. */
__attribute__((noinline)) int runtime_jvm_frame(struct walk_state *w, struct runtime_state *s,
						struct jvm_state *j, __u32 index)
{
	__u64 i = index, of;
	__u32 why;

	barrier_var(i);
	if (!s || !w || !j || i >= WALK_FRAMES_MAX || i >= w->n)
		return 1;
	of = w->fps[i] & WALK_FP_BITS;
	if (!(of & WALK_FP_METHOD))
		return 0;
	if (of == JVM_FRAME_WORD)
		return runtime_put_of(s, w, i, w->fps[i] >> JVM_FRAME_SHIFT);
	why = s->why;
	if (runtime_jvm_place(w->fps[i] - of, w->frames[i]))
		return 0; /* the next one may have a name; why stays */
	s->why = why;
	return jvm_put_place(s, w, i, &j->place);
}

static long jvm_frame(__u32 index, void *ctx)
{
	struct runtime_walk *of = ctx;

	return runtime_jvm_frame(of->w, of->s, of->j, index) &
	       1; /* for the verifier, which does not look into it here */
}

static __always_inline void runtime_jvm_walk(struct walk_state *w, struct runtime_state *s)
{
	struct runtime_walk of = { w, s, jvm_here() };

	if (!of.j || w->jvm == WALK_JVM_NEW)
		return;
	if (w->jvm == WALK_JVM_UNKNOWN) {
		s->why = RUNTIME_NOT_UNDERSTOOD;
		return;
	}
	if (of.j->has_left)
		bpf_loop(WALK_FRAMES_MAX, jvm_frame, &of, 0);
	if (w->jvm == WALK_JVM_STUCK && s->why == RUNTIME_COMPLETE)
		s->why = RUNTIME_UNKNOWN;
}

#endif
