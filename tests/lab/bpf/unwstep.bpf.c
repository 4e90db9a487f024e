/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwstep - proves that unwind_step() compiles for BPF and that the verifier takes it
 *
 * One page of one table, walked by bpf_loop() the way the recorder will do it: the state lives in
 * a per-CPU map value that the callback looks up again, because a counter on the stack makes the
 * verifier walk every iteration; the binary search is a global function, verified once.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

struct mem {
	__u64 gprs[16]; /* by DWARF number */
};

static __always_inline int mem_gpr(const struct mem *mem, __u32 n, __u64 *out)
{
	*out = mem->gprs[n & 15];
	return n > 15;
}

struct two_words {
	__u64 lo, hi;
};

static __always_inline int mem_read2(__u64 addr, __u64 *lo, __u64 *hi)
{
	struct two_words w;

	if (bpf_probe_read_user(&w, sizeof(w), (const void *)addr))
		return 1;
	*lo = w.lo;
	*hi = w.hi;
	return 0;
}

#define UNWIND_MEM                    const struct mem *
#define UNWIND_READ(mem, addr, out)   bpf_probe_read_user((out), 8, (const void *)(addr))
#define UNWIND_READ2(mem, addr, o, p) mem_read2((addr), (o), (p))
#define UNWIND_GPR(mem, n, out)       mem_gpr((mem), (n), (out))
#include "format/unwind/unwind.h"

enum { MAX_FRAMES = 256, CHUNK_ROWS = 65536, MAX_RULES = 16384 };

struct chunk {
	__u16 pc_low[CHUNK_ROWS];
	__u16 rule_id[CHUNK_ROWS];
};

struct walk {
	struct unwind_regs regs;
	struct mem mem;
	__u32 n, why;
	__u64 frames[MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chunk);
} chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_RULES);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} scratch SEC(".maps");

/* The row of low in rows [first, first + n) of the chunk; only scalars, so that 5.10 takes it. */
__attribute__((noinline)) int find_row(__u32 first, __u32 n, __u32 low)
{
	__u32 zero = 0, lo = 0, hi = n, mid, i, at;
	struct chunk *chunk = bpf_map_lookup_elem(&chunks, &zero);

	if (!chunk)
		return -1;
	for (i = 0; i < 17 && hi - lo > 1; i++) {
		mid = lo + (hi - lo) / 2;
		at = first + mid;
		if (at >= CHUNK_ROWS)
			return -1;
		if (chunk->pc_low[at] <= low)
			lo = mid;
		else
			hi = mid;
	}
	at = first + lo;
	return at < CHUNK_ROWS ? chunk->rule_id[at] : -1;
}

static long walk_frame(__u32 index, void *ctx)
{
	struct unwind_rule *rule;
	struct walk *w;
	__u32 zero = 0, id;
	__u64 pc, n = index;

	barrier_var(n); /* or clang widens index again behind the check, and the bound is lost */
	w = bpf_map_lookup_elem(&scratch, &zero);
	if (!w || n >= MAX_FRAMES)
		return 1;
	pc = unwind_lookup_pc(&w->regs);
	id = (__u32)find_row(0, CHUNK_ROWS, pc & 0xffff);
	rule = bpf_map_lookup_elem(&rules, &id);
	if (!rule)
		return 1;
	w->frames[n] = w->regs.pc | (__u64)unwind_pc_is_return(&w->regs, rule) << 63;
	w->n = n + 1;
	w->why = unwind_step(UNWIND_X86_64, rule, &w->regs, &w->mem);
	if (w->why == UNWIND_NO_CFI)
		w->why = unwind_step_fp(UNWIND_X86_64, &w->regs, &w->mem);
	return w->why != UNWIND_OK;
}

SEC("perf_event")
int walk_stack(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	struct walk *w = bpf_map_lookup_elem(&scratch, &zero);

	if (!w)
		return 0;
	unwind_regs_leaf(&w->regs, ctx->regs.rip, ctx->regs.rsp, ctx->regs.rbp, 0);
	w->mem.gprs[0] = ctx->regs.rax;
	w->mem.gprs[5] = ctx->regs.rdi;
	w->mem.gprs[10] = ctx->regs.r10;
	bpf_loop(MAX_FRAMES, walk_frame, 0, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
