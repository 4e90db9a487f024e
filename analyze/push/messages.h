/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * messages - what a reader of captures and the sender tell each other, through a stream socket
 *
 * The reader: a capture's host and identity; then each batch, and the end of each target's.  The sender, once: which targets want
 * the capture, and from which number on.  The sender believes nothing of it but the form: a batch has its own checksum and limits.
 */
#ifndef EBPREC_ANALYZE_PUSH_MESSAGES_H
#define EBPREC_ANALYZE_PUSH_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

enum push_message_kind {
	PUSH_MESSAGE_CAPTURE = 1, /* its host and its identity, each with a NUL */
	PUSH_MESSAGE_WANTED, /* the sender's number; then for each target the first number, or 0: it does not want it */
	PUSH_MESSAGE_BATCH, /* the bytes of a batch's file */
	PUSH_MESSAGE_NAME, /* to a reader: addresses; from it: the name of that of this number, with a NUL */
	PUSH_MESSAGE_END, /* number: of the target's batches */
};

/* Read freely; bytes: outbuf_done(). */
struct push_message {
	uint32_t kind, target;
	uint64_t number;
	struct outbuf bytes;
};

/* -EPIPE: the other one is gone; errno of send(). */
int push_message_send(int socket, uint32_t kind, uint32_t target, uint64_t number,
		      const void *bytes, size_t size_bytes);
/* *out is cleared first.  -ENODATA: the other one is done; -EBADMSG, -ENOMEM, errno of recv(). */
int push_message_receive(int socket, struct push_message *out);

#endif
