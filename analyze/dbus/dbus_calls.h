/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dbus_calls - calls with their replies, joined from the messages of a bus, and signals
 *
 * A reply names its call by the serial number that the caller gave it; numbers are those of one connection.  A
 * connection has a unique name that the bus never gives again.
 */
#ifndef EBPREC_ANALYZE_DBUS_DBUS_CALLS_H
#define EBPREC_ANALYZE_DBUS_DBUS_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/dbus/dbus_message.h"

#define DBUS_CALLS_MAX \
	100000 /* calls and signals together; before there are more, the older half is dropped */

enum dbus_call_state {
	DBUS_CALL_RETURNED, /* or ended with an error */
	DBUS_CALL_OPEN,     /* no reply was heard */
	DBUS_CALL_ONE_WAY,  /* the caller wants none */
	DBUS_CALL_SIGNAL,
};

struct dbus_call {
	uint64_t time_ns, duration_ns; /* where it begins; duration_ns: until its reply */
	enum dbus_call_state state;
	const char *sender, *destination, *interface, *member, *error; /* "": none */
};

struct dbus_calls; /* opaque */

/* -ENOMEM; *out: dbus_calls_free(). */
int dbus_calls_new(struct dbus_calls **out);
void dbus_calls_free(struct dbus_calls *c); /* NULL is fine */
/*
 * A message that was heard at a time of any one clock.  Replies to calls that were not heard, or were dropped, are
 * ignored.  -ENOMEM.
 */
int dbus_calls_add(struct dbus_calls *c, uint64_t time_ns, const struct dbus_message *m);
size_t dbus_calls_count(const struct dbus_calls *c);
/* How many have been dropped; 0, too, when all of them were before from_ns. */
uint64_t dbus_calls_dropped(const struct dbus_calls *c, uint64_t from_ns);
/* In the order of their messages; the texts are borrowed. */
struct dbus_call dbus_calls_at(const struct dbus_calls *c, size_t i);

#endif
