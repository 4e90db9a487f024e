// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * cpu - where the CPUs are: kernel and user stack at each tick of a perf event
 *
 * Cost, measured on a 2-core VM: about 3 us a sample, most of it the user stack.
 * No sample is dropped for want of a stack: then it carries the pc, and the reason.
 */
#include "bpf/common.bpf.h" /* first: <linux/bpf.h> and the helpers */

#include <linux/bpf_perf_event.h>
#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_event);
} scratch SEC(".maps"); /* too large for the stack; a perf event never interrupts itself */

/*
 * user_stack - the user part of the interrupted thread's stack
 *
 * Contract: writes at most CPU_USER_MAX addresses to ev->frames[at..], leaf first, the leaf the
 * exact pc and the others return addresses, and nothing that is not an address of the thread; at
 * is at most CPU_KERNEL_MAX.  Sets user_kind, and user_reason when there is less than the whole
 * stack and the cause is known.  Returns how many were written; 0 is a valid answer (kernel
 * threads), and the sample is sent all the same.
 */
static __always_inline __u32 user_stack(struct bpf_perf_event_data *ctx, struct cpu_event *ev,
					__u32 at)
{
	__u64 pc = PT_REGS_IP(&ctx->regs);
	long bytes;

	ev->user_kind = CPU_USER_NONE;
	ev->user_reason = 0;
	if (at > CPU_KERNEL_MAX)
		return 0;
	bytes = bpf_get_stack(ctx, &ev->frames[at], CPU_USER_MAX * sizeof(__u64), BPF_F_USER_STACK);
	if (bytes >= (long)sizeof(__u64)) {
		ev->user_kind = CPU_USER_FP;
		return bytes / sizeof(__u64);
	}
	if ((long)pc >= 0) { /* user addresses are the lower half */
		ev->frames[at] = pc;
		ev->user_kind = CPU_USER_PC;
		ev->user_reason = bytes < 0 ? -bytes : 0;
		return 1;
	}
	return 0;
}

static __always_inline __u32 kernel_stack(struct bpf_perf_event_data *ctx, struct cpu_event *ev)
{
	__u64 pc = PT_REGS_IP(&ctx->regs);
	long bytes;

	bytes = bpf_get_stack(ctx, ev->frames, CPU_KERNEL_MAX * sizeof(__u64), 0);
	if (bytes >= (long)sizeof(__u64))
		return bytes / sizeof(__u64);
	if ((long)pc < 0) {
		ev->frames[0] = pc;
		return 1;
	}
	return 0;
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 zero = 0, kernel_count, user_count, size_bytes;
	struct cpu_event *ev;
	void *ring;

	if (!is_target(pid_tgid >> 32))
		return 0;
	ev = bpf_map_lookup_elem(&scratch, &zero);
	ring = ring_here();
	if (!ev || !ring)
		goto lost;

	kernel_count = kernel_stack(ctx, ev);
	if (kernel_count > CPU_KERNEL_MAX) /* for the verifier */
		kernel_count = CPU_KERNEL_MAX;
	user_count = user_stack(ctx, ev, kernel_count);
	if (user_count > CPU_USER_MAX)
		user_count = CPU_USER_MAX;

	size_bytes = CPU_EVENT_HEAD_BYTES + (kernel_count + user_count) * sizeof(__u64);
	fill_header(&ev->h, EBPREC_EV_CPU, size_bytes);
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->cgroup_id = bpf_get_current_cgroup_id();
	ev->period = ctx->sample_period;
	ev->kernel_count = kernel_count;
	ev->user_count = user_count;
	if (size_bytes > sizeof(*ev))
		goto lost;
	if (!bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		return 0; /* 0: the kernel writes no sample of its own */
lost:
	count_lost(EBPREC_EV_CPU);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
