/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* buildids - reads the BUILD_ID section: which file had which build-id */
#ifndef EBPREC_ANALYZE_INPUT_BUILD_IDS_H
#define EBPREC_ANALYZE_INPUT_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"
#include "format/reader/capture.h"

/* One entry; path is borrowed during the call.  Not 0 ends the walk. */
typedef int (*buildids_fn)(void *ctx, const struct buildid *id, const char *path);

/* Walks the section; a broken entry ends it.  What fn returned last. */
int buildids_walk(struct capture_bytes section, buildids_fn fn, void *ctx);
/* One entry, which in pipe mode is a record of type 67.  0 without a call when it is broken. */
int buildids_entry(const void *entry, size_t size_bytes, buildids_fn fn, void *ctx);

#endif
