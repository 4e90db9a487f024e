/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_ring - the BPF ring buffers, one a CPU, and the maps all programs share
 *
 * Own reader instead of libbpf's: a pass takes what was there when it began and ends, also when
 * events come faster than they are read; and the rings wake the reader edge-triggered, because
 * most events come without a wakeup and a level-triggered poll would spin on them.
 */
#ifndef EBPREC_RECORD_EVENTS_BPF_RING_H
#define EBPREC_RECORD_EVENTS_BPF_RING_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "record/base/cpuset_list.h"

#define BPF_RING_MIN_BYTES     (64u << 10) /* a CPU */
#define BPF_RING_DEFAULT_BYTES (8u << 20)  /* a CPU, as long as the total is below ... */
#define BPF_RING_DEFAULT_TOTAL (256u << 20)

struct bpf_ring; /* opaque */

/* The size of a ring by the total: a power of two; total_bytes 0: the default. */
uint64_t bpf_ring_split(uint64_t total_bytes, size_t cpus);

/*
 * Makes a ring for each CPU of the list; a CPU that comes online later uses the first one.
 * total_bytes is split evenly, rounded down to a power of two; 0: the default.  Also makes the
 * map of lost events.  -EPERM: no BPF; -ENOMEM; else errno.
 */
int bpf_ring_new(const struct cpuset_list *cpus, uint64_t total_bytes, struct bpf_ring **out);
/*
 * Shows programs the rings, before one is attached: until then their events count as lost.  Takes long (map_of_maps.h).
 * cpus: the same list.  errno.
 */
int bpf_ring_publish(const struct bpf_ring *r, const struct cpuset_list *cpus);
void bpf_ring_free(struct bpf_ring *r); /* NULL is fine */

uint64_t bpf_ring_bytes_per_cpu(const struct bpf_ring *r);
/* The most that one held when it was emptied. */
uint64_t bpf_ring_peak_bytes(const struct bpf_ring *r);
/* The bytes in the fullest ring. */
uint64_t bpf_ring_fill_bytes(const struct bpf_ring *r);
size_t bpf_ring_count(const struct bpf_ring *r);
int bpf_ring_poll_fd(const struct bpf_ring *r, size_t ring); /* EPOLLIN | EPOLLET */

/*
 * Gives a skeleton the shared maps: the struct bpf_map * of its `rings` and `lost`, before load.
 * Fill at which it should wake the reader: bpf_ring_wake_bytes().
 */
int bpf_ring_share(const struct bpf_ring *r, struct bpf_map *rings_map, struct bpf_map *lost_map);
uint64_t bpf_ring_wake_bytes(const struct bpf_ring *r);

/*
 * One pass over all rings.  ev is valid during the call; its size_bytes is checked against what
 * the ring holds: an event of type EBPREC_EV_END stands for what is none.  A negative return of on_event ends the pass and is returned.
 */
int bpf_ring_drain(struct bpf_ring *r, int (*on_event)(void *arg, const struct event_header *ev),
		   void *arg);

/*
 * How many events of each type found no room, since the beginning, and behind these how many were of processes that
 * are not recorded.  errno of the map lookup.
 */
int bpf_ring_counts(const struct bpf_ring *r, uint64_t counts[EBPREC_EV_COUNTS]);

#endif
