// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * cpu - where the CPUs are: kernel and user stack at each tick of a perf event
 *
 * No sample is dropped for want of a stack.  The user part is, in this order: walked here by
 * unwind tables and frame pointers (unwind.bpf.h); copied as it is, to be walked by user space, when
 * a mapping or a table is not known here yet; the pc alone.  How and why it ends go with it.
 */
#define LEFT_OUT_EVENT EBPREC_EV_CPU
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */

#define COPY_BUFFER_BYTES COPY_MAX_BYTES
#define WALK_FRAMES_MAX   CPU_SAMPLE_MAX
#define RUNTIME_WALK_MAX  RUNTIME_SAMPLE_MAX
#define WALK_STEPS_JVM
#include "bpf/lib/stack_copy.bpf.h"
#include "bpf/lib/unwind.bpf.h"
#include "bpf/lib/sample_budget.h"
#include "bpf/runtime/runtimes.bpf.h"

/* How user stacks are taken: enum cpu_stacks. */
const volatile __u32 stacks = CPU_STACKS_AUTO;
/* One sample of so many is taken, and stands for all of them; user space changes it as it runs. */
volatile __u32 one_of = 1;
/* As many samples of a service are taken in an hour, and stand for all of it; 0: all are taken. */
const volatile __u32 samples_an_hour = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_cost);
} costs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_event);
} scratch SEC(".maps"); /* too large for the stack; a perf event never interrupts itself */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_event);
} copy_scratch SEC(".maps");

/* ---- budgets of services ---- */

/* A service is known by a number, or by the name of the thread where its cgroup has none. */
struct service_key {
	__u64 number;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SERVICE_CGROUPS_MAX);
	__type(key, __u64);
	__type(value, __u64);
} service_cgroups SEC(".maps"); /* id of a cgroup -> number of its service */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SERVICES_MAX);
	__type(key, struct service_key);
	__type(value, struct sample_budget);
} service_budgets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, SERVICES_MAX);
	__type(key, struct service_key);
	__type(value, __u64);
} service_waiting SEC(".maps"); /* weight of hits that no sample stands for yet */

/* The hits that a sample of the current thread stands for; 0: it is not taken. */
static __always_inline __u64 take_of_service(__u64 weight, __u64 now_ns)
{
	static const struct sample_budget none;
	__u64 cgroup = bpf_get_current_cgroup_id(), zero = 0, *waiting, *number;
	struct service_key key = {};
	struct sample_budget *b;

	number = bpf_map_lookup_elem(&service_cgroups, &cgroup);
	if (number && *number)
		key.number = *number;
	else
		bpf_get_current_comm(key.comm, sizeof(key.comm));
	b = bpf_map_lookup_elem(&service_budgets, &key);
	if (!b) {
		bpf_map_update_elem(&service_budgets, &key, &none, BPF_NOEXIST);
		b = bpf_map_lookup_elem(&service_budgets, &key);
	}
	waiting = bpf_map_lookup_elem(&service_waiting, &key);
	if (!waiting) {
		bpf_map_update_elem(&service_waiting, &key, &zero, BPF_NOEXIST);
		waiting = bpf_map_lookup_elem(&service_waiting, &key);
	}
	if (!b || !waiting)
		return weight;
	return budget_take(b, waiting, samples_an_hour, weight, now_ns, bpf_get_prandom_u32());
}

static __always_inline __u32 kernel_stack(struct bpf_perf_event_data *ctx, __u64 *frames)
{
	__u64 pc = PT_REGS_IP(&ctx->regs);
	long bytes;

	bytes = bpf_get_stack(ctx, frames, CPU_KERNEL_MAX * sizeof(__u64), 0);
	if (bytes >= (long)sizeof(__u64))
		return bytes / sizeof(__u64);
	if ((long)pc < 0) {
		frames[0] = pc;
		return 1;
	}
	return 0;
}

/* ---- copies ---- */

static __always_inline __u8 *copy_buffer(void)
{
	__u32 zero = 0;
	struct copy_event *ev = bpf_map_lookup_elem(&copy_scratch, &zero);

	return ev ? ev->stack : NULL;
}

