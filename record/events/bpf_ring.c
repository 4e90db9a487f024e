/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/bpf_ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/base/map_of_maps.h"

/*
 * A ring as the kernel maps it: a page with the consumer's position, which is ours to write, a
 * page with the producer's, then the data.  The kernel has the data twice in a row, so that no
 * event wraps around; we map it once, because each page that is mapped counts as our memory, and
 * join the one event in a round that lies over the end.
 */
struct ring {
	int fd;
	uint64_t *consumer; /* its own page; MAP_FAILED never stays here */
	const uint64_t *producer;
	const uint8_t *data;
};

struct bpf_ring {
	struct ring *ring;
	size_t count;
	uint64_t ring_bytes;
	size_t page_bytes;
	int outer_fd, lost_fd;
	uint32_t slots; /* of the outer map */
	size_t possible_cpus;
	uint64_t peak_bytes;
	uint8_t *joined; /* an event from the end and the beginning */
	size_t joined_bytes;
};

uint64_t bpf_ring_split(uint64_t total_bytes, size_t cpus)
{
	uint64_t want = total_bytes, bytes = BPF_RING_MIN_BYTES;

	if (!want) {
		want = (uint64_t)BPF_RING_DEFAULT_BYTES * cpus;
		if (want > BPF_RING_DEFAULT_TOTAL)
			want = BPF_RING_DEFAULT_TOTAL;
	}
	want /= cpus;
	while (bytes * 2 <= want && bytes < 1u << 30)
		bytes *= 2;
	return bytes;
}

static int ring_open(struct bpf_ring *r, struct ring *ring)
{
	void *p;

	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ebprec_ring", 0, 0,
				  (uint32_t)r->ring_bytes, NULL);
	if (ring->fd < 0)
		return -errno;
	p = mmap(NULL, r->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring->consumer = p;
	p = mmap(NULL, r->page_bytes + r->ring_bytes, PROT_READ, MAP_SHARED, ring->fd,
		 (off_t)r->page_bytes);
	if (p == MAP_FAILED)
		return -errno;
	ring->producer = p;
	ring->data = (const uint8_t *)p + r->page_bytes;
	return 0;
}

static void ring_close(const struct bpf_ring *r, struct ring *ring)
{
	if (ring->consumer)
		munmap(ring->consumer, r->page_bytes);
	if (ring->producer)
		munmap((void *)ring->producer, r->page_bytes + r->ring_bytes);
	if (ring->fd >= 0)
		close(ring->fd);
}

/* The map from CPU id to ring, with room for every CPU that could come online. */
static int make_outer(struct bpf_ring *r, const struct cpuset_list *cpus)
{
	struct bpf_map_create_opts opts = { .sz = sizeof(opts),
					    .inner_map_fd = (uint32_t)r->ring[0].fd };

	r->slots = cpus->ids[cpus->count - 1] + 1;
	if (r->slots < r->possible_cpus)
		r->slots = (uint32_t)r->possible_cpus;
	r->outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "ebprec_rings", 4, 4, r->slots,
				     &opts);
	if (r->outer_fd < 0)
		return -errno;
	return 0;
}

int bpf_ring_publish(const struct bpf_ring *r, const struct cpuset_list *cpus)
{
	int *fds = calloc(r->slots, sizeof(*fds)), err;
	size_t i;

	if (!fds)
		return -ENOMEM;
	for (i = 0; i < r->slots; i++)
		fds[i] = r->ring[0].fd;
	for (i = 0; i < cpus->count; i++)
		fds[cpus->ids[i]] = r->ring[i].fd;
	err = map_of_maps_put(r->outer_fd, 0, fds, r->slots);
	free(fds);
	return err;
}

static int make_all(struct bpf_ring *r, const struct cpuset_list *cpus)
{
	size_t i;
	int err;

	for (i = 0; i < r->count; i++) {
		err = ring_open(r, &r->ring[i]);
		if (err)
			return err;
	}
	err = make_outer(r, cpus);
	if (err)
		return err;
	r->lost_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "ebprec_lost", 4, 8,
				    EBPREC_EV_COUNTS, NULL);
	return r->lost_fd < 0 ? -errno : 0;
}

