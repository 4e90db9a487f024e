/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/v8_lines.h"

#define BITS      7 /* of a byte; the highest one: more follow */
#define SHIFT_MAX 56
#define PLACE_BITS \
	30 /* of a position, above a bit that is set where it is in no script; 1 more than the place */
#define ENTRY (-1) /* the offset that tables begin at: where a function checks its stack */

/* node 18 has 10.2, 24 has 13.6, 25 has 14.1 and 26 14.6. */
#define IS_SIGNED(version) ((version) >= 0x0a02 && (version) <= 0x0d06)
#define HAS_BITS(version)  ((version) >= 0x0e01 && (version) <= 0x0e06)

struct stream {
	const uint8_t *at, *end;
	bool has_bits; /* two bits below a distance, and no sign */
};

/* Groups of seven bits, the lowest first.  False: the table ends before the number does, or it is longer than any. */
static bool next_number(struct stream *s, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; s->at < s->end && shift <= SHIFT_MAX; shift += BITS) {
		uint8_t byte = *s->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The sign is in the lowest bit. */
static int64_t with_sign(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static bool next_pair(struct stream *s, int64_t *bytecode, int64_t *position)
{
	uint64_t distance, further;
	int64_t by;

	if (!next_number(s, &distance) || !next_number(s, &further))
		return false;
	/* With a sign those of expressions are the complement. */
	by = s->has_bits ? (int64_t)(distance >> 2) : with_sign(distance);
	*bytecode += by < 0 ? ~by : by;
	*position += with_sign(further);
	return *bytecode <= INT32_MAX && *position >= 0 && *position >> (PLACE_BITS + 1) == 0;
}

bool v8_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes, bool is_cut,
		   uint32_t bytecode, uint32_t *place)
{
	struct stream s = { .at = table, .end = table + size_bytes, .has_bits = HAS_BITS(version) };
	int64_t at = ENTRY, position = 0, best = 0;
	bool is_behind = false;

	if (!IS_SIGNED(version) && !HAS_BITS(version))
		return false;
	while (!is_behind && s.at < s.end) {
		if (!next_pair(&s, &at, &position))
			return false;
		is_behind = at > bytecode;
		best = is_behind ? best : position;
	}
	if ((is_cut && !is_behind) || best & 1 || best < 2)
		return false;
	*place = (uint32_t)(best >> 1) - 1;
	return true;
}
