/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Inside perfrec: the header of every record, and what samples share with other records. */
#ifndef EBPREC_FORMAT_PERF_PERFREC_PRIV_H
#define EBPREC_FORMAT_PERF_PERFREC_PRIV_H

#include <errno.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

#define HEADER_BYTES sizeof(struct perf_event_header)
/* Types from here on are written by user space and have no sample_id tail. */
#define USER_FIRST 64

struct head {
	uint32_t type;
	uint16_t misc;
};

/* Checks that rec is one complete record, and leaves the cursor behind its header. */
static inline int head_read(const void *rec, size_t size_bytes, struct cursor *c, struct head *out,
			    struct parse_err *err)
{
	uint16_t header_size_bytes;

	*c = cursor_of(rec, size_bytes);
	out->type = cursor_u32(c);
	out->misc = cursor_u16(c);
	header_size_bytes = cursor_u16(c);
	if (!cursor_ok(c))
		return parse_fail(err, -EBADMSG, 0, "record shorter than its header");
	if (header_size_bytes != size_bytes)
		return parse_fail(err, -EBADMSG, 6, "record size differs from its header");
	return 0;
}

/* count elements of elem_bytes each, or NULL. */
static inline const uint8_t *cursor_array(struct cursor *c, uint64_t count, size_t elem_bytes)
{
	if (count > cursor_left(c) / elem_bytes) {
		c->bad = true;
		return NULL;
	}
	return cursor_bytes(c, (size_t)count * elem_bytes);
}

#endif
