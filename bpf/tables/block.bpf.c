// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * block - disk I/O of each thread: how much, how long it waits and how long the device takes
 *
 * A request belongs to the thread in which it began (block_io_start; on kernels before 6.5, where it
 * was first put into a queue), which is not the kernel thread that hands it to the device.  It
 * waits from there to block_rq_issue, and is with the device until block_rq_complete.  Completions
 * of one process come on any CPU, so its numbers are added atomically.
 *
 * Requests that kernel threads begin are counted under their names whichever processes are recorded: write-back, the
 * journal's commits and their flushes are done for them.  The flush of a disk's cache is a request of the
 * block layer's own (block/blk-flush.c), which a worker issues; it belongs to the thread whose request
 * asked for it.
 *
 * A completion may go unseen: there are machines whose kernel runs no BPF program in some
 * processes, nor in the interrupts of these.  Such a request is found idle at the end of the
 * interval, or when it begins anew; it counts, but its time in the device is unknown.
 */
#include "bpf/lib/table.bpf.h"

struct block_key {
	__u32 interval, pid;
	char disk[16];
};

struct block_value {
	char comm[16];
	__u64 cgroup;
	__u64 read_ios, read_bytes, write_ios, write_bytes, other_ios;
	__u64 sync_ios, async_ios, errors;
	__u64 unseen; /* of them: the completion was not seen */
	__u64 queue_ns, device_ns, max_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(block, struct block_key, struct block_value, 4096);

struct block_ops_key {
	__u32 interval, op;
	char disk[16];
	__u32 sync, pad;
};

struct block_ops_value {
	__u64 ios, unseen, bytes, queue_ns, device_ns, max_ns;
	__u32 hist_queue_ns[METRIC_SLOTS];
	__u32 hist_device_ns[METRIC_SLOTS];
	__u32 hist_bytes[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(block_ops, struct block_ops_key, struct block_ops_value, 1024);

struct block_slow {
	char comm[16];
	char disk[16];
	__u32 op, sync;
	__u64 bytes, queue_ns, device_ns;
	__u32 of_pid, of_tid;
};

METRIC_EVENT(0, block_slow);

struct block_now {
	__u64 start_ns, issue_ns, bytes, cgroup;
	__u32 left_bytes, flags; /* when it was issued */
	__u32 pid, tid;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct block_now);
} block_now SEC(".maps"); /* by address of the request, while it is under way */

#define NOT_RECORDED 0xffffffffU /* as a pid: of another process than the recorded ones */

/* Which thread asked for a flush last, by request queue. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct block_now);
} block_flushers SEC(".maps");

METRIC_SAVED_STACKS(block_stacks, 4096); /* of the thread that asks; with slower_ns */

__u64 looked_ns = 0; /* for requests that ended unseen */

static __always_inline void add_process(struct block_key *key, const struct block_now *now,
					__u64 queue_ns, __u64 device_ns, bool seen, bool failed)
{
	struct block_value *v = METRIC_ENTRY(&table_block, key, struct block_value);
	__u32 op = now->flags & REQUEST_OP, slot;

	if (!v)
		return;
	if (!v->comm[0]) {
		__builtin_memcpy(v->comm, now->comm, sizeof(v->comm));
		v->cgroup = now->cgroup;
	}
	if (op == REQUEST_READ) {
		ADD(v->read_ios, 1);
		ADD(v->read_bytes, now->bytes);
	} else if (op == REQUEST_WRITE) {
		ADD(v->write_ios, 1);
		ADD(v->write_bytes, now->bytes);
	} else {
		ADD(v->other_ios, 1);
	}
	if (op == REQUEST_READ || now->flags & REQUEST_SYNC)
		ADD(v->sync_ios, 1);
	else
		ADD(v->async_ios, 1);
	if (failed)
		ADD(v->errors, 1);
	ADD(v->queue_ns, queue_ns);
	if (!seen) {
		ADD(v->unseen, 1);
		return;
	}
	ADD(v->device_ns, device_ns);
	if (queue_ns + device_ns > v->max_ns)
		v->max_ns = queue_ns + device_ns;
	slot = log2_slot(queue_ns + device_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_ns[slot], 1);
}

static __always_inline void add_op(const char disk[16], const struct block_now *now, __u64 queue_ns,
				   __u64 device_ns, bool seen)
{
	struct block_ops_key key = { .interval = metric_interval, .op = now->flags & REQUEST_OP };
	struct block_ops_value *v;
	__u32 slot;

	key.sync = key.op == REQUEST_READ || now->flags & REQUEST_SYNC;
	__builtin_memcpy(key.disk, disk, sizeof(key.disk));
	v = METRIC_ENTRY(&table_block_ops, &key, struct block_ops_value);
	if (!v)
		return;
	ADD(v->ios, 1);
	ADD(v->bytes, now->bytes);
	ADD(v->queue_ns, queue_ns);
	slot = log2_slot(queue_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_queue_ns[slot], 1);
	slot = log2_slot(now->bytes);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_bytes[slot], 1);
	if (!seen) {
		ADD(v->unseen, 1);
		return;
	}
	ADD(v->device_ns, device_ns);
	if (queue_ns + device_ns > v->max_ns)
		v->max_ns = queue_ns + device_ns;
	slot = log2_slot(device_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_device_ns[slot], 1);
}

/* A request that was issued and is not under way any more; was: a copy of its entry. */
static __always_inline void add_unseen(struct request *rq, struct block_now *was)
{
	struct block_key process = { .interval = metric_interval, .pid = was->pid };
	__u64 key = (__u64)rq;

	bpf_map_delete_elem(&block_now, &key);
	if (slower_ns)
		bpf_map_delete_elem(&block_stacks, &key);
	was->bytes += was->left_bytes;
	BPF_CORE_READ_STR_INTO(&process.disk, rq, q, disk, disk_name);
	add_process(&process, was, was->issue_ns - was->start_ns, 0, false, false);
	add_op(process.disk, was, was->issue_ns - was->start_ns, 0, false);
}

static __always_inline bool is_kernel_thread(void)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	return t->flags & TASK_KERNEL;
}

