/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dbus_monitor - the messages of a bus, as they are sent
 *
 * By sd-bus(3) of libsystemd, which is loaded at run time, and org.freedesktop.DBus.Monitoring.BecomeMonitor, as
 * dbus-monitor(1) does.  A second connection asks the bus for the process of each sender that is heard for the first
 * time; its own messages are left out.  The bus of the system lets root alone listen, that of a session its user.
 * Limit: a time is when the message was read here, not when it was sent: microseconds later, or more on a busy machine.
 */
#ifndef EBPREC_ANALYZE_DBUS_DBUS_MONITOR_H
#define EBPREC_ANALYZE_DBUS_DBUS_MONITOR_H

#include <stdint.h>

#include "analyze/dbus/dbus_message.h"

struct dbus_monitor; /* opaque */

/* What was being done when it failed. */
enum dbus_monitor_step {
	DBUS_MONITOR_LOADS, /* libsystemd.so.0; -ENOENT: there is none; -ENOTSUP: in a static program */
	DBUS_MONITOR_CONNECTS, /* to the bus; -EACCES: its socket may not be opened; -EPERM, -ECONNRESET: the bus refuses this user */
	DBUS_MONITOR_LISTENS,  /* -EACCES: the bus does not let this user be a monitor */
};

/*
 * address: as of the environment variables DBUS_*_BUS_ADDRESS.  Loads the library and connects, which a process that is
 * confined may not.  A negative errno, of *step.  *out: dbus_monitor_free().
 */
int dbus_monitor_new(const char *address, struct dbus_monitor **out, enum dbus_monitor_step *step);
void dbus_monitor_free(struct dbus_monitor *m); /* NULL is fine */
/* time_ns: CLOCK_MONOTONIC. */
typedef int dbus_monitor_fn(void *arg, uint64_t time_ns, const struct dbus_message *message);

/*
 * Waits until there are messages or stop_fd can be read, and calls fn for each.  A result of fn other than 0 ends it and is
 * returned.  0: stop_fd can be read; -ECONNRESET or another: the bus has ended.
 */
int dbus_monitor_run(struct dbus_monitor *m, int stop_fd, dbus_monitor_fn *fn, void *arg);
/* The process of a sender that was heard; 0: the bus did not say, as it had ended. */
uint32_t dbus_monitor_pid(const struct dbus_monitor *m, const char *sender);

#endif
