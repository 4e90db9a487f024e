/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwind - user stacks without frame pointers, walked in place
 *
 * walk_user() finds the user registers of the current thread and follows its stack by the tables
 * of bpf/unwind_maps.h, with format/unwind/unwind.h's step.  Code without a table is crossed by the frame
 * pointer, when that leads to code again.  walk.why has the reason why a walk ends.
 *
 * Shape, for the verifier: one bpf_loop(), whose state lives in a per-CPU map value, because a
 * counter on the stack makes it walk every iteration; searches and reads are global functions,
 * verified once, that have the state as an argument: a lookup in each takes the kernel longer to
 * load.  The stack is read in windows: a probe read costs some 70 ns, of 8 bytes or of 500.
 */
#ifndef EBPREC_BPF_WALK_H
#define EBPREC_BPF_WALK_H

#include "bpf/lib/common.bpf.h"
#include "bpf/lib/ids.bpf.h"
#include "bpf/lib/registers.bpf.h"
#include "bpf/unwind_maps.h"

#ifndef WALK_FRAMES_MAX /* the object of samples has more */
#define WALK_FRAMES_MAX CPU_USER_MAX
#endif

/* Frames of one stack, 1..WALK_FRAMES_MAX. */
const volatile __u32 max_frames = CPU_USER_MAX;

#define WINDOW_BYTES   512
#define NO_WINDOW      (1ULL << 63) /* no address of user space is near */
#define PROLOGUE_BYTES 48

struct walk_state;
static __always_inline int walk_gpr(const struct walk_state *w, __u32 n, __u64 *out);
static __always_inline int walk_read(struct walk_state *w, __u64 addr, __u64 *out);
static __always_inline int walk_read2(struct walk_state *w, __u64 addr, __u64 *lo, __u64 *hi);

#define UNWIND_MEM                    struct walk_state *
#define UNWIND_READ(mem, addr, out)   walk_read((mem), (addr), (out))
#define UNWIND_READ2(mem, addr, o, p) walk_read2((mem), (addr), (o), (p))
#define UNWIND_GPR(mem, n, out)       walk_gpr((mem), (n), (out))
#include "format/unwind/stack_result.h"
#include "format/unwind/unwind.h"

struct walk_state {
	struct unwind_regs regs;
	__u64 gprs[COPY_REGS]; /* of the leaf, by enum unwind_regno */
	saved_regs saved;      /* as the kernel has them; too large for the stack */
	__u32 n;               /* frames so far */
	__u32 why;             /* enum unwind_why */
	__u32 why_guess;       /* when `guessed`: the reason to report if the guess was wrong */
	__u32 how;             /* WALK_BY_* */
	__u32 guessed; /* regs are a frame-pointer step's: not believed before pc is seen to be code */
	__u32 compat; /* a 32-bit program */
	__u32 first_map, map_count;
	__u32 map_at;  /* the mapping of the frame before: most often it is this one's */
	__u32 tgid;    /* of the process, as current_ids() has it */
	__u32 runtime; /* as in struct walk_proc */
	__u64 runtime_base;
	__u32 jvm;         /* WALK_JVM_* */
	__u32 jvm_heaps;   /* its code heaps were read anew in this walk */
	__u64 window_addr; /* of window[0] */
	__u64 word[2];     /* the word that walk_fetch() read */
	__u8 window[WINDOW_BYTES];
	/* The words that walk_called_frameless() reads: all stacks of a program's functions are 512
	 * bytes together. */
	__u8 call[8], code[PROLOGUE_BYTES];
	__u64 frames[WALK_FRAMES_MAX];
	/*
	 * By which a step from that frame was made, | WALK_FP_*; 0: it was not made by the frame pointer.  With
	 * WALK_FP_METHOD: what bpf/runtime/jvm_method.bpf.h knows of the frame's method.
	 */
	__u64 fps[WALK_FRAMES_MAX];
};

/* pc is in code without a file; pc is where the thread is, and not a return address. */
enum { WALK_FP_MADE = 1, WALK_FP_EXACT = 2, WALK_FP_METHOD = 4, WALK_FP_BITS = 7 };

