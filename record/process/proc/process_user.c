/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/proc/process_user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/os/slurp.h"

uint32_t process_user_in(const char *status)
{
	const char *line = strstr(status, "\nUid:");

	return line ? (uint32_t)strtoul(line + strlen("\nUid:"), NULL, 10) : PROCESS_USER_NONE;
}

uint32_t process_user(uint32_t pid)
{
	uint32_t user = PROCESS_USER_NONE;
	struct outbuf status = { 0 };
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (!slurp(path, &status) && status.size_bytes)
		user = process_user_in((const char *)status.data);
	outbuf_done(&status);
	return user;
}
