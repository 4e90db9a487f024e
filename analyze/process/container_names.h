/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_names - the container of a cgroup, by the name that was recorded of it
 *
 * The id is in the cgroup's path.  Where no name is known it is shown by its first twelve digits, as engines do, or
 * complete for other programs.  It distinguishes two containers of one name.  Engines without ids put the name into the path.
 */
#ifndef EBPREC_ANALYZE_PROCESS_CONTAINER_NAMES_H
#define EBPREC_ANALYZE_PROCESS_CONTAINER_NAMES_H

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/payload/container_record.h"

#define CONTAINER_NAMES_TEXT_MAX (CONTAINER_RECORD_NAME_MAX + CONTAINER_RECORD_DIGITS + 4)

#define CONTAINER_NAMES_HOST "[host]" /* no container */

struct container_names; /* opaque */

/* Malformed entries are left out.  -ENOMEM. */
int container_names_read(const struct capture *c, struct container_names **out);
void container_names_free(struct container_names *n); /* NULL is fine */

/* Ids are complete from now on: for JSON and CSV.  n NULL is fine. */
void container_names_complete_ids(struct container_names *n);

/* "" for none.  n NULL: no names are known. */
void container_names_text(const struct container_names *n, const char *cgroup,
			  char out[CONTAINER_NAMES_TEXT_MAX]);
/*
 * The same with twelve digits, and in a second line the complete id, if there is one: the text that an expression
 * may match.
 */
void container_names_lines(const struct container_names *n, const char *cgroup,
			   char out[CONTAINER_NAMES_TEXT_MAX]);
/*
 * The same for a cgroup's path in the strings: "[host]" for none; the text itself for a cgroup
 * without a recorded path.  -ENOMEM, -EOVERFLOW.
 */
int container_names_name(const struct container_names *n, struct string_table *names,
			 uint32_t cgroup, uint32_t *out);

#endif
