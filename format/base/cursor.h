/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cursor - the one way to read bytes that someone else wrote
 *
 * A cursor walks a byte range from front to back and never leaves it.  A read that does not fit
 * yields 0 (or NULL) and marks the cursor bad; it stays bad, so a parser may read a complete
 * structure and ask cursor_ok() once at the end.  Values are little-endian.  Nothing is copied and
 * nothing needs to be aligned.
 */
#ifndef EBPREC_FORMAT_BASE_CURSOR_H
#define EBPREC_FORMAT_BASE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *data; /* borrowed */
	size_t size_bytes;
	size_t off_bytes; /* always <= size_bytes */
	bool bad;         /* a read did not fit */
};

static inline uint16_t le16_load(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t le32_load(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t le64_load(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void le16_store(void *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void le32_store(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void le64_store(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline struct cursor cursor_of(const void *data, size_t size_bytes)
{
	return (struct cursor){ .data = data, .size_bytes = size_bytes };
}

static inline bool cursor_ok(const struct cursor *c)
{
	return !c->bad;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->size_bytes - c->off_bytes;
}

/* The next n bytes, borrowed, or NULL (and the cursor turns bad).  n may be 0. */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p;

	if (c->bad || cursor_left(c) < n) {
		c->bad = true;
		return NULL;
	}
	p = c->data + c->off_bytes;
	c->off_bytes += n;
	return p;
}

static inline void cursor_skip(struct cursor *c, size_t n)
{
	(void)cursor_bytes(c, n);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 2);

	return p ? le16_load(p) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);

	return p ? le32_load(p) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);

	return p ? le64_load(p) : 0;
}

/* A NUL-terminated string; the cursor goes behind the NUL.  NULL (and bad) when there is no NUL. */
static inline const char *cursor_str(struct cursor *c)
{
	const uint8_t *p, *nul;

	if (c->bad)
		return NULL;
	p = c->data + c->off_bytes;
	nul = cursor_left(c) ? memchr(p, 0, cursor_left(c)) : NULL;
	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->off_bytes += (size_t)(nul - p) + 1;
	return (const char *)p;
}

#endif
