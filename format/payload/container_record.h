/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * containerid - which container a cgroup is of, and what containers are called
 *
 * Engines put an id of 64 hex digits into the path.  The names are in their own files, which are
 * gone with the container: the recorder reads them and writes entries of id and name (FORMAT.md
 * 5.5).
 */
#ifndef EBPREC_FORMAT_PAYLOAD_CONTAINER_RECORD_H
#define EBPREC_FORMAT_PAYLOAD_CONTAINER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

#define CONTAINERID_DIGITS    64
#define CONTAINERID_NAME_MAX  255
#define CONTAINERID_ENTRY_MAX (2 + CONTAINERID_DIGITS + 2 + CONTAINERID_NAME_MAX)

struct containerid_entry {
	const char *id, *name; /* borrowed, not NUL-terminated */
	size_t id_bytes, name_bytes;
};

/*
 * Where in a cgroup's path the innermost container's id begins; NULL: it is of none.  What watches
 * over a container (libpod-conmon-ID.scope) is not in it.
 */
const char *containerid_in(const char *cgroup);
/* As any text: what engines let a container be called, and no more than CONTAINERID_NAME_MAX. */
bool containerid_is_name(const char *name, size_t name_bytes);

/* An id and a name that are as they should be.  Returns the size. */
size_t containerid_encode(const struct containerid_entry *e, uint8_t out[CONTAINERID_ENTRY_MAX]);
/* Reads the entry at c and moves behind it.  1; 0: the end; -EBADMSG: broken, nothing follows. */
int containerid_next(struct cursor *c, struct containerid_entry *out);

#endif
