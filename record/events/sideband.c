/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"
#include "format/os/clock.h"
#include "record/events/perf_ring.h"
#include "record/events/side_record.h"

/*
 * An exec is 1.5 KB and more.  perf's own size, 512 KiB, was too little once in an hour: with a load of 30
 * the recorder was away for 0.9 s while others started programs.
 */
#define RING_BYTES (2u << 20)
#define RING_LEAST_BYTES \
	(512u << 10) /* where there are so many CPUs that all together were more than */
#define RINGS_BYTES (32u << 20)

#define WAKE_BYTES 256 /* an exec writes more than that, a new thread does not */

#define SAMPLE_TIME_AT 32 /* header, IDENTIFIER, IP and TID are in front of it */

struct staged {
	uint64_t time_ns;
	size_t off_bytes; /* in bytes; the order of arrival, too */
	uint32_t size_bytes;
};

struct side_cpu {
	uint32_t id;
	struct perf_ring ring;
	int ring_fd;       /* the event it belongs to; -1: none */
	int live_fd;       /* the one that counts now, of a CPU that came back; -1: that one */
	uint64_t began_ns; /* since when that counts */
};

struct sideband {
	struct perf_event_set events;
	struct side_cpu *cpu;
	size_t count;
	int registered; /* the event's number for reopener_take(); below 0: none */
	size_t ring_bytes;
	bool user_only;
	uint64_t skipped_bytes;
	uint64_t id;         /* of one of the events */
	struct outbuf bytes; /* records copied out */
	struct outbuf spare; /* for those that stay */
	struct staged *staged;
	size_t staged_count, staged_room;
};

/* Leaves a part out of what is asked for.  False: there is nothing left to leave out. */
static bool give_up_part(struct perf_event_attr *attr, int err, unsigned *step, struct notes *notes)
{
	static const char *const parts[] = { "cgroups", "BPF programs", "namespaces" };

	if (err == -EACCES || err == -EPERM) {
		if (attr->exclude_kernel)
			return false;
		/* Only for the privileged, then the kernel itself. */
		attr->exclude_kernel = attr->exclude_hv = !attr->namespaces;
		attr->namespaces = attr->ksymbol = attr->bpf_event = 0;
		return true;
	}
	if (err != -EINVAL || *step == sizeof(parts) / sizeof(parts[0]))
		return false;
	switch (*step) {
	case 0:
		attr->cgroup = 0;
		break;
	case 1:
		attr->ksymbol = attr->bpf_event = 0;
		break;
	default:
		attr->namespaces = 0;
	}
	note(notes, NOTE_INFO, "this kernel does not report %s, skipping", parts[(*step)++]);
	return true;
}

/*
 * Opens the events, giving up the parts that this kernel does not know or does not let us have one
 * by one.  The attr that worked stays in *attr.
 */
static int open_events(struct sideband *s, const struct sideband_opts *o,
		       struct perf_event_attr *attr, struct notes *notes)
{
	unsigned step = 0;
	int err;

	do {
		err = perf_event_set_open(&s->events, attr, o->cpus, &o->scope);
	} while (err && give_up_part(attr, err, &step, notes));
	s->user_only = attr->exclude_kernel;
	return err;
}

static void unmap(struct sideband *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		perf_ring_unmap(&s->cpu[i].ring);
}

/* How long an event has counted; until its CPU went offline. */
static bool counted_ns(int fd, uint64_t *out)
{
	uint64_t value_enabled[2];

	if (read(fd, value_enabled, sizeof(value_enabled)) != sizeof(value_enabled))
		return false;
	*out = value_enabled[1];
	return true;
}

static uint64_t began_ns(int fd)
{
	uint64_t counted = 0;

	(void)counted_ns(fd, &counted);
	return clock_ns(CLOCK_MONOTONIC) - counted;
}

/* A ring for the first event of each CPU, which the others of that CPU write into. */
static int map(struct sideband *s, size_t ring_bytes)
{
	struct perf_event_set_event *e;
	struct side_cpu *cpu;
	size_t i;
	int err;

	for (i = 0; i < s->events.count; i++) {
		e = &s->events.event[i];
		cpu = &s->cpu[e->cpu];
		if (!cpu->ring.page) {
			err = perf_ring_map(&cpu->ring, e->fd, ring_bytes);
			if (err)
				return err;
			cpu->ring_fd = e->fd;
			cpu->began_ns = began_ns(e->fd);
		} else if (ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring_fd)) {
			return -errno;
		}
	}
	s->ring_bytes = ring_bytes;
	return 0;
}

