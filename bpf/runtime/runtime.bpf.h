/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runtime - the frames of a program that is interpreted, beside the native ones
 *
 * Common to all interpreters: their descriptions, the state in which frames are collected, and
 * the events that name code.  One header in this folder reads the frames of one interpreter.
 *
 * Native frames and these are collected apart, and user space joins them (record/runtime/splice.h): a
 * program without an interpreter pays for one comparison.
 */
#ifndef EBPREC_BPF_RUNTIME_RUNTIME_H
#define EBPREC_BPF_RUNTIME_RUNTIME_H

#include "bpf/lib/common.bpf.h"
#include "bpf/lib/unwind.bpf.h" /* enum runtime_why */
#include "bpf/kernel.h"
#include "bpf/runtime_maps.h"

#include <bpf/bpf_core_read.h>

#define RUNTIME_OBJECT_BYTES 256 /* that are read at once */
#define RUNTIME_WINDOW_BYTES 512 /* the same of a stack */
#define RUNTIME_PAGE_BYTES   4096
#define RUNTIME_RECENT       1024 /* a power of 2 */

#ifndef RUNTIME_WALK_MAX /* the object of samples has more */
#define RUNTIME_WALK_MAX RUNTIME_FRAMES_MAX
#endif

/* Frames of one stack, 1..RUNTIME_WALK_MAX. */
const volatile __u32 runtime_max_frames = RUNTIME_FRAMES_MAX;

/* Code by where it is, in a process from one exec to the next. */
struct runtime_code_key {
	__u64 code, start_ns;
	__u32 pid, execs;
};

/* The numbers for code that a process got. */
struct runtime_numbers {
	__u64 start_ns; /* of the process: an earlier one had the same id */
	__u64 count;
};

/* A part of a stack of the program: frames that follow are likely in it. */
struct runtime_window {
	__u64 start, size_bytes;
	__u8 bytes[RUNTIME_WINDOW_BYTES];
};

/*
 * Compiled code that was seen at an address.  Other code may have come there since: sum is made of what distinguishes them, the
 * number of the compilation above all, and is compared each time.  words: the functions at a return address, innermost first.
 */
struct runtime_place {
	__u64 block, sum; /* where its object begins */
	__u32 kind;       /* enum jvm_code */
	__u32 count;      /* of words */
	__u64 words[RUNTIME_INLINED];
};

_Static_assert(sizeof(struct runtime_place) == RUNTIME_PLACE_BYTES, "bpf/user contract");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_PLACES);
	__type(key, struct runtime_code_key);
	__type(value, struct runtime_place);
} runtime_places SEC(".maps");

/* V8's optimized code: the table of positions, as far as it was read, and what leads on from the position that was found. */
struct runtime_inlined {
	__u64 table_bytes; /* in runtime_state.event.lines */
	__u64 number, shift, is_second;
	__u64 position, found;
	__s64 offset, wanted_offset;
	__u64 literals, inlinings; /* arrays */
	__u64 outer,
		innermost; /* the function that was compiled; the last one that was put into it */
	__u64 first_exit, exit_count;
	__s64 bytecode; /* where the innermost one is; -1: not known */
	__u32 count, inlinings_bytes;
};

