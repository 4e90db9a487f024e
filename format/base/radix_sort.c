/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/base/radix_sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/mmap_array.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* One pass; false: all have the same digit there. */
static bool sort_digit(const struct radix_item *from, size_t count, unsigned shift,
		       struct radix_item *to)
{
	size_t starts[DIGITS] = { 0 }, sum = 0, n;

	for (size_t i = 0; i < count; i++)
		starts[from[i].key >> shift & (DIGITS - 1)]++;
	if (starts[from[0].key >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t d = 0; d < DIGITS; d++) {
		n = starts[d];
		starts[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

int radix_sort(struct radix_item **list, size_t count)
{
	struct radix_item *from = *list, *to, *swap;
	uint64_t differ = 0;

	for (size_t i = 1; i < count; i++)
		differ |= from[i].key ^ from[0].key;
	if (!differ)
		return 0;
	to = mmap_array_raw(mmap_array_round(count * sizeof(*to)));
	if (!to)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)) || !sort_digit(from, count, shift, to))
			continue;
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*list = from;
	return 0;
}

int radix_sort_records(void **records, size_t count, size_t record_bytes, size_t key_off_bytes)
{
	struct radix_item *items;
	uint8_t *sorted, *from = *records;
	int err = -ENOMEM;

	if (count > UINT32_MAX)
		return -ENOMEM;
	items = reallocarray(NULL, count + 1, sizeof(*items));
	for (size_t i = 0; items && i < count; i++) {
		memcpy(&items[i].key, from + i * record_bytes + key_off_bytes,
		       sizeof(items[i].key));
		items[i].value = (uint32_t)i;
	}
	if (items)
		err = radix_sort(&items, count);
	sorted = err ? NULL : reallocarray(NULL, count + 1, record_bytes);
	for (size_t i = 0; sorted && i < count; i++)
		memcpy(sorted + i * record_bytes, from + items[i].value * record_bytes,
		       record_bytes);
	free(items);
	if (!sorted)
		return -ENOMEM;
	free(*records);
	*records = sorted;
	return 0;
}