enum { WALK_BY_CFI = 1, WALK_BY_FP = 2 };

/* The JVM of the process, for bpf/runtime/jvm_step.bpf.h; STUCK: a frame in its code is not as it has to be. */
enum { WALK_JVM_NEW, WALK_JVM_KNOWN, WALK_JVM_UNKNOWN, WALK_JVM_STUCK };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk_state);
} walk_states SEC(".maps");

struct chunk_prototype {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size,
	       sizeof(struct walk_chunk)); /* its type clang would leave undefined here */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WALK_CHUNKS);
	__type(key, __u32);
	__array(values, struct chunk_prototype);
} walk_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_PAGES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct walk_page);
} walk_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} walk_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_MAPS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct walk_map);
} walk_maps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WALK_PROCS);
	__type(key, __u32);
	__type(value, struct walk_proc);
} walk_procs SEC(".maps"); /* tgid -> its mappings */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WALK_PROCS);
	__type(key, __u32);
	__type(value, __u64);
} walk_execs SEC(".maps"); /* tgid -> when it last became another program */

static __always_inline struct walk_state *walk_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&walk_states, &zero);
}

/*
 * ---- searches and reads: global functions ----
 *
 * Searches halve [lo, lo + n) without a branch: two ways in each round would be 2^rounds of them for
 * the verifier, and a wrong guess in half the rounds for the CPU.
 */

/* All ones when a <= b, else 0.  Both below 2^63. */
static __always_inline __u64 mask_if_not_above(__u64 a, __u64 b)
{
	__u64 mask = (__u64)((__s64)(a - b - 1) >> 63);

	barrier_var(mask); /* or clang makes branches of it */
	return mask;
}

/* The mapping of pc among [first, first + n), as an index in walk_maps; -1: none. */
__attribute__((noinline)) int walk_find_map(__u32 first, __u32 n, __u64 pc)
{
	__u32 lo = first, half, i, at;
	struct walk_map *m;

	if (!n || pc >> 63)
		return -1;
	for (i = 0; i < 14 && n > 1; i++) {
		half = n / 2;
		at = lo + half;
		m = bpf_map_lookup_elem(&walk_maps, &at);
		if (!m)
			return -1;
		lo += half & mask_if_not_above(m->start, pc);
		n -= half;
	}
	at = lo;
	m = bpf_map_lookup_elem(&walk_maps, &at);
	return m && pc >= m->start && pc < m->end ? (int)at : -1;
}

/* The rule id at `off` bytes behind the beginning of a table's page_count pages; 0: no CFI. */
__attribute__((noinline)) int walk_find_rule(__u32 first_page, __u32 page_count, __u64 off)
{
	__u32 zero = 0, lo, n, half, i, at, low = off & 0xffff, number;
	struct walk_chunk *chunk;
	struct walk_page *page;
	void *inner;

	if (off >> WALK_PAGE_BITS >= page_count)
		return 0;
	at = first_page + (__u32)(off >> WALK_PAGE_BITS);
	page = bpf_map_lookup_elem(&walk_pages, &at);
	if (!page)
		return 0;
	number = page->chunk;
	lo = page->first_row;
	n = page->row_count;
	inner = bpf_map_lookup_elem(&walk_chunks, &number);
	chunk = inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
	if (!chunk)
		return 0;
	for (i = 0; i < 17 && n > 1; i++) {
		half = n / 2;
		at = (lo + half) & (WALK_CHUNK_ROWS - 1);
		lo += half & mask_if_not_above(chunk->pc_low[at], low);
		n -= half;
	}
	return chunk->rule_id[lo & (WALK_CHUNK_ROWS - 1)];
}

/* Takes the 16 bytes at addr from the window, into word[].  False: they are not in it. */
static __always_inline bool walk_take_word(struct walk_state *w, __u64 addr)
{
	__u64 off = addr - w->window_addr;

	if (off > WINDOW_BYTES - 16)
		return false;
	w->word[0] = *(__u64 *)(w->window + off);
	w->word[1] = *(__u64 *)(w->window + off + 8);
	return true;
}

