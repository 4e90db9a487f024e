/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * protobuf - the little of the wire format that a writer needs
 *
 * Fields are varints or bytes; a message inside another is bytes that were written before.  Nothing
 * fails where it is called: when there is no memory, the message is marked as failed at the end.
 */
#ifndef EBPREC_ANALYZE_EXPORT_PROTOBUF_H
#define EBPREC_ANALYZE_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded by the owner; all zero is an empty one.  Read data and size freely. */
struct protobuf {
	uint8_t *data;
	size_t size_bytes, capacity;
	bool failed; /* no memory: the message is not complete */
};

void protobuf_done(struct protobuf *m);
void protobuf_clear(struct protobuf *m); /* to write the next message; keeps the room */

void protobuf_number(struct protobuf *m, unsigned field, uint64_t value);  /* 0 is left out */
void protobuf_double(struct protobuf *m, unsigned field, double value);    /* likewise */
void protobuf_fixed64(struct protobuf *m, unsigned field, uint64_t value); /* likewise */
void protobuf_bytes(struct protobuf *m, unsigned field, const void *data, size_t size_bytes);
/* As ESCAPE_TEXT has it (format/text/escape.h): the type string demands UTF-8. */
void protobuf_text(struct protobuf *m, unsigned field, const char *text, size_t size_bytes);
void protobuf_message(struct protobuf *m, unsigned field, const struct protobuf *inner);
/* A repeated number, packed: values one behind the other, by protobuf_packed(). */
void protobuf_packed(struct protobuf *m, uint64_t value);

#endif
