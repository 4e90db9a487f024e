/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perl - the frames of Perl, built with threads
 *
 * A variable of the thread leads to its interpreter, that to the innermost of its stacks of contexts, and this to the stack
 * that was left for it: a sort, a destructor or a handler of a tied variable has one of its own.  Contexts of subs, evals and
 * formats have the index of the one around them, and the statement that made them: the place in the frame around it.
 * A sub without an operation to go on with was called by C code, which entered the loop for it.
 *
 * A number stands for a statement, not for a sub: each has a number of its own, in the order of compilation, so memory that
 * got another statement is recognized.  No pointer is trusted: statements, code, globs and stashes have to be of the
 * type that they have to be of, names have to end with NUL, indexes have to fall, and the outermost stack has to be the main
 * one.  Else the walk ends with a reason.
 */
#ifndef EBPREC_BPF_RUNTIME_PERL_H
#define EBPREC_BPF_RUNTIME_PERL_H

#include "bpf/runtime/listed.bpf.h"
#include "bpf/runtime/runtime.bpf.h"

/* sv.h, cv.h, hv.h. */
#define PERL_TYPE         0xff
#define PERL_STRING       3
#define PERL_GLOB         9
#define PERL_STASH        12
#define PERL_CODE         13
#define PERL_FORMAT       14
#define PERL_VALUE        16         /* of a value: what it points to, beside its body */
#define PERL_HAS_NAME     (1u << 25) /* of a stash */
#define PERL_CODE_IN_C    0x8
#define PERL_CODE_NAMED   0x8000
#define PERL_CODE_LEXICAL 0x10000
#define PERL_CODE_FLAGS   0xfffff
#define PERL_KEY_HEAD     8
#define PERL_KEY_FLAGS    7
#define PERL_KEY_UTF8     1
/* cop.h: contexts. */
#define PERL_CONTEXT      0xf
#define PERL_CX_SORT      0
#define PERL_CX_SUB       9
#define PERL_CX_FORMAT    10
#define PERL_CX_EVAL      11
#define PERL_CX_MULTICALL 0x10
#define PERL_CX_BLOCKS    0xc0 /* eval { } and try { } */
#define PERL_CX_FAKE      0x80 /* of a sub: code in a regular expression */
#define PERL_CX_OP        2    /* where a context of an eval has its operation, */
#define PERL_CX_OP_SHIFT  7
#define PERL_STACK_MAIN   1
#define PERL_STACK_SORT   3
/* opnames.h of 5.36. */
#define PERL_OP_TYPE      0x1ff
#define PERL_OP_NEXTSTATE 195
#define PERL_OP_DBSTATE   196
#define PERL_OP_GOTO      210
#define PERL_OP_REQUIRE   342
#define PERL_OP_DOFILE    343

#define PERL_FILE_STEP 128 /* by which long paths are searched for their end */

/* ---- names ---- */

/* Reads a key of a hash into the event as that text.  1: it is none. */
__attribute__((noinline)) int runtime_perl_key(struct runtime_state *s, __u64 addr, __u32 which)
{
	__u32 head[2]; /* hash, length */
	__u8 tail[2];  /* NUL, flags */
	__u64 size_bytes;

	if (!s || bpf_probe_read_user(head, sizeof(head), (const void *)addr) || !head[1] ||
	    head[1] >> 20)
		return 1;
	size_bytes = head[1];
	addr += PERL_KEY_HEAD;
	if (bpf_probe_read_user(tail, sizeof(tail), (const void *)(addr + size_bytes)) || tail[0] ||
	    tail[1] & ~PERL_KEY_FLAGS)
		return 1;
	if (which == LISTED_NAME) {
		runtime_set_text(&s->event.name, size_bytes, 1);
		s->event.name.is_utf8 = tail[1] & PERL_KEY_UTF8;
		return !RUNTIME_READ_TEXT(addr, size_bytes, s->event.name_text, 0);
	}
	runtime_set_text(&s->event.qualname, size_bytes, 1);
	s->event.qualname.is_utf8 = tail[1] & PERL_KEY_UTF8;
	return !RUNTIME_READ_TEXT(addr, size_bytes, s->event.qualname_text, 0);
}

