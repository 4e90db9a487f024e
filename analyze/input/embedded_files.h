/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * embedded_files - files that a capture carries inside itself
 *
 * A file comes in pieces, and its name stands in each of them, compressed.  A caller that needs
 * several files therefore has the pieces unpacked once; small ones stay in memory, of large ones
 * the name.
 */
#ifndef EBPREC_ANALYZE_INPUT_EMBEDDED_FILES_H
#define EBPREC_ANALYZE_INPUT_EMBEDDED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"

struct embedded; /* opaque; for one thread at a time */

/* The name that an object of a file begins with; false: it has no valid one. */
bool embedded_name_of(const uint8_t *data, size_t size_bytes, struct capture_bytes *name);

/*
 * Pieces that are cut or broken are left out: the capture counts them as damage.  c outlives *out,
 * embedded_free().  -ENOMEM, -EOVERFLOW.
 */
int embedded_read(const struct capture *c, struct embedded **out);
void embedded_free(struct embedded *e); /* NULL is fine */

/*
 * The file of this name, its pieces joined in the order of their numbers and a NUL put behind;
 * *out is owned (free()).  e may be NULL, and has nothing then.  -ENOENT: no piece; -ENOMEM.
 */
int embedded_get(const struct embedded *e, const char *name, char **out, size_t *size_bytes);

/* text is borrowed during the call.  Not 0 ends the walk. */
typedef int (*embedded_fn)(void *ctx, const char *name, const char *text, size_t size_bytes);

/* Each file whose name begins so, in the order of their first pieces.  -ENOMEM, or what fn returned. */
int embedded_each(const struct embedded *e, const char *prefix, embedded_fn fn, void *ctx);

#endif