/* Sends the sample with a copy of its stack.  False: it has to be sent otherwise. */
static __always_inline bool send_copy(struct bpf_perf_event_data *ctx, void *ring,
				      const struct walk_state *w, struct runtime_state *words,
				      __u32 weight)
{
	__u64 pid_tgid = current_ids();
	__u64 size_bytes; /* 64 bits: the bound must survive clang's shifting */
	__u32 zero = 0, want = copy_room(ring);
	struct copy_event *ev = bpf_map_lookup_elem(&copy_scratch, &zero);

	if (!ev || !want)
		return false;
	__builtin_memcpy(ev->regs, w->gprs, sizeof(ev->regs));
	if (!copy_stack(w->gprs[SP_REGNO], want, &ev->stack_addr, &ev->stack_bytes))
		return false;
	ev->kernel_count = kernel_stack(ctx, ev->kernel);
	ev->why = w->why;
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->cgroup_id = bpf_get_current_cgroup_id();
	ev->period = ctx->sample_period * weight;
	size_bytes = COPY_EVENT_HEAD_BYTES +
		     runtimes_add_copy(ev->stack, ev->stack_bytes, sizeof(ev->stack), words);
	fill_header(&ev->h, EBPREC_EV_COPY, size_bytes);
	barrier_var(size_bytes);
	if (size_bytes > sizeof(*ev))
		return false;
	return !bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring));
}

/* ---- samples ---- */

static __always_inline bool wants_copy(const struct walk_state *w)
{
	if (stacks == CPU_STACKS_COPY)
		return !w->compat;
	return stacks == CPU_STACKS_AUTO && copy_helps(w);
}

/*
 * Walks the user stack into w and stores the result in *ev; *words becomes what runtimes_take() found.  True: the
 * event was sent.
 */
static __always_inline bool user_stack(struct bpf_perf_event_data *ctx, void *ring,
				       struct cpu_event *ev, struct walk_state *w,
				       struct runtime_state **words, __u64 pid_tgid, __u32 weight)
{
	ev->stack.how = STACK_RESULT_NONE;
	ev->stack.why = 0;
	ev->stack.flags = 0;
	walk_start(w);
	if (!walk_registers(ctx, w))
		return false;
	if (walk_foreign(w, pid_tgid)) {
		ev->stack.how = walk_how(w);
		ev->stack.why = w->why;
		return false;
	}
	if (stacks == CPU_STACKS_NONE) {
		/* When the sample hit user code its address is the one frame; in the kernel there
		 * is none. */
		w->n = (long)PT_REGS_IP(&ctx->regs) >= 0;
		w->frames[0] = w->gprs[PC_REGNO];
		w->why = UNWIND_MAX_FRAMES;
		ev->stack.flags = w->n ? STACK_RESULT_CUT : 0;
		ev->stack.flags |= w->compat ? STACK_RESULT_COMPAT : 0;
		ev->stack.how = w->n ? STACK_RESULT_PC : STACK_RESULT_NONE;
		ev->stack.why = w->n ? UNWIND_MAX_FRAMES : 0;
		return false;
	}
	if (stacks == CPU_STACKS_COPY) {
		w->frames[0] = w->gprs[PC_REGNO];
		w->n = 1;
		w->why = UNWIND_NO_MAPPING;
		(void)walk_process(w);
	} else {
		walk_run(w);
	}
	if (walk_between_programs(w)) {
		w->n = 0;
		return false;
	}
	ev->stack.how = walk_how(w);
	ev->stack.why = w->why;
	ev->stack.flags = (w->compat ? STACK_RESULT_COMPAT : 0) |
			  (w->why == UNWIND_MAX_FRAMES ? STACK_RESULT_CUT : 0);
	*words = runtimes_take(w);
	if (!wants_copy(w))
		return false;
	if ((stacks == CPU_STACKS_COPY || copy_take_token()) &&
	    send_copy(ctx, ring, w, *words, weight))
		return true;
	ev->stack.flags |= CPU_FLAG_COPY_REFUSED;
	return false;
}

/* By frame pointers alone: the kernel's own walk. */
static __always_inline __u32 user_stack_fp(struct bpf_perf_event_data *ctx, struct cpu_event *ev,
					   __u32 at, const struct walk_state *w)
{
	long bytes = bpf_get_stack(ctx, &ev->stack.frames[at], CPU_SAMPLE_MAX * sizeof(__u64),
				   BPF_F_USER_STACK);

	ev->stack.how = bytes > (long)sizeof(__u64) ? STACK_RESULT_FP : STACK_RESULT_PC;
	ev->stack.why = UNWIND_NOT_A_FRAME;
	ev->stack.flags = w->compat ? STACK_RESULT_COMPAT : 0;
	if (bytes >= (long)sizeof(__u64))
		return bytes / sizeof(__u64);
	ev->stack.frames[at] = w->gprs[PC_REGNO];
	return 1;
}

