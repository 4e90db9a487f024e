/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * format_text - the fields of a tracepoint as a line: "dev=8388608 sector=4096 comm=dd"
 *
 * By the kernel's format text: numbers, and texts that lie in the record or behind it; other fields
 * (arrays of numbers) are left out.
 */
#ifndef EBPREC_RECORD_EVENTS_TRACEPOINT_FORMAT_TEXT_H
#define EBPREC_RECORD_EVENTS_TRACEPOINT_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEPOINT_FORMAT_TEXT_FIELDS_MAX 24
#define TRACEPOINT_FORMAT_TEXT_NAME_BYTES 32

struct tracepoint_format_text_field {
	char name[TRACEPOINT_FORMAT_TEXT_NAME_BYTES]; /* with the NUL */
	uint32_t off_bytes, size_bytes;
	bool is_signed, is_text, is_elsewhere; /* __data_loc */
};

struct tracepoint_format_text {
	struct tracepoint_format_text_field field[TRACEPOINT_FORMAT_TEXT_FIELDS_MAX];
	size_t count;
	uint32_t size_bytes; /* of the record, without texts behind it */
};

/* -EBADMSG: it has no fields. */
int tracepoint_format_text_from_format(const char *format, struct tracepoint_format_text *out);
/* Fields that are not completely in raw are left out; text that does not fit is cut. */
void tracepoint_format_text_write(const struct tracepoint_format_text *t, const uint8_t *raw,
				  size_t raw_bytes, char *out, size_t out_bytes);

#endif
