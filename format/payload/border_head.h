/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * border_head - the beginning of an EBX_BORDER object (FORMAT.md 5.6)
 *
 * Records follow: what a slice has of the time around it, or one of several files of a recording of the time before.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_BORDER_HEAD_H
#define EBPREC_FORMAT_PAYLOAD_BORDER_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/cursor.h"

#define BORDER_HEAD_BYTES 40 /* five numbers; a multiple of 8, as records are */

struct border_head {
	uint64_t from_ns, to_ns; /* the part of the time that the capture is of */
	uint64_t start_ns,
		end_ns;   /* from when to when the source has switches; 0, 0: it has none */
	bool has_wakeups; /* the source */
	bool is_file;     /* no slice: the next file of a recording, which ends when it ends */
};

enum { BORDER_HAS_WAKEUPS = 1, BORDER_IS_FILE = 2 };

static inline void border_head_encode(const struct border_head *h, uint8_t out[BORDER_HEAD_BYTES])
{
	le64_store(out, h->from_ns);
	le64_store(out + 8, h->to_ns);
	le64_store(out + 16, h->start_ns);
	le64_store(out + 24, h->end_ns);
	le64_store(out + 32, (h->has_wakeups ? (uint64_t)BORDER_HAS_WAKEUPS : 0) |
				     (h->is_file ? (uint64_t)BORDER_IS_FILE : 0));
}

/* False: it is too short, or ends before it begins. */
static inline bool border_head_decode(const uint8_t *data, size_t size_bytes,
				      struct border_head *out)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct border_head h = { .from_ns = cursor_u64(&c) };
	uint64_t flags;

	h.to_ns = cursor_u64(&c);
	h.start_ns = cursor_u64(&c);
	h.end_ns = cursor_u64(&c);
	flags = cursor_u64(&c);
	h.has_wakeups = flags & BORDER_HAS_WAKEUPS;
	h.is_file = flags & BORDER_IS_FILE;
	if (!cursor_ok(&c) || h.from_ns > h.to_ns || h.start_ns > h.end_ns)
		return false;
	*out = h;
	return true;
}

#endif
