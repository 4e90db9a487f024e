/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* runtimes - the frames of whatever interpreter runs the current thread's program */
#ifndef EBPREC_BPF_RUNTIME_RUNTIMES_H
#define EBPREC_BPF_RUNTIME_RUNTIMES_H

#include "bpf/lib/unwind.bpf.h"
#include "bpf/runtime/jvm_method.bpf.h"
#include "bpf/runtime/jvm_step.bpf.h"
#include "bpf/runtime/listed.bpf.h"
#include "bpf/runtime/perl.bpf.h"
#include "bpf/runtime/python.bpf.h"
#include "bpf/runtime/v8_frames.bpf.h"

/* Frame i of the native ones: s->found becomes whether it is in the loop that runs the program, and then it is the last. */
static long runtimes_see_frame(__u32 i, void *ctx)
{
	struct walk_state *w = ((struct runtime_walk *)ctx)->w;
	struct runtime_state *s = ((struct runtime_walk *)ctx)->s;
	__u64 at = i, pc;
	__u32 k;

	barrier_var(at); /* the bound must be known of what indexes the frames */
	if (at >= WALK_FRAMES_MAX || at >= w->n)
		return 1;
	pc = w->frames[at] - s->base;
	for (k = 0; k < RUNTIME_EVAL_RANGES; k++)
		if (pc - s->desc.eval[k].start < s->desc.eval[k].size_bytes) {
			s->found = 1;
			return 1;
		}
	return 0;
}

/*
 * Whether one of the native frames is in the loop that runs the program.  By bpf_loop(): the verifier follows each
 * round of a loop in C, and took as long for this one as for the rest of cpu_sample() together.
 */
static __always_inline bool runtime_is_running(struct walk_state *w, struct runtime_state *s)
{
	struct runtime_walk of = { w, s, NULL };

	s->found = 0;
	bpf_loop(WALK_FRAMES_MAX, runtimes_see_frame, &of, 0);
	return s->found;
}

/* ---- processes whose mappings are not known yet ---- */

#define RUNTIME_TRIES 64 /* samples of a process in which its interpreter is looked for */

static __always_inline void runtimes_on_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = raw_task_ids(parent) >> 32, to = raw_task_ids(child) >> 32;
	struct runtime_early *early, copy;

	if (from == to)
		return;
	early = bpf_map_lookup_elem(&runtime_earlies, &from);
	if (!early || early->mm != (__u64)task_mm(parent)) {
		bpf_map_delete_elem(&runtime_earlies, &to);
		return;
	}
	copy = *early;
	copy.mm = (__u64)task_mm(child);
	bpf_map_update_elem(&runtime_earlies, &to, &copy, BPF_ANY);
}

/* The new program's files are mapped by now: what is known of another memory was the old one's. */
static __always_inline void runtimes_on_exec(struct task_struct *task)
{
	__u32 tgid = current_ids() >> 32;
	struct runtime_early *early = bpf_map_lookup_elem(&runtime_earlies, &tgid);

	if (early && early->mm != (__u64)task_mm(task))
		bpf_map_delete_elem(&runtime_earlies, &tgid);
}

static __always_inline void runtimes_on_free(struct task_struct *task)
{
	__u32 tgid = raw_task_ids(task) >> 32;

	if (BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid))
		bpf_map_delete_elem(&runtime_earlies, &tgid);
}

/* The interpreter in a file; NULL: there is none, or it is not known. */
static __always_inline struct runtime_file *runtimes_file(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct runtime_file_key key = {};

	key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key.inode = BPF_CORE_READ(inode, i_ino);
	return bpf_map_lookup_elem(&runtime_files, &key);
}

/* The mapping of an address: perhaps that of the loop. */
static long runtimes_see_map(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct runtime_early *early = ctx;
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct runtime_file *f = file ? runtimes_file(file) : NULL;
	__u64 start = BPF_CORE_READ(vma, vm_start), off;

	if (!f)
		return 0;
	off = f->code_offset - (BPF_CORE_READ(vma, vm_pgoff) << page_bits);
	if (off >= BPF_CORE_READ(vma, vm_end) - start)
		return 0;
	early->base = start + off - f->code_vaddr;
	early->number = f->number;
	return 0;
}

/* A search for the first return address to other code than what is near pc. */
struct runtimes_caller {
	struct walk_state *w;
	__u64 found;
};

/* Word i of the stack. */
static long runtimes_see_word(__u32 i, void *ctx)
{
	struct runtimes_caller *caller = ctx;
	struct walk_state *w = caller->w;
	__u64 pc, word;

	if (walk_fetch(w, w->gprs[SP_REGNO] + 8 * (__u64)i))
		return 1;
	pc = w->gprs[PC_REGNO];
	word = w->word[0];
	if (word >> 40 != pc >> 40 || word - pc + (1 << 20) <= 2 << 20 ||
	    !runtime_is_behind_call(word))
		return 0;
	caller->found = word;
	return 1;
}

/* The first such address; 0: there is none. */
static __always_inline __u64 runtimes_caller(struct walk_state *w)
{
	struct runtimes_caller caller = { w, 0 };

	bpf_loop(SEEN_WORDS, runtimes_see_word, &caller, 0);
	return caller.found;
}

/*
 * Looks for an interpreter in the program's own file, then where pc is, or what called that: one mapping at a time, as
 * the kernel looks for no second one before it has given back the lock of the first.
 */