/* Reads the path at addr into the event, of a long one the end.  1: it cannot be read. */
__attribute__((noinline)) int runtime_perl_file(struct runtime_state *s, __u64 addr)
{
	__u32 i;
	__u64 count = 0;
	long n = 1;

	if (!s)
		return 1;
	for (i = 0; i < 8 && addr; i++) {
		n = bpf_probe_read_user_str(s->event.file_text, sizeof(s->event.file_text),
					    (const void *)(addr + i * PERL_FILE_STEP));
		if (n <= 0)
			return 1;
		count = i * PERL_FILE_STEP + n - 1;
		if (n < (long)sizeof(s->event.file_text))
			break;
	}
	runtime_set_text(&s->event.file, count, 1);
	s->event.file.is_utf8 = 1;
	return n == sizeof(s->event.file_text) || (addr && !count) ||
	       !RUNTIME_READ_TEXT(addr, count, s->event.file_text, 1);
}

/* The body of the value at addr; 0: its flags are not these. */
static __always_inline __u64 perl_body(__u64 addr, __u32 mask, __u32 flags)
{
	struct {
		__u64 body;
		__u32 references, flags;
	} head;

	if (bpf_probe_read_user(&head, sizeof(head), (const void *)addr) ||
	    (head.flags & mask) != flags)
		return 0;
	return head.body;
}

static __always_inline __u32 perl_number(__u64 addr)
{
	__u32 number = 0;

	bpf_probe_read_user(&number, sizeof(number), (const void *)addr);
	return number;
}

/* Reads the name of the package that has this stash.  1: it is no stash, or has no name. */
__attribute__((noinline)) int runtime_perl_package(struct runtime_state *s, __u64 stash)
{
	__u64 body, name;

	if (!s)
		return 1;
	body = perl_body(stash, PERL_TYPE | PERL_HAS_NAME, PERL_STASH | PERL_HAS_NAME);
	name = body ? runtime_word(body + s->desc.perl.stash_name) : 0;
	if (name && perl_number(body + s->desc.perl.stash_name_count))
		name = runtime_word(name);
	return !name || runtime_perl_key(s, name, LISTED_QUALNAME);
}

/* The glob that has the name of the one with this body: an alias has another. */
static __always_inline __u64 perl_glob(const struct runtime_state *s, __u64 glob, __u64 body)
{
	__u64 other = runtime_word(glob + PERL_VALUE);

	other = other ? runtime_word(other + s->desc.perl.glob_other) : 0;
	other = other && other != glob ? perl_body(other, PERL_TYPE, PERL_GLOB) : 0;
	return other ? other : body;
}

/* Reads the name of the sub whose body this is, by its glob or its own; s->text_at becomes its stash, 0: none.  1: it has no name. */
__attribute__((noinline)) int runtime_perl_sub(struct runtime_state *s, __u64 body, __u64 name,
					       __u32 flags)
{
	__u64 glob;

	if (!s)
		return 1;
	if (!name)
		return 1;
	s->text_at = 0;
	if (flags & PERL_CODE_NAMED) {
		if (!(flags & PERL_CODE_LEXICAL)) {
			s->text_at = runtime_word(body + s->desc.perl.code_stash);
			if (!s->text_at)
				return 1;
		}
		return runtime_perl_key(s, name, LISTED_NAME);
	}
	glob = perl_body(name, PERL_TYPE, PERL_GLOB);
	if (!glob)
		return 1;
	glob = perl_glob(s, name, glob);
	s->text_at = runtime_word(glob + s->desc.perl.glob_stash);
	return !s->text_at ||
	       runtime_perl_key(s, runtime_word(glob + s->desc.perl.glob_name), LISTED_NAME);
}

/* Sends the names of a frame's code as number id.  1: they cannot be read, or there was no room. */
static __always_inline int perl_send(struct runtime_state *s, __u32 kind, __u64 body, __u64 name,
				     __u32 flags, __u64 file, __u32 id)
{

	runtime_set_text(&s->event.name, 0, 1);
	runtime_set_text(&s->event.qualname, 0, 1);
	s->text_at = 0;
	if ((kind == RUNTIME_PERL_SUB && runtime_perl_sub(s, body, name, flags)) ||
	    (s->text_at && runtime_perl_package(s, s->text_at)) || runtime_perl_file(s, file))
		return 1;
	s->event.first_line = kind;
	return !runtime_send_code(s, id, 0);
}

