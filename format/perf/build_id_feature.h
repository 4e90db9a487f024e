/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * build_id_feature - the BUILD_ID feature section: the build-ids of files
 *
 * `perf buildid-list`, `perf archive` and perf's symbol lookup on another machine read it.  The
 * recorder adds every executable mapping, `ebprec recover` the mappings it finds in the file; equal
 * pairs are stored once, and the section lists them in the order of their first appearance.
 * Layout: perf_record_header_build_id of tools/lib/perf/include/perf/event.h, Linux 6.1.
 */
#ifndef EBPREC_FORMAT_PERF_BUILD_ID_FEATURE_H
#define EBPREC_FORMAT_PERF_BUILD_ID_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"

struct build_id_list; /* opaque */

int build_id_list_new(struct build_id_list **out); /* -ENOMEM; no random key */
void build_id_list_free(struct build_id_list *l);  /* NULL is fine */

/* kernel: the kernel ("[kernel.kallsyms]") or a module.  Copies.  -EINVAL: no id, or a path that no
 * record can hold; -ENOMEM. */
int build_id_list_add(struct build_id_list *l, const struct buildid *id, const char *path,
		      bool kernel);

size_t build_id_list_count(const struct build_id_list *l);

/* The section as of now; borrowed until the next call.  Empty when nothing was added. */
const uint8_t *build_id_list_section(const struct build_id_list *l, size_t *size_bytes);

#endif
