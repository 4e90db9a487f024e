/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * python - the frames of CPython 3.8 and later
 *
 * The state of the current thread is the one in the interpreter's list whose thread_id, which is what
 * pthread_self() returns, is where this thread's register for its data points; it is remembered, and checked each time.  From it
 * leads a list of frames, each with its code and the instruction.  Up to 3.10 each frame is an entry of the eval
 * loop; in 3.11 a flag of the frame marks one, from 3.12 on a frame of its own stands between two entries.
 *
 * No pointer is trusted: an object must have the type that it has to be of, or the walk ends with a reason.
 * Loops and lengths are bounded by the number of rounds and the size of buffers.
 */
#ifndef EBPREC_BPF_RUNTIME_PYTHON_H
#define EBPREC_BPF_RUNTIME_PYTHON_H

#include "bpf/runtime/runtime.bpf.h"

#define PYTHON_THREADS_MAX     2048 /* states that are looked at for one thread */
#define PYTHON_THREAD_BYTES    200
#define PYTHON_BYTES_HEAD      32 /* what stands before the contents of a bytes object */
#define PYTHON_CFRAME_PREVIOUS 8  /* of _PyCFrame, behind its current_frame */
/* PyObject_HEAD, PyVarObject, and a str's length and state. */
#define PYTHON_TYPE    8
#define PYTHON_SIZE    16
#define PYTHON_STATE   32
#define PYTHON_KIND    2 /* bits of that */
#define PYTHON_COMPACT (1u << 5)
#define PYTHON_ASCII   (1u << 6)

/* ---- names of code ---- */

/* Reads the head of a str into *to.  Returns where its text is; 0: it is none. */
static __always_inline __u64 python_text_head(const struct runtime_state *s, __u64 addr,
					      struct runtime_text *to)
{
	__u64 head[5]; /* references, type, length, hash, state */
	__u32 state;

	runtime_set_text(to, 0, 0);
	if (bpf_probe_read_user(head, sizeof(head), (const void *)addr) ||
	    head[1] != s->desc.text_type + s->base)
		return 0;
	state = head[4];
	if (!(state & PYTHON_COMPACT) || head[2] >> 32)
		return 0;
	runtime_set_text(to, head[2], state >> PYTHON_KIND & 7);
	to->is_ascii = !!(state & PYTHON_ASCII);
	if (to->char_bytes != 1 && to->char_bytes != 2 && to->char_bytes != 4)
		return 0;
	return addr + (to->is_ascii ? s->desc.python.ascii_bytes : s->desc.python.compact_bytes);
}

/* The beginning of a str, or, with from_end, its end.  False: it cannot be read. */
#define PYTHON_READ_TEXT(s, addr, head, to, from_end)                                             \
	({                                                                                        \
		__u64 text__ = python_text_head((s), (addr), (head));                             \
		text__ &&RUNTIME_READ_TEXT(text__, (__u64)(head)->char_count *(head)->char_bytes, \
					   to, from_end);                                         \
	})

static __always_inline bool python_read_lines(struct runtime_state *s, __u64 addr)
{
	__u64 head[3], size; /* references, type, size */

	if (bpf_probe_read_user(head, sizeof(head), (const void *)addr) ||
	    head[1] != s->desc.bytes_type + s->base || head[2] >> 32)
		return false;
	size = head[2] > RUNTIME_LINES_BYTES ? RUNTIME_LINES_BYTES : head[2];
	s->event.line_bytes = size;
	barrier_var(size);
	return size <= RUNTIME_LINES_BYTES &&
	       !bpf_probe_read_user(s->event.lines, size, (const void *)(addr + PYTHON_BYTES_HEAD));
}

/* Sends the names of the code in s->code as number id.  False: it could not be read, or there was no room. */
static __always_inline bool python_send_names(struct runtime_state *s, __u32 id)
{
	__u64 name, qualname, file;

	name = RUNTIME_FIELD(s->code, __u64, s->desc.python.code_name);
	file = RUNTIME_FIELD(s->code, __u64, s->desc.python.code_filename);
	qualname = s->desc.python.code_qualname == RUNTIME_NO_FIELD
			   ? name
			   : RUNTIME_FIELD(s->code, __u64, s->desc.python.code_qualname);
	if (!PYTHON_READ_TEXT(s, name, &s->event.name, s->event.name_text, 0) ||
	    !PYTHON_READ_TEXT(s, qualname, &s->event.qualname, s->event.qualname_text, 0) ||
	    !PYTHON_READ_TEXT(s, file, &s->event.file, s->event.file_text, 1) ||
	    !python_read_lines(s, RUNTIME_FIELD(s->code, __u64, s->desc.python.code_lines))) {
		s->why = RUNTIME_UNKNOWN;
		return false;
	}
	s->event.first_line = RUNTIME_FIELD(s->code, __s32, s->desc.python.code_firstlineno);
	return runtime_send_code(s, id, s->event.line_bytes);
}

