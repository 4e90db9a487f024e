/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/cmd_fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/out/message.h"

#define BLANK "\r\033[K"

void cmd_fetch_progress(void *arg, const struct fetch_progress *p)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (p->ended)
		fputs(BLANK, stderr);
	else if (p->total_bytes)
		fprintf(stderr, BLANK "debuginfod: %.12s %.1f of %.1f MB", p->build_id,
			(double)p->done_bytes / 1e6, (double)p->total_bytes / 1e6);
	else
		fprintf(stderr, BLANK "debuginfod: %.12s ...", p->build_id);
	fflush(stderr);
}

void cmd_fetch_result(const struct debuginfod *f)
{
	const struct fetch_counts *c = f ? debuginfod_counts(f) : NULL;
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!c || (!c->found && !c->missing && !c->refused && !c->not_asked))
		return;
	message_note("debuginfod: %" PRIu32 " files found (%.1f MB), %" PRIu32 " not there",
		     c->found, (double)c->bytes / 1e6, c->missing - (c->err ? 1 : 0));
	if (c->refused)
		message_note("debuginfod: %" PRIu32
			     " came with another build-id than was asked for, not "
			     "used (the server is wrong, or the cache is damaged)",
			     c->refused);
	if (c->err == -ETIMEDOUT || c->err == -ETIME)
		message_note("debuginfod: '%s' took too long, %" PRIu32
			     " files were not asked for (see --debuginfod-time, --offline)",
			     urls ? urls : "", c->not_asked);
	else if (c->err)
		message_note("debuginfod: cannot ask '%s': %s, %" PRIu32
			     " files were not asked for (see --offline)",
			     urls ? urls : "", strerror(-c->err), c->not_asked);
}
