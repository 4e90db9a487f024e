/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* header_string - text in perf.data's header: u32 length with the padding, text, NULs up to a multiple of 64 */
#ifndef EBPREC_FORMAT_PERF_HEADER_STRING_H
#define EBPREC_FORMAT_PERF_HEADER_STRING_H

#include <stdint.h>
#include <string.h>

#include "format/base/outbuf.h"

#define HEADER_STRING_ALIGN 64

static inline void header_string(struct outbuf *out, const char *text)
{
	size_t bytes = strlen(text);
	size_t padded = (bytes + HEADER_STRING_ALIGN) & ~(size_t)(HEADER_STRING_ALIGN - 1);

	outbuf_u32(out, (uint32_t)padded);
	outbuf_add(out, text, bytes);
	outbuf_zeros(out, padded - bytes);
}

#endif
