/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_dbus - any bytes as a capture of D-Bus messages, and the calls that they make */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dbus/dbus_calls.h"
#include "analyze/dbus/dbus_capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int on_message(void *arg, uint64_t wall_ns, const struct dbus_message *m)
{
	if (strlen(m->sender) >= DBUS_NAME_MAX || strlen(m->error) >= DBUS_NAME_MAX)
		abort();
	return dbus_calls_add(arg, wall_ns, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct dbus_capture_stats stats;
	struct dbus_calls *calls;
	struct dbus_call call;

	if (dbus_calls_new(&calls))
		return 0;
	(void)dbus_capture_read(data, size_bytes, on_message, calls, &stats);
	if (stats.cut_bytes > size_bytes)
		abort();
	for (size_t i = 0; i < dbus_calls_count(calls); i++) {
		call = dbus_calls_at(calls, i);
		if (call.state != DBUS_CALL_RETURNED && call.duration_ns)
			abort();
	}
	dbus_calls_free(calls);
	return 0;
}