/* Reads the 16 bytes at addr, or at least the first 8 of them, into word[]. */
__attribute__((noinline)) int walk_fetch(struct walk_state *w, __u64 addr)
{
	if (!w)
		return 1;
	if (walk_take_word(w, addr))
		return 0;
	if (bpf_probe_read_user(w->window, WINDOW_BYTES, (const void *)addr)) {
		w->window_addr = NO_WINDOW;
		if (!bpf_probe_read_user(w->word, 16, (const void *)addr))
			return 0;
		return bpf_probe_read_user(w->word, 8, (const void *)addr) ? 1 : 0;
	}
	w->window_addr = addr;
	w->word[0] = *(__u64 *)w->window;
	w->word[1] = *(__u64 *)(w->window + 8);
	return 0;
}

static __always_inline int walk_gpr(const struct walk_state *w, __u32 n, __u64 *out)
{
	if (n >= COPY_REGS)
		return 1;
	*out = w->gprs[n];
	return 0;
}

static __always_inline int walk_read(struct walk_state *w, __u64 addr, __u64 *out)
{
	if (walk_fetch(w, addr))
		return 1;
	*out = w->word[0];
	return 0;
}

static __always_inline int walk_read2(struct walk_state *w, __u64 addr, __u64 *lo, __u64 *hi)
{
	if (walk_fetch(w, addr))
		return 1;
	*lo = w->word[0];
	*hi = w->word[1];
	return 0;
}

/* ---- is a frame pointer that of the function at hand? ---- */

#define CALLEE_NEAR_BYTES 65536
#define CALL_OVER_BYTES   16
#define SEEN_WORDS        62 /* of a frame: one window */

/* Functions with a frame pointer begin with push %rbp; mov %rsp,%rbp. */
static __always_inline bool keeps_frame_pointer(const __u8 code[PROLOGUE_BYTES])
{
	__u32 i, word;

	for (i = 0; i + 4 <= PROLOGUE_BYTES; i++) {
		word = code[i] | code[i + 1] << 8 | code[i + 2] << 16 | (__u32)code[i + 3] << 24;
		if (word == 0xe5894855 || word == 0xec8b4855)
			return true;
	}
	return false;
}

/*
 * Whether a call stands before addr, of a function that begins near pc and keeps no frame pointer.  Not one of
 * what follows it: java's interpreter enters the runtime through such, and is in the same function still.
 */
__attribute__((noinline)) int walk_called_frameless(struct walk_state *w, __u64 addr, __u64 pc)
{
	const __u8 *call;
	__u64 target;

	/* Elsewhere every function with a frame has a frame pointer, by the rules for calls. */
	if (UNWIND_HERE != UNWIND_X86_64 || !w ||
	    bpf_probe_read_user(w->call, sizeof(w->call), (const void *)(addr - 5)))
		return 0;
	call = w->call;
	if (call[0] != 0xe8)
		return 0;
	target = addr + (__u64)(__s64)(__s32)(call[1] | call[2] << 8 | call[3] << 16 |
					      (__u32)call[4] << 24);
	if (target > pc || pc - target >= CALLEE_NEAR_BYTES || target - addr < CALL_OVER_BYTES ||
	    bpf_probe_read_user(w->code, sizeof(w->code), (const void *)target))
		return 0;
	return !keeps_frame_pointer(w->code);
}

/* A search for callers in code without a file. */
struct walk_search {
	struct walk_state *w;
	__u64 start, end;
	__u64 found;
};

/* Word i of the stack below the frame pointer. */
static long walk_see_word(__u32 i, void *ctx)
{
	struct walk_search *of = ctx;
	struct walk_state *w = of->w;
	__u64 at = w->regs.sp + 8 * (__u64)i, word;

	if (at >= w->regs.fp || walk_fetch(w, at))
		return 1;
	word = w->word[0];
	if (word < of->start || word >= of->end || !walk_called_frameless(w, word, w->regs.pc))
		return 0;
	of->found = 1;
	return 1;
}

/*
 * Whether callers lie between the stack pointer and the frame pointer: the code in [start, end) then leaves
 * rbp as it was in one of them, and a step by it would leave the others out without a word.  In frames of
 * functions that do keep it lie return addresses of earlier calls, too, so one only counts that called a
 * function near pc that keeps none.
 */
