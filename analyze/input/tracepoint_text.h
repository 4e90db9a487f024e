/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tracetext - what a tracepoint says, as text: "prev_comm=sh prev_pid=100 ..."
 *
 * By the format texts that are in the capture, and libtraceevent, which is what perf prints with.
 * It gets what tpcheck lets through.
 */
#ifndef EBPREC_ANALYZE_INPUT_TRACEPOINT_TEXT_H
#define EBPREC_ANALYZE_INPUT_TRACEPOINT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "format/reader/capture.h"

struct tracetext; /* opaque */

/* -ENOENT: the capture has no formats; -EBADMSG: they are broken; -ENOMEM. */
int tracetext_new(const struct capture *c, struct tracetext **out);
void tracetext_free(struct tracetext *t); /* NULL is fine */

/* raw: of the event with that id.  -ENOENT: no such event, or not a whole one. */
int tracetext_write(struct tracetext *t, uint64_t id, const void *raw, size_t raw_bytes, int cpu,
		    FILE *to);

#endif