/* ---- frames ---- */

/*
 * Adds a frame of that kind (enum runtime_perl_frame), with flags of its word, at the statement in s->found, 0: not known; s->found_at
 * is the sub's code.  1: the walk ends.
 */
__attribute__((noinline)) int runtime_perl_put(struct runtime_state *s, __u32 kind, __u64 flags)
{
	__u64 body = 0, name = 0, file = 0;
	__u64 sum = 0;
	__u32 id;
	__u32 code_flags = 0, line = 0, type;

	if (!s)
		return 1;
	s->why = RUNTIME_UNKNOWN;
	if (s->found) {
		if (runtime_read(s->code, s->desc.perl.statement_bytes, s->found))
			return 1;
		type = RUNTIME_FIELD(s->code, __u16, s->desc.perl.statement_type) & PERL_OP_TYPE;
		if (type && type != PERL_OP_NEXTSTATE && type != PERL_OP_DBSTATE)
			return 1;
		line = RUNTIME_FIELD(s->code, __u32, s->desc.perl.statement_line);
		file = RUNTIME_FIELD(s->code, __u64, s->desc.perl.statement_file);
		sum = RUNTIME_FIELD(s->code, __u32, s->desc.perl.statement_number);
		if (!file)
			return 1;
	}
	if (kind == RUNTIME_PERL_SUB) {
		body = perl_body(s->found_at, PERL_TYPE,
				 (s->object[0] & PERL_CONTEXT) == PERL_CX_FORMAT ? PERL_FORMAT
										 : PERL_CODE);
		if (!body)
			return 1;
		code_flags = perl_number(body + s->desc.perl.code_flags);
		if (code_flags & ~PERL_CODE_FLAGS)
			return 1;
		if (code_flags & PERL_CODE_IN_C) /* which compares for a sort */
			return 0;
		name = runtime_word(body + s->desc.perl.code_name);
		if (!s->found)
			file = runtime_word(body + s->desc.perl.code_file);
		if (!file)
			return 1;
	} else if (kind == RUNTIME_PERL_REQUIRE && !s->found) {
		file = RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_code - 8);
		file = perl_body(file, PERL_TYPE, PERL_STRING) ? runtime_word(file + PERL_VALUE)
							       : 0;
	}
	/* C code also makes another interpreter the thread's for a moment, one that runs nothing. */
	if (kind == RUNTIME_PERL_MAIN && !file)
		return 1;
	sum += (__u64)line * 31 + file * 37 + name * 41 + kind * 43 +
	       (code_flags & (PERL_CODE_NAMED | PERL_CODE_LEXICAL)) * 47;
	if (runtime_known_code(s->found ? s->found : s->found_at | kind, sum)) {
		id = s->code_id;
	} else {
		id = runtime_new_code();
		if (!id || perl_send(s, kind, body, name, code_flags, file, id))
			return 1;
		runtime_remember_code(id, sum);
	}
	s->why = RUNTIME_TOO_DEEP;
	return runtime_put(s, (__u64)id << RUNTIME_INSTR_BITS |
				      (line < RUNTIME_INSTR_MASK && line ? line + 1 : 0) | flags);
}

/*
 * Whether the statement that runs is one of the sub in s->object: not in the moment in which it is called or left, when the
 * statement is still or again that which called it; nor while goto puts another sub in the place of one.  A sub that calls itself
 * has both in itself.
 */
static __always_inline bool perl_is_begun(const struct runtime_state *s)
{
	__u64 op = runtime_word(s->interpreter + s->desc.perl.interp_op), outer;
	__s32 at = RUNTIME_FIELD(s->object, __s32, s->desc.perl.context_outer);
	__u16 type = 0;

	if (bpf_probe_read_user(&type, sizeof(type),
				(const void *)(op + s->desc.perl.statement_type)) ||
	    (type & PERL_OP_TYPE) == PERL_OP_GOTO)
		return false;
	if (s->found != RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_statement))
		return true;
	outer = s->at + (__u64)at * s->desc.perl.context_bytes;
	return at >= 0 && s->found_at &&
	       runtime_word(outer + s->desc.perl.context_code) == s->found_at;
}

