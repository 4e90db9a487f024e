/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/cursor.h"
#include "format/perfrec.h"
#include "record/siderec.h"

#define RING_BYTES (512u << 10) /* some hundred execs between two passes; perf's own size */

#define WAKE_BYTES 256 /* an exec says more than that, a new thread does not */

struct side_ring {
	int fd;
	struct perf_event_mmap_page *page; /* NULL: not mapped; the data follows the page */
};

struct staged {
	uint64_t time_ns;
	size_t off_bytes; /* in bytes; the order of arrival, too */
	uint32_t size_bytes;
};

struct sideband {
	struct side_ring *ring;
	size_t count;
	size_t page_bytes;
	struct outbuf bytes; /* records copied out */
	struct staged *staged;
	size_t staged_count, staged_room;
};

static int event_open(struct perf_event_attr *attr, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Opens the first ring, giving up the parts this kernel does not know one by one, newest first.
 * The attr that worked stays in *attr.
 */
static int probe(struct perf_event_attr *attr, uint32_t cpu, struct notes *notes)
{
	static const char *const parts[] = { "cgroups", "BPF programs", "namespaces" };
	size_t i;
	int fd = event_open(attr, cpu);

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && fd == -EINVAL; i++) {
		switch (i) {
		case 0:
			attr->cgroup = 0;
			break;
		case 1:
			attr->ksymbol = attr->bpf_event = 0;
			break;
		default:
			attr->namespaces = 0;
		}
		fd = event_open(attr, cpu);
		note(notes, NOTE_INFO, "this kernel does not report %s, skipping", parts[i]);
	}
	return fd;
}

