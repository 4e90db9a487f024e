/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *r, int fd, size_t data_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*r = (struct perf_ring){
		.page = p,
		.data = (const uint8_t *)p + page_bytes,
		.page_bytes = page_bytes,
		.data_bytes = data_bytes,
	};
	return 0;
}

void perf_ring_unmap(struct perf_ring *r)
{
	if (r->page)
		munmap(r->page, r->page_bytes + r->data_bytes);
	*r = (struct perf_ring){ 0 };
}

int perf_ring_next(const uint8_t *data, size_t data_bytes, uint64_t at, uint64_t head,
		   struct perf_ring_record *out)
{
	size_t off = at & (data_bytes - 1), left = data_bytes - off;
	uint64_t there = head - at;

	if (at == head)
		return 0;
	/* Records are multiples of 8, so that a header never wraps around. */
	if (at > head || there > data_bytes || at % 8 || there < sizeof(out->header))
		return -EBADMSG;
	memcpy(&out->header, data + off, sizeof(out->header));
	if (out->header.size < sizeof(out->header) || out->header.size % 8 ||
	    out->header.size > there)
		return -EBADMSG;
	out->first = data + off;
	out->first_bytes = out->header.size < left ? out->header.size : left;
	out->rest = data;
	out->rest_bytes = out->header.size - out->first_bytes;
	return 1;
}

uint64_t perf_ring_tail(const struct perf_ring *r)
{
	return r->page->data_tail; /* ours alone */
}

uint64_t perf_ring_head(const struct perf_ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

void perf_ring_give_back(struct perf_ring *r, uint64_t tail)
{
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}
