/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The allocations that were drawn stand for those that there were: exactly, by counting the random numbers
 * that draw one, and as many draws of a known heap.  The generator is seeded: it gives the same each time.
 */
#include "bpf/lib/byte_sampling.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const __u64 sizes[] = { 1,    8,    24,    96,    100,   192,   1000,  1024,
			       4096, 5000, 32768, 40961, 65535, 65536, 65537, 1000003 };
static const __u64 samples[] = { 1, 2, 1000, 4096, 65536, 524288, 1000003, 1ULL << 30 };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), SAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* How many of the 2^32 random numbers draw it: those below the first that does not. */
static __u64 chances(__u64 bytes, __u64 sample_bytes)
{
	__u64 low = 0, high = 1ULL << 32, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (draw_is(bytes, sample_bytes, (__u32)middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void draw_expects_the_bytes_of_each_allocation(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		for (size_t k = 0; k < SAMPLES; k++) {
			__u64 drawn = chances(sizes[i], samples[k]);
			/* The expectation, times 2^32; a probability is an integer number of them. */
			double got = (double)drawn * (double)draw_bytes(sizes[i], samples[k]);
			double want = (double)sizes[i] * 4294967296.0;

			assert_true(got - want <= (double)samples[k]);
			assert_true(want - got <= (double)samples[k]);
			assert_true(sizes[i] < samples[k] || drawn == 1ULL << 32);
		}
	}
}

static void draw_expects_each_allocation_once(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		for (size_t k = 0; k < SAMPLES; k++) {
			__u64 sum = 0;

			/* All remainders are equally likely: their mean is sample_bytes / bytes. */
			for (__u64 r = 0; r < sizes[i]; r++)
				sum += draw_count(sizes[i], samples[k], (__u32)r);
			assert_true(sum == (sizes[i] < samples[k] ? samples[k] : sizes[i]));
		}
	}
}

/* All others draw each allocation for itself. */
static void draw_of_every_byte_is_exact(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		assert_true(draw_is(sizes[i], 1, UINT32_MAX));
		assert_true(draw_bytes(sizes[i], 1) == sizes[i]);
		assert_int_equal(draw_count(sizes[i], 1, UINT32_MAX), 1);
	}
	assert_false(draw_is(0, 65536, 0)); /* nothing is not drawn */
	assert_int_equal(draw_count(0, 65536, 7), 1);
}

static __u32 next(uint64_t *x)
{
	return (__u32)(next_random(x) >> 32);
}

/* A heap of allocations of all sizes: sums are within five standard deviations, of which we know the size. */
static void draw_of_a_heap_adds_up_to_it(void **state)
{
	const __u64 sample_bytes = 65536;
	const int rounds = 400000;
	double bytes = 0, count = 0, want = 0, bytes_variance = 0, count_variance = 0;
	uint64_t x = 88172645463325252ULL;

	for (size_t i = 0; i < SIZES; i++) {
		double n = (double)sizes[i], s = (double)sample_bytes;

		for (int k = 0; k < rounds; k++) {
			if (!draw_is(sizes[i], sample_bytes, next(&x)))
				continue;
			bytes += (double)draw_bytes(sizes[i], sample_bytes);
			count += draw_count(sizes[i], sample_bytes, next(&x));
		}
		want += rounds * n;
		if (n >= s)
			continue;
		/* One draw: probability n/s, worth s, and s/n with less than 1 more or less. */
		bytes_variance += rounds * n * (s - n);
		count_variance += rounds * (s / n - 1 + n / s);
	}
	count -= (double)rounds * SIZES;
	assert_true((bytes - want) * (bytes - want) < 25 * bytes_variance);
	assert_true(count * count < 25 * count_variance);
	/* That is not much: a mistake of a hundredth would be seen. */
	assert_true(25 * bytes_variance < want / 100 * (want / 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draw_expects_the_bytes_of_each_allocation),
		cmocka_unit_test(draw_expects_each_allocation_once),
		cmocka_unit_test(draw_of_every_byte_is_exact),
		cmocka_unit_test(draw_of_a_heap_adds_up_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
