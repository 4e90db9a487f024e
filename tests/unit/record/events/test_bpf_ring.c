/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Rings that the test fills in the kernel's place. */
#include "record/events/bpf_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, RING_BYTES = BPF_RING_MIN_BYTES, SEEN_MAX = 8 };

static int last_ring_fd;

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_bytes, __u32 value_bytes,
		   __u32 entries, const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (type != BPF_MAP_TYPE_RINGBUF)
		return fd;
	assert_int_equal(ftruncate(fd, 2 * PAGE + entries), 0);
	last_ring_fd = fd;
	return fd;
}

/* The number is in /sys, which a bare chroot has not. */
int libbpf_num_possible_cpus(void)
{
	return 1;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	return 0;
}

struct fixture {
	struct bpf_ring *rings;
	uint8_t *memory; /* of the ring: the consumer's page, the producer's, data */
	uint64_t *producer;
	uint16_t types[SEEN_MAX];
	size_t seen;
};

static void begin(struct fixture *f)
{
	uint32_t id = 0;
	struct cpuset_list cpus = { .ids = &id, .count = 1 };

	*f = (struct fixture){ 0 };
	assert_int_equal(bpf_ring_new(&cpus, 0, &f->rings), 0);
	f->memory = mmap(NULL, 2 * PAGE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 last_ring_fd, 0);
	assert_true(f->memory != MAP_FAILED);
	f->producer = (uint64_t *)(f->memory + PAGE);
}

static void end(struct fixture *f)
{
	munmap(f->memory, 2 * PAGE + RING_BYTES);
	bpf_ring_free(f->rings);
}

/* bytes: as the ring has it; size_bytes: as the event has it. */
static void put(struct fixture *f, uint32_t bytes, uint16_t type, uint16_t size_bytes)
{
	uint8_t *at = f->memory + 2 * PAGE + *f->producer;
	struct event_header h = { .type = type, .size_bytes = size_bytes };

	memcpy(at, &bytes, sizeof(bytes));
	memcpy(at + BPF_RINGBUF_HDR_SZ, &h, sizeof(h));
	*f->producer += BPF_RINGBUF_HDR_SZ + 16;
}

static int see(void *arg, const struct event_header *ev)
{
	struct fixture *f = arg;

	assert_true(f->seen < SEEN_MAX);
	f->types[f->seen++] = ev->type;
	return 0;
}

static void rings_hand_over_what_is_no_event_as_unknown(void **state)
{
	static const uint16_t want[] = { EBPREC_EV_CPU, EBPREC_EV_END, EBPREC_EV_END,
					 EBPREC_EV_MARK };
	struct fixture f;

	begin(&f);
	put(&f, 16, EBPREC_EV_CPU, 16);
	put(&f, 16, EBPREC_EV_CPU, 17); /* longer than the ring has it */
	put(&f, 16, EBPREC_EV_CPU, 3);
	put(&f, 16 | BPF_RINGBUF_DISCARD_BIT, EBPREC_EV_CPU, 16);
	put(&f, 16, EBPREC_EV_MARK, 16);
	assert_int_equal(bpf_ring_drain(f.rings, see, &f), 0);
	assert_int_equal(f.seen, 4);
	assert_memory_equal(f.types, want, sizeof(want));
	assert_int_equal(bpf_ring_drain(f.rings, see, &f), 0);
	assert_int_equal(f.seen, 4);
	end(&f);
}

static void rings_end_at_a_length_beyond_what_was_written(void **state)
{
	struct fixture f;

	begin(&f);
	put(&f, 1u << 29, EBPREC_EV_CPU, 16);
	put(&f, 16, EBPREC_EV_CPU, 16);
	assert_int_equal(bpf_ring_drain(f.rings, see, &f), 0);
	assert_int_equal(f.seen, 1);
	assert_int_equal(f.types[0], EBPREC_EV_END);
	put(&f, 16, EBPREC_EV_SWITCH, 16);
	assert_int_equal(bpf_ring_drain(f.rings, see, &f), 0);
	assert_int_equal(f.seen, 2);
	assert_int_equal(f.types[1], EBPREC_EV_SWITCH);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_hand_over_what_is_no_event_as_unknown),
		cmocka_unit_test(rings_end_at_a_length_beyond_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
