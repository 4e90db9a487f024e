/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tracepoint_check - may this format of a tracepoint, and this event, be given to libtraceevent?
 *
 * libtraceevent was written for the kernel's own texts: on others it divides by nought, follows
 * pointers that are not there, and reads at the offset that an event has for its text.  A capture's
 * formats and events are a stranger's.  So a format must have the kernel's form, line by line; what
 * it prints must be of the part of C that is understood here; and an event must hold all that its
 * format describes.  Limits: __print_hex(), __print_array(), __get_dynamic_array(), bit masks and
 * calls of the kernel's functions are not taken, since the event decides how much they read: such
 * an event is shown by its fields.
 */
#ifndef EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_CHECK_H
#define EBPREC_ANALYZE_INPUT_TRACEPOINT_TRACEPOINT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEPOINT_CHECK_FIELDS_MAX 64
#define TRACEPOINT_CHECK_ID_MAX     65535

struct tracepoint_check_field {
	const char *name; /* borrowed from the text, not NUL-terminated */
	uint32_t name_bytes;
	uint32_t off_bytes, size_bytes;
	uint32_t count; /* of an array; 0: none, or of a size that is not a number */
	bool elsewhere; /* __data_loc: it has the offset and size of the value */
	bool text;      /* char */
};

struct tracepoint_check {
	uint32_t id;
	uint32_t end_bytes; /* of the last field */
	struct tracepoint_check_field fields[TRACEPOINT_CHECK_FIELDS_MAX];
	size_t field_count;
	/*
	 * So many bytes of the text are the fields; print_fmt: the part behind them is fine, too.
	 */
	size_t fields_bytes;
	bool print_fmt;
};

/* -EBADMSG: it has not the form of the kernel's; -ENOTSUP: a type of field that is not known. */
int tracepoint_check_format(const char *text, size_t size_bytes, struct tracepoint_check *out);
/* Whether an event holds its fields, and what they point to. */
bool tracepoint_check_event(const struct tracepoint_check *c, const uint8_t *raw, size_t raw_bytes);

#endif