/*
 * Code of the interpreter itself, which no traceback has: from 3.12 on it lies between a call of a class and its
 * __init__(), and is called __init__ in a file __init__.
 */
static __always_inline bool python_is_own(const struct runtime_state *s)
{
	__u64 name = RUNTIME_FIELD(s->code, __u64, s->desc.python.code_name);

	return s->desc.python.frame_owner != RUNTIME_NO_FIELD &&
	       name == RUNTIME_FIELD(s->code, __u64, s->desc.python.code_qualname) &&
	       name == RUNTIME_FIELD(s->code, __u64, s->desc.python.code_filename);
}

/*
 * The number of the code at addr in s->code_id, 0: it is the interpreter's own; 1: it is no code, or its names
 * cannot be had.
 */
__attribute__((noinline)) int runtime_python_code(struct runtime_state *s, __u64 addr)
{
	__u64 sum;
	__u32 id;

	if (!s)
		return 1;
	s->why = RUNTIME_UNREADABLE;
	if (runtime_read(s->code, s->desc.python.code_bytes, addr))
		return 1;
	s->why = RUNTIME_UNKNOWN;
	if (RUNTIME_FIELD(s->code, __u64, PYTHON_TYPE) != s->desc.code_type + s->base)
		return 1;
	s->code_id = 0;
	if (python_is_own(s))
		return 0;
	sum = RUNTIME_FIELD(s->code, __u64, s->desc.python.code_name) * 31 +
	      RUNTIME_FIELD(s->code, __u64, s->desc.python.code_filename) * 37 +
	      RUNTIME_FIELD(s->code, __u64, s->desc.python.code_lines) * 41 +
	      RUNTIME_FIELD(s->code, __u32, s->desc.python.code_firstlineno);
	if (runtime_known_code(addr, sum))
		return 0;
	id = runtime_new_code();
	if (!id || !python_send_names(s, id))
		return 1;
	runtime_remember_code(id, sum);
	return 0;
}

/* ---- frames ---- */

/* How far the instruction is in its code, and 1; 0: not known. */
static __always_inline __u32 python_instr(const struct runtime_state *s, __u64 code)
{
	__u64 at;

	if (s->desc.python.instr == RUNTIME_PYTHON_INSTR_POINTER) {
		at = RUNTIME_FIELD(s->object, __u64, s->desc.python.frame_instr) - code -
		     s->desc.python.code_instrs;
	} else {
		at = (__s64)RUNTIME_FIELD(s->object, __s32, s->desc.python.frame_instr);
		if (s->desc.python.instr == RUNTIME_PYTHON_INSTR_UNITS)
			at *= 2;
	}
	if ((__s64)at < 0) /* before the first one */
		at = 0;
	return at < RUNTIME_INSTR_MASK ? at + 1 : 0;
}

/* An entry of the eval loop ends here. */
static __always_inline int python_put_entry(struct runtime_state *s)
{
	__u64 last = (__u64)s->n - 1;

	barrier_var(last);
	if (last < RUNTIME_WALK_MAX && !(s->words[last] & RUNTIME_FRAME_ENTRY)) {
		s->words[last] |= RUNTIME_FRAME_ENTRY;
		return 0;
	}
	return runtime_put(s, RUNTIME_FRAME_ENTRY | RUNTIME_FRAME_NOTHING);
}

/*
 * In 3.11 and 3.12 each entry of the eval loop has a struct with its current frame and the struct of the entry
 * before.  The thread gets the new struct some instructions before its frame is written there: until then the frame
 * is one of an earlier call.  It is right where the first frame behind the entry is the current one of the struct before.
 */
static __always_inline bool python_is_stale(struct runtime_state *s, __u64 previous)
{
	if (s->desc.python.cframe_frame == RUNTIME_NO_FIELD || s->is_below)
		return false;
	s->is_below = 1;
	if (previous == s->below)
		return false;
	s->why = RUNTIME_UNKNOWN;
	s->n = 0;
	return true;
}

/* 1: the walk ends. */
__attribute__((noinline)) int runtime_python_frame(struct runtime_state *s)
{
	__u64 code, word, previous;
	__u32 entry;

	if (!s)
		return 1;
	s->why = RUNTIME_COMPLETE;
	if (!s->at)
		return 1;
	s->why = RUNTIME_UNREADABLE;
	if (runtime_read(s->object, s->desc.python.frame_bytes, s->at))
		return 1;
	previous = RUNTIME_FIELD(s->object, __u64, s->desc.python.frame_previous);
	if (s->desc.python.frame_owner != RUNTIME_NO_FIELD &&
	    RUNTIME_FIELD(s->object, __u8, s->desc.python.frame_owner) ==
		    s->desc.python.owner_entry) {
		if (python_is_stale(s, previous))
			return 1;
		s->why = RUNTIME_TOO_DEEP;
		s->at = previous;
		return python_put_entry(s);
	}
	code = RUNTIME_FIELD(s->object, __u64, s->desc.python.frame_code);
	word = python_instr(s, code);
	entry = s->desc.python.frame_entry != RUNTIME_NO_FIELD
			? RUNTIME_FIELD(s->object, __u8, s->desc.python.frame_entry)
			: s->desc.python.frame_owner == RUNTIME_NO_FIELD;
	if (entry && python_is_stale(s, previous))
		return 1;
	if (runtime_python_code(s, code))
		return 1;
	word |= (__u64)s->code_id << RUNTIME_INSTR_BITS;
	s->why = RUNTIME_TOO_DEEP;
	s->at = previous;
	if (!s->code_id)
		return 0;
	return runtime_put(s, word | (entry ? RUNTIME_FRAME_ENTRY : 0));
}

