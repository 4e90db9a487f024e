/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/proc/proc_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int proc_stat_parse(const char *text, struct proc_stat *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long ppid, start = 0;
	size_t bytes;
	char *end;
	int field;

	/* The name may hold anything, also ") ": it ends at the last one. */
	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
		return -EBADMSG;
	ppid = strtoull(close + 4, &end, 10);
	if (end == close + 4 || ppid > UINT32_MAX)
		return -EBADMSG;
	for (field = 5; field <= 22; field++) { /* ppid was field 4, the start time is 22 */
		text = end;
		if (*text != ' ')
			return -EBADMSG;
		start = strtoull(text, &end, 10);
		if (end == text)
			return -EBADMSG;
	}
	bytes = (size_t)(close - open - 1);
	if (bytes > sizeof(out->comm) - 1)
		bytes = sizeof(out->comm) - 1;
	memcpy(out->comm, open + 1, bytes);
	out->comm[bytes] = '\0';
	out->ppid = (uint32_t)ppid;
	out->start_ticks = start;
	return 0;
}