/* The memory of all rings is limited for each user: all are made smaller until they fit. */
static int map_all(struct sideband *s, size_t ring_bytes)
{
	int err = map(s, ring_bytes);

	while (err == -EPERM && ring_bytes > PERF_RING_MIN_BYTES) {
		unmap(s);
		ring_bytes /= 2;
		err = map(s, ring_bytes);
	}
	return err;
}

static size_t usual_ring_bytes(size_t cpus)
{
	size_t bytes = RING_BYTES;

	while (bytes > RING_LEAST_BYTES && bytes * cpus > RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

static int open_all(struct sideband *s, const struct sideband_opts *o, struct event_attrs *attrs,
		    struct notes *notes)
{
	struct perf_event_attr attr;
	uint64_t id = 0;
	size_t i;
	int err;

	event_attrs_side_kernel(&attr);
	attr.wakeup_watermark = o->wake_bytes ? (uint32_t)o->wake_bytes : WAKE_BYTES;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED; /* when a CPU went */
	err = open_events(s, o, &attr, notes);
	if (err)
		return err;
	s->registered = o->scope.pid_count ? -1 : reopener_keep(o->reopener, &attr);
	err = map_all(s, o->ring_bytes ? o->ring_bytes : usual_ring_bytes(s->count));
	if (err)
		return note_fail(notes, err,
				 err == -EPERM ? "too little memory may be locked, see "
						 "kernel.perf_event_mlock_kb and ulimit -l"
					       : NULL,
				 "cannot map the rings of %zu CPUs", s->count);
	for (i = 0; i < s->events.count && !err; i++) {
		if (ioctl(s->events.event[i].fd, PERF_EVENT_IOC_ID, &id))
			return -errno;
		err = event_attrs_add_id(attrs, ATTR_SIDE, id);
	}
	s->id = id;
	event_attrs_set_side(attrs, &attr);
	return err;
}

static struct side_cpu new_cpu(uint32_t id)
{
	return (struct side_cpu){ .id = id, .ring_fd = -1, .live_fd = -1 };
}

int sideband_open(const struct sideband_opts *o, struct event_attrs *attrs, struct notes *notes,
		  struct sideband **out)
{
	struct sideband *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;
	size_t i;

	if (!s)
		return note_fail(notes, err, NULL, "cannot watch processes");
	s->cpu = calloc(o->cpus->count, sizeof(*s->cpu));
	for (i = 0; s->cpu && i < o->cpus->count; i++)
		s->cpu[s->count++] = new_cpu(o->cpus->ids[i]);
	if (s->cpu)
		err = open_all(s, o, attrs, notes);
	if (err) {
		sideband_close(s);
		return note_fail(
			notes, err,
			perf_event_set_hint(err, perf_event_set_paranoid(), !o->scope.pid_count),
			o->scope.pid_count ? "cannot watch processes by perf_event_open"
					   : "cannot watch the machine by perf_event_open");
	}
	*out = s;
	return 0;
}

void sideband_close(struct sideband *s)
{
	if (!s)
		return;
	unmap(s);
	for (size_t i = 0; i < s->count; i++) {
		if (s->cpu[i].live_fd >= 0)
			close(s->cpu[i].live_fd);
	}
	perf_event_set_close(&s->events);
	outbuf_done(&s->bytes);
	outbuf_done(&s->spare);
	free(s->staged);
	free(s->cpu);
	free(s);
}

bool sideband_user_only(const struct sideband *s)
{
	return s->user_only;
}

size_t sideband_ring_bytes(const struct sideband *s)
{
	return s->ring_bytes;
}

uint64_t sideband_fill_bytes(const struct sideband *s)
{
	uint64_t fill_bytes, most_bytes = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!s->cpu[i].ring.page)
			continue;
		fill_bytes = perf_ring_head(&s->cpu[i].ring) - perf_ring_tail(&s->cpu[i].ring);
		most_bytes = fill_bytes > most_bytes ? fill_bytes : most_bytes;
	}
	return most_bytes;
}