static long python_frame(__u32 index, void *ctx)
{
	struct runtime_state **s = ctx;

	return runtime_python_frame(*s) &
	       1; /* for the verifier, which does not look into it here */
}

/* ---- the thread ---- */

/*
 * Whether the state at addr is this thread's and has a frame, which becomes the first one.  s->object has
 * the state then; -1: it cannot be read.
 */
static __always_inline int python_thread(struct runtime_state *s, __u64 addr)
{
	__u64 frame, current;

	if (runtime_read(s->object, PYTHON_THREAD_BYTES, addr))
		return -1;
	if (!is_descriptor(RUNTIME_FIELD(s->object, __u64, s->desc.python.thread_id),
			   s->thread_pointer))
		return 0;
	frame = RUNTIME_FIELD(s->object, __u64, s->desc.python.thread_frame);
	if (frame && s->desc.python.cframe_frame != RUNTIME_NO_FIELD) {
		current = frame + s->desc.python.cframe_frame;
		frame = runtime_word(current);
		if (frame) {
			s->is_below = 0;
			s->below = runtime_word(runtime_word(current + PYTHON_CFRAME_PREVIOUS) +
						s->desc.python.cframe_frame);
		}
	}
	s->at = frame;
	return !!frame;
}

/*
 * Goes on to the next state.  Another interpreter may have one with frames and the same id, which up to 3.11 is
 * that of the thread that made the interpreter, and not of the one that runs it: which of them is this thread's is
 * not known.  1: the search ends, with s->interpreter 0 when all have been looked at.
 */
__attribute__((noinline)) int runtime_python_thread(struct runtime_state *s)
{

	if (!s)
		return 1;
	if (!s->thread) {
		s->interpreter = runtime_word(s->interpreter + s->desc.python.interpreter_next);
		if (!s->interpreter)
			return 1;
		s->thread = runtime_word(s->interpreter + s->desc.python.interpreter_threads);
		return 0;
	}
	switch (python_thread(s, s->thread)) {
	case 0:
		s->thread = RUNTIME_FIELD(s->object, __u64, s->desc.python.thread_next);
		return 0;
	case 1:
		if (s->found) {
			s->why = RUNTIME_SEVERAL;
			return 1;
		}
		s->found = s->thread;
		s->found_at = s->at;
		s->thread = 0;
		return 0;
	default:
		return 1;
	}
}

static long python_next_thread(__u32 index, void *ctx)
{
	struct runtime_state **s = ctx;

	return runtime_python_thread(*s) & 1;
}

__attribute__((noinline)) int runtime_python_find(struct runtime_state *s, __u64 remembered)
{

	if (!s)
		return 0;
	s->at = s->found = s->found_at = 0;
	s->why = RUNTIME_NO_THREAD;
	s->next_interpreter = 0;
	s->interpreter = runtime_word(s->desc.state + s->base +
				      s->desc.python.runtime_interpreters);
	if (!s->interpreter)
		return 0;
	s->next_interpreter = runtime_word(s->interpreter + s->desc.python.interpreter_next);
	if (remembered && python_thread(s, remembered) == 1)
		return 0;
	s->at = 0;
	s->thread = runtime_word(s->interpreter + s->desc.python.interpreter_threads);
	return 1;
}

static __always_inline void runtime_python_walk(struct runtime_state *s)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 *known = bpf_map_lookup_elem(&runtime_threads, &tid), thread;

	s->thread_pointer = runtime_thread_pointer();
	runtime_set_process(&s->key);
	if (runtime_python_find(s, known ? *known : 0)) {
		bpf_loop(PYTHON_THREADS_MAX, python_next_thread, &s, 0);
		thread = s->found;
		s->at = s->interpreter ? 0 : s->found_at;
		if (s->at)
			bpf_map_update_elem(&runtime_threads, &tid, &thread, BPF_ANY);
	}
	if (s->at)
		bpf_loop(runtime_max_frames + 1, python_frame, &s, 0);
	/* Entries of the loop that are of another interpreter have no frames here. */
	if (s->next_interpreter && (s->why == RUNTIME_COMPLETE || s->why == RUNTIME_TOO_DEEP))
		s->why = RUNTIME_SEVERAL;
}

#endif
