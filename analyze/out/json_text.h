/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * json_text - JSON text laid out for people
 *
 * Only the white space between the tokens changes: one member a line, indented.  The text comes
 * from a capture and need not be JSON; whatever it is, the tokens come out in order.
 */
#ifndef EBPREC_ANALYZE_OUT_JSON_TEXT_H
#define EBPREC_ANALYZE_OUT_JSON_TEXT_H

#include <stddef.h>

/* *out is owned (free()).  -ENOMEM. */
int json_text_indent(const char *text, size_t size_bytes, char **out, size_t *out_bytes);

#endif
