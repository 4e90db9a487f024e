/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/tracefs.h"

#include <stdio.h>

#include "record/slurp.h"

static char *read_event_file(const char *name)
{
	/* The second is where it was before 4.1, and where debugfs still shows it. */
	static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct outbuf text = { 0 };
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(path, sizeof(path), "%s/events/%s", mounts[i], name);
		if (!slurp(path, &text) && text.size_bytes)
			return (char *)text.data;
		outbuf_done(&text);
	}
	return NULL;
}

char *tracefs_format(const char *system, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/format", system, name);
	return read_event_file(path);
}

char *tracefs_header_page(void)
{
	return read_event_file("header_page");
}
