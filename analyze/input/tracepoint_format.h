/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* tracepoint_format - the format texts of tracepoints inside a capture (HEADER_TRACING_DATA) */
#ifndef EBPREC_ANALYZE_INPUT_TRACEPOINT_FORMAT_H
#define EBPREC_ANALYZE_INPUT_TRACEPOINT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The text of the tracepoint `name` of `system`, from the section's bytes.  *out is owned (free()).
 * -ENOENT: it is not there; -EBADMSG: the section is broken; -ENOMEM.
 */
int tracepoint_format_find(const uint8_t *section, size_t section_bytes, const char *system,
			   const char *name, char **out);

#endif