struct runtime_state {
	__u64 base;
	__u32 number; /* of the description */
	__u32 tgid;   /* of the process, as current_ids() has it */
	__u32 n;      /* frames so far */
	__u32 why;    /* enum runtime_why */
	__u32 code_id;
	__u32 sum,
		summed; /* RUNTIME_SUM of native frames with methods or functions; the number of the last one, and 1 */
	__u64 at;    /* the frame to be read next; 0: there is none */
	__u64 frame; /* the one that was read */
	__u64 end;   /* of Ruby's frames */
	__u64 interpreter, thread;
	__u64 found, found_at;  /* the thread's state, and the first frame of it; 0: none */
	__u64 next_interpreter; /* 0: there is one alone */
	/* Python: the first frame below the innermost entry of the eval loop; whether the walk has come there. */
	__u64 below, is_below;
	__u64 thread_pointer;
	struct runtime_code_key key; /* of the code that was looked for last */
	struct runtime_numbers none; /* what a process has that got no number yet */
	/* The text that was found last: where its characters are, how many there are, and how many bytes each has. */
	__u64 text_at;
	__u32 text_count, text_bytes;
	/* Compiled code: where the thread is, the first word of its objects (0: not known), and the field with its function. */
	__u64 pc, stream_map, deopt, code_start;
	__u32 code_rounds, zero;        /* in which the beginning of code may still be looked for */
	struct runtime_inlined inlined; /* V8's */
	struct runtime_place place;     /* that is made */
	__u64 code_at;                  /* the code that code[] is of; 0: none */
	__u64 code_owner;               /* and whose owner that had */
	/* Ruby: the entry of a method that was read last, its definition, what owns it; 0: none. */
	__u64 entry, definition, owner;
	__u64 environment; /* that is to be looked at next */
	__u64 class;       /* whose variables are in object[] */
	__u64 body;        /* where code[] was read: Ruby's code has the rest there */
	__u8 object[RUNTIME_OBJECT_BYTES], code[RUNTIME_OBJECT_BYTES];
	struct runtime_window frames, environments;
	struct runtime_desc desc;                                /* a copy */
	struct runtime_code_event event;                         /* of the code that is named */
	__u64 head[RUNTIME_HEAD_WORDS], words[RUNTIME_WALK_MAX]; /* as they are sent */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_state);
} runtime_states SEC(".maps");

struct jvm_state; /* bpf/runtime/jvm.bpf.h */

/* The states that callbacks of bpf_loop() work on. */
struct runtime_walk {
	struct walk_state *w;
	struct runtime_state *s;
	struct jvm_state *j; /* of a JVM */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUNTIME_DESCS);
	__type(key, __u32);
	__type(value, struct runtime_desc);
} runtime_descs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RUNTIME_FILES);
	__type(key, struct runtime_file_key);
	__type(value, struct runtime_file);
} runtime_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_EARLY);
	__type(key, __u32);
	__type(value, struct runtime_early);
} runtime_earlies SEC(".maps");

struct runtime_code {
	__u32 id, zero;
	__u64 sum; /* of what makes it this code, and no other that was there before */
};

_Static_assert(sizeof(struct runtime_code_key) == RUNTIME_CODE_KEY_BYTES, "bpf/user contract");
_Static_assert(sizeof(struct runtime_code) == RUNTIME_CODE_VALUE_BYTES, "bpf/user contract");
_Static_assert(sizeof(struct runtime_numbers) == RUNTIME_NUMBERS_BYTES, "bpf/user contract");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_CODES);
	__type(key, struct runtime_code_key);
	__type(value, struct runtime_code);
} runtime_codes SEC(".maps");

/* The code that this CPU saw last, of each that leads to the same place: costs less than runtime_codes, which has all. */
struct runtime_recent {
	struct runtime_code_key key;
	__u64 sum;
	__u32 id, zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RUNTIME_RECENT);
	__type(key, __u32);
	__type(value, struct runtime_recent);
} runtime_recents SEC(".maps");

/* The interpreter's state of a thread, which is checked each time; by the kernel's id. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_THREADS);
	__type(key, __u32);
	__type(value, __u64);
} runtime_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} runtime_code_count SEC(".maps"); /* the last number of code */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_THREADS);
	__type(key, __u32);
	__type(value, struct runtime_numbers);
} runtime_process_numbers SEC(".maps"); /* by the id of the process */

/*
 * Most functions have the state as an argument: the kernel inserts code for each lookup, and moves all that is behind it.
 * Those that have a key or a value of a map in it look it up, as Linux 6.1 takes neither by way of an argument.
 */
