/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* recbytes - a perf record put together field by field */
#ifndef EBPREC_TESTS_RECBYTES_H
#define EBPREC_TESTS_RECBYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"

/* A record under construction. */
struct rec {
	uint8_t bytes[4096];
	size_t size_bytes;
};

static inline void put(struct rec *r, const void *data, size_t size_bytes)
{
	assert_true(size_bytes <= sizeof(r->bytes) - r->size_bytes);
	memcpy(r->bytes + r->size_bytes, data, size_bytes);
	r->size_bytes += size_bytes;
	le16_store(r->bytes + 6, (uint16_t)r->size_bytes);
}

static inline void put32(struct rec *r, uint32_t v)
{
	put(r, &v, sizeof(v));
}

static inline void put64(struct rec *r, uint64_t v)
{
	put(r, &v, sizeof(v));
}

static inline void begin(struct rec *r, uint32_t type, uint16_t misc)
{
	memset(r, 0, sizeof(*r));
	put32(r, type);
	put32(r, misc);
}

#endif