static __always_inline void runtimes_look(struct task_struct *task, struct walk_state *w,
					  struct runtime_early *early)
{
	struct file *exe = BPF_CORE_READ(task, mm, exe_file);
	struct runtime_file *f = exe ? runtimes_file(exe) : NULL;
	__u64 addr;

	if (f) {
		early->base = BPF_CORE_READ(task, mm, start_code) - f->exec_vaddr;
		early->number = f->number;
		return;
	}
	addr = early->tries++ & 1 ? runtimes_caller(w) : w->gprs[PC_REGNO];
	if (addr)
		bpf_find_vma(task, addr, runtimes_see_map, early, 0);
}

/*
 * Where the mappings are not known, the interpreter is looked for, and remembered.  Global: what it has on the stack is
 * too much beside that of the walk: all functions of a chain of calls have 512 bytes together.
 */
__attribute__((noinline)) int runtime_look_early(struct walk_state *w)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 tgid = current_ids() >> 32, first = 1;
	struct runtime_early fresh = {}, *early;
	struct runtime_desc *any = bpf_map_lookup_elem(&runtime_descs, &first);

	if (!w || !any || !any->kind)
		return 0;
	early = bpf_map_lookup_elem(&runtime_earlies, &tgid);
	if (early && early->mm == (__u64)task_mm(task))
		fresh = *early;
	fresh.mm = (__u64)task_mm(task);
	if (!fresh.number && fresh.tries < RUNTIME_TRIES) {
		runtimes_look(task, w, &fresh);
		bpf_map_update_elem(&runtime_earlies, &tgid, &fresh, BPF_ANY);
	}
	w->runtime = fresh.number;
	w->runtime_base = fresh.base;
	return 0;
}

/* ---- frames ---- */

/*
 * Collects the frames of the interpreted program after walk_run().  NULL: there are none, as no interpreter
 * is on the stack; where that is not known completely, it may be.
 */
static __always_inline struct runtime_state *runtimes_take(struct walk_state *w)
{
	struct runtime_state *s = runtime_here();

	if (!s)
		return NULL;
	if (!w->runtime && !w->map_count)
		runtime_look_early(w);
	if (!w->runtime)
		return NULL;
	if (w->jvm == WALK_JVM_NEW) /* else the walk began with them */
		runtime_begin(s, w);
	if (!s->number)
		return NULL;
	if (s->desc.kind == RUNTIME_V8 || s->desc.kind == RUNTIME_JVM) {
		if (s->desc.kind == RUNTIME_V8)
			runtime_v8_walk(w, s);
		else
			runtime_jvm_walk(w, s);
		if (!s->n && s->why == RUNTIME_COMPLETE)
			return NULL;
	} else if (w->why == UNWIND_COMPLETE && !runtime_is_running(w, s)) {
		return NULL;
	} else if (s->desc.kind == RUNTIME_PYTHON) {
		runtime_python_walk(s);
	} else if (s->desc.kind == RUNTIME_RUBY || s->desc.kind == RUNTIME_PHP) {
		runtime_listed_walk(s);
	} else if (s->desc.kind == RUNTIME_PERL) {
		runtime_perl_walk(s);
	} else {
		s->why = RUNTIME_NOT_UNDERSTOOD;
	}
	s->head[0] = RUNTIME_WORD_HEAD(s->n, s->why, s->number) | (__u64)s->sum << 32;
	s->head[1] = s->base;
	return s;
}

/* Puts the words to where there is room for `most` frames.  Returns how many words. */
static __always_inline __u64 runtimes_put(void *to, const struct runtime_state *s, const __u64 most)
{
	__u64 n = s->n;

	barrier_var(n);
	if (n > most)
		return 0;
	n += RUNTIME_HEAD_WORDS;
	return bpf_probe_read_kernel(to, n * sizeof(s->head[0]), s->head) ? 0 : n;
}

/*
 * Puts its words behind the `at` frames of a stack with user frames; room for all of them is there.  Returns
 * how many words; s may be NULL.
 */
static __always_inline __u64 runtimes_add(struct event_stack *to, __u64 at,
					  const struct runtime_state *s)
{
	__u64 n;

	barrier_var(at);
	if (!s || at > CPU_KERNEL_MAX + WALK_FRAMES_MAX)
		return 0;
	n = runtimes_put((__u64 *)((__u8 *)to + EVENT_STACK_HEAD_BYTES) + at, s, RUNTIME_WALK_MAX);
	to->flags |= n ? EVENT_FLAG_RUNTIME : 0;
	return n;
}

/*
 * Puts its words behind the stack_bytes of a copy in room_bytes.  Returns how many bytes both are; the words are
 * left out where they do not fit.
 */
static __always_inline __u64 runtimes_add_copy(__u8 *copy, __u64 stack_bytes, __u64 room_bytes,
					       struct runtime_state *s)
{
	__u64 at = (stack_bytes + 7) & ~7ULL, n;

	barrier_var(at);
	if (!s || at > room_bytes - RUNTIME_WORDS_MAX * sizeof(s->head[0]))
		return stack_bytes;
	if (s->n > RUNTIME_FRAMES_MAX) {
		s->n = RUNTIME_FRAMES_MAX;
		s->head[0] = RUNTIME_WORD_HEAD(s->n, RUNTIME_TOO_DEEP, s->number);
	}
	n = runtimes_put(copy + at, s, RUNTIME_FRAMES_MAX);
	return n ? at + n * sizeof(s->head[0]) : stack_bytes;
}

#endif
