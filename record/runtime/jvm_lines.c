/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/jvm_lines.h"

#include <stdbool.h>

#define NO_ZEROES_FROM \
	20 /* Java of this version has no zero in its numbers: each byte is one more */
#define LAST_BYTE      192 /* a byte below is the last one of a number */
#define BITS           6   /* of the others */
#define NUMBER_BYTES   5
#define ESCAPE         0xff
#define LINE_BITS      3
#define LINE_MAX_VALUE 65535 /* a class file has two bytes for it */

struct stream {
	const uint8_t *at, *end;
	uint32_t zeroes; /* what is subtracted of each byte */
	bool is_broken;
	uint32_t bytecode, line;
};

static struct stream open_table(uint32_t version, const uint8_t *table, size_t size_bytes)
{
	return (struct stream){ .at = table,
				.end = table + size_bytes,
				.zeroes = version >= NO_ZEROES_FROM };
}

static uint32_t next_byte(struct stream *s)
{
	if (s->at < s->end)
		return *s->at++;
	s->is_broken = true;
	return 0;
}

static uint32_t next_number(struct stream *s)
{
	uint32_t value = 0;

	for (int i = 0; i < NUMBER_BYTES; i++) {
		uint32_t byte = next_byte(s);

		s->is_broken |= byte < s->zeroes;
		value += (byte - s->zeroes) << BITS * i;
		if (byte < LAST_BYTE)
			break;
	}
	return value;
}

/* The sign is in the lowest bit. */
static uint32_t next_distance(struct stream *s)
{
	uint32_t value = next_number(s);

	return value >> 1 ^ (0u - (value & 1));
}

/* Goes on to the next pair.  False: there is none. */
static bool next_pair(struct stream *s)
{
	uint32_t byte = next_byte(s);

	if (s->is_broken || !byte)
		return false;
	if (byte == ESCAPE) {
		s->bytecode += next_distance(s);
		s->line += next_distance(s);
	} else {
		s->bytecode += byte >> LINE_BITS;
		s->line += byte & ((1u << LINE_BITS) - 1);
	}
	s->is_broken |= s->bytecode > UINT16_MAX || s->line > LINE_MAX_VALUE;
	return !s->is_broken;
}

size_t jvm_lines_size(uint32_t version, const uint8_t *table, size_t size_bytes)
{
	struct stream s = open_table(version, table, size_bytes);

	while (next_pair(&s))
		;
	return s.is_broken ? 0 : (size_t)(s.at - table);
}

uint32_t jvm_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes,
			uint32_t bytecode)
{
	struct stream s = open_table(version, table, size_bytes);
	uint32_t best = 0, line = 0;
	bool is_exact = false;

	while (next_pair(&s)) {
		if (is_exact || s.bytecode > bytecode || s.bytecode < best)
			continue;
		best = s.bytecode;
		line = s.line;
		is_exact = best == bytecode;
	}
	return s.is_broken ? 0 : line;
}
