/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/python_lines.h"

#include <stdbool.h>

static uint32_t as_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs: so many bytes later the line is so much larger. */
static uint32_t find_in_lnotab(const uint8_t *table, size_t size_bytes, int64_t line,
			       uint32_t at_bytes)
{
	uint64_t addr = 0;

	for (size_t i = 0; i + 1 < size_bytes; i += 2) {
		addr += table[i];
		if (addr > at_bytes)
			break;
		line += (int8_t)table[i + 1];
	}
	return as_line(line);
}

/* Pairs: the next so many bytes have a line that is so much larger; -128: they have none. */
static uint32_t find_in_ranges(const uint8_t *table, size_t size_bytes, int64_t line,
			       uint32_t at_bytes)
{
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < size_bytes; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		line += delta == INT8_MIN ? 0 : delta;
		if (at_bytes < end)
			return delta == INT8_MIN ? 0 : as_line(line);
	}
	return 0;
}

/* Six bits a byte, the lowest first; bit 6 in all but the last.  0 behind the end. */
static uint32_t read_number(const uint8_t *table, size_t size_bytes, size_t *at)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (*at >= size_bytes)
			return 0;
		byte = table[(*at)++];
		if (shift < 30)
			value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return value;
}

static int64_t read_signed(const uint8_t *table, size_t size_bytes, size_t *at)
{
	uint32_t value = read_number(table, size_bytes, at);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* An entry begins with bit 7, its form, and how many units of 2 bytes it is of, less one. */
enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

static uint32_t find_in_locations(const uint8_t *table, size_t size_bytes, int64_t line,
				  uint32_t at_bytes)
{
	uint64_t end = 0;
	size_t at = 0;

	while (at < size_bytes) {
		unsigned form = table[at] >> 3 & 15;

		end += 2 * ((table[at] & 7) + 1u);
		at++;
		if (form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS)
			line += form - FORM_ONE_LINE;
		else if (form == FORM_NO_COLUMNS || form == FORM_LONG)
			line += read_signed(table, size_bytes, &at);
		if (at_bytes < end)
			return form == FORM_NONE ? 0 : as_line(line);
		while (at < size_bytes &&
		       !(table[at] & 128)) /* columns: no byte of them has bit 7 */
			at++;
	}
	return 0;
}

uint32_t python_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes,
			   int32_t first_line, uint32_t at_bytes)
{
	if (version < 0x030a)
		return find_in_lnotab(table, size_bytes, first_line, at_bytes);
	if (version == 0x030a)
		return find_in_ranges(table, size_bytes, first_line, at_bytes);
	return find_in_locations(table, size_bytes, first_line, at_bytes);
}
