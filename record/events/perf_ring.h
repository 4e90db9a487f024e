/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perf_ring - the ring buffer of a perf event
 *
 * The kernel writes records at `head` and wraps around at the end of the data; `tail` is how far we
 * have read.  perf_ring_next() is the pure half: it finds records in bytes.
 */
#ifndef EBPREC_RECORD_EVENTS_PERF_RING_H
#define EBPREC_RECORD_EVENTS_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_RING_MIN_BYTES (64u << 10)

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t page_bytes, data_bytes; /* data_bytes is a power of two */
};

/* data_bytes: a power of two, at least a page.  errno of mmap: -EPERM above what may be locked. */
int perf_ring_map(struct perf_ring *r, int fd, size_t data_bytes);
void perf_ring_unmap(struct perf_ring *r); /* a zeroed struct is fine */

/* A record where it lies: in two pieces when it wraps around. */
struct perf_ring_record {
	struct perf_event_header header;
	const uint8_t *first, *rest;
	size_t first_bytes, rest_bytes; /* together header.size */
};

/*
 * The record at `at`, of what was written until `head`; both only grow.  1, 0: there is none, or
 * -EBADMSG: the bytes there are no record, and the start of the next one is not known.
 */
int perf_ring_next(const uint8_t *data, size_t data_bytes, uint64_t at, uint64_t head,
		   struct perf_ring_record *out);

/* Where reading goes on, how far it may go now, and how far it got. */
uint64_t perf_ring_tail(const struct perf_ring *r);
uint64_t perf_ring_head(const struct perf_ring *r);
void perf_ring_give_back(struct perf_ring *r, uint64_t tail);

#endif
