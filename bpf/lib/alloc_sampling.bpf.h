/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * alloc_sampling - allocations, sampled by their bytes, and which of them are still held
 *
 * bpf/lib/byte_sampling.h chooses the samples and their weights: sums are right on average,
 * whatever the sizes, and with sample_bytes 1 they are exact.  Each that is drawn is an event with
 * its stacks, and is stored by its address until it is freed; each process and stack that holds
 * memory has one entry in final_held, which the recorder reads at the end.
 *
 * Memory in the kernel is bounded by HELD_LIVE and HELD_STACKS; entries without space are counted
 * as lost.
 */
#ifndef EBPREC_BPF_HELD_H
#define EBPREC_BPF_HELD_H

#include "bpf/lib/byte_sampling.h"
#include "bpf/lib/table.bpf.h"

#ifndef HELD_SAMPLE_BYTES
#error "define HELD_SAMPLE_BYTES: the bytes per sample of the instrument"
#endif

/* The bytes per sample; 1: every allocation.  The default of sample-bytes=. */
const volatile __u64 sample_bytes = HELD_SAMPLE_BYTES;
/* Set before the last walk over the tasks: no more allocations are counted. */
__u32 metric_ending = 0;

enum { HELD_LIVE = 65536, HELD_STACKS = 4096, HELD_AGES = 24, HELD_KIND = 16 };

/* Where it is: the kernel's addresses are of space 0, a process's of its pid. */
struct held_at {
	__u64 address;
	__u32 space, pad;
};

struct held_live {
	__u64 hash, bytes, since_ns;
	__u32 pid, count;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELD_LIVE);
	__type(key, struct held_at);
	__type(value, struct held_live);
} held_live SEC(".maps");

/*
 * How many that were drawn have an address of that number: most that are freed were not, and need no
 * look into the map.
 */
enum { HELD_FILTER_BITS = 14 }; /* 64 KiB, which stay near the CPU */
__u32 held_filter[1 << HELD_FILTER_BITS] = {};

static __always_inline __u32 *held_filter_of(__u64 address)
{
	__u64 slot = address * 0x9e3779b97f4a7c15 >> (64 - HELD_FILTER_BITS);

	barrier_var(slot);
	return &held_filter[slot & ((1 << HELD_FILTER_BITS) - 1)];
}

/*
 * The row of a stack that holds memory, the first kind of events of an object.  The held bytes are
 * looked up at the end.
 */
#define HELD_ROW                            \
	char comm[16], kind[HELD_KIND];     \
	__u32 pid, pad;                     \
	__u64 cgroup, allocs, frees;        \
	__u64 held, held_bytes, max_age_ns; \
	__u32 hist_age_ms[HELD_AGES]

struct held_row {
	HELD_ROW;
};

/* The row of an allocation that was drawn, the second kind. */
#define ALLOC_ROW                       \
	char comm[16], kind[HELD_KIND]; \
	__u32 pid, tid;                 \
	__u64 allocs, alloc_bytes

struct alloc_row {
	ALLOC_ROW;
};

_Static_assert(sizeof(struct held_row) <= METRIC_EVENT_ROW_MAX, "a row is as long at most");

struct held_stack {
	__u64 hash;
	__u32 pid, pad;
};

/* As the recorder would get them through a ring. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELD_STACKS);
	__type(key, struct held_stack);
	__type(value, struct metric_event);
} final_held SEC(".maps");

/* The bytes that the sample stands for; 0: it is not drawn. */
static __always_inline __u64 held_draw(__u64 bytes, __u32 *count)
{
	if (bytes < sample_bytes && !draw_is(bytes, sample_bytes, bpf_get_prandom_u32()))
		return 0;
	*count = bytes < sample_bytes ? draw_count(bytes, sample_bytes, bpf_get_prandom_u32()) : 1;
	return draw_bytes(bytes, sample_bytes);
}

/*
 * How many there are is read once more, and not handed in: a verifier that knows more of a number with each
 * turn of the loop walks all that comes behind it once for each turn.
 */
static __always_inline __u64 held_hash(const struct event_stack *s)
{
	const volatile struct event_stack *counts = s;
	__u32 frames = counts->kernel_count + counts->user_count;
	__u64 hash = frames;

	for (__u32 i = 0; i < CPU_KERNEL_MAX + CPU_USER_MAX && i < frames; i++)
		hash = (hash << 7 | hash >> 57) * 0x9e3779b97f4a7c15 ^ s->frames[i];
	return hash;
}

static __always_inline void held_name(char comm[16], __u32 pid)
{
	if (pid)
		bpf_get_current_comm(comm, 16);
	else
		__builtin_memcpy(comm, "[interrupt]", sizeof("[interrupt]"));
}

