/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tracepoint_text - the fields of a tracepoint, as text: "prev_comm=sh prev_pid=100 ..."
 *
 * By the format texts that are in the capture, and libtraceevent, which is what perf prints with.
 * It gets what tpcheck lets through.
 */
#ifndef EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_TEXT_H
#define EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "format/reader/capture.h"

struct tracepoint_text; /* opaque */

/* -ENOENT: the capture has no formats; -EBADMSG: they are broken; -ENOMEM. */
int tracepoint_text_new(const struct capture *c, struct tracepoint_text **out);
void tracepoint_text_free(struct tracepoint_text *t); /* NULL is fine */

/* raw: of the event with that id.  -ENOENT: no such event, or not a complete one. */
int tracepoint_text_write(struct tracepoint_text *t, uint64_t id, const void *raw, size_t raw_bytes,
			  int cpu, FILE *to);

#endif