__attribute__((noinline)) int walk_skips_callers(struct walk_state *w, __u64 start, __u64 end)
{
	struct walk_search of = { w, start, end, 0 };

	if (!w)
		return 0;
	bpf_loop(SEEN_WORDS, walk_see_word, &of, 0);
	return of.found;
}

/* ---- the walk ---- */

/* Where pc lies; the frame before is tried first.  NULL: in nothing that is known. */
static __always_inline struct walk_map *walk_map_of(struct walk_state *w, __u64 pc)
{
	__u32 at = w->map_at; /* Linux 6.1 takes no key from what an argument points to */
	struct walk_map *m = bpf_map_lookup_elem(&walk_maps, &at);
	int found;

	if (m && pc >= m->start && pc < m->end)
		return m;
	found = walk_find_map(w->first_map, w->map_count, pc);
	if (found < 0)
		return NULL;
	at = (__u32)found;
	m = bpf_map_lookup_elem(&walk_maps, &at);
	if (!m)
		return NULL;
	w->map_at = at;
	return m;
}

static __always_inline void walk_store_fp(struct walk_state *w, const struct walk_map *m)
{
	__u64 n = (__u64)w->n - 1, fp = w->regs.fp;

	barrier_var(n);
	if (n >= WALK_FRAMES_MAX || fp & WALK_FP_BITS)
		return;
	w->fps[n] = fp | (m->kind == WALK_MADE ? WALK_FP_MADE : 0) |
		    (w->regs.flags & UNWIND_F_CALLER ? 0 : WALK_FP_EXACT);
}

#ifdef WALK_STEPS_JVM /* the program includes bpf/runtime/jvm_step.bpf.h */
int runtime_jvm_step(struct walk_state *w, __u32 is_exact);
#endif

/* A step in code that a JVM made, whose frames have no frame pointer.  True: it is such code, and w->why is its result. */
static __always_inline bool walk_by_jvm(struct walk_state *w)
{
#ifdef WALK_STEPS_JVM
	if (!w->runtime)
		return false;
	w->why = UNWIND_OK;
	if (!runtime_jvm_step(w, !(w->regs.flags & UNWIND_F_CALLER))) {
		w->how |= WALK_BY_CFI; /* by tables: the JVM's */
		return true;
	}
	/* A method has something else in rbp than a frame pointer, most often. */
	w->why = UNWIND_NO_CFI;
	return w->jvm == WALK_JVM_STUCK;
#else
	return false;
#endif
}

/*
 * A step by the frame pointer, to be believed when its pc turns out to be code.  stepped: the step to here was
 * one, too; a chain of frame pointers ends with 0.
 */
static __always_inline void walk_guess(struct walk_state *w, const struct walk_map *m, bool stepped)
{
	__u32 why = m->kind == WALK_NO_ROOM     ? UNWIND_NO_ROOM
		    : m->kind == WALK_UNREACHED ? UNWIND_NO_FILE
						: UNWIND_NO_CFI;

	w->why = why;
	if (stepped && !w->regs.fp && why != UNWIND_NO_ROOM) {
		w->why = UNWIND_COMPLETE;
		return;
	}
	if (m->kind == WALK_MADE && walk_skips_callers(w, m->start, m->end))
		return;
	walk_store_fp(w, m);
	if (unwind_step_fp(UNWIND_HERE, &w->regs, w))
		return;
	w->why = UNWIND_OK;
	w->why_guess = why;
	w->guessed = 1;
}

