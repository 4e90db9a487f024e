/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dbus_message - the header of a D-Bus message
 *
 * As the D-Bus specification has it ("Message Format"): who sends what to whom.  The body is never looked at.
 */
#ifndef EBPREC_ANALYZE_DBUS_DBUS_MESSAGE_H
#define EBPREC_ANALYZE_DBUS_DBUS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DBUS_NAME_MAX 256 /* bytes of a name with its NUL: the specification allows 255 */

enum dbus_type { /* as in the message */
		 DBUS_CALL = 1,
		 DBUS_RETURN,
		 DBUS_ERROR,
		 DBUS_SIGNAL,
};

/* Texts that the message does not have are "". */
struct dbus_message {
	uint8_t type; /* enum dbus_type */
	bool wants_reply;
	uint32_t serial, reply_serial; /* reply_serial: of the call that it answers; 0: of none */
	char sender[DBUS_NAME_MAX], destination[DBUS_NAME_MAX];
	char interface[DBUS_NAME_MAX], member[DBUS_NAME_MAX], error[DBUS_NAME_MAX];
};

/* The bytes may end behind the header.  -EBADMSG: they are no such message. */
int dbus_message_parse(const uint8_t *bytes, size_t size_bytes, struct dbus_message *out);

#endif
