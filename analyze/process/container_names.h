/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * containernames - the container of a cgroup, by the name that was recorded of it
 *
 * The id is in the cgroup's path, and is shown by its first twelve digits where no name is known.
 * Two containers of one name are told apart by them.  Engines without ids put the name into the path.
 */
#ifndef EBPREC_ANALYZE_PROCESS_CONTAINER_NAMES_H
#define EBPREC_ANALYZE_PROCESS_CONTAINER_NAMES_H

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/payload/container_record.h"

#define CONTAINERNAMES_TEXT_MAX (CONTAINERID_NAME_MAX + CONTAINERID_DIGITS + 4)

#define CONTAINERNAMES_HOST "[host]" /* no container */

struct containernames; /* opaque */

/* What is broken is left out.  -ENOMEM. */
int containernames_read(const struct capture *c, struct containernames **out);
void containernames_free(struct containernames *n); /* NULL is fine */

/* "" for none.  n NULL: no names are known. */
void containernames_text(const struct containernames *n, const char *cgroup,
			 char out[CONTAINERNAMES_TEXT_MAX]);
/* The same, and in a second line the whole id, if there is one: what an expression may match. */
void containernames_lines(const struct containernames *n, const char *cgroup,
			  char out[CONTAINERNAMES_TEXT_MAX]);
/*
 * The same of a cgroup's path in the strings: "[host]" for none, and of a cgroup whose path nobody told,
 * what stands there.  -ENOMEM, -EOVERFLOW.
 */
int containernames_name(const struct containernames *n, struct strings *names, uint32_t cgroup,
			uint32_t *out);

#endif
