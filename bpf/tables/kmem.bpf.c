// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * kmem - memory of the kernel: the processes and stacks that allocate it, and the part that is
 * still held
 *
 * kmalloc(), kmem_cache_alloc() and pages that are neither a program's nor the page cache's, sampled
 * by their bytes (bpf/lib/alloc_sampling.bpf.h).  The allocations of interrupts belong to pid 0.
 *
 * Freeing many objects at once (kfree_rcu(), kmem_cache_free_bulk()) has no tracepoint.  Such an
 * object counts as freed when its address is given out again.
 *
 * Costs 0.15 us an allocation, with the stacks of those that are drawn, and 0.06 us a free.
 */
#define HELD_SAMPLE_BYTES (512 << 10) /* a kernel allocates far more often than one would look at */

#include "bpf/lib/task.bpf.h"
#include "bpf/lib/alloc_sampling.bpf.h"

struct kmem_key {
	__u32 interval, pid;
};

struct kmem_value {
	char comm[16];
	__u64 cgroup;
	__u64 allocs, alloc_bytes, frees, freed_bytes;
	__u64 now_rss_bytes, now_size_bytes;
};

METRIC_TABLE_FIXED(kmem, struct kmem_key, struct kmem_value, 16384);

struct kmem_caches_key {
	__u32 interval, pad;
	char cache[HELD_KIND];
};

struct kmem_caches_value {
	__u64 allocs, alloc_bytes, frees, freed_bytes;
};

METRIC_TABLE_FIXED(kmem_caches, struct kmem_caches_key, struct kmem_caches_value, 4096);

struct kmem_held {
	HELD_ROW;
};
struct kmem_allocs {
	ALLOC_ROW;
};

METRIC_EVENT(0, kmem_held);
METRIC_EVENT(1, kmem_allocs);

static __always_inline struct kmem_value *process_of(__u32 pid, const char comm[16], __u64 cgroup)
{
	struct kmem_key key = { .interval = metric_interval, .pid = pid };
	struct kmem_value *v = METRIC_ENTRY(&table_kmem, &key, struct kmem_value);

	if (v && !v->comm[0]) {
		bpf_probe_read_kernel(v->comm, sizeof(v->comm), comm);
		v->cgroup = cgroup;
	}
	return v;
}

static __always_inline struct kmem_caches_value *cache_of(const char *name)
{
	struct kmem_caches_key key = { .interval = metric_interval };

	bpf_probe_read_kernel_str(key.cache, sizeof(key.cache), name);
	return METRIC_ENTRY(&table_kmem_caches, &key, struct kmem_caches_value);
}

static __always_inline void gone(const void *address)
{
	struct held_live was;
	struct kmem_caches_value *cache;
	struct kmem_value *process;
	struct held_row *row;

	row = held_free((__u64)address, 0, &was);
	if (!row)
		return;
	process = process_of(was.pid, row->comm, row->cgroup);
	if (process) {
		ADD(process->frees, was.count);
		ADD(process->freed_bytes, was.bytes);
	}
	cache = cache_of(row->kind);
	if (cache) {
		ADD(cache->frees, was.count);
		ADD(cache->freed_bytes, was.bytes);
	}
}

/* One that was drawn, of live->bytes and live->count. */
static __always_inline void drawn(void *ctx, const void *address, const char *kind,
				  struct held_live *live)
{
	struct kmem_caches_value *cache;
	struct kmem_value *process;
	char comm[16] = {};

	live->pid = in_interrupt(ctx) ? 0 : current_ids() >> 32;
	if (!is_target(live->pid) || !held_add(ctx, (__u64)address, 0, kind, live))
		return;
	held_name(comm, live->pid);
	process = process_of(live->pid, comm, live->pid ? bpf_get_current_cgroup_id() : 0);
	if (process) {
		ADD(process->allocs, live->count);
		ADD(process->alloc_bytes, live->bytes);
	}
	cache = cache_of(kind);
	if (cache) {
		ADD(cache->allocs, live->count);
		ADD(cache->alloc_bytes, live->bytes);
	}
}

