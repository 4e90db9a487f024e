/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bundle - the names of the places that a capture hit in one file, to travel with it
 *
 * Not the file's symbol table: for each place that a sample was in, the name that was found, or the
 * reason why there is none, and on request its lines and inlined functions.  The bytes are an object
 * of the capture (FORMAT.md 5.3).
 */
#ifndef EBPREC_ANALYZE_SYM_BUNDLE_H
#define EBPREC_ANALYZE_SYM_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/dwarf/source_frame.h"
#include "analyze/sym/locate/name_reason.h"

struct bundle_place {
	uint64_t offset; /* in the file, or the address of code without one */
	/* As in the file, mangled; where reason is not NAME_FOUND "+0x5a3f20", where the function begins; NULL: none. */
	const char *name;
	bool is_return;
	uint8_t reason; /* enum name_reason */
	/* Its frames of source code: so many of the list, from first_frame on. */
	uint16_t frame_count;
	uint32_t first_frame;
};

/* All frames of a file's places, those of each innermost first. */
struct bundle_frames {
	const struct source_frame *list;
	size_t count;
};

struct bundle_head {
	struct resolver_file file; /* without size, time and segments */
	const char *symbols;       /* the file that had them; "" for none */
	uint8_t trust;             /* enum name_trust */
};

/* Sorts places.  frames NULL: none were asked for.  *out is owned (free()).  -ENOMEM, -EOVERFLOW. */
int bundle_encode(const struct bundle_head *head, struct bundle_place *places, size_t count,
		  const struct bundle_frames *frames, uint8_t **out, size_t *size_bytes);

struct bundle; /* opaque; read-only */

/* data is taken (free()d with the bundle) on success.  -EBADMSG, -ENOTSUP: a later version, -ENOMEM. */
int bundle_decode(uint8_t *data, size_t size_bytes, struct bundle **out);
void bundle_free(struct bundle *b); /* NULL is fine */

/* All borrowed until bundle_free(). */
const struct bundle_head *bundle_head(const struct bundle *b);
/* As bundle_encode() made them. */
const uint8_t *bundle_bytes(const struct bundle *b, size_t *size_bytes);
size_t bundle_count(const struct bundle *b);
/* Place number i, below bundle_count(), by offset. */
struct bundle_place bundle_place(const struct bundle *b, size_t i);
/* false: the place is not in it. */
bool bundle_find(const struct bundle *b, uint64_t offset, bool is_return, struct bundle_place *out);
/* Were lines looked for when it was made?  A place without frames then has none. */
bool bundle_has_lines(const struct bundle *b);
size_t bundle_frame_count(const struct bundle *b);
/* Frame number i, below bundle_frame_count(). */
struct source_frame bundle_frame(const struct bundle *b, size_t i);

/*
 * The bytes of a table with all that both know of a file; a names the file, and wins where both
 * know a location.  *out is owned (free()).  -ENOMEM, -EOVERFLOW.
 */
int bundle_join(const struct bundle *a, const struct bundle *b, uint8_t **out, size_t *size_bytes);

#endif
