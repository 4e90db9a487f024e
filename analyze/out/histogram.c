/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* As runqlat and cpudist of libbpf-tools draw it. */
#include "analyze/out/histogram.h"

#include <inttypes.h>

enum { LOW_COLUMNS = 13, HIGH_COLUMNS = 14, STARS = 40 };

uint64_t histogram_low(size_t slot)
{
	return slot ? (uint64_t)1 << slot : 0;
}

uint64_t histogram_high(size_t slot)
{
	return ((uint64_t)2 << slot) - 1;
}

void histogram_print(const char *unit, const uint64_t *slots, size_t first, size_t end, FILE *to)
{
	static const char stars[STARS + 1] = "****************************************";
	uint64_t most = 1;
	int width;

	for (size_t i = first; i < end; i++)
		most = slots[i] > most ? slots[i] : most;
	if (first < end)
		fprintf(to, "%*s : count    distribution\n", LOW_COLUMNS + 4 + HIGH_COLUMNS, unit);
	for (size_t i = first; i < end; i++) {
		width = (int)(STARS * slots[i] / most);
		fprintf(to, "%*" PRIu64 " -> %-*" PRIu64 " : %-8" PRIu64 " |%.*s%*s|\n",
			LOW_COLUMNS, histogram_low(i), HIGH_COLUMNS, histogram_high(i), slots[i],
			width, stars, STARS - width, "");
	}
}
