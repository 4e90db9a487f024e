/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perfring - the ring buffer of a perf event
 *
 * The kernel writes records at `head` and wraps around at the end of the data; we say by `tail`
 * how far we have read.  perfring_next() is the pure half: it finds records in bytes.
 */
#ifndef EBPREC_RECORD_EVENTS_PERF_RING_H
#define EBPREC_RECORD_EVENTS_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERFRING_MIN_BYTES (64u << 10)

struct perfring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t page_bytes, data_bytes; /* data_bytes is a power of two */
};

/* data_bytes: a power of two, at least a page.  errno of mmap: -EPERM above what may be locked. */
int perfring_map(struct perfring *r, int fd, size_t data_bytes);
void perfring_unmap(struct perfring *r); /* a zeroed struct is fine */

/* A record where it lies: in two pieces when it wraps around. */
struct perfring_record {
	struct perf_event_header header;
	const uint8_t *first, *rest;
	size_t first_bytes, rest_bytes; /* together header.size */
};

/*
 * The record at `at`, of what was written until `head`; both only grow.  1, 0: there is none, or
 * -EBADMSG: what lies there cannot be one, and where the next one begins is not known.
 */
int perfring_next(const uint8_t *data, size_t data_bytes, uint64_t at, uint64_t head,
		  struct perfring_record *out);

/* Where reading goes on, how far it may go now, and how far it got. */
uint64_t perfring_tail(const struct perfring *r);
uint64_t perfring_head(const struct perfring *r);
void perfring_give_back(struct perfring *r, uint64_t tail);

#endif
