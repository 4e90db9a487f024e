/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * packed - bytes in memory, compressed, read as a file is
 *
 * For a large text of which little is ever asked: it is compressed by blocks, and the block that was asked
 * for last is there unpacked.  Not safe for more than one thread.
 */
#ifndef EBPREC_RECORD_BASE_PACKED_H
#define EBPREC_RECORD_BASE_PACKED_H

#include <stddef.h>
#include <stdint.h>

struct packed; /* opaque */

/* bytes: borrowed during the call.  -ENOMEM. */
int packed_new(const void *bytes, size_t size_bytes, struct packed **out);
void packed_free(struct packed *p); /* NULL is fine */

/* From off_bytes on; how many bytes that were: less at the end.  0 for lack of memory, too. */
size_t packed_read(struct packed *p, size_t off_bytes, void *to, size_t size_bytes);

#endif
