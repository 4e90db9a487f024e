/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * radix_sort - numbers in order of a key, many of them
 *
 * A digit of the key at a time, and none that all have in common: several times faster than comparing
 * when there are some 10 000 and keys are small numbers.  Equal keys stay in the order they came.
 */
#ifndef EBPREC_FORMAT_BASE_RADIX_SORT_H
#define EBPREC_FORMAT_BASE_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

struct radix_item {
	uint64_t key;
	uint32_t value; /* the caller's */
};

/* Sorts *list, which may be another array of malloc() afterwards.  -ENOMEM: as it was. */
int radix_sort(struct radix_item **list, size_t count);

/*
 * Sorts an array of records, each with a uint64_t key at key_off_bytes, in the same way; *records, of malloc(), may be
 * another array of just count of them afterwards.  -ENOMEM: as it was.
 */
int radix_sort_records(void **records, size_t count, size_t record_bytes, size_t key_off_bytes);

#endif