/* Goes on to that stack of contexts.  1: the walk ends. */
static __always_inline int perl_enter_stack(struct runtime_state *s, __u64 stack)
{
	__s32 last, most, call;

	s->thread = stack;
	s->why = RUNTIME_UNREADABLE;
	if (runtime_read(s->object, s->desc.perl.stack_bytes, stack))
		return 1;
	s->at = RUNTIME_FIELD(s->object, __u64, s->desc.perl.stack_contexts);
	last = RUNTIME_FIELD(s->object, __s32, s->desc.perl.stack_last);
	most = RUNTIME_FIELD(s->object, __s32, s->desc.perl.stack_last + 4);
	call = RUNTIME_FIELD(s->object, __s32, s->desc.perl.stack_last_call);
	s->why = RUNTIME_UNKNOWN;
	if (!s->at || last < -1 || last > most || call < -1 || call > last)
		return 1;
	s->end = (__s64)call;
	s->text_count = RUNTIME_FIELD(s->object, __u32, s->desc.perl.stack_last_call + 4);
	s->next_interpreter = RUNTIME_FIELD(s->object, __u64, s->desc.perl.stack_previous);
	s->why = RUNTIME_TOO_DEEP;
	return 0;
}

/* The sub that was put last was called by an entry that may not be one of its own: nor may then that sub's be. */
static __always_inline void perl_mark_inner(struct runtime_state *s)
{
	__u64 last = (__u64)s->n - 1;

	barrier_var(last);
	if (last < RUNTIME_WALK_MAX && s->text_bytes &&
	    (s->words[last] & (RUNTIME_FRAME_ENTRY | RUNTIME_FRAME_MAYBE)) == RUNTIME_FRAME_ENTRY)
		s->words[last] |= RUNTIME_FRAME_JOINS;
}

/* All contexts of a stack were looked at: a block of a sort is left, and the stack before it.  1: the walk ends. */
__attribute__((noinline)) int runtime_perl_leave_stack(struct runtime_state *s)
{

	if (!s)
		return 1;
	if (s->text_count == PERL_STACK_SORT) {
		s->why = RUNTIME_UNREADABLE;
		if (runtime_read(s->object, s->desc.perl.context_bytes, s->at))
			return 1;
		if ((s->object[0] & PERL_CONTEXT) == PERL_CX_SORT) {
			perl_mark_inner(s);
			s->found_at = 0;
			if (runtime_perl_put(s, RUNTIME_PERL_BLOCK,
					     RUNTIME_FRAME_ENTRY | RUNTIME_FRAME_MAYBE))
				return 1;
			s->found = RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_statement);
		}
	}
	s->text_bytes = 0;
	if (s->next_interpreter)
		return perl_enter_stack(s, s->next_interpreter);
	s->found_at = 0;
	s->why = RUNTIME_UNKNOWN;
	if (s->text_count != PERL_STACK_MAIN ||
	    runtime_perl_put(s, RUNTIME_PERL_MAIN, RUNTIME_FRAME_ENTRY))
		return 1;
	s->why = RUNTIME_COMPLETE;
	return 1;
}

/* The kind of the frame whose context is in s->object; -1: it is none that may be here; RUNTIME_PERL_FRAMES: none of its own. */
static __always_inline int perl_kind(const struct runtime_state *s)
{
	__u32 type = s->object[0], op = *(__u16 *)(s->object + PERL_CX_OP) >> PERL_CX_OP_SHIFT;

	switch (type & PERL_CONTEXT) {
	case PERL_CX_SUB:
		return type & PERL_CX_FAKE ? RUNTIME_PERL_BLOCK : RUNTIME_PERL_SUB;
	case PERL_CX_FORMAT:
		return RUNTIME_PERL_SUB;
	case PERL_CX_EVAL:
		if (type & PERL_CX_BLOCKS)
			return RUNTIME_PERL_FRAMES;
		return op == PERL_OP_REQUIRE || op == PERL_OP_DOFILE ? RUNTIME_PERL_REQUIRE
								     : RUNTIME_PERL_EVAL;
	default:
		return -1;
	}
}

