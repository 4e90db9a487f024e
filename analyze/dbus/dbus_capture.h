/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dbus_capture - the messages of a file that `busctl capture` or `dbus-monitor --pcap` has written
 *
 * Both forms of captures: pcap (draft-ietf-opsawg-pcap), as dbus-monitor writes it, and pcapng
 * (draft-ietf-opsawg-pcapng), as busctl does, of link type 231 (D-Bus).
 */
#ifndef EBPREC_ANALYZE_DBUS_DBUS_CAPTURE_H
#define EBPREC_ANALYZE_DBUS_DBUS_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/dbus/dbus_message.h"

struct dbus_capture_stats {
	uint64_t message_count, bad_count; /* bad_count: packets that are no message */
	size_t cut_bytes; /* behind the last complete packet: the file is cut, or damaged there */
};

/*
 * Calls fn for each message with the time of the day at which it was heard; a result other than 0 ends it and is
 * returned.  -EBADMSG: no such file; -EPROTONOSUPPORT: a capture of something else than D-Bus.
 */
int dbus_capture_read(const uint8_t *bytes, size_t size_bytes,
		      int (*fn)(void *arg, uint64_t wall_ns, const struct dbus_message *m),
		      void *arg, struct dbus_capture_stats *stats);

#endif
