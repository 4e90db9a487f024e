/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_copy - a user stack as it is, for user space to walk
 *
 * Mappings and tables of a program that has just begun are not known here yet.  User space knows
 * them a moment later, and walks the copy then.  Copies are large: a bucket of tokens a CPU and the
 * room in the ring bound how many are made.
 */
#ifndef EBPREC_BPF_COPY_H
#define EBPREC_BPF_COPY_H

#include "bpf/lib/common.bpf.h"
#include "bpf/lib/unwind.bpf.h"

/* The size of a copy without the bytes below sp; a multiple of 8. */
const volatile __u32 copy_bytes = 24 << 10;
/* Copies a second and CPU that `auto` may make, and at once. */
const volatile __u32 copies_a_second = 600;

struct copy_bucket {
	__u64 filled_ns; /* when tokens was right */
	__u64 tokens_ns; /* each costs a second / copies_a_second */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_bucket);
} copy_buckets SEC(".maps");

static __always_inline bool copy_take_token(void)
{
	__u64 cost_ns, now_ns = bpf_ktime_get_ns();
	__u32 zero = 0;
	struct copy_bucket *b = bpf_map_lookup_elem(&copy_buckets, &zero);

	if (!b || !copies_a_second)
		return false;
	b->tokens_ns += now_ns - b->filled_ns;
	b->filled_ns = now_ns;
	if (b->tokens_ns > 1000000000)
		b->tokens_ns = 1000000000;
	cost_ns = 1000000000 / copies_a_second;
	if (b->tokens_ns < cost_ns)
		return false;
	b->tokens_ns -= cost_ns;
	return true;
}

/* Whether user space could make more of this stack than we do. */
static __always_inline bool copy_helps(const struct walk_state *w)
{
	return !w->compat && (w->why == UNWIND_NO_MAPPING || w->why == UNWIND_NO_TABLE);
}

/* The buffer of copies: COPY_BUFFER_BYTES, which the including file defines. */
static __always_inline __u8 *copy_buffer(void);

/*
 * Copies what is left of a page of the stack from addr on, to where `done` bytes are already; returns
 * how much that is.  Global: the verifier looks at it once, not in each round.
 */
__attribute__((noinline)) int copy_page(__u64 addr, __u64 done, __u64 left_bytes)
{
	__u64 part = 4096 - (addr & 4095);
	__u8 *to = copy_buffer();

	if (part > left_bytes)
		part = left_bytes;
	barrier_var(part);
	if (!to || part > 4096 || done > COPY_BUFFER_BYTES - 4096) /* for the verifier */
		return 0;
	return bpf_probe_read_user(to + done, part, (const void *)addr) ? 0 : part;
}

/*
 * Copies the stack from a little below sp, page by page, because a read that meets the end of the
 * stack gives nothing at all.  Returns how much there is.  Global, as copy_page() is.
 */
__attribute__((noinline)) int copy_pages(__u64 addr, __u64 want_bytes)
{
	__u64 done = 0;
	__u32 i, part;

	for (i = 0; i < COPY_BUFFER_BYTES / 4096 + 1 && done < want_bytes; i++) {
		part = copy_page(addr + done, done, want_bytes - done);
		if (!part)
			break;
		done += part & 8191;
	}
	return done < want_bytes ? done : want_bytes;
}

#define SMALL_COPY_BYTES 4096

/* How much of a stack there is room for, leaving some to samples; 0: none. */
static __always_inline __u32 copy_room(void *ring)
{
	__u64 used_bytes = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + COPY_EVENT_HEAD_BYTES;
	__u64 ring_bytes = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);

	if (used_bytes + copy_bytes <= ring_bytes / 2)
		return copy_bytes;
	if (SMALL_COPY_BYTES < copy_bytes && used_bytes + SMALL_COPY_BYTES <= ring_bytes / 4 * 3)
		return SMALL_COPY_BYTES;
	return 0;
}

/* Into the buffer: want_bytes from sp on, and a little below it.  False: there is nothing. */
static __always_inline bool copy_stack(__u64 sp, __u64 want_bytes, __u64 *addr, __u32 *size_bytes)
{
	__u64 from = sp - COPY_BELOW_SP;
	__u32 size;

	want_bytes += COPY_BELOW_SP;
	if (want_bytes > COPY_BUFFER_BYTES)
		want_bytes = COPY_BUFFER_BYTES;
	size = copy_pages(from, want_bytes);
	if (!size) { /* below sp there may be a page that was never touched */
		from = sp;
		size = copy_pages(from, want_bytes - COPY_BELOW_SP);
	}
	*addr = from;
	*size_bytes = size;
	return from + size > sp;
}

#endif