int bpf_ring_new(const struct cpuset_list *cpus, uint64_t total_bytes, struct bpf_ring **out)
{
	int possible = libbpf_num_possible_cpus();
	struct bpf_ring *r;
	size_t i;
	int err;

	if (possible < 0)
		return possible;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->outer_fd = r->lost_fd = -1;
	r->possible_cpus = (size_t)possible;
	r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	r->ring_bytes = bpf_ring_split(total_bytes, cpus->count);
	r->ring = calloc(cpus->count, sizeof(*r->ring));
	err = r->ring ? 0 : -ENOMEM;
	for (i = 0; !err && i < cpus->count; i++)
		r->ring[i].fd = -1;
	if (!err) {
		r->count = cpus->count;
		err = make_all(r, cpus);
	}
	if (err) {
		bpf_ring_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void bpf_ring_free(struct bpf_ring *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++)
		ring_close(r, &r->ring[i]);
	if (r->outer_fd >= 0)
		close(r->outer_fd);
	if (r->lost_fd >= 0)
		close(r->lost_fd);
	free(r->joined);
	free(r->ring);
	free(r);
}

uint64_t bpf_ring_peak_bytes(const struct bpf_ring *r)
{
	return r->peak_bytes;
}

uint64_t bpf_ring_fill_bytes(const struct bpf_ring *r)
{
	uint64_t fill_bytes, most_bytes = 0;

	for (size_t i = 0; i < r->count; i++) {
		fill_bytes = __atomic_load_n(r->ring[i].producer, __ATOMIC_ACQUIRE) -
			     *r->ring[i].consumer;
		most_bytes = fill_bytes > most_bytes ? fill_bytes : most_bytes;
	}
	return most_bytes;
}

uint64_t bpf_ring_bytes_per_cpu(const struct bpf_ring *r)
{
	return r->ring_bytes;
}

size_t bpf_ring_count(const struct bpf_ring *r)
{
	return r->count;
}

int bpf_ring_poll_fd(const struct bpf_ring *r, size_t ring)
{
	return r->ring[ring].fd;
}

int bpf_ring_share(const struct bpf_ring *r, struct bpf_map *rings_map, struct bpf_map *lost_map)
{
	int err = bpf_map__reuse_fd(rings_map, r->outer_fd);

	return err ? err : bpf_map__reuse_fd(lost_map, r->lost_fd);
}

uint64_t bpf_ring_wake_bytes(const struct bpf_ring *r)
{
	return r->ring_bytes / 4;
}

/* The event of `bytes` at a place of the data, in one piece; NULL: no memory. */
static const struct event_header *complete_event(struct bpf_ring *r, const struct ring *ring,
						 uint64_t at, uint32_t bytes)
{
	uint64_t off = at & (r->ring_bytes - 1), first = r->ring_bytes - off;
	uint8_t *p = r->joined;

	if (bytes <= first)
		return (const void *)(ring->data + off);
	if (bytes > r->joined_bytes) {
		p = realloc(p, bytes);
		if (!p)
			return NULL;
		r->joined = p;
		r->joined_bytes = bytes;
	}
	memcpy(p, ring->data + off, first);
	memcpy(p + first, ring->data, bytes - first);
	return (const void *)p;
}

/* Stands for bytes that are no event. */
static const struct event_header unknown = { .type = EBPREC_EV_END, .size_bytes = sizeof(unknown) };

static int take_event(struct bpf_ring *r, const struct ring *ring, uint64_t at, uint32_t bytes,
		      int (*on_event)(void *arg, const struct event_header *ev), void *arg)
{
	const struct event_header *ev = complete_event(r, ring, at, bytes);

	if (!ev)
		return -ENOMEM;
	if (bytes < sizeof(*ev) || ev->size_bytes < sizeof(*ev) || ev->size_bytes > bytes)
		ev = &unknown;
	return on_event(arg, ev);
}

static int drain_one(struct bpf_ring *r, struct ring *ring,
		     int (*on_event)(void *arg, const struct event_header *ev), void *arg)
{
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	uint64_t at = *ring->consumer;
	const uint32_t *length;
	uint32_t word, bytes;
	int err = 0;

	if (end - at > r->peak_bytes)
		r->peak_bytes = end - at;
	while (at < end && err >= 0) {
		length = (const uint32_t *)(ring->data + (at & (r->ring_bytes - 1)));
		word = __atomic_load_n(length, __ATOMIC_ACQUIRE);
		bytes = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		if (word & BPF_RINGBUF_BUSY_BIT)
			break; /* still being written: the next pass has it */
		if (bytes > end - at - BPF_RINGBUF_HDR_SZ) {
			err = on_event(arg, &unknown);
			bytes = (uint32_t)(end - at - BPF_RINGBUF_HDR_SZ);
		} else if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			err = take_event(r, ring, at + BPF_RINGBUF_HDR_SZ, bytes, on_event, arg);
			if (err == -ENOMEM)
				return err;
		}
		at += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	}
	return err < 0 ? err : 0;
}

int bpf_ring_drain(struct bpf_ring *r, int (*on_event)(void *arg, const struct event_header *ev),
		   void *arg)
{
	size_t i;
	int err;

	for (i = 0; i < r->count; i++) {
		err = drain_one(r, &r->ring[i], on_event, arg);
		if (err < 0)
			return err;
	}
	return 0;
}

int bpf_ring_counts(const struct bpf_ring *r, uint64_t counts[EBPREC_EV_COUNTS])
{
	uint64_t *per_cpu = calloc(r->possible_cpus, sizeof(*per_cpu));
	int err = per_cpu ? 0 : -ENOMEM;
	uint32_t type;
	size_t i;

	for (type = 0; !err && type < EBPREC_EV_COUNTS; type++) {
		if (bpf_map_lookup_elem(r->lost_fd, &type, per_cpu)) {
			err = -errno;
			break;
		}
		counts[type] = 0;
		for (i = 0; i < r->possible_cpus; i++)
			counts[type] += per_cpu[i];
	}
	free(per_cpu);
	return err;
}