static int ring_open(struct sideband *s, struct side_ring *ring, struct attrs *attrs)
{
	uint64_t id = 0;
	void *p;

	p = mmap(NULL, s->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring->page = p;
	if (ioctl(ring->fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	return attrs_add_id(attrs, ATTR_SIDE, id);
}

static int open_all(struct sideband *s, const struct cpulist *cpus, struct attrs *attrs,
		    struct notes *notes)
{
	struct perf_event_attr attr;
	size_t i;
	int err;

	attrs_side_kernel(&attr);
	attr.wakeup_watermark = WAKE_BYTES;
	for (i = 0; i < cpus->count; i++) {
		s->ring[i].fd = i ? event_open(&attr, cpus->ids[i])
				  : probe(&attr, cpus->ids[0], notes);
		if (s->ring[i].fd < 0)
			return s->ring[i].fd;
		s->count = i + 1;
		err = ring_open(s, &s->ring[i], attrs);
		if (err)
			return err;
	}
	attrs_set_side(attrs, &attr);
	return 0;
}

int sideband_open(const struct cpulist *cpus, struct attrs *attrs, struct notes *notes,
		  struct sideband **out)
{
	struct sideband *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return note_fail(notes, err, NULL, "cannot watch the machine");
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->ring = calloc(cpus->count, sizeof(*s->ring));
	if (s->ring)
		err = open_all(s, cpus, attrs, notes);
	if (err) {
		sideband_close(s);
		return note_fail(
			notes, err,
			err == -EACCES || err == -EPERM
				? "need root or CAP_PERFMON, see kernel.perf_event_paranoid"
			: err == -EMFILE ? "raise the limit of open files: ulimit -n"
			: err == -ENOSYS ? "this kernel has no perf events"
					 : NULL,
			"cannot watch processes by perf_event_open");
	}
	*out = s;
	return 0;
}

void sideband_close(struct sideband *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->count; i++) {
		if (s->ring[i].page)
			munmap(s->ring[i].page, s->page_bytes + RING_BYTES);
		close(s->ring[i].fd);
	}
	outbuf_done(&s->bytes);
	free(s->staged);
	free(s->ring);
	free(s);
}

size_t sideband_count(const struct sideband *s)
{
	return s->count;
}

int sideband_fd(const struct sideband *s, size_t ring)
{
	return s->ring[ring].fd;
}

static int stage(struct sideband *s, size_t off_bytes, size_t size_bytes)
{
	/* The tail of every record: pid, tid, time, cpu, 0, id. */
	const uint8_t *tail = s->bytes.data + off_bytes + size_bytes - SIDEREC_TAIL_BYTES;
	struct staged *staged = s->staged;

	if (s->staged_count == s->staged_room) {
		s->staged_room = s->staged_room ? 2 * s->staged_room : 256;
		staged = realloc(staged, s->staged_room * sizeof(*staged));
		if (!staged)
			return -ENOMEM;
		s->staged = staged;
	}
	staged[s->staged_count++] = (struct staged){
		.time_ns = le64_load(tail + 8),
		.off_bytes = off_bytes,
		.size_bytes = (uint32_t)size_bytes,
	};
	return 0;
}

static void copy_out(struct outbuf *to, const uint8_t *data, uint64_t at, size_t size_bytes)
{
	size_t off = at & (RING_BYTES - 1);
	size_t first = size_bytes < RING_BYTES - off ? size_bytes : RING_BYTES - off;

	outbuf_add(to, data + off, first);
	outbuf_add(to, data, size_bytes - first);
}

/* Cuts what the kernel stretched; what is cut stays behind in the buffer, which is no harm. */
static size_t trim(uint8_t *record)
{
	size_t told = le16_load(record + 6);
	size_t size = perfrec_true_size(record, told, SIDEREC_TAIL_BYTES);

	le16_store(record + 6, (uint16_t)size);
	return size;
}

static int drain_one(struct sideband *s, struct side_ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->page + s->page_bytes;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->page->data_tail;
	struct perf_event_header header;
	size_t off;
	int err = 0;

	for (; at < head && !err; at += header.size) {
		/* Records are multiples of 8, so that the header never wraps around. */
		memcpy(&header, data + (at & (RING_BYTES - 1)), sizeof(header));
		if (header.size < sizeof(header) + SIDEREC_TAIL_BYTES || header.size % 8) {
			at = head; /* not the kernel we know: skip what is there */
			break;
		}
		off = s->bytes.size_bytes;
		copy_out(&s->bytes, data, at, header.size);
		err = outbuf_ok(&s->bytes) ? stage(s, off, trim(s->bytes.data + off)) : -ENOMEM;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
	return err;
}

int sideband_drain(struct sideband *s)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->count && !err; i++)
		err = drain_one(s, &s->ring[i]);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct staged *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->off_bytes < y->off_bytes ? -1 : x->off_bytes > y->off_bytes;
}

/* Forgets the first `done` records; the others move to the front of a fresh buffer. */
static int keep_rest(struct sideband *s, size_t done)
{
	struct outbuf rest = { 0 };
	size_t i, left = s->staged_count - done;

	if (left) {
		memmove(s->staged, s->staged + done, left * sizeof(*s->staged));
		for (i = 0; i < left; i++) {
			size_t off = rest.size_bytes;

			outbuf_add(&rest, s->bytes.data + s->staged[i].off_bytes,
				   s->staged[i].size_bytes);
			s->staged[i].off_bytes = off;
		}
		if (!outbuf_ok(&rest))
			left = 0;
		outbuf_done(&s->bytes);
		s->bytes = rest;
	} else {
		outbuf_clear(&s->bytes);
	}
	s->staged_count = left;
	return outbuf_ok(&s->bytes) ? 0 : -ENOMEM;
}

int sideband_deliver(struct sideband *s, uint64_t until_ns,
		     int (*on_record)(void *arg, struct perf_event_header *record,
				      uint64_t time_ns),
		     void *arg)
{
	size_t i;
	int err = 0, rest;

	if (!s->staged_count)
		return 0;
	qsort(s->staged, s->staged_count, sizeof(*s->staged), by_time);
	for (i = 0; i < s->staged_count && s->staged[i].time_ns <= until_ns && err >= 0; i++)
		err = on_record(arg, (void *)(s->bytes.data + s->staged[i].off_bytes),
				s->staged[i].time_ns);
	rest = keep_rest(s, i);
	return err < 0 ? err : rest;
}
