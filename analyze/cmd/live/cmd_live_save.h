/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_live_save - writes some seconds of a recording that goes on as a capture and as a page
 *
 * By the commands that do so: merge, slice and report, each confined as ever.  The files that they read get a second
 * name first, so that the recorder may remove them meanwhile.
 */
#ifndef EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_SAVE_H
#define EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_SAVE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct live_save {
	const char *folder, *path;      /* of the recording; borrowed */
	unsigned first_part, last_part; /* its files: path, path.1, ... */
	uint64_t from_ns, to_ns;        /* both included */
	char capture[64], page[64];     /* the files that are written, in the current folder */
};

/* Starts the process that does it, with this signal mask.  -errno. */
int cmd_live_save_begin(struct live_save *save, const sigset_t *mask, pid_t *out);
/* One line about what its status, of waitpid(), means. */
void cmd_live_save_result(const struct live_save *save, int status, char *text, size_t room);

#endif
