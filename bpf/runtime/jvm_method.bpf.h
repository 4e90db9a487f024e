/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jvm_method - the methods of the frames that jvm_step.bpf.h found, and their names, when the stack is complete */
#ifndef EBPREC_BPF_RUNTIME_JVM_METHOD_H
#define EBPREC_BPF_RUNTIME_JVM_METHOD_H

#include "bpf/runtime/jvm.bpf.h"

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
