/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * outbuf - bytes being put together
 *
 * Grows as needed.  When memory runs out the buffer turns bad and stays so: a builder may add
 * everything and look at outbuf_ok() once.  A zeroed struct is an empty buffer.
 */
#ifndef EBPREC_FORMAT_BASE_OUTBUF_H
#define EBPREC_FORMAT_BASE_OUTBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outbuf {
	uint8_t *data;
	size_t size_bytes, room_bytes;
	bool bad;
};

void outbuf_done(struct outbuf *b);
/*
 * Called before a buffer is cleared and filled again: halves a large capacity that was hardly used,
 * so that memory is returned after a burst.
 */
void outbuf_relax(struct outbuf *b);
static inline bool outbuf_ok(const struct outbuf *b)
{
	return !b->bad;
}

/* Space for size_bytes behind the end, not yet part of the buffer; NULL when it is bad. */
uint8_t *outbuf_reserve(struct outbuf *b, size_t size_bytes);
void outbuf_add(struct outbuf *b, const void *data, size_t size_bytes);
void outbuf_zeros(struct outbuf *b, size_t size_bytes);
void outbuf_u16(struct outbuf *b, uint16_t v);
void outbuf_u32(struct outbuf *b, uint32_t v);
void outbuf_u64(struct outbuf *b, uint64_t v);
void outbuf_printf(struct outbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void outbuf_vprintf(struct outbuf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Removes the contents; the capacity stays. */
void outbuf_clear(struct outbuf *b);

#endif