static __always_inline struct runtime_state *runtime_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&runtime_states, &zero);
}

/* Takes the description of the interpreter that w is of.  False: there is none. */
static __always_inline bool runtime_begin(struct runtime_state *s, const struct walk_state *w)
{
	__u32 number = w->runtime;
	struct runtime_desc *d = bpf_map_lookup_elem(&runtime_descs, &number);

	s->number = 0;
	if (!d)
		return false;
	s->desc = *d;
	s->number = number;
	s->base = w->runtime_base;
	s->tgid = w->tgid;
	s->n = s->sum = s->summed = 0;
	s->why = RUNTIME_COMPLETE;
	return true;
}

/* Adds a word to a stack.  1: there is no room. */
static __always_inline int runtime_put(struct runtime_state *s, __u64 word)
{
	__u64 n = s->n;

	barrier_var(n);
	if (n >= RUNTIME_WALK_MAX || n >= runtime_max_frames)
		return 1;
	s->words[n] = word;
	s->n = n + 1;
	return 0;
}

/* Adds a word of native frame i, whose place it takes or follows.  1: there is no room. */
static __always_inline int runtime_put_of(struct runtime_state *s, const struct walk_state *w,
					  __u64 i, __u64 word)
{
	__u64 frame;

	barrier_var(i);
	if (i >= WALK_FRAMES_MAX)
		return 1;
	/* Read before i + 1 is compared: from that Linux 6.12 concludes that it no longer knows a limit of i. */
	frame = w->frames[i];
	barrier_var(frame);
	if (runtime_put(s, word | i << RUNTIME_FRAME_BITS)) {
		s->why = RUNTIME_TOO_DEEP;
		return 1;
	}
	if (s->summed != i + 1)
		s->sum = RUNTIME_SUM(s->sum, frame);
	s->summed = i + 1;
	return 0;
}

/* ---- fields of what was read; offsets come from files of strangers ---- */

#define RUNTIME_FIELD(bytes, type, off) \
	(*(volatile type *)((bytes) + ((off) & (RUNTIME_OBJECT_BYTES - sizeof(type)))))

/* Reads size_bytes at addr, as far as there is room for; 0: done. */
static __always_inline long runtime_read(__u8 *to, __u64 size_bytes, __u64 addr)
{
	if (size_bytes > RUNTIME_OBJECT_BYTES)
		return -1;
	barrier_var(size_bytes);
	if (size_bytes > RUNTIME_OBJECT_BYTES) /* for the verifier */
		return -1;
	return bpf_probe_read_user(to, size_bytes, (const void *)addr);
}

/* A word of a window; off comes from strangers. */
#define RUNTIME_WINDOW_WORD(w, off) \
	(*(volatile __u64 *)((w)->bytes + ((off) & (RUNTIME_WINDOW_BYTES - sizeof(__u64)))))

/*
 * Has size_bytes at addr in the window, and what is above them, or below, as far as it is in the same pages: one
 * read for several frames.  1: they cannot be read.
 */
static __always_inline int runtime_look(struct runtime_window *w, __u64 addr, __u64 size_bytes,
					bool is_above)
{
	__u64 end = addr + size_bytes, start = addr, count;

	if (addr & 7)
		return 1;
	if (addr >= w->start && end - w->start <= w->size_bytes)
		return 0;
	if (is_above) {
		end = (end + RUNTIME_PAGE_BYTES - 1) & ~(RUNTIME_PAGE_BYTES - 1ULL);
		end = end - start > RUNTIME_WINDOW_BYTES ? start + RUNTIME_WINDOW_BYTES : end;
	} else {
		start &= ~(RUNTIME_PAGE_BYTES - 1ULL);
		start = end - start > RUNTIME_WINDOW_BYTES ? end - RUNTIME_WINDOW_BYTES : start;
	}
	count = end - start;
	w->size_bytes = 0;
	barrier_var(count);
	if (count > RUNTIME_WINDOW_BYTES ||
	    bpf_probe_read_user(w->bytes, count, (const void *)start))
		return 1;
	w->start = start;
	w->size_bytes = count;
	return 0;
}

