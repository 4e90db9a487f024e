// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * exec - the command line of each program that starts
 *
 * The new program's arguments have just been written to the top of its stack, so their pages are
 * there.  A later look at /proc is too late for a program that lives for a millisecond.  Cost: 0.6
 * us an exec (docs/OVERHEAD.md).
 */
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/ids.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* The environment, too: it may hold secrets, so only when asked for. */
const volatile bool with_environment = 0;

#define TEXT_MAX   (EXEC_ARGS_MAX + EXEC_ENV_MAX)
#define PAGE_SIZE  4096
#define PAGES_MOST (EXEC_ENV_MAX / PAGE_SIZE + 1)

struct exec_buffer {
	struct exec_event ev;
	__u8 slack[PAGE_SIZE]; /* a page can be read to any place of ev.data */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct exec_buffer);
} exec_buffers SEC(".maps");

/* Reads the rest of a page from addr on into ev.data[done]; returns its size.  Global: verified
 * once. */
__attribute__((noinline)) int exec_page(__u64 addr, __u64 done, __u64 left_bytes)
{
	__u64 part = PAGE_SIZE - (addr & (PAGE_SIZE - 1));
	__u32 zero = 0;
	struct exec_buffer *b = bpf_map_lookup_elem(&exec_buffers, &zero);

	if (part > left_bytes)
		part = left_bytes;
	barrier_var(part);
	if (!b || part > PAGE_SIZE || done > TEXT_MAX) /* for the verifier */
		return 0;
	return bpf_probe_read_user(b->ev.data + done, part, (const void *)addr) ? 0 : part;
}

/* Returns how much of [from, to) there is behind ev.data[done], at most `most`. */
static __always_inline __u32 exec_text(__u64 from, __u64 to, __u32 done, __u32 most)
{
	__u32 want = to > from ? (to - from < most ? to - from : most) : 0, have = 0;

	for (int i = 0; i < PAGES_MOST && have < want; i++) {
		__u32 part = exec_page(from + have, done + have, want - have);

		if (!part)
			break;
		have += part & (2 * PAGE_SIZE - 1);
	}
	return have < want ? have : want;
}

SEC("raw_tp/sched_process_exec")
int BPF_PROG(exec_done, struct task_struct *task)
{
	__u64 ids = current_ids();
	__u32 pid = ids >> 32, zero = 0;
	struct exec_buffer *b = bpf_map_lookup_elem(&exec_buffers, &zero);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 from, to, size_bytes;
	void *ring;

	if (!b || !is_in_targets(pid) || is_foreign(ids))
		return 0;
	b->ev.pid = pid;
	b->ev.flags = b->ev.env_bytes = 0;
	from = BPF_CORE_READ(mm, arg_start);
	to = BPF_CORE_READ(mm, arg_end);
	b->ev.args_bytes = exec_text(from, to, 0, EXEC_ARGS_MAX);
	if (b->ev.args_bytes < to - from)
		b->ev.flags |= EXEC_ARGS_CUT;
	if (with_environment) {
		from = BPF_CORE_READ(mm, env_start);
		to = BPF_CORE_READ(mm, env_end);
		b->ev.env_bytes = exec_text(from, to, b->ev.args_bytes, EXEC_ENV_MAX);
		b->ev.flags |= EXEC_ENV | (b->ev.env_bytes < to - from ? EXEC_ENV_CUT : 0);
	}
	size_bytes = EXEC_EVENT_HEAD_BYTES + b->ev.args_bytes + b->ev.env_bytes;
	fill_header(&b->ev.h, EBPREC_EV_EXEC, size_bytes);
	barrier_var(size_bytes);
	ring = ring_here();
	if (!ring || size_bytes > sizeof(b->ev) ||
	    bpf_ringbuf_output(ring, &b->ev, size_bytes, wake_flags(ring)))
		count_lost(EBPREC_EV_EXEC);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