/* The entry of the stack that is in ev; NULL: there is no room. */
static __always_inline struct metric_event *held_entry(struct metric_event *ev, const char *kind,
						       const struct held_stack *key)
{
	struct metric_event *entry = bpf_map_lookup_elem(&final_held, key);
	struct held_row *row = (void *)ev->row;

	if (entry)
		return entry;
	row->pid = key->pid;
	held_name(row->comm, key->pid);
	row->cgroup = key->pid ? bpf_get_current_cgroup_id() : 0;
	bpf_probe_read_kernel_str(row->kind, sizeof(row->kind), kind);
	fill_header(&ev->h, EBPREC_EV_METRIC, sizeof(*ev));
	bpf_map_update_elem(&final_held, key, ev, BPF_NOEXIST);
	__builtin_memset(ev->row, 0, sizeof(struct held_row));
	return bpf_map_lookup_elem(&final_held, key);
}

/*
 * Removes an allocation that was drawn; *was gets its entry.  Returns the row of its stack; NULL:
 * it was not drawn, or its stack is not known any more.
 */
static __always_inline struct held_row *held_free(__u64 address, __u32 space, struct held_live *was)
{
	struct held_at at = { .address = address, .space = space };
	struct held_stack key = {};
	struct metric_event *entry;
	struct held_live *live;
	struct held_row *row;

	if (!*held_filter_of(address))
		return 0;
	live = bpf_map_lookup_elem(&held_live, &at);
	if (!live)
		return 0;
	*was = *live;
	if (bpf_map_delete_elem(&held_live, &at))
		return 0; /* another CPU was first */
	ADD(*held_filter_of(address), -1);
	key.hash = was->hash;
	key.pid = was->pid;
	entry = bpf_map_lookup_elem(&final_held, &key);
	if (!entry)
		return 0;
	row = (void *)entry->row;
	ADD(row->frees, was->count);
	/*
	 * Nothing is held any more: room for another stack.  Should another CPU draw one just now, that
	 * has lost its stack, which is counted at the end.
	 */
	if (row->allocs == row->frees)
		bpf_map_delete_elem(&final_held, &key);
	return row;
}

/*
 * One that was drawn, of live->bytes and live->count, by live->pid.  false is counted as lost.  kind: a
 * text of the kernel.
 */
static __always_inline bool held_add(void *ctx, __u64 address, __u32 space, const char *kind,
				     struct held_live *live)
{
	struct metric_event *ev = event_begin(0, sizeof(struct held_row)), *entry;
	struct held_at at = { .address = address, .space = space };
	struct held_stack key = { .pid = live->pid };
	struct alloc_row *row;
	__u64 frames;

	if (!ev)
		return false;
	frames = stack_take(ctx, &ev->stack, live->pid ? walk_current() : 0);
	key.hash = live->hash = held_hash(&ev->stack);
	live->since_ns = bpf_ktime_get_ns();
	entry = held_entry(ev, kind, &key);
	if (!entry || bpf_map_update_elem(&held_live, &at, live, BPF_ANY)) {
		count_lost(EBPREC_EV_METRIC);
		scratch_give();
		return false;
	}
	ADD(*held_filter_of(address), 1);
	ADD(((struct held_row *)entry->row)->allocs, live->count);
	row = (void *)ev->row;
	row->pid = live->pid;
	row->tid = live->pid ? current_ids() : 0;
	held_name(row->comm, live->pid);
	bpf_probe_read_kernel_str(row->kind, sizeof(row->kind), kind);
	row->allocs = live->count;
	row->alloc_bytes = ev->weight = live->bytes;
	ev->table++;
	ev->row_bytes = sizeof(*row);
	event_send(ev, frames);
	return true;
}

/* ---- at the end ---- */

struct bpf_map;

static long held_age(struct bpf_map *map, const struct held_at *at, struct held_live *live,
		     __u64 *now_ns)
{
	struct held_stack key = { .hash = live->hash, .pid = live->pid };
	struct metric_event *entry = bpf_map_lookup_elem(&final_held, &key);
	__u64 age_ns = *now_ns - live->since_ns;
	struct held_row *row;
	__u32 slot;

	if (!entry) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	row = (void *)entry->row;
	row->held += live->count;
	row->held_bytes += live->bytes;
	if (age_ns > row->max_age_ns)
		row->max_age_ns = age_ns;
	slot = log2_slot(age_ns / 1000000);
	if (slot < HELD_AGES)
		row->hist_age_ms[slot] += live->count;
	return 0;
}

/* To be called at the end of each walk over the tasks. */
static __always_inline void held_walked(void)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (metric_ending)
		bpf_for_each_map_elem(&held_live, held_age, &now_ns, 0);
}

#endif