static __always_inline __u32 put_user(struct cpu_event *ev, __u32 at, const struct walk_state *w)
{
	__u64 n = w->n;

	if (n > CPU_SAMPLE_MAX || at > CPU_KERNEL_MAX)
		return 0;
	bpf_probe_read_kernel(&ev->stack.frames[at], n * sizeof(__u64), w->frames);
	return n;
}

static __always_inline void take_sample(struct bpf_perf_event_data *ctx, __u64 pid_tgid,
					__u32 weight)
{
	__u32 zero = 0, kernel_count, user_count = 0;
	__u64 size_bytes, word_count = 0;
	struct walk_state *w = walk_here();
	bool walks = stacks != CPU_STACKS_FP || is_foreign(pid_tgid);
	struct runtime_state *words = NULL;
	struct cpu_event *ev;
	void *ring;

	ev = bpf_map_lookup_elem(&scratch, &zero);
	ring = ring_here();
	if (!ev || !ring || !w)
		goto lost;
	if (walks && user_stack(ctx, ring, ev, w, &words, pid_tgid, weight))
		return;

	kernel_count = kernel_stack(ctx, ev->stack.frames);
	if (kernel_count > CPU_KERNEL_MAX) /* for the verifier */
		kernel_count = CPU_KERNEL_MAX;
	if (walks) {
		user_count = put_user(ev, kernel_count, w);
		if (user_count)
			word_count = runtimes_add(&ev->stack, kernel_count + user_count, words);
	} else {
		walk_start(w);
		ev->stack.how = STACK_RESULT_NONE;
		ev->stack.why = ev->stack.flags = 0;
		if (walk_registers(ctx, w))
			user_count = user_stack_fp(ctx, ev, kernel_count, w);
	}
	if (user_count > CPU_SAMPLE_MAX)
		user_count = CPU_SAMPLE_MAX;

	size_bytes = EVENT_HEAD_BYTES(cpu_event) +
		     (kernel_count + user_count + word_count) * sizeof(__u64);
	fill_header(&ev->h, EBPREC_EV_CPU, size_bytes);
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->cgroup_id = bpf_get_current_cgroup_id();
	ev->period = ctx->sample_period * weight;
	ev->stack.kernel_count = kernel_count;
	ev->stack.user_count = user_count;
	if (size_bytes > sizeof(*ev))
		goto lost;
	if (!bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		return;
lost:
	count_lost(EBPREC_EV_CPU);
}

/* 0: the kernel writes no sample of its own. */
SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = current_ids(), begin_ns = bpf_ktime_get_ns();
	__u32 zero = 0, weight;
	struct cpu_cost *cost = bpf_map_lookup_elem(&costs, &zero);

	if (!cost || (!pid_tgid && filter) || !is_target(pid_tgid >> 32))
		return 0; /* idle time is of no process */
	weight = cost->skipped + 1;
	if (weight < one_of) {
		cost->skipped = weight;
		cost->skipped_count++;
		return 0;
	}
	cost->skipped = 0;
	if (samples_an_hour && pid_tgid) {
		weight = take_of_service(weight, begin_ns);
		if (!weight) {
			cost->skipped_count++;
			return 0;
		}
	}
	take_sample(ctx, pid_tgid, weight);
	cost->sampling_ns += bpf_ktime_get_ns() - begin_ns;
	return 0;
}

/* ---- what is known of processes stays true from the moment they change ---- */

SEC("raw_tp/sched_process_fork")
int BPF_PROG(cpu_fork, struct task_struct *parent, struct task_struct *child)
{
	walk_on_fork(parent, child);
	runtimes_on_fork(parent, child);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int BPF_PROG(cpu_exec, struct task_struct *task)
{
	walk_on_exec();
	runtimes_on_exec(task);
	return 0;
}

SEC("raw_tp/sched_process_free")
int BPF_PROG(cpu_free, struct task_struct *task)
{
	walk_on_free(task);
	runtimes_on_free(task);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
