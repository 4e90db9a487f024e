/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_record - the container of a cgroup, and the names of containers
 *
 * Engines put an id of 64 hex digits into the path.  The engines store the names in files that are
 * removed with the container: the recorder reads them and writes entries of id and name (FORMAT.md
 * 5.5).
 */
#ifndef EBPREC_FORMAT_PAYLOAD_CONTAINER_RECORD_H
#define EBPREC_FORMAT_PAYLOAD_CONTAINER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

#define CONTAINER_RECORD_DIGITS    64
#define CONTAINER_RECORD_NAME_MAX  255
#define CONTAINER_RECORD_ENTRY_MAX (2 + CONTAINER_RECORD_DIGITS + 2 + CONTAINER_RECORD_NAME_MAX)

struct container_record_entry {
	const char *id, *name; /* borrowed, not NUL-terminated */
	size_t id_bytes, name_bytes;
};

/*
 * Where in a cgroup's path the innermost container's id begins; NULL: it is of none.  The
 * container's monitor (libpod-conmon-ID.scope) is not in it.
 */
const char *container_record_in(const char *cgroup);
/* Whether engines accept the text as a container's name, of at most CONTAINER_RECORD_NAME_MAX
 * bytes. */
bool container_record_is_name(const char *name, size_t name_bytes);

/* The id and the name must be valid.  Returns the size. */
size_t container_record_encode(const struct container_record_entry *e,
			       uint8_t out[CONTAINER_RECORD_ENTRY_MAX]);
/* Reads the entry at c and moves behind it.  1; 0: the end; -EBADMSG: broken, nothing follows. */
int container_record_next(struct cursor *c, struct container_record_entry *out);

#endif
