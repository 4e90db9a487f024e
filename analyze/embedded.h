/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* embedded - files that a capture carries inside itself */
#ifndef EBPREC_ANALYZE_EMBEDDED_H
#define EBPREC_ANALYZE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#include "format/capture.h"

/*
 * The file of this name, its pieces joined in the order of their numbers and a NUL put behind;
 * *out is owned (free()).  Pieces that are cut or broken are left out: the capture counts them as
 * damage.  -ENOENT: no piece; -ENOMEM.
 */
int embedded_file(const struct capture *c, const char *name, char **out, size_t *size_bytes);

/* text is borrowed during the call.  Not 0 ends the walk. */
typedef int (*embedded_fn)(void *ctx, const char *name, const char *text, size_t size_bytes);

/*
 * Each file whose name begins so, its pieces joined: once for each piece, the later ones to be
 * passed over.  -ENOMEM, or what fn returned.
 */
int embedded_each(const struct capture *c, const char *prefix, embedded_fn fn, void *ctx);

#endif