/* Whether the request is counted, and whose it is: the current thread's, or that of a thread which asked for the flush. */
static __always_inline bool find_owner(struct request *rq, struct block_now *now)
{
	__u64 pid_tgid = current_ids(), queue = (__u64)rq->q;
	struct block_now *flusher = NULL;

	if ((rq->cmd_flags & REQUEST_OP) == REQUEST_FLUSH)
		flusher = bpf_map_lookup_elem(&block_flushers, &queue);
	if (flusher) {
		*now = *flusher;
		return flusher->pid != NOT_RECORDED;
	}
	if (!is_target(pid_tgid >> 32) && !is_kernel_thread())
		return false;
	now->pid = pid_tgid >> 32;
	now->tid = pid_tgid;
	now->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(now->comm, sizeof(now->comm));
	return true;
}

/* again: the request may have begun before. */
static __always_inline void begin(void *ctx, struct request *rq, bool again)
{
	__u64 key = (__u64)rq, queue = (__u64)rq->q;
	struct block_now now = {}, *was = bpf_map_lookup_elem(&block_now, &key);

	if (again && was)
		return;
	if (was && was->issue_ns) { /* was not issued: it was merged into another */
		now = *was;
		add_unseen(rq, &now);
		now = (struct block_now){};
	}
	if (!find_owner(rq, &now))
		now.pid = NOT_RECORDED;
	if (rq->cmd_flags & REQUEST_FLUSHES && (rq->cmd_flags & REQUEST_OP) != REQUEST_FLUSH)
		bpf_map_update_elem(&block_flushers, &queue, &now, BPF_ANY);
	if (now.pid == NOT_RECORDED)
		return;
	now.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&block_now, &key, &now, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
	if (slower_ns)
		stack_keep(ctx, &block_stacks, key);
}