/* These instructions run for each allocation, drawn or not, and are nearly all of the cost: keep
 * them few. */
static __always_inline bool draw(const void *address, __u64 bytes, struct held_live *live)
{
	gone(address); /* its free was not seen */
	live->bytes = held_draw(bytes, &live->count);
	return live->bytes != 0;
}

static const char kind_kmalloc[] = "kmalloc", kind_pages[] = "pages";

/*
 * By raw_tp: tp_btf lets no program have an argument that is a `const void *` before Linux 6.7 or so, and
 * numbers are all we want.
 */
SEC("raw_tp/kmalloc")
int BPF_PROG(kmem_kmalloc, unsigned long site, const void *address, unsigned long asked,
	     unsigned long bytes)
{
	struct held_live live = {};

	if (address && draw(address, bytes, &live))
		drawn(ctx, address, kind_kmalloc, &live);
	return 0;
}

SEC("raw_tp/kmem_cache_alloc")
int BPF_PROG(kmem_alloc, unsigned long site, const void *address, struct kmem_cache *cache)
{
	struct held_live live = {};

	if (address && draw(address, BPF_CORE_READ(cache, size), &live))
		drawn(ctx, address, BPF_CORE_READ(cache, name), &live);
	return 0;
}

SEC("raw_tp/kfree")
int BPF_PROG(kmem_kfree, unsigned long site, const void *address)
{
	if (address)
		gone(address);
	return 0;
}

SEC("raw_tp/kmem_cache_free")
int BPF_PROG(kmem_free, unsigned long site, const void *address)
{
	if (address)
		gone(address);
	return 0;
}

/* include/linux/mmzone.h: MIGRATE_MOVABLE: pages of programs and of the page cache */
enum { PAGES_MOVABLE = 1 };

SEC("raw_tp/mm_page_alloc")
int BPF_PROG(kmem_pages, const void *page, unsigned int order, unsigned int gfp, int kind)
{
	struct held_live live = {};

	if (page && kind != PAGES_MOVABLE && order < 16 &&
	    draw(page, 1ull << page_bits << order, &live))
		drawn(ctx, page, kind_pages, &live);
	return 0;
}

SEC("raw_tp/mm_page_free")
int BPF_PROG(kmem_pages_free, const void *page)
{
	gone(page);
	return 0;
}

/* ---- what processes have besides ---- */

/* MM_FILEPAGES, MM_ANONPAGES, MM_SHMEMPAGES; counts that other CPUs have not added yet are missing. */
static __always_inline __u64 resident_pages(struct mm_struct *mm)
{
	struct mm_struct___6_1 *old = (void *)mm;
	long long pages = 0;

	if (bpf_core_type_exists(struct mm_rss_stat))
		pages = BPF_CORE_READ(old, rss_stat.count[0].counter) +
			BPF_CORE_READ(old, rss_stat.count[1].counter) +
			BPF_CORE_READ(old, rss_stat.count[3].counter);
	else
		pages = BPF_CORE_READ(mm, rss_stat[0].count) +
			BPF_CORE_READ(mm, rss_stat[1].count) + BPF_CORE_READ(mm, rss_stat[3].count);
	return pages > 0 ? pages : 0;
}

SEC("iter/task")
int kmem_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct mm_struct *mm;
	struct kmem_value *v;

	if (!t) {
		held_walked();
		return 0;
	}
	mm = t->mm;
	if (t->pid != t->tgid || !mm || !is_target_task(t))
		return 0;
	v = process_of(task_ids(t) >> 32, t->comm, cgroup_of(t));
	if (v) {
		v->now_rss_bytes = resident_pages(mm) << page_bits;
		v->now_size_bytes = (__u64)BPF_CORE_READ(mm, total_vm) << page_bits;
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
