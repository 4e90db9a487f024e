/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/number_text.h"

#include <stddef.h>
#include <stdio.h>

void number_time(double ns, char out[NUMBER_TEXT_BYTES])
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns > 0 && ns < units[i].ns && i + 1 < sizeof(units) / sizeof(units[0]))
		i++;
	ns /= units[i].ns;
	snprintf(out, NUMBER_TEXT_BYTES, "%.*f %s",
		 ns < 10    ? 2
		 : ns < 100 ? 1
			    : 0,
		 ns, units[i].name);
}