/* A word of the process's memory; 0: it cannot be read, or is 0. */
static __always_inline __u64 runtime_word(__u64 addr)
{
	__u64 word = 0;

	return bpf_probe_read_user(&word, sizeof(word), (const void *)addr) ? 0 : word;
}

/* Whether a call stands before addr: on x86 its first byte by the lengths that calls have, else bl or blr. */
__attribute__((noinline)) int runtime_is_behind_call(__u64 addr)
{
	__u8 code[8] = {};
	__u32 word;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(addr - 8)))
		return 0;
	if (UNWIND_HERE == UNWIND_AARCH64) {
		word = code[4] | code[5] << 8 | code[6] << 16 | (__u32)code[7] << 24;
		return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000;
	}
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[2] == 0xff && (code[3] & 0x38) == 0x10);
}

static __always_inline __u64 runtime_thread_pointer(void)
{
	return thread_pointer((void *)bpf_get_current_task_btf());
}

/* Where the C library has this thread's variable of the description; 0: not known. */
static __always_inline __u64 runtime_thread_variable(const struct runtime_state *s)
{
	__u64 tp = runtime_thread_pointer(), module, block;

	if (!s->desc.tls_module)
		return tp + s->desc.tls_offset;
	module = runtime_word(s->base + s->desc.tls_module);
	if (!module || module >> 16)
		return 0;
	block = runtime_word(runtime_word(tp + (UNWIND_HERE == UNWIND_AARCH64 ? 0 : 8)) +
			     16 * module);
	return block && block + 1 ? block + s->desc.tls_offset : 0;
}

/* Fills in what is the same for all code of the current process. */
static __always_inline void runtime_set_process(struct runtime_code_key *key)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	key->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	key->pid = task->tgid;
	key->execs = BPF_CORE_READ(task, self_exec_id);
}

/*
 * Whether the process of s->key may have one more number.  More of them would be taken from others, and from the hash of
 * code, which forgets theirs for it.
 */
static __always_inline bool runtime_may_have_code(struct runtime_state *s)
{
	struct runtime_numbers *n = bpf_map_lookup_elem(&runtime_process_numbers, &s->key.pid);

	if (!n || n->start_ns != s->key.start_ns) {
		s->none.start_ns = s->key.start_ns;
		bpf_map_update_elem(&runtime_process_numbers, &s->key.pid, &s->none, BPF_ANY);
		n = bpf_map_lookup_elem(&runtime_process_numbers, &s->key.pid);
	}
	if (!n || n->count >= RUNTIME_PROCESS_CODES)
		return false;
	__sync_fetch_and_add(&n->count, 1);
	return true;
}

/*
 * The next number of code for the process of s->key; 0: there are no more, with s->why.  Programs of other CPUs, and one
 * that interrupts this, take theirs from the same count, so the instruction has to return it:
 * r2 = atomic_fetch_add((u64 *)(r1 + 0), r2), which clang knows from -mcpu=v3 on alone
 * (Documentation/bpf/standardization/instruction-set.rst has the encoding).
 */
__attribute__((noinline)) int runtime_new_code(void)
{
	struct runtime_state *s = runtime_here();
	__u64 *last, id;
	__u32 zero = 0;

	if (!s)
		return 0;
	last = bpf_map_lookup_elem(&runtime_code_count, &zero);
	if (!last || *last >= RUNTIME_CODE_MAX || !runtime_may_have_code(s)) {
		s->why = RUNTIME_NO_NUMBER;
		return 0;
	}
	asm volatile("r1 = %1; r2 = 1; .quad 0x1000021db; %0 = r2"
		     : "=r"(id)
		     : "r"(last)
		     : "r1", "r2", "memory");
	return id < RUNTIME_CODE_MAX ? id + 1 : 0;
}