uint64_t sideband_skipped_bytes(const struct sideband *s)
{
	return s->skipped_bytes;
}

size_t sideband_count(const struct sideband *s)
{
	return s->count;
}

int sideband_fd(const struct sideband *s, size_t ring)
{
	return s->cpu[ring].ring_fd;
}

/* ---- CPUs that come back ---- */

static struct side_cpu *find_cpu(const struct sideband *s, uint32_t id)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->cpu[i].id == id)
			return &s->cpu[i];
	}
	return NULL;
}

bool sideband_has_cpu(const struct sideband *s, uint32_t cpu)
{
	return find_cpu(s, cpu);
}

uint64_t sideband_counted_until_ns(const struct sideband *s, uint32_t cpu)
{
	const struct side_cpu *c = find_cpu(s, cpu);
	int fd = !c ? -1 : c->live_fd >= 0 ? c->live_fd : c->ring_fd;
	uint64_t counted;

	return fd >= 0 && counted_ns(fd, &counted) ? c->began_ns + counted : 0;
}

/* The ring of one that was not there at the start: smaller, where no more may be locked. */
static int map_late(const struct sideband *s, struct side_cpu *c, int fd)
{
	size_t bytes = s->ring_bytes;
	int err = perf_ring_map(&c->ring, fd, bytes);

	while (err == -EPERM && bytes > PERF_RING_MIN_BYTES)
		err = perf_ring_map(&c->ring, fd, bytes /= 2);
	if (!err)
		c->ring_fd = fd;
	return err;
}

static int add_cpu(struct sideband *s, uint32_t id, int fd)
{
	struct side_cpu *more = realloc(s->cpu, (s->count + 1) * sizeof(*more));
	struct side_cpu *c;
	int err;

	if (!more)
		return -ENOMEM;
	s->cpu = more;
	c = &more[s->count];
	*c = new_cpu(id);
	err = map_late(s, c, fd);
	if (err)
		return err;
	c->live_fd = fd; /* closed by us: it is not among the events of the start */
	s->count++;
	return 0;
}

int sideband_reopen(struct sideband *s, struct reopener *reopener, uint32_t cpu,
		    struct event_attrs *attrs, int *output_fd)
{
	uint64_t id;
	struct side_cpu *c = find_cpu(s, cpu);
	int fd = reopener_take(reopener, s->registered), err = 0;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) ||
	    (c && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->ring_fd)))
		err = -errno;
	if (!err)
		err = event_attrs_add_late_id(attrs, ATTR_SIDE, id);
	if (!err && !c)
		err = add_cpu(s, cpu, fd);
	if (err) {
		close(fd);
		return err;
	}
	if (c) {
		if (c->live_fd >= 0 && c->live_fd != c->ring_fd)
			close(c->live_fd);
		c->live_fd = fd;
	}
	c = find_cpu(s, cpu);
	c->began_ns = began_ns(fd);
	*output_fd = c->ring_fd;
	return 0;
}

/* ---- what comes out ---- */

static int stage(struct sideband *s, size_t off_bytes, size_t size_bytes)
{
	/* The tail of every record but samples: pid, tid, time, cpu, 0, id. */
	const uint8_t *record = s->bytes.data + off_bytes;
	const uint8_t *time = le32_load(record) == PERF_RECORD_SAMPLE
				      ? record + SAMPLE_TIME_AT
				      : record + size_bytes - SIDE_RECORD_TAIL_BYTES + 8;

	if (vec_reserve(&s->staged, &s->staged_room, s->staged_count + 1))
		return -ENOMEM;
	s->staged[s->staged_count++] = (struct staged){
		.time_ns = le64_load(time),
		.off_bytes = off_bytes,
		.size_bytes = (uint32_t)size_bytes,
	};
	return 0;
}

/* Cuts records that the kernel stretched; the rest stays in the buffer, which does no harm. */
static size_t trim(uint8_t *record)
{
	size_t header_bytes = le16_load(record + 6);
	size_t size = perfrec_true_size(record, header_bytes, SIDE_RECORD_TAIL_BYTES);

	le16_store(record + 6, (uint16_t)size);
	return size;
}

