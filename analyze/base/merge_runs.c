/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/merge_runs.h"

#include <string.h>

/* Merges [0, middle) and [middle, count) of from into to; of equal times the earlier one comes first. */
static void merge_two(const struct time_key *from, size_t middle, size_t count, struct time_key *to)
{
	size_t a = 0, b = middle, i = 0;

	while (a < middle && b < count)
		to[i++] = from[b].time_ns < from[a].time_ns ? from[b++] : from[a++];
	memcpy(&to[i], a < middle ? &from[a] : &from[b], (count - i) * sizeof(*to));
}

/* Where the run that begins at first ends: behind the last that is not before the one before it. */
static size_t run_end(const struct time_key *keys, size_t first, size_t count)
{
	while (++first < count && keys[first].time_ns >= keys[first - 1].time_ns)
		;
	return first < count ? first : count;
}

struct time_key *merge_runs(struct time_key *keys, struct time_key *room, size_t count)
{
	struct time_key *swap;
	size_t first, middle, end, runs;

	do {
		runs = 0;
		for (first = 0; first < count; first = end) {
			middle = run_end(keys, first, count);
			if (!first && middle == count)
				return keys;
			end = middle < count ? run_end(keys, middle, count) : count;
			merge_two(keys + first, middle - first, end - first, room + first);
			runs++;
		}
		swap = keys;
		keys = room;
		room = swap;
	} while (runs > 1);
	return keys;
}
