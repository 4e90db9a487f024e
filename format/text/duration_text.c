/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/duration_text.h"

#include <stddef.h>
#include <string.h>

#define FRACTION_MAX 1000000000000000000ULL /* digits behind the 18th are read and ignored */

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 }, /* before minutes */
	{ "s", 1000000000 },
	{ "m", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ "d", 86400000000000ULL },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *read_unit(const char *text, bool bare, uint64_t *out_ns)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t bytes = strlen(units[i].name);

		if (strncmp(text, units[i].name, bytes) != 0)
			continue;
		*out_ns = units[i].ns;
		return text + bytes;
	}
	*out_ns = 1000000000;
	return bare ? text : NULL;
}

bool duration_read(const char *text, bool bare, const char **end, uint64_t *out_ns)
{
	uint64_t integer = 0, part = 0, parts = 1, unit, ns;
	bool any = is_digit(*text);

	for (; is_digit(*text); text++) {
		if (__builtin_mul_overflow(integer, 10, &integer) ||
		    __builtin_add_overflow(integer, (uint64_t)(*text - '0'), &integer))
			return false;
	}
	if (*text == '.') {
		any |= is_digit(text[1]);
		for (text++; is_digit(*text); text++) {
			if (parts == FRACTION_MAX)
				continue;
			part = part * 10 + (uint64_t)(*text - '0');
			parts *= 10;
		}
	}
	text = any ? read_unit(text, bare, &unit) : NULL;
	if (!text || __builtin_mul_overflow(integer, unit, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)((unsigned __int128)part * unit / parts), &ns))
		return false;
	*end = text;
	*out_ns = ns;
	return true;
}