/* 1: the walk ends.  Global, or the verifier looks at it anew for each way to come here. */
__attribute__((noinline)) int walk_one(struct walk_state *w, __u32 index)
{
	struct unwind_rule *rule;
	struct walk_map *m;
	__u64 pc, n = index;
	bool stepped;
	__u32 id = 0;

	barrier_var(n); /* or clang widens index again behind the check, and the bound is lost */
	if (!w || n >= WALK_FRAMES_MAX)
		return 1;
	pc = unwind_lookup_pc(&w->regs);
	m = walk_map_of(w, pc);
	if (w->guessed && !m) {
		w->why = w->why_guess;
		return 1;
	}
	stepped = w->guessed;
	w->how |= stepped ? WALK_BY_FP : 0;
	w->guessed = 0;
	w->frames[n] = w->regs.pc;
	w->fps[n] = 0;
	w->n = n + 1;
	/* Without a mapping, too: a JVM may have made room for code a moment ago. */
	if ((!m || m->kind == WALK_MADE) && walk_by_jvm(w))
		return w->why != UNWIND_OK;
	if (!m || m->kind == WALK_PENDING) {
		w->why = m ? UNWIND_NO_TABLE : UNWIND_NO_MAPPING;
		return 1;
	}
	if (!m->used)
		m->used = 1;
	if (m->kind == WALK_TABLE)
		id = (__u32)walk_find_rule(m->first_page, m->page_count, pc - m->base);
	rule = bpf_map_lookup_elem(&walk_rules, &id);
	if (!rule)
		return 1;
	w->why = unwind_step(UNWIND_HERE, rule, &w->regs, w);
	if (w->why == UNWIND_OK || w->why == UNWIND_COMPLETE)
		w->how |= WALK_BY_CFI;
	else if (w->why == UNWIND_NO_CFI)
		walk_guess(w, m, stepped);
	return w->why != UNWIND_OK;
}

static long walk_frame(__u32 index, void *ctx)
{
	struct walk_state **w = ctx;

	return walk_one(*w, index) & 1; /* for the verifier, which does not look into it here */
}

/*
 * By the helper: a pointer that is read directly makes the verifier look through all the kernel's
 * types for whether it may be followed, 0.5 ms each time it comes by.
 */
static __always_inline void *task_mm(struct task_struct *task)
{
	return BPF_CORE_READ(task, mm);
}

/*
 * The user registers of the current thread: those of the event, or, when it hit the kernel, those
 * the kernel saved when it was entered.  False: there is no user part.
 */
static __always_inline bool walk_registers(struct bpf_perf_event_data *ctx, struct walk_state *w)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u64 mode;

	if (task->flags & TASK_KERNEL || !task_mm(task))
		return false;
	if ((long)PT_REGS_IP(&ctx->regs) >= 0) {
		/* A narrower read, which clang makes of a few bits, the verifier does not take. */
		mode = *(volatile __u64 *)&REGS_MODE(&ctx->regs);
		TAKE_REGS(w->gprs, &ctx->regs);
	} else {
		if (bpf_probe_read_kernel(&w->saved, sizeof(w->saved),
					  (void *)bpf_task_pt_regs((void *)task)))
			return false;
		mode = REGS_MODE(&w->saved);
		TAKE_REGS(w->gprs, &w->saved);
	}
	w->compat = mode_is_compat(mode);
	return mode_is_user(mode);
}

/* The mappings of the current process, if they are known and still its own. */
static __always_inline bool walk_process(struct walk_state *w)
{
	__u32 tgid = current_ids() >> 32;
	struct walk_proc *proc = bpf_map_lookup_elem(&walk_procs, &tgid);
	__u64 *exec_ns;

	w->tgid = tgid;
	if (!proc)
		return false;
	exec_ns = bpf_map_lookup_elem(&walk_execs, &tgid);
	if (exec_ns && *exec_ns >= proc->as_of_ns)
		return false;
	w->first_map = proc->first_map;
	w->map_count = proc->map_count;
	w->map_at = proc->first_map;
	w->runtime = proc->runtime;
	w->runtime_base = proc->runtime_base;
	return true;
}

static __always_inline void walk_start(struct walk_state *w)
{
	w->n = 0;
	w->how = 0;
	w->why = UNWIND_OK;
	w->guessed = 0;
	w->map_count = 0;
	w->runtime = w->jvm_heaps = 0;
	w->jvm = WALK_JVM_NEW;
	w->window_addr = NO_WINDOW;
	w->fps[0] = 0;
}

