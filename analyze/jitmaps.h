/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jitmaps - the symbols of JIT compilers that a capture carries, by process */
#ifndef EBPREC_ANALYZE_JITMAPS_H
#define EBPREC_ANALYZE_JITMAPS_H

#include "analyze/sym/resolve.h"
#include "format/capture.h"

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct jitmaps {
	struct resolver_jit *list; /* one a process */
	size_t count, capacity;
};

/* Reads all; what is broken is left out.  -ENOMEM. */
int jitmaps_read(const struct capture *c, struct jitmaps *out);
void jitmaps_done(struct jitmaps *j);

#endif
