/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mount_hints - where a mapped file may be, though its path leads nowhere or elsewhere
 *
 * From the recorder's objects about files and mounts.  A path is that of a process: it is followed
 * in the process's mount namespace to a file system, and from there to the paths by which the
 * recorder's own namespace sees the same; of an overlay, to its layers.  These are candidates: the
 * build-id, or size and time, decide whether one is the file.
 */
#ifndef EBPREC_ANALYZE_NAMES_MOUNT_HINTS_H
#define EBPREC_ANALYZE_NAMES_MOUNT_HINTS_H

#include "analyze/sym/resolve.h"
#include "format/reader/capture.h"

struct mount_hints; /* opaque; read-only */

/* A capture without such objects gives no hints.  -ENOMEM. */
int mount_hints_read(const struct capture *c, struct mount_hints **out);
void mount_hints_free(struct mount_hints *h); /* NULL is fine */

/* As the resolver takes them; valid until mount_hints_free(). */
struct resolver_hints mount_hints_for_resolver(const struct mount_hints *h);

#endif
