/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* build_ids - reads the BUILD_ID section: which file had which build-id */
#ifndef EBPREC_ANALYZE_INPUT_BUILD_IDS_H
#define EBPREC_ANALYZE_INPUT_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"
#include "format/reader/capture.h"

/* One entry; path is borrowed during the call.  Not 0 ends the walk. */
typedef int (*build_ids_fn)(void *ctx, const struct buildid *id, const char *path);

/* Walks the section; a broken entry ends it.  Returns the last result of fn. */
int build_ids_walk(struct capture_bytes section, build_ids_fn fn, void *ctx);
/* One entry, which in pipe mode is a record of type 67.  0 without a call when it is broken. */
int build_ids_entry(const void *entry, size_t size_bytes, build_ids_fn fn, void *ctx);

#endif