/* 1: the walk ends. */
__attribute__((noinline)) int runtime_perl_frame(struct runtime_state *s)
{
	__u64 flags = 0, statement;
	__s64 outer;
	int kind;

	if (!s)
		return 1;
	if ((__s64)s->end < 0)
		return runtime_perl_leave_stack(s);
	s->why = RUNTIME_UNREADABLE;
	if (runtime_read(s->object, s->desc.perl.context_bytes,
			 s->at + s->end * s->desc.perl.context_bytes))
		return 1;
	s->why = RUNTIME_UNKNOWN;
	outer = RUNTIME_FIELD(s->object, __s32, s->desc.perl.context_outer);
	kind = perl_kind(s);
	if (kind < 0 || outer < -1 || outer >= (__s64)s->end)
		return 1;
	if (s->object[0] & PERL_CX_MULTICALL || (s->text_count == PERL_STACK_SORT && !s->end)) {
		flags = RUNTIME_FRAME_ENTRY | RUNTIME_FRAME_MAYBE;
		perl_mark_inner(s);
	} else if (!RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_return)) {
		flags = RUNTIME_FRAME_ENTRY;
	}
	s->end = outer;
	s->text_bytes = 0;
	if (kind == RUNTIME_PERL_FRAMES) {
		s->why = RUNTIME_TOO_DEEP;
		return 0;
	}
	statement = RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_statement);
	s->found_at = kind == RUNTIME_PERL_SUB
			      ? RUNTIME_FIELD(s->object, __u64, s->desc.perl.context_code)
			      : 0;
	if (!s->n && !perl_is_begun(s))
		s->found = 0;
	/* A sub that is being left gives its code back first. */
	if (kind == RUNTIME_PERL_SUB && !s->found_at
		    ? flags && runtime_put(s, RUNTIME_FRAME_NOTHING | flags)
		    : runtime_perl_put(s, kind, flags))
		return 1;
	s->why = RUNTIME_TOO_DEEP;
	s->text_bytes = 1;
	s->found = statement;
	return 0;
}

static long perl_frame(__u32 index, void *ctx)
{
	struct runtime_state **s = ctx;

	return runtime_perl_frame(*s) & 1; /* for the verifier, which does not look into it here */
}

/*
 * Whether the last context of the innermost stack, in s->object, is of a call that is being made or left: it is not yet the last
 * call, or no more, and then the statement may be of either side.
 */
static __always_inline bool perl_is_between(struct runtime_state *s)
{
	__s64 last = RUNTIME_FIELD(s->object, __s32, s->desc.perl.stack_last);
	__u8 type = 0;

	if (last < 0 || last == (__s64)s->end)
		return false;
	if (bpf_probe_read_user(&type, sizeof(type),
				(const void *)(s->at + last * s->desc.perl.context_bytes)))
		return true;
	type &= PERL_CONTEXT;
	return type == PERL_CX_SUB || type == PERL_CX_FORMAT || type == PERL_CX_EVAL;
}

/* Finds the innermost stack of the thread's interpreter. */
__attribute__((noinline)) int runtime_perl_find(struct runtime_state *s)
{
	__u64 at;

	if (!s)
		return 1;
	s->why = RUNTIME_NO_THREAD;
	at = runtime_thread_variable(s);
	s->interpreter = at ? runtime_word(at) : 0;
	if (!s->interpreter)
		return 1;
	s->found = runtime_word(s->interpreter + s->desc.perl.interp_statement);
	at = runtime_word(s->interpreter + s->desc.perl.interp_stack);
	s->text_bytes = 0;
	if (!at || perl_enter_stack(s, at))
		return 1;
	if (perl_is_between(s))
		s->found = 0;
	return 0;
}

static __always_inline void runtime_perl_walk(struct runtime_state *s)
{
	runtime_set_process(&s->key);
	/* Evals and stacks have no frame of their own. */
	if (!runtime_perl_find(s))
		bpf_loop(2 * runtime_max_frames + 1, perl_frame, &s, 0);
}

#endif