SEC("tp_btf/block_io_start")
INSTEAD("a request that was not queued belongs to the thread that issues it")
int BPF_PROG(block_start_maybe, struct request *rq)
{
	begin(ctx, rq, false);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_insert, struct request *rq)
{
	begin(ctx, rq, true);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct block_now *now;

	begin(ctx, rq, true);
	now = bpf_map_lookup_elem(&block_now, &key);
	if (now) {
		now->left_bytes = rq->__data_len;
		now->flags = rq->cmd_flags;
		now->issue_ns = bpf_ktime_get_ns();
	}
	return 0;
}

/* The device is busy: the request is idle until it is issued again. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_requeue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct block_now *now = bpf_map_lookup_elem(&block_now, &key);

	if (now)
		now->issue_ns = 0;
	return 0;
}

/* From the interrupt of the device: the thread and its stack are those of the request's begin. */
static __always_inline void send_slow(__u64 rq, const struct block_key *key,
				      const struct block_now *now, __u64 queue_ns, __u64 device_ns)
{
	struct metric_event *ev = event_reserve(0, sizeof(struct block_slow), true);
	struct block_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	__builtin_memcpy(row->comm, now->comm, sizeof(row->comm));
	__builtin_memcpy(row->disk, key->disk, sizeof(row->disk));
	row->op = now->flags & REQUEST_OP;
	row->sync = row->op == REQUEST_READ || now->flags & REQUEST_SYNC;
	row->bytes = now->bytes;
	row->queue_ns = queue_ns;
	row->device_ns = device_ns;
	row->of_pid = ev->pid = now->pid;
	row->of_tid = ev->tid = now->tid;
	ev->weight = queue_ns + device_ns;
	stack_put(ev, &block_stacks, rq);
	event_submit(ev);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, int error, unsigned int bytes)
{
	__u64 key = (__u64)rq, now_ns = bpf_ktime_get_ns(), queue_ns, device_ns = 0;
	struct block_now *now = bpf_map_lookup_elem(&block_now, &key), was;
	struct block_key process = { .interval = metric_interval };

	if (!now)
		return 0;
	now->bytes += bytes;
	if (bytes < rq->__data_len)
		return 0; /* a part of it; the rest comes */
	now->flags = rq->cmd_flags;
	was = *now;
	bpf_map_delete_elem(&block_now, &key);
	queue_ns = (was.issue_ns ? was.issue_ns : now_ns) - was.start_ns;
	if (was.issue_ns)
		device_ns = now_ns - was.issue_ns;
	process.pid = was.pid;
	BPF_CORE_READ_STR_INTO(&process.disk, rq, q, disk, disk_name);
	add_process(&process, &was, queue_ns, device_ns, true, error != 0);
	add_op(process.disk, &was, queue_ns, device_ns, true);
	if (slower_ns && queue_ns + device_ns >= slower_ns)
		send_slow(key, &process, &was, queue_ns, device_ns);
	if (slower_ns)
		bpf_map_delete_elem(&block_stacks, &key);
	return 0;
}

static __u64 look(void *map, const __u64 *key, struct block_now *now, void *ctx)
{
	struct request *rq = (void *)*key;
	__u64 at = *key;
	struct block_now was = *now;

	/* The kernel calls the tracepoint of the issue first, and then marks the request. */
	if (!was.issue_ns || looked_ns < was.issue_ns + 20000000 ||
	    BPF_CORE_READ(rq, state) != MQ_RQ_IDLE)
		return 0;
	now = bpf_map_lookup_elem(&block_now, &at);
	if (now && now->issue_ns == was.issue_ns) /* its completion was not seen in between */
		add_unseen(rq, &was);
	return 0;
}

/* On each CPU at the end of an interval, one after the other: the first one does it. */
SEC("raw_tp")
int block_flush(void *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (now_ns - looked_ns < 5000000)
		return 0;
	looked_ns = now_ns;
	bpf_for_each_map_elem(&block_now, look, 0, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