/* Bytes of a ring that are no records the kernel is known to write: whatever they were is lost. */
static int skip(struct sideband *s, uint64_t bytes)
{
	struct side_record r = { .id = s->id, .time_ns = clock_ns(CLOCK_MONOTONIC) };
	size_t off = s->bytes.size_bytes, size = side_record_lost(&r, s->id, 1);

	s->skipped_bytes += bytes;
	outbuf_add(&s->bytes, r.bytes, size);
	return outbuf_ok(&s->bytes) ? stage(s, off, size) : -ENOMEM;
}

static bool is_too_short(const struct perf_ring_record *r)
{
	return r->header.size < sizeof(r->header) + SIDE_RECORD_TAIL_BYTES ||
	       (r->header.type == PERF_RECORD_SAMPLE && r->header.size < SAMPLE_TIME_AT + 8);
}

static int take_record(struct sideband *s, const struct perf_ring_record *r)
{
	size_t off = s->bytes.size_bytes;

	if (is_too_short(r))
		return skip(s, r->header.size);
	outbuf_add(&s->bytes, r->first, r->first_bytes);
	outbuf_add(&s->bytes, r->rest, r->rest_bytes);
	return outbuf_ok(&s->bytes) ? stage(s, off, trim(s->bytes.data + off)) : -ENOMEM;
}

static int drain_one(struct sideband *s, struct perf_ring *ring)
{
	uint64_t at = perf_ring_tail(ring), head = perf_ring_head(ring);
	struct perf_ring_record r;
	int err = 0, more = 0;

	while (!err && (more = perf_ring_next(ring->data, ring->data_bytes, at, head, &r)) > 0) {
		err = take_record(s, &r);
		at += r.header.size;
	}
	if (!err && more < 0) {
		err = skip(s, head > at ? head - at : 0);
		at = head; /* where the next record begins is not known */
	}
	perf_ring_give_back(ring, at);
	return err;
}

int sideband_drain(struct sideband *s)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->count && !err; i++) {
		if (s->cpu[i].ring.page) /* all threads of a process may end before the last CPU */
			err = drain_one(s, &s->cpu[i].ring);
	}
	return err;
}

static bool is_before(const struct staged *a, const struct staged *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->off_bytes < b->off_bytes;
}

static int by_time(const void *a, const void *b)
{
	return is_before(b, a) - is_before(a, b);
}

#define FEW 64 /* records of most passes, nearly in order; qsort() would ask for memory */

static void sort_staged(struct sideband *s)
{
	struct staged one;
	size_t i, at;

	if (s->staged_count > FEW) {
		qsort(s->staged, s->staged_count, sizeof(*s->staged), by_time);
		return;
	}
	for (i = 1; i < s->staged_count; i++) {
		one = s->staged[i];
		for (at = i; at && is_before(&one, &s->staged[at - 1]); at--)
			s->staged[at] = s->staged[at - 1];
		s->staged[at] = one;
	}
}

/* Forgets the first `done` records; the others move to the front of the other buffer. */
static int keep_rest(struct sideband *s, size_t done)
{
	size_t i, off, left = s->staged_count - done;
	struct outbuf old = s->bytes;

	outbuf_clear(&s->spare);
	for (i = 0; i < left; i++) {
		off = s->spare.size_bytes;
		s->staged[i] = s->staged[done + i];
		outbuf_add(&s->spare, old.data + s->staged[i].off_bytes, s->staged[i].size_bytes);
		s->staged[i].off_bytes = off;
	}
	s->staged_count = left;
	s->bytes = s->spare;
	s->spare = old;
	outbuf_relax(&s->spare);
	if (outbuf_ok(&s->bytes))
		return 0;
	s->staged_count = 0;
	return -ENOMEM;
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
	sort_staged(s);
	for (i = 0; i < s->staged_count && s->staged[i].time_ns <= until_ns && err >= 0; i++)
		err = on_record(arg, (void *)(s->bytes.data + s->staged[i].off_bytes),
				s->staged[i].time_ns);
	rest = keep_rest(s, i);
	return err < 0 ? err : rest;
}

bool sideband_holds_back(const struct sideband *s)
{
	return s->staged_count;
}
