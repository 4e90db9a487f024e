/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/service.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t end_bytes = strlen(end);

	return bytes > end_bytes && !memcmp(text + bytes - end_bytes, end, end_bytes);
}

void push_service_name(const char *cgroup, const char *container, const char *comm,
		       char out[PUSH_SERVICE_BYTES])
{
	const char *unit = NULL, *at = cgroup;
	size_t unit_bytes = 0;

	snprintf(out, PUSH_SERVICE_BYTES, "%s", *container ? container : comm);
	if (*container || *cgroup != '/')
		return;
	while (*at) {
		size_t bytes = strcspn(at, "/");

		if (ends_with(at, bytes, ".service") && strncmp(at, "user@", 5) != 0) {
			unit = at;
			unit_bytes = bytes - strlen(".service");
		}
		at += bytes + (at[bytes] == '/');
	}
	if (unit && unit_bytes < PUSH_SERVICE_BYTES)
		snprintf(out, PUSH_SERVICE_BYTES, "%.*s", (int)unit_bytes, unit);
}
