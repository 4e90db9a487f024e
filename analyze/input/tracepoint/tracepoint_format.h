/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* tracepoint_format - the format texts of tracepoints inside a capture (HEADER_TRACING_DATA) */
#ifndef EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_FORMAT_H
#define EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The text of the tracepoint `name` of `system`, from the section's bytes.  *out is owned (free()).
 * -ENOENT: it is not there; -EBADMSG: the section is broken; -ENOMEM.
 */
int tracepoint_format_find(const uint8_t *section, size_t section_bytes, const char *system,
			   const char *name, char **out);

/*
 * Calls each for all formats in their order, until it returns other than 0, which is returned.  The text is no string:
 * it has no NUL behind it.  0: after the last one; -EBADMSG: the section is broken behind those that were passed.
 */
int tracepoint_format_each(const uint8_t *section, size_t section_bytes,
			   int (*each)(void *ctx, const char *system, const char *text,
				       size_t size_bytes),
			   void *ctx);
/*
 * Where in the section the formats end; behind them perf has a kernel's symbols, texts and names of
 * threads.  0: the section is broken.
 */
size_t tracepoint_format_end(const uint8_t *section, size_t section_bytes);

#endif
