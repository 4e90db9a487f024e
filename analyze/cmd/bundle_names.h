/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* bundle_names - looks up each location that a sample or lock of a capture has, for a new capture with the names */
#ifndef EBPREC_ANALYZE_CMD_BUNDLE_NAMES_H
#define EBPREC_ANALYZE_CMD_BUNDLE_NAMES_H

#include <stdbool.h>

#include "analyze/cmd/common/name_options.h"
#include "analyze/sym/bundle_merge.h"
#include "format/reader/capture.h"
#include "format/writer/writer.h"

/* Embedded by the owner; all zero is an empty one, bundle_merge_done(&files). */
struct bundle_names {
	struct bundle_merge files;
	bool with_lines; /* source lines and inlined functions, too */
};

/* Whether the capture is complete: of others no new one is made. */
bool bundle_names_can(const struct capture *c);
/* Notes what debuginfod was asked, unless quiet.  -ENOMEM, -EOVERFLOW. */
int bundle_names_find(const struct capture *c, const struct name_options *names, bool quiet,
		      struct bundle_names *out);
/* rewrite_opts.add of a struct bundle_names. */
int bundle_names_write(void *arg, struct writer *w);

#endif