/* Walks from w->gprs on; w->frames, n, how and why are the result. */
static __always_inline void walk_run(struct walk_state *w)
{
	if (w->compat || !walk_process(w)) {
		w->frames[0] = w->gprs[PC_REGNO];
		w->n = 1;
		w->why = w->compat ? UNWIND_UNSUPPORTED : UNWIND_NO_MAPPING;
		return;
	}
	unwind_regs_leaf(&w->regs, w->gprs[PC_REGNO], w->gprs[SP_REGNO], w->gprs[FP_REGNO],
			 UNWIND_HERE == UNWIND_AARCH64 ? w->gprs[UNWIND_ARM_LR % COPY_REGS] : 0);
	bpf_loop(max_frames, walk_frame, &w, 0);
	if (w->why == UNWIND_OK)
		w->why = UNWIND_MAX_FRAMES;
}

static __always_inline __u32 walk_how(const struct walk_state *w)
{
	if (w->how & WALK_BY_CFI)
		return w->how & WALK_BY_FP ? STACK_RESULT_MIXED : STACK_RESULT_CFI;
	return w->how & WALK_BY_FP ? STACK_RESULT_FP : STACK_RESULT_PC;
}

/* True: the thread is foreign, so its mappings cannot be read: one frame stands for its user stack. */
static __always_inline bool walk_foreign(struct walk_state *w, __u64 ids)
{
	if (!is_foreign(ids))
		return false;
	w->frames[0] = FOREIGN_ADDR;
	w->n = 1;
	w->why = UNWIND_COMPLETE;
	return true;
}

/* Frames that are found without memory: on aarch64 the first return address may be in a register. */
enum { FRAMES_IN_REGISTERS = UNWIND_HERE == UNWIND_AARCH64 ? 2 : 1 };

/* In exec, between the old program and the new: registers of the one, memory of the other. */
static __always_inline bool walk_between_programs(const struct walk_state *w)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u64 word;

	return w->n <= FRAMES_IN_REGISTERS && BPF_CORE_READ_BITFIELD(task, in_execve) &&
	       bpf_probe_read_user(&word, sizeof(word), (const void *)w->gprs[SP_REGNO]);
}

/* ---- processes come, change and go ---- */

static __always_inline void walk_on_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = raw_task_ids(parent) >> 32, to = raw_task_ids(child) >> 32;
	struct walk_proc *proc, copy;
	__u64 *exec_ns;

	if (from == to)
		return;
	bpf_map_delete_elem(&walk_execs, &to);
	proc = bpf_map_lookup_elem(&walk_procs, &from);
	exec_ns = bpf_map_lookup_elem(&walk_execs, &from);
	if (!proc || (exec_ns && *exec_ns >= proc->as_of_ns)) {
		bpf_map_delete_elem(&walk_procs, &to);
		return;
	}
	copy = *proc;
	bpf_map_update_elem(&walk_procs, &to, &copy,
			    BPF_ANY); /* full: the process is unknown, which is reported */
}

static __always_inline void walk_on_exec(void)
{
	__u32 tgid = current_ids() >> 32;
	__u64 now_ns = bpf_ktime_get_ns();

	/* Without space to store it, the mappings that user space is about to write cannot be
	 * trusted later. */
	if (!is_in_targets(tgid) || bpf_map_update_elem(&walk_execs, &tgid, &now_ns, BPF_ANY))
		bpf_map_delete_elem(&walk_procs, &tgid);
}

/*
 * Not at the exit: the way to the kernel's end of a process is sampled, too, with its stack.
 *
 * The number may be that of another process by now: the kernel gives it free in release_task(), and calls this after a
 * grace period of RCU (delayed_put_task_struct()).  For that all numbers have to be used within some ten milliseconds,
 * so it takes a kernel.pid_max of a few hundred.  Its stacks are then copied and unwound by user
 * space, as those of any process that is not known here, until it is published again: a deleted
 * entry costs time, and is never wrong.
 */
static __always_inline void walk_on_free(struct task_struct *task)
{
	__u32 tgid;

	if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		return;
	tgid = raw_task_ids(task) >> 32;
	bpf_map_delete_elem(&walk_procs, &tgid);
	bpf_map_delete_elem(&walk_execs, &tgid);
}

#endif
