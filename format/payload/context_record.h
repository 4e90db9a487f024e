/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * context_record - what processes publish about themselves: OpenTelemetry's process context
 *
 * The recorder writes the bytes as they are in the process's memory, a protobuf message of up to
 * CONTEXT_RECORD_BYTES_MAX, and never reads them; the analyzer takes the name of the service from them.  The bytes of an
 * entry are FORMAT.md 5.7, the message is opentelemetry.proto.processcontext.v1development.ProcessContext.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_CONTEXT_RECORD_H
#define EBPREC_FORMAT_PAYLOAD_CONTEXT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

#define CONTEXT_RECORD_HEAD_BYTES 24
#define CONTEXT_RECORD_TIME_OFF   8 /* of since_ns, in the head */
#define CONTEXT_RECORD_BYTES_MAX  4096
#define CONTEXT_RECORD_NAME_MAX   255 /* bytes of a service's name */

struct context_record {
	uint32_t pid;
	uint32_t size_bytes;    /* 0: from then on the process has no context */
	uint64_t since_ns;      /* 0: since before the recording */
	const uint8_t *message; /* borrowed */
};

/* The part in front of the message. */
void context_record_encode(const struct context_record *r, uint8_t out[CONTEXT_RECORD_HEAD_BYTES]);
/*
 * Reads the entry at c and moves behind it.  The message is borrowed from c.  1; 0: the end; -EBADMSG: broken, and what
 * follows cannot be found.
 */
int context_record_next(struct cursor *c, struct context_record *out);

/*
 * The value of the resource's attribute service.name, borrowed.  False: the message has none, is broken, or has one that is
 * no name: longer than CONTEXT_RECORD_NAME_MAX, with control characters, or what SDKs put where none was given
 * ("unknown_service").
 */
bool context_record_service(const uint8_t *message, size_t size_bytes, const char **name,
			    size_t *name_bytes);
/* The size of a message that has this attribute alone: it is not larger than one that the name was found in. */
size_t context_record_message(const char *name, size_t name_bytes, uint8_t *out);

#endif
