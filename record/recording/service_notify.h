/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * service_notify - a service manager learns that events come, and that the loop still turns
 *
 * The protocol of sd_notify(3), without its library: one datagram of "NAME=value" lines to the socket that NOTIFY_SOCKET
 * names, a path or "@" and an abstract name.  The socket is connected before the recorder gives up the calls for that, and
 * by this user's rights; nothing is ever read from it, and a manager that does not read it misses messages, and delays
 * nothing.  With a COMMAND the variable is left to the command.
 */
#ifndef EBPREC_RECORD_RECORDING_SERVICE_NOTIFY_H
#define EBPREC_RECORD_RECORDING_SERVICE_NOTIFY_H

#include <stdint.h>

struct service_notify {
	int fd;            /* owned; -1: no manager */
	uint64_t every_ns; /* a sign of life is wanted so often; 0: never */
	uint64_t sent_ns;
};

/*
 * Connects to what NOTIFY_SOCKET names; WATCHDOG_USEC and WATCHDOG_PID state how often the manager wants a sign of life.
 * 0, also where none is named; -EINVAL: it is no such name, or too long; else the errno of the socket.  *out is valid in
 * any case.
 */
int service_notify_open(struct service_notify *out);
/* "READY=1", "STOPPING=1": once each. */
void service_notify_send(const struct service_notify *n, const char *line);
/* A sign of life, when one is due: half of the time before the manager would give the recorder up. */
void service_notify_alive(struct service_notify *n, uint64_t now_ns);
void service_notify_close(struct service_notify *n);

#endif