/* ---- code and its names ---- */

/* Where code at addr may be among the recent. */
static __always_inline struct runtime_recent *runtime_recent(__u64 addr)
{
	__u32 at = (addr * 0x9e3779b97f4a7c15ULL) >> 48 & (RUNTIME_RECENT - 1);

	return bpf_map_lookup_elem(&runtime_recents, &at);
}

/*
 * The number of the code at addr in the process of s->key, in s->code_id, as far as it has one, and is still the same by the
 * sum; it may be 0.  0: it has to be named.
 */
__attribute__((noinline)) int runtime_known_code(__u64 addr, __u64 sum)
{
	struct runtime_state *s = runtime_here();
	struct runtime_recent *recent = runtime_recent(addr);
	struct runtime_code *known;

	if (!s)
		return 0;
	s->key.code = addr;
	if (recent && recent->sum == sum && recent->key.code == addr &&
	    recent->key.start_ns == s->key.start_ns && recent->key.pid == s->key.pid &&
	    recent->key.execs == s->key.execs) {
		s->code_id = recent->id;
		return 1;
	}
	known = bpf_map_lookup_elem(&runtime_codes, &s->key);
	if (!known || known->sum != sum)
		return 0;
	s->code_id = known->id;
	if (recent) {
		recent->key = s->key;
		recent->sum = sum;
		recent->id = s->code_id;
	}
	return 1;
}

/* Gives the code of s->key its number, in s->code_id, too.  Where the map is full the code is named again. */
__attribute__((noinline)) int runtime_remember_code(__u32 id, __u64 sum)
{
	struct runtime_state *s = runtime_here();
	struct runtime_code code = {};

	if (!s)
		return 0;
	s->code_id = code.id = id;
	code.sum = sum;
	bpf_map_update_elem(&runtime_codes, &s->key, &code, BPF_ANY);
	return 0;
}

/* Sets the length of a text in an event: char_count characters of char_bytes each. */
static __always_inline void runtime_set_text(struct runtime_text *head, __u64 char_count,
					     __u32 char_bytes)
{
	head->char_count = char_count;
	head->char_bytes = char_bytes;
	head->is_ascii = head->is_utf8 = head->zero = 0;
}

/* Reads the size_bytes of a text at addr: the beginning, or, with from_end, its end.  False: they cannot be read. */
#define RUNTIME_READ_TEXT(addr, size_bytes, to, from_end)                                       \
	({                                                                                      \
		__u64 at__ = (addr), size__ = (size_bytes);                                     \
		if (size__ > sizeof(to)) {                                                      \
			at__ += (from_end) ? size__ - sizeof(to) : 0;                           \
			size__ = sizeof(to);                                                    \
		}                                                                               \
		barrier_var(size__);                                                            \
		size__ <= sizeof(to) && !bpf_probe_read_user((to), size__, (const void *)at__); \
	})

/* Sends the names in s->event as those of code id, with line_bytes of its lines.  0: there was no room. */
__attribute__((noinline)) int runtime_send_code(struct runtime_state *s, __u32 id, __u32 line_bytes)
{
	__u64 size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES + (__u64)line_bytes;
	struct runtime_code_event *ev;
	void *ring = ring_here();

	if (!s || !ring)
		return 0;
	ev = &s->event;
	/* A call of pidns_ids() would be one too many here: Linux 6.1 allows 512 bytes of stack for all. */
	ev->pid = s->tgid;
	ev->user = bpf_get_current_uid_gid();
	ev->id = id;
	ev->desc = s->number;
	ev->line_bytes = line_bytes;
	fill_header(&ev->h, EBPREC_EV_CODE, size_bytes);
	barrier_var(size_bytes);
	if (size_bytes <= sizeof(*ev) &&
	    !bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		return 1;
	count_lost(EBPREC_EV_CODE);
	return 0;
}

#endif
