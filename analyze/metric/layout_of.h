/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* layout_of - the events of an instrument that have stacks, and what they weigh */
#ifndef EBPREC_ANALYZE_METRIC_LAYOUT_OF_H
#define EBPREC_ANALYZE_METRIC_LAYOUT_OF_H

#include "format/reader/capture.h"

struct layout_of {
	const char *event; /* its name in the capture; borrowed from it */
	const char *unit;  /* of its weight: "ns", "bytes"; static */
};

/*
 * Finds the layout of an instrument, or of a table by its own name.  -ENOENT: the capture has none
 * such; -ENODATA: it has the instrument, which has no stacks; -ENOMEM.
 */
int layout_of_find(const struct capture *c, const char *name, struct layout_of *out);
/* The names that layout_of_find() takes, for people: "syscalls, block".  "": none. */
int layout_of_names(const struct capture *c, char *out, size_t out_bytes);

#endif
