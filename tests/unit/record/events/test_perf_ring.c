/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/perf_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RING 256

/* A record at `at`, its body bytes counting up from `first`; returns where the next one begins. */
static uint64_t put(uint8_t data[RING], uint64_t at, uint16_t size, uint8_t first)
{
	struct perf_event_header h = { .type = PERF_RECORD_COMM, .size = size };
	uint8_t record[RING];

	for (unsigned i = 0; i < sizeof(record); i++)
		record[i] = (uint8_t)(first + i);
	memcpy(record, &h, sizeof(h));
	for (unsigned i = 0; i < size && i < RING; i++)
		data[(at + i) % RING] = record[i];
	return at + size;
}

/* The record's bytes in one piece. */
static void join_parts(const struct perf_ring_record *r, uint8_t out[RING])
{
	memcpy(out, r->first, r->first_bytes);
	memcpy(out + r->first_bytes, r->rest, r->rest_bytes);
}

static void perfring_reads_records_one_after_the_other(void **state)
{
	uint8_t data[RING] = { 0 };
	struct perf_ring_record r;
	uint64_t head = put(data, put(data, 0, 40, 1), 24, 2);

	assert_int_equal(perf_ring_next(data, RING, 0, head, &r), 1);
	assert_int_equal(r.header.size, 40);
	assert_int_equal(r.rest_bytes, 0);
	assert_ptr_equal(r.first, data);
	assert_int_equal(perf_ring_next(data, RING, 40, head, &r), 1);
	assert_int_equal(r.header.size, 24);
	assert_int_equal(perf_ring_next(data, RING, 64, head, &r), 0);
}

/* Wherever the end of the data cuts it, and however often the positions went round. */
static void perfring_puts_wrapped_records_together(void **state)
{
	uint8_t data[RING], got[RING];
	struct perf_ring_record r;

	for (uint64_t at = 1000000 * RING; at < 1000002 * (uint64_t)RING; at += 8) {
		memset(data, 0xee, sizeof(data));
		put(data, at, 64, 7);
		assert_int_equal(perf_ring_next(data, RING, at, at + 64, &r), 1);
		assert_int_equal(r.first_bytes + r.rest_bytes, 64);
		assert_in_range(r.first_bytes, 8, 64);
		join_parts(&r, got);
		for (unsigned i = 8; i < 64; i++)
			assert_int_equal(got[i], (uint8_t)(7 + i));
	}
}

static void perfring_takes_a_record_as_large_as_the_ring(void **state)
{
	uint8_t data[RING];
	struct perf_ring_record r;

	put(data, 8, RING, 3);
	assert_int_equal(perf_ring_next(data, RING, 8, 8 + RING, &r), 1);
	assert_int_equal(r.first_bytes, RING - 8);
	assert_int_equal(r.rest_bytes, 8);
}

static void perfring_refuses_what_cannot_be_a_record(void **state)
{
	static const struct {
		const char *what;
		uint64_t at, head;
		uint16_t size;
	} cases[] = {
		{ "no size", 0, 64, 0 },
		{ "smaller than its header", 0, 64, 7 },
		{ "not a multiple of 8", 0, 64, 20 },
		{ "larger than what was written", 0, 64, 72 },
		{ "larger than the ring", 0, RING, 65528 },
		{ "less written than a header", 0, 4, 8 },
		{ "begins between words", 4, 64, 8 },
		{ "read further than written", 64, 0, 8 },
		{ "more written than there is room", 0, 2 * RING, 64 },
		{ "position near the end of numbers", UINT64_MAX - 7, 8, 8 },
	};
	struct perf_ring_record r;
	uint8_t data[RING] = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(data, cases[i].at & ~7ULL, cases[i].size, 0);
		if (perf_ring_next(data, RING, cases[i].at, cases[i].head, &r) != -EBADMSG)
			fail_msg("taken: %s", cases[i].what);
	}
}

/* No bytes make a record leave the ring, or a reader go on for ever. */
static void perfring_survives_any_bytes(void **state)
{
	struct perf_ring_record r;
	uint8_t data[RING];
	uint64_t at;
	unsigned n;

	srandom(1);
	for (unsigned round = 0; round < 20000; round++) {
		for (unsigned i = 0; i < RING; i++)
			data[i] = (uint8_t)(random() & (i % 8 == 7 ? 0 : 0x7f));
		for (n = 0, at = 8 * round; n <= RING / 8; n++, at += r.header.size) {
			if (perf_ring_next(data, RING, at, 8 * round + RING, &r) <= 0)
				break;
			assert_in_range(r.first - data, 0, RING - r.first_bytes);
			assert_in_range(r.rest - data, 0, RING - r.rest_bytes);
		}
		assert_in_range(n, 0, RING / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfring_reads_records_one_after_the_other),
		cmocka_unit_test(perfring_puts_wrapped_records_together),
		cmocka_unit_test(perfring_takes_a_record_as_large_as_the_ring),
		cmocka_unit_test(perfring_refuses_what_cannot_be_a_record),
		cmocka_unit_test(perfring_survives_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
