// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * locks - waiting for each other: futexes of programs (futexes.bpf.h), locks of the kernel
 *
 * Kernel locks are lock:contention_begin and contention_end; mutexes and semaphores contain their owner.
 */
#include "bpf/lib/task.bpf.h"
#include "bpf/lib/table.bpf.h"

struct locks_slow {
	char comm[16];
	__u64 address; /* of the futex, or of the kernel's lock */
	__u32 kind, is_futex;
	__u64 took_ns;
	char holder_comm[16];
	__u32 holder, pad; /* 0: not known */
};

METRIC_EVENT(0, locks_slow);

static __always_inline void send_slow(void *ctx, __u64 address, __u32 kind, bool is_futex,
				      __u32 holder, const char holder_comm[16], __u64 took_ns)
{
	struct metric_event *ev = event_begin(0, sizeof(struct locks_slow));
	struct locks_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->address = address;
	row->kind = kind;
	row->is_futex = is_futex;
	row->holder = holder;
	__builtin_memcpy(row->holder_comm, holder_comm, sizeof(row->holder_comm));
	row->took_ns = ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

#include "bpf/tables/futexes.bpf.h"

struct locks_key {
	__u32 interval, pid;
	__u32 kind, pad; /* of contention_begin: LCB_F_* */
};

struct locks_value {
	char comm[16];
	__u64 cgroup;
	__u64 count, total_ns, max_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(locks, struct locks_key, struct locks_value, 16384);

struct lock_now_key {
	__u64 pid_tgid, lock;
};

struct lock_now {
	__u64 since_ns;
	__u32 kind, holder; /* holder: when the wait began; 0: not known */
	char holder_comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lock_now_key);
	__type(value, struct lock_now);
} lock_now SEC(".maps"); /* an interrupt may wait while the thread under it does */

/* include/trace/events/lock.h */
enum lock_kind {
	LCB_F_READ = 2,
	LCB_F_WRITE = 4,
	LCB_F_MUTEX = 32,
};

/* rwsem: the owner may be a reader, which is the last of them and need not hold it any more. */
enum { RWSEM_READER_OWNED = 1, OWNER_FLAGS = 7 };

/* Mutexes and semaphores with a writer have their owner in them. */
static __always_inline __u64 owner_of(void *lock, __u32 kind)
{
	struct rw_semaphore *semaphore = lock;
	struct mutex *mutex = lock;
	__u64 owner = 0;

	if (kind & LCB_F_MUTEX && bpf_core_field_exists(mutex->owner))
		owner = BPF_CORE_READ(mutex, owner.counter);
	else if ((kind == LCB_F_READ || kind == LCB_F_WRITE) &&
		 bpf_core_field_exists(semaphore->owner))
		owner = BPF_CORE_READ(semaphore, owner.counter);
	if (!(kind & LCB_F_MUTEX) && owner & RWSEM_READER_OWNED)
		return 0;
	return owner & ~(__u64)OWNER_FLAGS;
}

static __always_inline void find_owner(void *lock, struct lock_now *now)
{
	struct task_struct *owner = (void *)owner_of(lock, now->kind);

	if (!owner)
		return;
	now->holder = raw_task_ids(owner);
	bpf_probe_read_kernel_str(now->holder_comm, sizeof(now->holder_comm), &owner->comm);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int kind)
{
	struct lock_now_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .lock = (__u64)lock };
	struct lock_now now = { .kind = kind };

	if (!is_target_current())
		return 0;
	find_owner(lock, &now);
	now.since_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&lock_now, &key, &now, BPF_NOEXIST) == -7) /* E2BIG: full */
		count_lost(EBPREC_EV_METRIC);
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_end, void *lock, int error)
{
	struct lock_now_key now_key = { .pid_tgid = bpf_get_current_pid_tgid(),
					.lock = (__u64)lock };
	struct lock_now *now = bpf_map_lookup_elem(&lock_now, &now_key), was;
	struct locks_key key = { .interval = metric_interval };
	struct locks_value *v;
	__u64 took_ns;
	__u32 slot;

	if (!now)
		return 0;
	was = *now;
	bpf_map_delete_elem(&lock_now, &now_key);
	took_ns = bpf_ktime_get_ns() - was.since_ns;
	key.pid = current_ids() >> 32;
	key.kind = was.kind;
	v = METRIC_ENTRY(&table_locks, &key, struct locks_value);
	if (!v)
		return 0;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	ADD(v->count, 1);
	ADD(v->total_ns, took_ns);
	if (took_ns > v->max_ns)
		v->max_ns = took_ns;
	slot = log2_slot(took_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_ns[slot], 1);
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, now_key.lock, was.kind, false, was.holder, was.holder_comm, took_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
